"""The world-space servo beside a second one, written down from the paper: torques, the root's help, and steering."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from stunt.control.beat.law import TIME_CONSTANTS
from stunt.control.servo.law import RootSpring, ServoSettings, stun_share
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import load_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

FLOORS = {"leg": 0.5, "arm": 0.1, "trunk": 0.0}
LEGS, ARMS = ("thigh", "shank", "foot", "toe"), ("arm", "hand", "clavicle")


def rotation(quat: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(quat, -1, axis=-1))


def follower(
    clip: str = "walk", settings: ServoSettings | None = None, root: RootSpring | None = None, *, ground: bool = True
) -> BodyActor:
    """Return somebody who follows a clip, thrown about a little."""
    stage = StageLoop(Scene({"a": CharacterSpec(clip, root="free")}, physics_hz=120.0, control_hz=120.0, ground=ground))
    motion = motion_of_clip(load_clip(clip), stage.character("a"))
    return follower_of(stage, "a", motion, settings=settings, root=root)


def shaken(actor: BodyActor, seed: int, root: float = 0.05) -> mujoco.MjData:
    """Run for a moment, throw the body about, and return the state it has then, kinematics done."""
    rng, stage = np.random.default_rng(seed), actor.stage
    stage.advance(int(rng.integers(8, 40)))
    tangent = rng.normal(0.0, 0.1, stage.model.nv)
    tangent[:6] = rng.normal(0.0, root, 6)
    mujoco.mj_integratePos(stage.model, stage.data.qpos, tangent, 1.0)
    stage.data.qvel[:] += rng.normal(0.0, 0.5, stage.model.nv)
    data = mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(stage.model, data)
    return data


class Rows:
    """What a follower reads at a moment."""

    def __init__(self, actor: BodyActor, time: float) -> None:
        rows, fps = actor.rows, actor.rows.fps
        self.turns, self.path, self.fps = rows.turns, rows.path, fps
        self.frame, self.half = (time - actor.started) * fps, 0.5 * actor.settings.look * fps

    def _between(self, values: np.ndarray, frame: float) -> np.ndarray:
        low = int(np.clip(np.floor(frame), 0, len(values) - 2))
        share = float(np.clip(frame - low, 0.0, 1.0))
        one, other = values[low], values[low + 1]
        if values.ndim == 3:
            other = np.where((one * other).sum(-1, keepdims=True) < 0.0, -other, other)
        mixed = (1.0 - share) * one + share * other
        return mixed / np.linalg.norm(mixed, axis=-1, keepdims=True) if values.ndim == 3 else mixed

    def turned(self, ahead: float = 0.0) -> np.ndarray:
        return self._between(self.turns, self.frame + ahead * self.half)

    def place(self) -> np.ndarray:
        return self._between(self.path, self.frame)

    def pace(self) -> np.ndarray:
        low = int(np.clip(np.floor(self.frame), 0, len(self.path) - 2))
        return (self.path[low + 1] - self.path[low]) * self.fps


def moments(model: mujoco.MjModel, first: int, end: int) -> np.ndarray:
    """Return what each bone's gains scale by: itself about its joint, and what hangs on it as points."""
    found, mass = np.zeros(model.nbody), model.body_subtreemass[first]
    for body in range(first + 1, end):
        hang = [b for b in range(body + 1, end) if model.body_parentid[b] == body]
        way = {b: np.linalg.norm(model.body_pos[b]) for b in hang}
        long = max([2.0 * np.linalg.norm(model.body_ipos[body]), *way.values()])
        own = model.body_inertia[body].max() + model.body_mass[body] * np.linalg.norm(model.body_ipos[body]) ** 2
        name = model.body(body).name
        part = "leg" if any(w in name for w in LEGS) else "arm" if any(w in name for w in ARMS) else "trunk"
        carried = sum(model.body_subtreemass[b] * way[b] ** 2 for b in hang)
        found[body] = max(own + carried, FLOORS[part] * mass * long**2)
    return found


def outboard(model: mujoco.MjModel, first: int, end: int, values: np.ndarray) -> np.ndarray:
    """Return the sum of values over each body and all that hangs on it."""
    total = values.copy()
    for body in range(end - 1, first, -1):
        if model.body_parentid[body] > first:
            total[model.body_parentid[body]] += total[body]
    return total


def seen(actor: BodyActor, data: mujoco.MjData, own: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return each bone's error at the end of the step, and velocity error, in the world, (nbody, 3) each."""
    stage, model = actor.stage, actor.stage.model
    first, h = actor.character.root_body, actor.stage.step_time
    rows = Rows(actor, stage.time + h)
    now, before, after = (rotation(rows.turned(k)) for k in (0, -1, 1))
    error, pace = np.zeros((model.nbody, 3)), np.zeros((model.nbody, 3))
    steer, leg = actor.program.steer, actor.program._leg
    for body in range(first + 1, first + len(now)):
        hang = int(model.body_parentid[body]) if own else first
        b, p = body - first, hang - first
        here, was, will = (turns[b] if p == 0 else turns[p].inv() * turns[b] for turns in (now, before, after))
        goal = rotation(data.xquat[hang]) * here
        if leg[body] and not own:
            x, y, z = 0.5 * steer[abs(leg[body])] * [leg[body] > 0, leg[body] > 0, 1.0]
            goal = Rotation.from_quat([x, y, z, 1.0]) * goal
        spin = rotation(data.xquat[hang]).apply((will * was.inv()).as_rotvec()) / actor.settings.look
        relative = data.cvel[body, :3] - data.cvel[hang, :3]
        error[body] = (goal * rotation(data.xquat[body]).inv()).as_rotvec() - h * relative
        pace[body] = spin - relative
    return error, pace


def end_of(actor: BodyActor) -> int:
    return max(actor.character.bodies.values()) + 1


@pytest.mark.parametrize("servo", ["world", "parent", "parent_equal"])
@pytest.mark.parametrize("seed", range(2))
def test_bones_are_pulled_to_their_orientation_and_joints_give_what_hangs_on_them(servo: str, seed: int) -> None:
    """τ = axis · Σ f over what hangs on a joint (in parent space, of its own bone); f = k₁Δ + k₂(ω_d − ω)."""
    settings = ServoSettings(servo=servo, limited=False, foresee=False, gain=0.7, steer=servo == "world")  # type: ignore[arg-type]
    actor = follower(settings=settings)
    data = shaken(actor, seed)
    model, first, end = actor.stage.model, actor.character.root_body, end_of(actor)
    # Legs are steered before bones are seen: what they are turned by is checked apart.
    guess = moments(model, first, end)
    inertia = outboard(model, first, end, guess) if servo == "parent" else guess
    assert actor.program.k1 == pytest.approx(inertia * 1600.0) and actor.program.k2 == pytest.approx(inertia * 80.0)
    state = actor.stage.save()
    actor.stage.advance(1)
    steer = actor.program.steer.copy()
    actor.stage.restore(state)
    saved, actor.program.steer[:] = actor.program.steer.copy(), steer
    error, pace = seen(actor, data, servo != "world")
    actor.program.steer[:] = saved
    force = 0.7 * (1600.0 * error + 80.0 * pace) * inertia[:, None]
    if servo == "world":
        force = outboard(model, first, end, force)
    actor.stage.advance(1)
    dofs = slice(6, model.nv)
    axes = data.cdof[dofs, :3]
    expected = (axes * force[model.dof_bodyid[dofs]]).sum(axis=1)
    assert actor.program._buffers["joint"][dofs] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_under_the_beat_law_every_joint_has_the_gains_of_what_it_moves(seed: int) -> None:
    settings = ServoSettings(servo="beat", limited=False, foresee=False, ahead=0.1, steer=False)
    actor = follower(settings=settings, root=RootSpring(kind="none"), ground=False)
    data, model = shaken(actor, seed), actor.stage.model
    error, pace = seen(actor, data, True)
    mass, rate = np.zeros((model.nv, model.nv)), TIME_CONSTANTS / 0.1
    mujoco.mj_fullM(model, data, mass)
    actor.stage.board.moment[:] = 0.0  # nothing is known of the step before
    actor.stage.advance(1)
    bias = data.qfrc_bias
    joint = actor.program._buffers["joint"]
    for body in range(actor.character.root_body + 1, end_of(actor)):
        dofs = [d for d in range(6, model.nv) if model.dof_bodyid[d] == body]
        force = np.zeros(3)
        for d in dofs:
            m = min(mass[d, d], actor.stage.board.limit[d] / (0.05 * rate**2))
            axis = data.cdof[d, :3]
            force += axis * (m * rate**2 * axis @ error[body] + 2.0 * m * rate * axis @ pace[body])
        for d in dofs:
            assert joint[d] == pytest.approx(data.cdof[d, :3] @ force + bias[d], rel=1e-6, abs=1e-5)


def helped(actor: BodyActor, data: mujoco.MjData, heading: bool) -> tuple[float, float, np.ndarray, np.ndarray]:
    """Return the inertia the root's gains scale by, its heading error, its error at the step's end, and of velocity."""
    model, first, end, h = actor.stage.model, actor.character.root_body, end_of(actor), actor.stage.step_time
    rows, here = Rows(actor, actor.stage.time), rotation(data.xquat[first])
    now, before, after = (rotation(rows.turned(k)[0]) for k in (0, -1, 1))
    error = (now * here.inv()).as_quat()
    yaw = (2.0 * np.arctan2(error[2], error[3]) + np.pi) % (2.0 * np.pi) - np.pi
    back = Rotation.identity() if heading else Rotation.from_rotvec([0.0, 0.0, -yaw])
    spin = (back * after * before.inv() * back.inv()).as_rotvec() / actor.settings.look
    arms = ((data.xipos[first:end] - data.xpos[first]) ** 2).sum(axis=1)
    whole = 0.7 * ((model.body_mass[first:end] * arms).sum() + model.body_inertia[first:end].max(axis=1).sum())
    turning = data.cvel[first, :3]
    return whole, yaw, (back * now * here.inv()).as_rotvec() - h * turning, spin - turning


@pytest.mark.parametrize("kind", ["weak", "clamped", "air", "yaw", "hook"])
@pytest.mark.parametrize("seed", range(2))
def test_the_roots_help_is_a_spring_on_its_tilt_with_its_limits(kind: str, seed: int) -> None:
    """P3 eq. 6–8: heading taken out, clamped at a share of m·g·h, a part of it in the air; yaw and force apart."""
    limit = {"clamped": 0.02}.get(kind, 50.0)
    spring = RootSpring(
        kind="hook" if kind == "hook" else "weak", limit=limit, breaks=1e3, air=0.25,
        yaw=0.1 if kind == "yaw" else 0.0, force=0.05 if kind == "yaw" else 0.0,
    )  # fmt: skip
    actor = follower("walk", root=spring, ground=kind != "air")
    data = shaken(actor, seed, 0.03)
    stage, model, first = actor.stage, actor.stage.model, actor.character.root_body
    mujoco.mj_kinematics(model, stage.data)
    actor.program.settle(actor.number, actor.settings, spring)  # the body is weighed in the pose it has
    touching = np.linalg.norm(stage.data.qfrc_constraint[:3]) > 0.02 * actor.weight
    assert touching == (kind != "air")
    rate, pull = (30.0, 30.0) if kind == "hook" else (20.0, 4.0)
    whole, yaw, error, pace = helped(actor, data, kind == "hook")
    torque, push = whole * (rate**2 * error + 2.0 * rate * pace), np.zeros(3)
    lever, rows = actor.weight * model.qpos0[2], Rows(actor, stage.time)
    if kind in ("hook", "yaw"):
        mass = actor.weight / 9.81
        push = mass * (pull**2 * (rows.place() - data.qpos[:3]) + 2.0 * pull * (rows.pace() - data.qvel[:3]))
    if kind != "hook":
        torque *= min(1.0, limit * lever / np.hypot(*torque[:2])) * (1.0 if touching else 0.25)
        torque[2], push[2] = 0.0, 0.0
    if kind == "yaw":
        turn = 0.3 * whole * (rate**2 * yaw + 2.0 * rate * pace[2])
        torque[2] = np.clip(turn, -0.1 * lever, 0.1 * lever)
        push *= min(1.0, 0.05 * actor.weight / np.linalg.norm(push))
    stage.advance(1)
    who = actor.program.actors[actor.number]
    assert who["torque"] == pytest.approx(torque, rel=1e-5, abs=1e-4)
    assert who["force"] == pytest.approx(push, rel=1e-5, abs=1e-4)
    applied = stage.data.qfrc_applied[:6]
    turned = rotation(data.xquat[first]).inv().apply(torque)
    assert applied == pytest.approx([*push, *turned], rel=1e-5, abs=1e-4)


def test_help_is_metered_step_by_step() -> None:
    actor = follower("walk", root=RootSpring(yaw=0.2, force=0.1))
    torques, forces = [], []
    for _ in range(90):
        actor.stage.advance(1)
        who = actor.program.actors[actor.number]
        torques.append(np.linalg.norm(who["torque"]))
        forces.append(np.linalg.norm(who["force"]))
    used, h = actor.assistance(), actor.stage.step_time
    lever = actor.weight * actor.stage.model.qpos0[2]
    assert used.torque_mean * lever == pytest.approx(np.mean(torques))
    assert used.torque_peak * lever == pytest.approx(max(torques))
    assert used.force_mean * actor.weight == pytest.approx(np.mean(forces))
    assert used.force_peak * actor.weight == pytest.approx(max(forces))
    assert used.impulse == pytest.approx(h * sum(forces)) and used.angular_impulse == pytest.approx(h * sum(torques))
    assert min(max(torques), max(forces)) > 1.0


def test_a_leg_that_swings_is_turned_toward_the_clips_place_and_back_while_it_stands() -> None:
    actor = follower("walk")
    stage, program, h = actor.stage, actor.program, actor.stage.step_time
    rng, legs = np.random.default_rng(3), actor.rows.legs + actor.character.root_body
    swung = stood = 0
    for _ in range(60):
        stage.advance(1)
        stage.data.qpos[:2] += rng.normal(0.0, 0.03, 2)
        frame = (stage.time + h - actor.started) * actor.rows.fps
        low, share = int(frame), frame - int(frame)
        air = (1.0 - share) * actor.rows.swing[low] + share * actor.rows.swing[low + 1]
        off = Rows(actor, stage.time + h).place()[:2] - stage.data.qpos[:2]
        off *= min(1.0, 0.05 / np.linalg.norm(off))
        before, data = program.steer.copy(), mujoco.MjData(stage.model)
        data.qpos[:] = stage.data.qpos
        mujoco.mj_kinematics(stage.model, data)
        stage.advance(1)
        heading = np.clip(program.actors[actor.number]["heading"], -0.08, 0.08)
        for k, (thigh, foot, _) in enumerate(legs):
            tall = max(data.xpos[thigh, 2] - data.xpos[foot, 2], 0.3)
            goal = air[k] * np.array([off[1] / tall, -off[0] / tall, heading])
            foot_goes = Rotation.from_rotvec([goal[0], goal[1], 0.0]).apply([0.0, 0.0, -tall])[:2]
            assert foot_goes == pytest.approx(air[k] * off, abs=1e-3)
            rate = min(1.0, h / (air[k] * 0.06 + (1.0 - air[k]) * 0.15))
            assert program.steer[thigh] == pytest.approx(before[thigh] + rate * (goal - before[thigh]), abs=1e-9)
            swung, stood = swung + (air[k] > 0.9), stood + (air[k] < 0.1)
    assert swung and stood


def test_a_stun_sinks_holds_and_comes_back() -> None:
    share = lambda since: stun_share(since, 0.9, 0.2, 0.1, 0.3, 1.0)  # noqa: E731
    assert share(0.0) == pytest.approx(0.9) and share(0.05) == pytest.approx(0.55) and share(0.1) == pytest.approx(0.2)
    assert share(0.25) == share(0.39) == pytest.approx(0.2)
    assert share(0.9) == pytest.approx(0.6) and share(1.4) == pytest.approx(1.0) and share(9.0) == 1.0


def test_a_stun_weakens_bones_and_the_roots_help_alike() -> None:
    torques = []
    for low in (1.0, 0.25):
        actor = follower(
            "walk", root=RootSpring(limit=50.0, breaks=1e3), settings=ServoSettings(limited=False, foresee=False)
        )
        actor.stage.step(0.2)
        actor.program.stun(actor.number, actor.stage.time - 1.0, down=0.1, hold=5.0, up=1.0, low=low)
        actor.stage.data.qvel[:] = 0.0
        actor.stage.advance(1)
        who = actor.program.actors[actor.number]
        torques.append((who["torque"].copy(), actor.program._buffers["joint"][6:].copy()))
    assert torques[1][0] == pytest.approx(0.25 * torques[0][0]) and torques[1][1] == pytest.approx(0.25 * torques[0][1])


def test_weights_that_were_lowered_come_back_once_there_is_room() -> None:
    actor = follower("jump", settings=ServoSettings())
    actor.strength(1.0)
    limit = actor.stage.board.limit.copy()
    actor.stage.board.limit[6:] = 0.3 * limit[6:]
    actor.stage.step(0.5)
    body = slice(actor.character.root_body, end_of(actor))
    assert actor.program.weight[body].min() < 0.5
    actor.stage.board.limit[6:] = 20.0 * limit[6:]
    actor.stage.step(0.5)
    assert actor.program.weight[body] == pytest.approx(1.0)
