"""The adaptive law beside a second one, written down from the paper: whatever state a joint or a site is in."""

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from stunt.control.adaptive.law import adapt, bare, learn, model_step, model_transition, outside
from stunt.control.adaptive.memory import AdaptiveProgram
from stunt.drive.paths.follower import Follower
from stunt.motion.trajectory import Trajectory
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

HZ = 240.0


def modelled(x, v, xd, vd, ad, lam, ratio, h):
    """Return the model a period later: ẍ_m = ẍ_d + 2ζλ(ẋ_d − ẋ_m) + λ²(x_d − x_m), integrated."""

    def slope(t, s):
        wanted, pace = xd + vd * t + 0.5 * ad * t * t, vd + ad * t
        return [s[1], ad + 2.0 * ratio * lam * (pace - s[1]) + lam**2 * (wanted - s[0])]

    return solve_ivp(slope, (0.0, h), [x, v], rtol=1e-11, atol=1e-13).y[:, -1]


def learned(gains, x, w, r, y, lam, h, frozen):
    """Return the four gains a period later, and Σ Kφ."""
    gains, phi = np.array(gains), np.array([4.0 * x, 4.0 * w, 4.0 * r, 1.0])
    if not frozen:
        over = np.sign(y) * max(abs(y) - 1e-4 * lam**2, 0.0)
        push = 4.0 * lam * h * over * phi / (phi @ phi)
        push[3] = min(160.0 * lam * h, 16.0) * y
        bound = np.array([20.0, 20.0, 20.0, 1000.0]) * lam**2
        leak = np.where(np.abs(gains) > bound, 2.0 * (gains - np.sign(gains) * bound), 0.0)
        gains = gains + push - lam * h * (np.array([0.01, 0.01, 0.01, 0.0]) * gains + leak)
    return gains, gains @ phi


@pytest.mark.parametrize("seed", range(8))
def test_the_reference_model_is_the_papers_equation_integrated(seed):
    rng = np.random.default_rng(seed)
    lam, ratio, h = rng.uniform(2.0, 40.0), rng.choice([0.3, 1.0, 2.5]), rng.uniform(0.001, 0.02)
    state = rng.normal(size=5)
    later = model_step(*state, h, model_transition(lam, ratio, h))
    assert later == pytest.approx(modelled(*state, lam, ratio, h), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_gains_learn_fade_leak_and_freeze_as_written_down(seed):
    rng = np.random.default_rng(seed)
    lam, h = rng.uniform(4.0, 40.0), rng.choice([1 / 120, 1 / 480])
    gains = rng.normal(size=4) * lam**2 * rng.choice([0.1, 30.0, 3000.0])
    x, w, r, y = rng.normal(size=4) * [1.0, 1.0, 1.0, rng.choice([1e-5, 1.0]) * lam**2]
    for frozen in (False, True):
        mine = gains.copy()
        found = adapt(mine, 0, x, w, r, y, lam, h, frozen)
        expected, total = learned(gains, x, w, r, y, lam, h, frozen)
        assert mine == pytest.approx(expected, rel=1e-12) and found == pytest.approx(total, rel=1e-12)


def test_the_dead_zone_is_cut_out_of_the_middle_and_continuous():
    y = np.linspace(-1.0, 1.0, 401)
    found = np.array([outside(value, 50.0) for value in y])
    assert found == pytest.approx(np.sign(y) * np.maximum(np.abs(y) - 0.25, 0.0), abs=1e-12)


def test_a_gain_past_its_bound_leaks_back_to_it_and_one_inside_only_fades():
    for start, forgetting, end in ((5.0, 0.0, 2.0), (-5.0, 0.0, -2.0), (1.5, 0.0, 1.5), (1.5, 0.1, 0.0)):
        gain = np.array([start])
        for _ in range(20000):
            learn(gain, 0, 0.0, 0.01, 2.0, forgetting)
        assert gain[0] == pytest.approx(end, abs=1e-6)


def test_the_bare_form_is_the_papers_integrals_and_proportional_terms():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gains, (x, v, r, y), h = rng.normal(size=3), rng.normal(size=4), 0.01
        phi, mine = np.array([x, v, r]), gains.copy()
        found = bare(mine, x, v, r, y, h, False)
        expected = gains + 10.0 * h * y * phi
        assert mine == pytest.approx(expected) and found == pytest.approx(expected @ phi + y * phi @ phi)
        assert bare(gains.copy(), x, v, r, y, h, True) == pytest.approx(gains @ phi + y * phi @ phi)


def driven(names, seed):
    """Return a stage on which joints are on random cubics, in a random state, and that state's randomness."""
    rng = np.random.default_rng(seed)
    stage = StageLoop(Scene({"ada": CharacterSpec("torso28", self_collision=False)}, physics_hz=HZ, control_hz=HZ))
    follower = Follower(stage, "ada")
    for name in names:
        path = Trajectory.through(np.arange(4) * 0.3, rng.uniform(0.0, 0.5, 4))
        follower.joint(name, path, settling=rng.uniform(0.1, 0.6), damping=rng.choice([0.7, 1.0, 1.5]))
    stage.advance(int(rng.integers(30, 100)))
    stage.data.qpos[:] += rng.normal(0.0, 0.05, stage.model.nq)
    stage.data.qvel[:] = rng.normal(0.0, 0.5, stage.model.nv)
    return stage, follower, rng


@pytest.mark.parametrize("seed", range(6))
def test_a_joints_spring_is_the_law_at_the_end_of_the_step(seed):
    """u = m·[ẍ_m + λ²e + 2λė + βy + Σ Kφ], as an implicit spring toward where the model will be, and a push."""
    names = ("r_shoulder_flexion", "r_elbow_flexion", "lumbar_flexion")
    stage, follower, rng = driven(names, seed)
    board, program, h = stage.board, follower.program, 1.0 / HZ
    rows = {name: program._joint[program.joints.index(follower.character.joints[name].id)] for name in names}
    for row in rows.values():
        row["gains"] = rng.normal(size=4) * row["lam"] ** 2 * rng.choice([0.1, 30.0])
        dof = int(row["dof"])
        board.saturated[dof], board.torque[dof] = rng.integers(0, 2), rng.normal()
    before = {name: row.copy() for name, row in rows.items()}
    x, v, moment = stage.data.qpos.copy(), stage.data.qvel.copy(), board.moment.copy()
    saturated, torque = board.saturated.copy(), board.torque.copy()
    pieces = {name: follower._joints[name][0].pieces(0.0, 2.0) for name in names}
    wanted = {name: [float(part[0]) for part in pieces[name].at(stage.time)] for name in names}
    stage.advance(1)
    for name, old in before.items():
        new, (xd, vd, ad), q, i = rows[name], wanted[name], int(old["qpos"]), int(old["dof"])
        lam, ratio, m = float(old["lam"]), float(old["ratio"]), moment[i]
        e, de = old["model"] - x[q], old["model_rate"] - v[i]
        y, r = lam**2 * e + lam * de, xd + 2.0 * ratio * vd / lam + ad / lam**2
        later = modelled(float(old["model"]), float(old["model_rate"]), xd, vd, ad, lam, ratio, h)
        frozen = bool(saturated[i]) and torque[i] * y > 0.0
        gains, push = learned(old["gains"], x[q], v[i] / lam, r, y, lam, h, frozen)
        assert [new["model"], new["model_rate"]] == pytest.approx(later, rel=1e-7, abs=1e-9)
        assert new["gains"] == pytest.approx(gains, rel=1e-9)
        assert board.stiffness[i] == pytest.approx(49.0 * m * lam**2)
        assert board.damping[i] == pytest.approx(50.0 * m * lam)
        # A spring to `rest` and a damper to rest are a spring to the model and a damper to its velocity.
        assert board.rest[q] == pytest.approx(later[0] + later[1] * board.damping[i] / board.stiffness[i], rel=1e-7)
        expected = m * ((later[1] - old["model_rate"]) / h + push)
        assert board.feed_forward[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert new["error"] == pytest.approx(xd - x[q]) and new["steps"] == old["steps"] + 1
        assert new["squares"] - old["squares"] == pytest.approx((xd - x[q]) ** 2)
        assert new["worst"] == pytest.approx(max(old["worst"], abs(xd - x[q])))


ARM = """<mujoco><worldbody><body name="base"><inertial pos="0 0 0" mass="5" diaginertia=".1 .1 .1"/><freejoint/>
<body name="upper"><joint name="shoulder" type="ball"/>
<geom type="capsule" fromto="0 0 0 .3 .05 0" size=".04" mass="2"/>
<body name="lower" pos=".3 .05 0"><joint name="elbow" type="ball"/>
<geom type="capsule" fromto="0 0 0 0 .3 .1" size=".03" mass="1"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("seed", range(6))
def test_a_ball_joints_spring_is_the_law_of_each_of_its_parents_axes(seed):
    rng = np.random.default_rng(seed)
    spec = CharacterSpec(mujoco.MjSpec.from_string(ARM), at=(0, 0, 2), self_collision=False, strength=30.0)
    control = HZ / int(rng.integers(1, 3))
    stage = StageLoop(Scene({"ada": spec}, physics_hz=HZ, control_hz=control))
    follower, share = Follower(stage, "ada"), 0.5 + 0.5 * control / HZ
    for name in ("shoulder", "elbow"):
        turns = Rotation.from_rotvec(rng.normal(size=(4, 3)) * 0.4).as_quat()[:, [3, 0, 1, 2]]
        path = Trajectory.through(np.arange(4) * 0.3, turns)
        follower.joint(name, path, settling=rng.uniform(0.1, 0.6), damping=rng.choice([0.7, 1.0, 1.5]))
    stage.advance(2 * int(rng.integers(15, 50)))
    stage.data.qvel[:] = rng.normal(0.0, 0.5, stage.model.nv)
    board, rows, h = stage.board, follower.program._ball, 1.0 / control
    rows["turn_gains"] = rng.normal(size=(2, 12)) * 100.0
    board.saturated[:], board.torque[:] = rng.integers(0, 2, 6), rng.normal(size=6)
    before, x, v = rows.copy(), stage.data.qpos.copy(), stage.data.qvel.copy()
    moment, saturated, torque, time = board.moment.copy(), board.saturated.copy(), board.torque.copy(), stage.time
    stage.advance(1)
    for n, name in enumerate(("shoulder", "elbow")):
        old, new, q, own = before[n], rows[n], int(before[n]["qpos"]), slice(3 * n, 3 * n + 3)
        lam, ratio, m = float(old["lam"]), float(old["ratio"]), moment[own].max()
        pieces = follower._joints[name][0].pieces(0.0, 2.0)
        value, change, bend = pieces.at(time)
        size = np.linalg.norm(value)
        back = value / size * [1, -1, -1, -1]
        wd, ad = 2.0 * product(change / size, back), 2.0 * product(bend / size, back)
        now, model, path = rotation(x[q : q + 4]), rotation(old["model_turn"]), rotation(value / size)
        e, away = (model * now.inv()).as_rotvec(), (model * path.inv()).as_rotvec()
        spin, end, push = now.apply(v[own]), np.zeros((3, 2)), np.zeros(3)
        held = now.apply(torque[own]) * saturated[own].any()
        for k in range(3):
            y = lam**2 * e[k] + lam * (old["model_spin"][k] - spin[k])
            gains = old["turn_gains"][4 * k : 4 * k + 4]
            gains, push[k] = learned(gains, 0.0, spin[k] / lam, 0.0, y, lam, h, held[k] * y > 0.0)
            assert new["turn_gains"][4 * k : 4 * k + 4] == pytest.approx(gains, rel=1e-7)
            end[k] = modelled(away[k], old["model_spin"][k] - wd[k], 0.0, 0.0, 0.0, lam, ratio, h)
        later = Rotation.from_rotvec(end[:, 0]) * Rotation.from_rotvec(h * (wd + 0.5 * h * ad)) * path
        pace = wd + h * ad + end[:, 1]
        assert (rotation(new["model_turn"]) * later.inv()).magnitude() < 1e-6
        assert new["model_spin"] == pytest.approx(pace, rel=1e-6, abs=1e-8)
        assert board.stiffness[own] == pytest.approx(49.0 * m * lam**2)
        assert board.damping[own] == pytest.approx(50.0 * m * lam)
        # A damper to rest beside a spring that leads by its drag is a damper to the model's spin.
        middle = pace - (1.0 - share) * (pace - old["model_spin"])
        rest = Rotation.from_rotvec(middle * (50.0 / 49.0 / lam - (1.0 - share) * h)) * later
        assert (rotation(board.rest[q : q + 4]) * rest.inv()).magnitude() < 1e-6
        pushed = moment[own] * now.inv().apply((pace - old["model_spin"]) / h) + m * now.inv().apply(push)
        assert board.feed_forward[own] == pytest.approx(pushed, rel=1e-6, abs=1e-6)
        off = (path * now.inv()).magnitude()
        assert new["turn_error"] == pytest.approx(off) and new["steps"] == old["steps"] + 1
        assert new["turn_squares"] - old["turn_squares"] == pytest.approx(off**2)
        assert new["turn_worst"] == pytest.approx(max(old["turn_worst"], off**2))


def rotation(quat):
    return Rotation.from_quat(np.asarray(quat)[[1, 2, 3, 0]])


def product(a, b):
    """Return the vector part of a⊗b."""
    return a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])


def asked(e, de, lam, h):
    """Return λ²e + 2λė + βy taken at the end of the step it causes: a = k(e + hė − h²a) + d(ė − ha)."""
    k, d = 49.0 * lam**2, 50.0 * lam
    return (k * (e + h * de) + d * de) / (1.0 + h * d + h * h * k)


@pytest.mark.parametrize(("placed", "turned"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("of", ["site", "body"])
def test_a_string_pulls_with_the_inertia_the_site_has_and_its_force_reaches_the_joints(placed, turned, seed, of):
    stage, follower, rng = driven(("lumbar_flexion",), seed)
    model, site, h = stage.model, follower.character.sites["r_palm"], 1.0 / HZ
    body = int(model.site_bodyid[site])
    if of == "body":  # its own frame
        site = -1 - body

    def frame(data):
        return (data.xpos[body], data.xmat[body]) if site < 0 else (data.site_xpos[site], data.site_xmat[site])

    breaks, start = np.array([0.0, 1.0]), frame(stage.data)[0].copy()
    place = rng.normal(size=(1, 3, 4)) * 0.3
    place[0, :, 3] = start
    turn = rng.normal(size=(1, 4, 4)) * 0.2
    turn[0, :, 3] = Rotation.from_matrix(frame(stage.data)[1].reshape(3, 3)).as_quat()[[3, 0, 1, 2]]
    paths = ((breaks, place) if placed else None, (breaks, turn) if turned else None)
    limit = float(rng.choice([5.0, 1e5]))
    follower.program.drive_site(site, rng.uniform(0.2, 0.6), *paths, limit, float(rng.choice([0.7, 1.0])))
    row = follower.program._site[0]
    row["gains"], row["turn_gains"] = rng.normal(size=12) * 20.0, rng.normal(size=12) * 20.0
    row["model"] += rng.normal(size=3) * 0.02
    row["model_rate"], row["model_spin"] = rng.normal(size=3) * 0.3, rng.normal(size=3) * 0.3
    row["model_turn"] = (Rotation.from_rotvec(rng.normal(size=3) * 0.1) * rotation(row["model_turn"])).as_quat()[
        [3, 0, 1, 2]
    ]
    old, time = row.copy(), stage.time
    seen = mujoco.MjData(model)
    seen.qpos[:], seen.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(model, seen)
    linear, angular, mass = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
    mujoco.mj_jac(model, seen, linear, angular, frame(seen)[0], body)
    mujoco.mj_fullM(model, seen, mass)
    lam, ratio, ask, rows = float(old["lam"]), float(old["ratio"]), [], []
    powers = [
        np.array(p) for p in ([time**3, time**2, time, 1.0], [3 * time**2, 2 * time, 1.0, 0], [6 * time, 2, 0, 0])
    ]
    if placed:
        rows.append(linear)
        xd, vd, ad = (place[0] @ p for p in powers)
        x, v = frame(seen)[0], linear @ seen.qvel
        for k in range(3):
            e, de = old["model"][k] - x[k], old["model_rate"][k] - v[k]
            r = xd[k] + 2.0 * ratio * vd[k] / lam + ad[k] / lam**2
            origin, y = old["origin"][k], lam**2 * e + lam * de
            gains, push = learned(
                old["gains"][4 * k : 4 * k + 4], x[k] - origin, v[k] / lam, r - origin, y, lam, h, False
            )
            later = modelled(old["model"][k], old["model_rate"][k], xd[k], vd[k], ad[k], lam, ratio, h)
            ask.append((later[1] - old["model_rate"][k]) / h + asked(e, de, lam, h) + push)
    if turned:
        rows.append(angular)
        size = np.linalg.norm(turn[0] @ powers[0])
        q, dq, ddq = (turn[0] @ p / size for p in powers)
        back = q * [1, -1, -1, -1]
        wd, ad = 2.0 * product(dq, back), 2.0 * product(ddq, back)
        now = Rotation.from_matrix(frame(seen)[1].reshape(3, 3))
        modelled_turn, path = rotation(old["model_turn"]), rotation(q)
        e, away = (modelled_turn * now.inv()).as_rotvec(), (modelled_turn * path.inv()).as_rotvec()
        v, end = angular @ seen.qvel, np.zeros((3, 2))
        for k in range(3):
            de = old["model_spin"][k] - v[k]
            y = lam**2 * e[k] + lam * de
            _, push = learned(old["turn_gains"][4 * k : 4 * k + 4], 0.0, v[k] / lam, 0.0, y, lam, h, False)
            end[k] = modelled(away[k], old["model_spin"][k] - wd[k], 0.0, 0.0, 0.0, lam, ratio, h)
            spin = wd[k] + h * ad[k] + end[k, 1]
            ask.append((spin - old["model_spin"][k]) / h + asked(e[k], de, lam, h) + push)
        later_turn = Rotation.from_rotvec(end[:, 0]) * Rotation.from_rotvec(h * (wd + 0.5 * h * ad)) * path
    jacobian = np.concatenate(rows)
    mobility = jacobian @ np.linalg.solve(mass, jacobian.T)
    for half in range(len(ask) // 3):
        part = slice(3 * half, 3 * half + 3)
        most = mobility[part, part].diagonal().max()
        mobility[range(3 * half, 3 * half + 3), range(3 * half, 3 * half + 3)] += 1e-4 * most + 1e-9
    force = np.linalg.solve(mobility, ask)
    size = np.linalg.norm(force[:3])
    force *= min(1.0, limit / size)
    stage.advance(1)
    first = 0 if placed else 3
    assert row["force"][first : first + len(force)] == pytest.approx(force, rel=1e-6, abs=1e-6)
    assert stage.board.pull == pytest.approx(jacobian.T @ force, rel=1e-6, abs=1e-6)
    assert bool(row["frozen"]) == (size > limit) == bool(row["limited"])
    if placed:
        assert row["impulse"] == pytest.approx(h * np.linalg.norm(force[:3]), rel=1e-6)
        assert row["peak"] == pytest.approx(np.linalg.norm(force[:3]), rel=1e-6)
        assert row["error"] == pytest.approx(np.linalg.norm(xd - x))
        assert row["squares"] == pytest.approx(row["error"] ** 2) and row["worst"] == pytest.approx(row["squares"])
    if turned:
        assert row["twist"] == pytest.approx(h * np.linalg.norm(force[-3:]), rel=1e-6)
        assert row["turn_error"] == pytest.approx((path * now.inv()).magnitude())
        assert (rotation(row["model_turn"]) * later_turn.inv()).magnitude() < 1e-6


def test_what_a_joint_learned_at_its_limit_does_not_fling_it_once_it_is_let_go():
    """An arm held back for two seconds: nothing is wound up in it that it would have to live down."""
    stage = StageLoop(Scene({"ada": CharacterSpec("torso28", self_collision=False)}, physics_hz=HZ, control_hz=HZ))
    follower = Follower(stage, "ada")
    joint = follower.character.joints["r_elbow_flexion"]
    follower.joint("r_elbow_flexion", Trajectory.through([0.0], [1.0]), settling=0.3)
    dof, most, gain = joint.dof, float(stage.board.limit[joint.dof]), 0.0
    strong = most / float(stage.board.moment[dof] or 0.06)
    for _ in range(round(2.0 * HZ)):
        stage.data.qpos[joint.qpos], stage.data.qvel[dof] = 0.2, 0.0
        stage.advance(1)
        gain = max(gain, abs(float(follower.program.gains(joint.id)[3])))
    assert stage.board.saturated_steps[dof] > HZ and gain < 3.0 * strong
    highest = 0.0
    for _ in range(round(1.5 * HZ)):
        stage.advance(1)
        highest = max(highest, float(stage.data.qpos[joint.qpos]))
    print(f"overshoots by {np.degrees(highest - 1.0):.1f}°, gain {gain:.0f} of {strong:.0f} that it could use")
    assert np.degrees(highest - 1.0) < 5.0 and abs(stage.data.qpos[joint.qpos] - 1.0) < 0.02


def test_a_program_takes_its_place_on_the_board_once():
    stage = StageLoop(Scene({"ada": CharacterSpec("torso28")}))
    one = stage.board.companion(AdaptiveProgram, stage.model, stage.data, stage.board)
    assert stage.board.companion(AdaptiveProgram, stage.model, stage.data, stage.board) is one
