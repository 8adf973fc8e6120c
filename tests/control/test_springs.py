"""Springs of the beat law's couplings and given impedances, beside Newton's law and P0's equations."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.core.board import IMPEDANCE
from stunt.drive.beats.performer import Performer
from stunt.motion.pose import Pose
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

HZ = 240.0
FEW = settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
SPRINGS = ("local", "composite", "compensated")
DRAGON = "tests/character/models/dragon.xml"
BODIES = st.sampled_from(["torso28", "human39", DRAGON])
SEEDS = st.integers(0, 10_000)


def performing(body: str, coupling: str, seed: int, reach: float = 0.4, velocity: bool = True, **how):
    """Return a stage in the middle of the way to a random key, and its randomness."""
    rng = np.random.default_rng(seed)
    spec = CharacterSpec(body, root="fixed", at=(0.0, 0.0, 1.5), self_collision=False)
    stage = StageLoop(Scene({"ada": spec}, physics_hz=HZ, control_hz=HZ, ground=False))
    performer = Performer(stage, "ada", coupling=coupling, **how)
    angles, speeds = {}, {}
    for name, joint in stage.characters["ada"].joints.items():
        if joint.kind == "hinge":
            low, high = joint.range or (-1.0, 1.0)
            angles[name] = float(rng.uniform(reach * low, reach * high))
            if velocity and rng.random() < 0.5:
                speeds[name] = float(rng.normal())
    performer.key(Pose("random", angles, speeds), at=0.5)
    stage.advance(int(rng.integers(20, 60)))
    return stage, rng


def fresh(stage: StageLoop) -> mujoco.MjData:
    """Return the present state worked out anew, by the model as it came."""
    data = mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    with stage.board.own_springs(stage.model):
        mujoco.mj_forward(stage.model, data)
    return data


def mass_of(stage: StageLoop, data: mujoco.MjData) -> np.ndarray:
    mass = np.zeros((stage.model.nv, stage.model.nv))
    mujoco.mj_fullM(stage.model, data, mass)
    return mass


@FEW
@given(body=BODIES, coupling=st.sampled_from(["full", *SPRINGS]), seed=SEEDS)
def test_every_step_is_explained_by_the_torques_on_the_board(body: str, coupling: str, seed: int) -> None:
    """M·a = τ − c + what the model's own springs and dampers do at the end of the step."""
    stage, _ = performing(body, coupling, seed)
    board, model, h = stage.board, stage.model, 1.0 / HZ
    for _ in range(5):
        data = fresh(stage)
        stage.advance(1)
        gained = (stage.data.qvel - data.qvel) / h
        hinges = model.jnt_type[model.dof_jntid] == mujoco.mjtJoint.mjJNT_HINGE
        own = -board.own_damping * stage.data.qvel
        stiff = board.own_stiffness[model.dof_jntid]
        places = model.jnt_qposadr[model.dof_jntid]
        own -= np.where(hinges, stiff * (stage.data.qpos[places] - board.own_rest[places]), 0.0)
        rest = mass_of(stage, data) @ gained + data.qfrc_bias - board.torque - own
        rest -= stage.data.qfrc_constraint  # end stops
        assert np.abs(rest[hinges]).max() < 1e-5 * max(1.0, np.abs(board.torque).max())


def moment_of(stage: StageLoop, data: mujoco.MjData, dof: int, bodies: list[int]) -> float:
    """Return the moment of inertia of bodies about a joint's axis, body by body [kg·m²]."""
    model, joint = stage.model, int(stage.model.dof_jntid[dof])
    axis, anchor, total = data.xaxis[joint], data.xanchor[joint], 0.0
    for b in bodies:
        turn = data.ximat[b].reshape(3, 3)
        across = np.cross(data.xipos[b] - anchor, axis)
        total += axis @ turn @ np.diag(model.body_inertia[b]) @ turn.T @ axis + model.body_mass[b] * across @ across
    return float(total + model.dof_armature[dof])


def outboard(model: mujoco.MjModel, body: int) -> list[int]:
    found = [body]
    for b in range(body + 1, model.nbody):
        if int(model.body_parentid[b]) in found:
            found.append(b)
    return found


@FEW
@given(body=st.sampled_from(["torso28", "human39"]), coupling=st.sampled_from(SPRINGS), seed=SEEDS)
def test_a_joints_spring_is_critically_damped_for_what_it_moves_and_arrives_with_its_velocity(
    body: str, coupling: str, seed: int
) -> None:
    """P0 eq. 4: k_s = m/λ², k_d = 2m/λ toward the moving reference; eq. 8–10 for what parents impose."""
    stage, _ = performing(body, coupling, seed)
    board, model, h = stage.board, stage.model, 1.0 / HZ
    board.limit[:] = np.inf
    before = fresh(stage)
    stage.advance(1)
    data, moment, left = fresh(stage), board.moment.copy(), 0.5 - stage.time
    hinges = [d for d in range(model.nv) if model.jnt_type[model.dof_jntid[d]] == mujoco.mjtJoint.mjJNT_HINGE]
    for d in hinges:
        own = int(model.dof_bodyid[d])
        bodies = [own] if coupling == "local" else outboard(model, own)
        assert moment[d] == pytest.approx(moment_of(stage, before, d, bodies), rel=1e-9)
    stage.advance(1)
    lam, imposed, now = left / TIME_CONSTANTS, {}, mass_of(stage, data).diagonal()
    expected = data.qfrc_bias.copy()
    for d in hinges:
        q = int(model.jnt_qposadr[model.dof_jntid[d]])
        goal, speed = board.goal[q], board.goal_velocity[d]
        low, high = model.jnt_range[model.dof_jntid[d]]
        reference = goal - speed * (left - h)
        if low < high and not low <= reference <= high:
            reference, speed = np.clip(reference, low, high), 0.0
        assert board.rest[q] == pytest.approx(reference, abs=1e-9)
        stiffness, damping = moment[d] / lam**2, 2.0 * moment[d] / lam
        assert board.stiffness[d] == pytest.approx(stiffness) and board.damping[d] == pytest.approx(damping)
        torque = stiffness * (reference - data.qpos[q]) + damping * (speed - data.qvel[d])
        parent = int(model.dof_parentid[d])
        above = imposed.get(parent, np.zeros(3))
        axis = data.cdof[d, :3]
        imposed[d] = above + torque / now[d] * axis
        expected[d] += damping * speed + (now[d] * above @ axis if coupling == "compensated" else 0.0)
    assert stage.data.qfrc_applied[hinges] == pytest.approx(expected[hinges], rel=1e-7, abs=1e-7)
    assert model.jnt_stiffness[model.dof_jntid[hinges]] == pytest.approx(
        board.own_stiffness[model.dof_jntid[hinges]] + board.stiffness[hinges]
    )
    assert model.dof_damping[hinges] == pytest.approx(board.own_damping[hinges] + board.damping[hinges])


@FEW
@given(body=st.sampled_from(["torso28", "human39"]), seed=SEEDS)
def test_a_spring_of_least_effort_is_the_feedback_form_of_a_cubic(body: str, seed: int) -> None:
    """a = 6(θ̂ − θ)/T² − (4ω + 2ω̂)/T: a spring to the goal itself, a damper, and a push against the arrival's speed."""
    stage, _ = performing(body, "composite", seed, arrival="minimum_effort")
    board, model = stage.board, stage.model
    board.limit[:] = np.inf
    data, moment, left = fresh(stage), board.moment.copy(), 0.5 - stage.time
    stage.advance(1)
    hinges = np.flatnonzero(model.jnt_type[model.dof_jntid] == mujoco.mjtJoint.mjJNT_HINGE)
    places = model.jnt_qposadr[model.dof_jntid[hinges]]
    assert board.stiffness[hinges] == pytest.approx(6.0 * moment[hinges] / left**2)
    assert board.damping[hinges] == pytest.approx(4.0 * moment[hinges] / left)
    assert board.rest[places] == pytest.approx(board.goal[places])
    push = data.qfrc_bias - 2.0 * moment / left * board.goal_velocity
    assert stage.data.qfrc_applied[hinges] == pytest.approx(push[hinges], rel=1e-7, abs=1e-7)


def test_a_spring_that_was_cut_for_a_step_is_itself_in_the_next_though_control_has_not_looked_again() -> None:
    spec = CharacterSpec("torso28", self_collision=False)
    stage = StageLoop(Scene({"ada": spec}, physics_hz=480.0, control_hz=120.0, ground=False))
    board, model, joint = stage.board, stage.model, stage.characters["ada"].joints["r_elbow_flexion"]
    board.law[joint.id], board.feed_bias[joint.id] = IMPEDANCE, 0
    stage.data.qpos[joint.qpos] = board.rest[joint.qpos] = 1.0
    board.stiffness[joint.dof], board.damping[joint.dof] = 4000.0, 400.0
    stage.advance(8)
    whole = model.jnt_stiffness[joint.id], model.dof_damping[joint.dof], stage.data.qfrc_applied[joint.dof]
    stage.advance(1)
    stage.data.xfrc_applied[stage.characters["ada"].bodies["r_hand"], :3] = -20000.0, -20000.0, 15000.0
    stage.advance(1)  # in the middle of a control period
    assert abs(board.torque[joint.dof]) == pytest.approx(joint.strength, rel=2e-3)
    found = model.jnt_stiffness[joint.id], model.dof_damping[joint.dof], stage.data.qfrc_applied[joint.dof]
    assert found == pytest.approx(whole, rel=1e-3) and whole[0] > 1000.0


def test_a_joint_that_carries_the_body_is_scaled_by_everything_inboard() -> None:
    stage = StageLoop(Scene({"ada": CharacterSpec("human39", root="free")}, physics_hz=HZ, control_hz=HZ))
    Performer(stage, "ada", coupling="composite", tension=0.4)
    found = 0
    for _ in range(40):
        data, planted = fresh(stage), stage.board.planted.copy()
        stage.advance(1)
        for name in ("l_ankle_flexion", "r_knee_flexion", "r_hip_flexion"):
            d = stage.characters["ada"].joints[name].dof
            if planted[d] and stage.board.planted[d]:
                whole = list(stage.characters["ada"].bodies.values())
                rest = [b for b in whole if b not in outboard(stage.model, int(stage.model.dof_bodyid[d]))]
                assert stage.board.moment[d] == pytest.approx(moment_of(stage, data, d, rest), rel=1e-6)
                found += 1
    assert found > 10


@FEW
@given(seed=SEEDS, feeds=st.booleans())
def test_a_given_spring_is_scaled_to_the_strength_that_gravity_leaves(seed: int, feeds: bool) -> None:
    """Within strength it is what was given; over it, spring, damper and push together fill what is left of it."""
    rng = np.random.default_rng(seed)
    spec = CharacterSpec("torso28", self_collision=False)
    stage = StageLoop(Scene({"ada": spec}, physics_hz=HZ, control_hz=HZ, ground=False))
    board, model, h = stage.board, stage.model, 1.0 / HZ
    board.law[:], board.feed_bias[:] = IMPEDANCE, int(feeds)
    board.stiffness[:], board.damping[:] = rng.uniform(0.0, 200.0, model.nv), rng.uniform(0.0, 5.0, model.nv)
    board.feed_forward[:] = rng.normal(0.0, 5.0, model.nv)
    board.rest[:] = rng.normal(0.0, 0.3, model.nq)
    stage.advance(2)
    data = fresh(stage)
    carried = board.carried.copy()
    assert (board.limit < np.inf).all()
    board.limit[:] = rng.choice([3.0, 30.0, 1e4], model.nv)
    stage.advance(1)
    wanted = board.stiffness * (board.rest - data.qpos - h * data.qvel) - board.damping * data.qvel
    wanted = wanted + board.feed_forward
    bias = carried if feeds else 0.0 * carried
    room = np.maximum(np.where(wanted > 0.0, board.limit - bias, board.limit + bias), 0.0)
    over = np.abs(wanted + bias) > board.limit
    scale = np.where(over, np.minimum(1.0, room / np.abs(wanted)), 1.0)
    assert over.any() and not over.all()
    assert model.dof_damping == pytest.approx(board.own_damping + scale * board.damping)
    joints = model.dof_jntid
    own = board.own_stiffness[joints]
    assert model.jnt_stiffness[joints] == pytest.approx(own + scale * board.stiffness)
    push = scale * board.feed_forward + (data.qfrc_bias if feeds else 0.0)
    assert stage.data.qfrc_applied == pytest.approx(np.clip(push, -board.limit, board.limit), abs=1e-9)
    middle = (own * board.own_rest + scale * board.stiffness * board.rest) / np.maximum(
        own + scale * board.stiffness, 1e-12
    )
    assert model.qpos_spring == pytest.approx(np.where(own > 0.0, middle, board.rest))
    assert (board.saturated[over & (scale < 1.0)] == 1).all()


def test_a_blow_against_two_springs_is_the_blow_against_one_of_their_sum() -> None:
    """A model's own spring and a given one, side by side, rest where their torques cancel."""
    stage = StageLoop(Scene({"ada": CharacterSpec("torso28", self_collision=False)}, physics_hz=HZ, control_hz=HZ))
    board, joint = stage.board, stage.characters["ada"].joints["r_elbow_flexion"]
    board.own_stiffness[joint.id], board.own_rest[joint.qpos] = 30.0, 1.0
    board.law[joint.id], board.feed_bias[joint.id] = IMPEDANCE, 0
    board.stiffness[joint.dof], board.damping[joint.dof], board.rest[joint.qpos] = 60.0, 4.0, 0.4
    stage.advance(1)
    assert stage.model.jnt_stiffness[joint.id] == pytest.approx(90.0)
    assert stage.model.qpos_spring[joint.qpos] == pytest.approx(0.6)


@FEW
@given(body=st.sampled_from(["torso28", DRAGON]), seed=SEEDS)
def test_strength_is_metered_at_every_step_by_the_length_of_the_torque(body: str, seed: int) -> None:
    """Of any torques, here on joints that nobody drives: their length, also of a ball joint's, when, and how often."""
    rng, spec = np.random.default_rng(seed), CharacterSpec(body, at=(0.0, 0.0, 1.5), self_collision=False)
    stage = StageLoop(Scene({"ada": spec}, physics_hz=HZ, control_hz=HZ, ground=False))
    board, model, shares, times = stage.board, stage.model, [], []
    board.limit[:] = np.where(np.isfinite(board.limit), board.limit, 50.0)
    stage.advance(1)
    for _ in range(20):
        board.torque[:] = rng.normal(0.0, 0.6, model.nv) * board.limit
        stage.advance(1)
        squares = np.zeros(model.njnt)
        np.add.at(squares, model.dof_jntid, board.torque**2)
        shares.append(np.sqrt(squares) / board.limit[model.jnt_dofadr])
        times.append(stage.time)
    known, shares = model.jnt_type != mujoco.mjtJoint.mjJNT_FREE, np.array(shares)
    assert board.peak_share[known] == pytest.approx(shares.max(axis=0)[known])
    assert board.peak_time[known] == pytest.approx(np.array(times)[shares.argmax(axis=0)][known])
    assert (board.over_steps == (shares > 1.001).sum(axis=0))[known].all() and board.over_steps.any()


def test_an_eased_key_begins_with_a_share_of_its_acceleration() -> None:
    """Nothing jumps as a key begins: what is asked for grows from a period's share of the ease."""
    eased, plain = (asked_at_once(ease) for ease in (0.1, 0.0))
    assert eased == pytest.approx(plain / (0.1 * HZ), rel=1e-9)


def asked_at_once(ease: float) -> np.ndarray:
    """Return the accelerations asked for in the first step of a key under full coupling."""
    stage, _ = performing("torso28", "full", 3, velocity=False)
    stage.data.qvel[:] = 0.0
    stage.board.ease[:], stage.board.start_time[:] = ease, stage.time
    stage.advance(1)
    return stage.board.acceleration.copy()
