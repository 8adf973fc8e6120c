"""What the antagonist program does at every step, beside the formulas: transitions, loads, ball joints, hand-overs."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from stunt.control.core.board import FULL, IMPEDANCE
from stunt.control.tension.law import ball_room, critical_share, warped
from stunt.control.tension.memory import HAND_OVER, ISOANGLE, LINE, SAMPLING, Antagonist
from stunt.drive.beats.performer import Performer
from stunt.motion.transition import preset
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

HZ = 240.0
FEW = settings(max_examples=10, deadline=None, derandomize=True, phases=[Phase.generate])
DRAGON = "tests/character/models/dragon.xml"
MODES = st.sampled_from([SAMPLING, LINE, ISOANGLE])


def tense(body: str, seed: int) -> tuple[StageLoop, Antagonist, np.random.Generator]:
    """Return a hanging body whose joints may be given springs, in a random state."""
    rng = np.random.default_rng(seed)
    spec = CharacterSpec(body, root="fixed", at=(0.0, 0.0, 1.5), self_collision=False)
    stage = StageLoop(Scene({"ada": spec}, physics_hz=HZ, control_hz=HZ, ground=False))
    program = Antagonist(stage.model, stage.data, stage.board)
    stage.board.law[:], stage.board.feed_bias[:] = IMPEDANCE, 0
    stage.board.limit[:] = np.inf
    mujoco.mj_integratePos(stage.model, stage.data.qpos, rng.normal(0.0, 0.2, stage.model.nv), 1.0)
    stage.data.qvel[:] = rng.normal(0.0, 0.3, stage.model.nv)
    mujoco.mj_forward(stage.model, stage.data)
    stage.advance(1)
    return stage, program, rng


def fresh(stage: StageLoop) -> mujoco.MjData:
    data = mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(stage.model, data)
    return data


def weight_of(stage: StageLoop, data: mujoco.MjData) -> np.ndarray:
    """Return gravity's torque on every degree of freedom: Σ Jᵀ·m·g, body by body."""
    model, total = stage.model, np.zeros(stage.model.nv)
    for body in range(1, model.nbody):
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacobian, None, body)
        total += jacobian.T @ (model.body_mass[body] * model.opt.gravity)
    return total


def eased(curve, warp: float, u: float) -> float:
    """Return the progress of a curve: a cubic Hermite through its knots, its time bent."""
    from scipy.interpolate import CubicHermiteSpline

    times, values, slopes = np.array(curve.knots).T
    bent = u if warp == 0.0 else (math.exp(warp * u) - 1.0) / (math.exp(warp) - 1.0)
    return float(CubicHermiteSpline(times, values, slopes)(bent)) if u < 1.0 else 1.0


@FEW
@given(mode=MODES, seed=st.integers(0, 9999), word=st.sampled_from(["ease", "overshoot", "recoil"]),
       warp=st.sampled_from([0.0, 1.5, -2.0]), late=st.booleans())  # fmt: skip
def test_every_hinge_has_the_two_springs_of_its_moment(mode, seed, word, warp, late) -> None:
    """k_L + k_H = K and the balance at θ under F: at the time the step ends, through curve, warp, slack and shift."""
    stage, program, rng = tense("torso28", seed)
    board, rows, curve = stage.board, program.rows, preset(word)
    stage.advance(10)
    now, mean, n = stage.time, (program.rows["low"] + program.rows["high"]) / 2.0, stage.model.nv
    rows["active"], rows["mode"], rows["compensate"], rows["warp"] = 1, mode, 1.0, warp
    rows["tension0"], rows["tension1"] = rng.uniform(20.0, 200.0, n), rng.uniform(20.0, 200.0, n)
    for end in "01":
        rows[f"angle{end}"], rows[f"rest{end}"] = mean + rng.normal(0.0, 0.2, n), mean + rng.normal(0.0, 0.2, n)
        rows[f"force{end}"] = rng.normal(0.0, 3.0, n)
        rows[f"slack_low{end}"], rows[f"slack_high{end}"] = rng.uniform(0.7, 1.3, n), rng.uniform(0.7, 1.3, n)
    rows["shift"], rows["ratio"] = rng.normal(0.0, 0.05, n), rng.uniform(0.3, 1.2, n)
    knots = np.ravel(curve.knots)
    rows["knots"] = len(curve.knots)
    rows["curve"][:, : len(knots)] = knots
    for d in range(n):
        program.set_times(d, now - 0.1, now + (0.15 if not late else -0.01))
    stage.advance(1)  # so that what is sampled is of the present state
    felt = weight_of(stage, before := fresh(stage))
    moment, old = board.moment.copy(), program.external.copy()
    stage.advance(1)
    u = min((stage.time - (now - 0.1)) / (0.25 if not late else 0.09), 1.0)
    p = eased(curve, warp, u)
    inside = min(max(p, 0.0), 1.0)
    for d in range(n):
        row = rows[d]
        low, high, mix = (
            row["low"],
            row["high"],
            lambda name, share, row=row: (  # noqa: E731
                row[f"{name}0"] + share * (row[f"{name}1"] - row[f"{name}0"])
            ),
        )
        force = old[d] if mode == SAMPLING else mix("force", inside)
        if mode == LINE:
            ends = [
                (row[f"tension{e}"] * (high - row[f"rest{e}"]), row[f"tension{e}"] * (row[f"rest{e}"] - low))
                for e in "01"
            ]
            k_low, k_high = (max(a + p * (b - a), 0.0) / (high - low) for a, b in zip(*ends, strict=True))
            angle = mix("angle", p)
        else:
            angle = np.clip(mix("angle", p) + row["shift"], low + 0.02, high - 0.02)
            stiff = mix("tension", u)
            stiff = max(stiff, force / (angle - low) if force > 0.0 else -force / (high - angle))
            k_low = (stiff * (high - angle) + force) / (high - low)
            k_high = (stiff * (angle - low) - force) / (high - low)
        k_low, k_high = k_low * mix("slack_low", u), k_high * mix("slack_high", u)
        assert board.stiffness[d] == pytest.approx(k_low + k_high, rel=1e-9)
        assert board.rest[d] == pytest.approx((k_low * low + k_high * high) / (k_low + k_high), rel=1e-9)
        assert board.goal[d] == pytest.approx(angle)
        if not row["settled"]:
            damping = 2.0 * row["ratio"] * math.sqrt((k_low + k_high) * moment[d])
            assert board.damping[d] == pytest.approx(damping)
    if mode == SAMPLING:
        assert program.external == pytest.approx(felt, rel=1e-7, abs=1e-7)
    assert before.time >= 0.0 and bool(rows["settled"].any()) == (late and mode != SAMPLING)


@FEW
@given(body=st.sampled_from(["torso28", DRAGON]), seed=st.integers(0, 9999))
def test_what_is_stood_on_is_felt_through_the_joints_beside_gravity(body: str, seed: int) -> None:
    """A force at a point of a body is Jᵀ·f in every joint inboard of it."""
    stage, program, rng = tense(body, seed)
    model = stage.model
    program.rows["active"], program.rows["mode"], program.rows["compensate"] = 1, SAMPLING, 1.0
    program.rows["tension0"] = program.rows["tension1"] = 500.0
    program.rows["ball0"], program.rows["ball1"] = [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    bodies = [b for b in range(1, model.nbody) if model.body_dofnum[b]]
    soles = [(int(rng.choice(bodies)), rng.normal(0.0, 30.0, 3), rng.normal(0.0, 0.5, 3)) for _ in range(3)]
    program.set_soles(soles)
    data = fresh(stage)
    expected = weight_of(stage, data)
    for b, force, point in soles:
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, np.asarray(point), b)
        expected += jacobian.T @ force
    stage.advance(1)
    assert program.external == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("mode", [LINE, ISOANGLE])
@pytest.mark.parametrize("seed", range(3))
def test_a_ball_joint_turns_the_short_way_and_leans_against_what_pulls_at_it(mode: int, seed: int) -> None:
    stage, program, rng = tense(DRAGON, seed)
    model, board, now = stage.model, stage.board, stage.time
    balls = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL]
    turns = {}
    for j in balls:
        d = int(model.jnt_dofadr[j])
        rows = program.rows[d : d + 3]
        rows["active"], rows["mode"], rows["compensate"], rows["ratio"] = 1, mode, 1.0, 0.8
        rows["knots"] = 2
        rows["curve"][:, :6] = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]
        rows["tension0"], rows["tension1"] = 80.0, 300.0
        rows["force0"], rows["force1"] = rng.normal(0.0, 4.0, 3), rng.normal(0.0, 4.0, 3)
        one, way = Rotation.from_rotvec(rng.normal(0.0, 0.4, 3)), rng.normal(0.0, 0.3, 3)
        other = one * Rotation.from_rotvec(way)
        rows["ball0"][0], rows["ball1"][0] = (turn.as_quat()[[3, 0, 1, 2]] for turn in (one, other))
        program.set_times(d, now - 0.1, now + 0.1)
        turns[j] = one, way
    moment = board.moment.copy()
    stage.advance(1)
    u = (stage.time - now + 0.1) / 0.2
    p = u * u * (3.0 - 2.0 * u)
    for j, (one, way) in turns.items():
        d, q = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
        rows = program.rows[d : d + 3]
        near, far = (1.0 - p) * 80.0, p * 300.0
        tension, share = (near + far, far / (near + far)) if mode == LINE else (80.0 + u * 220.0, p)
        goal = one * Rotation.from_rotvec(share * way)
        force = rows["force0"] + p * (rows["force1"] - rows["force0"])
        room = max(min(rows["high"][0] - goal.magnitude(), 2.5), 0.02)
        tension = max(tension, np.linalg.norm(force) / room)
        rest = goal * Rotation.from_rotvec(-force / tension)
        assert board.stiffness[d : d + 3] == pytest.approx(tension)
        assert (Rotation.from_quat(board.rest[[q + 1, q + 2, q + 3, q]]) * rest.inv()).magnitude() < 1e-7
        mean = moment[d : d + 3].mean()
        assert board.damping[d : d + 3] == pytest.approx(2.0 * 0.8 * math.sqrt(tension * mean))


def test_a_spring_that_would_have_to_push_is_raised_and_says_so() -> None:
    stage, program, _ = tense("torso28", 1)
    rows = program.rows
    rows["active"], rows["mode"], rows["compensate"], rows["knots"] = 1, ISOANGLE, 1.0, 2
    rows["curve"][:, :6] = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    rows["tension0"] = rows["tension1"] = 1.0
    rows["angle0"] = rows["angle1"] = 0.0
    rows["force0"] = rows["force1"] = -9.0
    stage.advance(1)
    least = 9.0 / rows["high"]
    assert stage.board.stiffness == pytest.approx(least) and rows["gain_low"] == pytest.approx(0.0, abs=1e-9)
    assert rows["raised"] == pytest.approx(least) and (rows["asked"] == 1.0).all()


def test_halfway_in_time_a_warped_transition_is_on_the_other_side_of_half_its_way() -> None:
    for warp in (0.5, 2.0, 5.0):
        slow, fast = warped(0.5, warp), warped(0.5, -warp)
        assert slow < 0.5 < fast and slow + fast == pytest.approx(1.0)
        assert warped(0.0, warp) == 0.0 and warped(1.0, warp) == pytest.approx(1.0)
        steps = np.diff([warped(u, warp) for u in np.linspace(0.0, 1.0, 50)])
        assert (steps > 0.0).all() and (np.diff(steps) > 0.0).all()


def test_damping_is_critical_where_its_ratio_is_one() -> None:
    """θ̈ = −(k·θ + d·θ̇)/m has a double pole for ratio 1, and swings below it."""
    for k, m in ((30.0, 0.2), (500.0, 3.0)):
        for ratio, swings in ((1.0, False), (0.5, True), (1.5, False)):
            poles = np.roots([m, critical_share(k, m, ratio), k])
            assert (np.abs(poles.imag).max() > 1e-3 * np.abs(poles).max()) == swings
    assert np.ptp(np.roots([0.2, critical_share(30.0, 0.2, 1.0), 30.0])) == pytest.approx(0.0, abs=1e-5)


def test_a_ball_joints_room_shrinks_as_it_turns() -> None:
    rooms = [ball_room(2.0, turn) for turn in (0.0, 0.5, 1.9, 2.5)]
    assert rooms == pytest.approx([2.0, 1.5, 0.1, 0.02]) and ball_room(9.0, 0.0) == 2.5


def test_a_joint_that_changes_hands_keeps_its_torque_and_the_difference_fades() -> None:
    """The first step gives what the last one did; what is over fades by a smooth step, and is gone after it."""
    stage = StageLoop(Scene({"ada": CharacterSpec("torso28", self_collision=False)}, physics_hz=HZ, control_hz=HZ))
    stage.keep(Antagonist(stage.model, stage.data, stage.board))  # the board has its address alone
    joint, board, h = stage.characters["ada"].joints["r_elbow_flexion"], stage.board, 1.0 / HZ
    Performer(stage, "ada", coupling="full", tension=0.5)
    d, q, jumps = joint.dof, joint.qpos, []
    stage.advance(3)

    def spring() -> float:
        """What the given spring is foreseen to do in the step to come."""
        place, pace = float(stage.data.qpos[q]), float(stage.data.qvel[d])
        return 12.0 * (0.7 - place - h * pace) - 0.8 * pace

    def full(data: mujoco.MjData) -> float:
        """What full coupling gives: M·a + c, the joint's own damping at the end of the step included."""
        mass = np.zeros((stage.model.nv, stage.model.nv))
        mujoco.mj_fullM(stage.model, data, mass)
        own = board.own_damping[d] * (data.qvel[d] + h * board.acceleration[d])
        return float(mass[d] @ board.acceleration + own + data.qfrc_bias[d])

    for now in (IMPEDANCE, FULL):
        board.law[joint.id], board.feed_bias[joint.id] = now, int(now == FULL)
        board.stiffness[d], board.damping[d], board.rest[q] = 12.0, 0.8, 0.7
        start, before = stage.time, float(board.torque[d])
        for k in range(round(1.2 * HAND_OVER * HZ)):
            foreseen, data = spring(), fresh(stage)
            with board.own_springs(stage.model):
                mujoco.mj_forward(stage.model, data)
            stage.advance(1)
            own = full(data) if now == FULL else 0.0
            if k == 0:
                jumps.append(before - (own if now == FULL else foreseen))
            s = min((k * h) / HAND_OVER, 1.0)
            fade = (1.0 - s * s * (3.0 - 2.0 * s)) * jumps[-1]
            assert stage.data.qfrc_applied[d] == pytest.approx(own + fade, abs=1e-6), k
        assert stage.time > start + HAND_OVER
    assert np.abs(jumps).min() > 0.2
