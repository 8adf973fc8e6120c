"""Laws of the world-space servo: whatever it does to the engine's matrices, the body obeys Newton with its torques."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

from stunt.control.servo.law import RootSpring, ServoSettings
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import find_clip
from stunt.library.read import read_clip
from stunt.maths.flat import world_difference
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene

EXTERNAL = ServoSettings(external=True)


def follower(
    clip: str,
    *,
    strength: float = 1.0,
    settings: ServoSettings | None = None,
    root: RootSpring | None = None,
    hz: float = 120.0,
    ground: bool = True,
) -> BodyActor:
    """Return a body of one of Stunt's own clips that follows it; without a ground it falls."""
    path = find_clip(clip)
    body = CharacterSpec(str(path), root="free", strength=strength)
    stage = StageLoop(Scene({"a": body}, physics_hz=hz, control_hz=hz, ground=ground))
    motion = motion_of_clip(read_clip(path), stage.character("a"))
    return follower_of(stage, "a", motion, settings=settings, root=root)


def momentum(tracker: BodyActor) -> np.ndarray:
    """Return the whole body's angular momentum about its centre of mass [kg·m²/s]."""
    model, data = tracker.stage.model, tracker.stage.data
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    return np.array(data.subtree_angmom[tracker.character.root_body])


def unexplained(tracker: BodyActor, plain: mujoco.MjModel) -> float:
    """Take a step; return by how much its motion is not explained by the forces that are on record [N·m]."""
    stage, data = tracker.stage, mujoco.MjData(plain)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(plain, data)
    before = stage.data.qvel.copy()
    stage.advance(1)
    gained = (stage.data.qvel - before) / stage.step_time
    mass, root = np.zeros((plain.nv, plain.nv)), tracker.character.root
    assert root is not None
    mujoco.mj_fullM(plain, data, mass)
    forces = stage.board.torque.copy()
    forces[root.dof : root.dof + 6] = stage.data.qfrc_applied[root.dof : root.dof + 6]
    flesh = -stage.board.own_damping * stage.data.qvel  # as the engine would: at the end of the step
    rest = mass @ gained - (forces + flesh - data.qfrc_bias + stage.data.qfrc_constraint)
    return float(np.abs(rest).max())


@pytest.mark.parametrize("servo", ["world", "parent", "beat", "external"])
@pytest.mark.parametrize(("clip", "strength"), [("walk", 1.0), ("jump", 0.5)])
def test_every_step_is_explained_by_the_torques_on_the_board(clip: str, strength: float, servo: str) -> None:
    """The body's own inertia and damping, gravity, contacts, and the torques that are said to have been produced."""
    settings = EXTERNAL if servo == "external" else ServoSettings(servo=servo)  # type: ignore[arg-type]
    tracker = follower(clip, strength=strength, settings=settings)
    plain = copy.deepcopy(tracker.stage.model)
    plain.dof_damping[:] = 0.0
    tracker.stage.model.opt.tolerance, tracker.stage.model.opt.iterations = 0.0, 200  # else contacts explain it roughly
    worst, weakened, repeats = 0.0, 0, 0
    for _ in range(120):
        worst = max(worst, unexplained(tracker, plain))
        weakened += int((tracker.program.weight < 1.0).any())
        repeats += int(tracker.stage.board.counts["repeats"][0])
    print(f"{clip}, {servo}: {worst:.1e} N·m unexplained; weakened {weakened}, taken again {repeats} times")
    assert worst < 1e-6
    assert strength == 1.0 or (weakened > 0 and repeats > 0)  # weak joints: both ways of keeping to it are used


@pytest.mark.parametrize("yaw", [0.0, 1.0])
def test_what_turns_a_body_from_outside_is_what_the_external_form_says_it_gave(yaw: float) -> None:
    """Falling, angular momentum changes by the metered torque alone: none about the vertical unless that is held."""
    drifts, given = [], np.zeros(3)
    for hz in (120.0, 960.0):
        tracker = follower("walk", settings=EXTERNAL, root=RootSpring(yaw=yaw), hz=hz, ground=False)
        stage, who = tracker.stage, tracker.program.actors[tracker.number]
        before, given = momentum(tracker), np.zeros(3)
        for _ in range(round(0.5 * hz)):
            stage.advance(1)
            given += who["torque"] * stage.step_time
        drifts.append(float(np.linalg.norm(momentum(tracker) - before - given)))
    print(f"given {given} kg·m²/s, unexplained at 120 and 960 Hz: {drifts}")
    assert np.linalg.norm(given) > 1.0 and drifts[1] < max(0.3 * drifts[0], 0.05)
    assert (abs(given[2]) > 1e-3) == (yaw > 0.0)


def test_the_external_form_damps_a_body_that_turns_as_a_whole() -> None:
    """Seen from the root nothing moves: only dampers against the world take the turning away, beside the spring."""
    kept = {}
    for name, settings in (("internal", ServoSettings()), ("external", EXTERNAL)):
        tracker = follower("idle", settings=settings, root=RootSpring(omega=0.5, air=1.0), ground=False)
        root, data = tracker.character.root, tracker.stage.data
        assert root is not None
        data.qvel[:] = 0.0
        data.qvel[root.dof + 3 : root.dof + 6] = (0.5, 0.0, 0.0)
        before = np.linalg.norm(momentum(tracker))
        tracker.stage.step(0.1)
        kept[name] = np.linalg.norm(momentum(tracker)) / before
    print(f"angular momentum left after 0.1 s: {kept}")
    assert kept["internal"] > 0.9 and kept["external"] < 0.6


def test_where_nothing_holds_the_root_the_external_form_is_the_internal_one() -> None:
    ends = []
    for settings in (EXTERNAL, ServoSettings(foresee=False)):
        tracker = follower("walk", settings=settings, root=RootSpring(kind="none"))
        tracker.stage.step(0.5)
        assert tracker.assistance().torque_peak == 0.0
        ends.append(tracker.stage.data.qpos.copy())
    assert np.allclose(ends[0], ends[1], atol=1e-9)


def test_a_broken_spring_gives_nothing_from_outside_and_the_body_falls() -> None:
    tracker = follower("idle", settings=EXTERNAL, root=RootSpring(breaks=0.2))
    root, stage = tracker.character.root, tracker.stage
    assert root is not None
    stage.data.qvel[root.dof + 3 : root.dof + 6] = (0.0, 12.0, 0.0)
    stage.data.qvel[root.dof] = 4.0
    stage.step(1.5)
    assert tracker.broken_for > 0.3 and stage.data.qpos[root.qpos + 2] < 0.5
    assert not tracker.program.actors[tracker.number]["torque"].any()


@pytest.mark.parametrize("servo", ["world", "parent", "beat"])
def test_joints_keep_to_their_strength_where_the_clip_asks_for_more(servo: str) -> None:
    tracker = follower("jump", strength=0.5, settings=ServoSettings(servo=servo))  # type: ignore[arg-type]
    tracker.stage.step(1.5)
    print(tracker.limit_use)
    assert tracker.limit_use["over_share"] <= 0.002 and tracker.limit_use["worst"] <= 1.5


@pytest.mark.parametrize("ahead", [0.2, 0.4])
def test_under_the_beat_law_a_joint_that_is_off_is_back_within_the_time_it_looks_ahead(ahead: float) -> None:
    """Nine tenths of an error are gone then (P0's n); joints move one another, so the elbow is looked at alone."""
    tracker = follower("idle", settings=ServoSettings(servo="beat", ahead=ahead), root=RootSpring(kind="hook"))
    stage, elbow = tracker.stage, tracker.character.joint("l_elbow")
    stage.step(0.5)
    rest = stage.data.qpos[elbow.qpos : elbow.qpos + 4].copy()
    mujoco.mju_quatIntegrate(stage.data.qpos[elbow.qpos : elbow.qpos + 4], np.array([0.3, 0.0, 0.0]), 1.0)
    stage.step(ahead)
    left = np.zeros(3)
    mujoco.mju_subQuat(left, stage.data.qpos[elbow.qpos : elbow.qpos + 4], rest)
    print(f"T = {ahead} s: {np.linalg.norm(left) / 0.3:.3f} of the error left")
    assert 0.04 < np.linalg.norm(left) / 0.3 < 0.16


@pytest.mark.parametrize("servo", ["world", "parent", "beat"])
def test_a_change_of_motion_is_blended_whatever_the_servo(servo: str) -> None:
    tracker = follower("idle", settings=ServoSettings(servo=servo))  # type: ignore[arg-type]
    stage, fastest = tracker.stage, 0.0
    stage.step(0.3)
    other = motion_of_clip(read_clip(find_clip("punch")), tracker.character)
    tracker.follow(other, blend=0.4)
    for _ in range(60):
        stage.advance(1)
        fastest = max(fastest, float(np.abs(stage.data.qvel[6:]).max()))
    print(f"{servo}: fastest joint {fastest:.1f} rad/s")
    assert fastest < 25.0 and stage.data.qpos[2] > 0.7


def test_damping_is_the_servos_while_it_drives_and_the_bodys_own_when_it_lets_go() -> None:
    tracker = follower("idle")
    own, model = tracker.stage.board.own_damping, tracker.stage.model
    tracker.stage.step(0.1)
    assert own[6:].all() and not model.dof_damping[6:].any()
    tracker.go_limp()
    assert np.array_equal(model.dof_damping, own)


@pytest.mark.parametrize("servo", ["world", "beat"])
def test_a_stage_saved_where_joints_are_at_their_limit_goes_on_identically(servo: str) -> None:
    tracker = follower("jump", strength=0.5, settings=ServoSettings(servo=servo))  # type: ignore[arg-type]
    stage = tracker.stage
    stage.step(0.6)
    saved = stage.save()
    stage.step(0.5)
    first = stage.data.qpos.copy()
    stage.restore(saved)
    stage.step(0.5)
    assert np.array_equal(first, stage.data.qpos)


def test_small_turns_are_measured_as_well_as_large_ones() -> None:
    out, start = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    for angle in (0.0, 1e-9, 1e-3, 0.19, 0.201, 0.2004, 0.5, 3.0):
        axis = np.array([0.6, 0.0, -0.8])
        goal = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) * axis)])
        world_difference(goal, 0, start, 0, out, 0)
        assert np.allclose(out, angle * axis, rtol=1e-12, atol=1e-15)
