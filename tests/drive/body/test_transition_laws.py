"""Going over: from data to forces, into a motion elsewhere, and back into the clip after a blow; and the meters."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from stunt.drive.body.actor import BodyActor, actor_of, follower_of
from stunt.drive.body.measures import measure
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import load_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def body(clip: str = "idle", *, ground: bool = True) -> tuple[StageLoop, BodyActor, Any]:
    stage = StageLoop(Scene({"a": CharacterSpec(clip, root="free")}, physics_hz=120.0, control_hz=120.0, ground=ground))
    return stage, actor_of(stage, "a"), motion_of_clip(load_clip(clip), stage.character("a"))


def momentum(stage: StageLoop, actor: BodyActor) -> np.ndarray:
    """Return linear and angular momentum about the centre of mass, (6,)."""
    data = mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_forward(stage.model, data)
    mujoco.mj_subtreeVel(stage.model, data)
    root = actor.character.root_body
    return np.concatenate([actor.character.mass * data.subtree_linvel[root], data.subtree_angmom[root]])


@pytest.mark.parametrize("clip", ["walk", "kick"])
def test_forces_take_over_at_the_velocity_data_had_and_lose_no_momentum_in_their_first_step(clip: str) -> None:
    stage, actor, motion = body(clip, ground=False)
    actor.play(motion, blend=0.0)
    stage.step(0.6 if clip == "kick" else 0.4)
    speeds, before, parts = stage.data.qvel.copy(), momentum(stage, actor), []
    refine = stage.refine
    stage.refine = lambda count: (parts.append(count), refine(count))[1]  # type: ignore[method-assign]
    actor.keep_on()
    assert np.array_equal(stage.data.qvel, speeds) and np.abs(speeds[6:]).max() > 1.0
    fastest = float(np.abs(speeds[6:]).max())
    assert parts == [min(max(math.ceil(fastest * stage.step_time / 0.015), 1), 16)]
    stage.advance(1)
    change = momentum(stage, actor) - before
    change[2] += 9.81 * actor.character.mass * stage.step_time
    help_ = actor.program.actors[actor.number]["torque"] * stage.step_time
    assert np.linalg.norm(change[:3]) < 0.01 * np.linalg.norm(before[:3]) + 0.2
    assert np.linalg.norm(change[3:] - help_) < 0.02 * np.linalg.norm(before[3:]) + 0.1


@pytest.mark.parametrize(("place", "heading"), [((1.5, -2.0), 0.0), ((0.3, 0.4), 2.0)])
def test_a_motion_begins_where_the_body_is_and_faces(place: tuple[float, float], heading: float) -> None:
    stage, actor, motion = body("walk")
    turn = rotations.from_rotation_vector(np.array([0.0, 0.0, heading]))
    actor.here[:2] = place
    actor.here[3:7] = rotations.multiply(turn, actor.here[3:7])
    mujoco.mj_forward(stage.model, stage.data)
    facing = float(rotations.heading(actor.here[3:7]))
    actor.follow(motion, blend=0.0)
    assert actor.rows.path[0, :2] == pytest.approx(place, abs=1e-6)
    off = (float(rotations.heading(actor.rows.turns[0, 0])) - facing + math.pi) % (2.0 * math.pi) - math.pi
    assert off == pytest.approx(0.0, abs=1e-6)


def test_a_response_sets_out_from_the_pose_the_blow_left_and_is_back_in_the_clip_in_time() -> None:
    stage, actor, motion = body("idle")
    actor.begin(motion)
    stage.step(0.2)
    rng, was = np.random.default_rng(0), actor.rows
    tangent = np.zeros(stage.model.nv)
    tangent[6:] = rng.normal(0.0, 0.2, stage.model.nv - 6)
    mujoco.mj_integratePos(stage.model, stage.data.qpos, tangent, 1.0)
    mujoco.mj_forward(stage.model, stage.data)
    first = round((stage.time - actor.started) * was.fps)
    actor.respond(0.4)
    angle = lambda a, b: np.linalg.norm(rotations.difference(a[1:], b[1:]), axis=1)  # noqa: E731
    here = actor._pose_rows().turns[0]
    back = first + math.ceil(0.4 * was.fps)
    assert angle(actor.rows.turns[first], here).max() < 0.02 < 0.1 < angle(was.turns[first], here).max()
    assert angle(actor.rows.turns[back], was.turns[back]).max() < 1e-6
    middle = angle(actor.rows.turns[(first + back) // 2], was.turns[(first + back) // 2])
    assert 0.02 < middle.max() < angle(was.turns[first], here).max()
    assert np.array_equal(actor.rows.turns[:first], was.turns[:first])


def test_errors_and_drift_are_what_was_planted() -> None:
    stage = StageLoop(Scene({"a": CharacterSpec("idle", root="free")}, physics_hz=120.0, control_hz=120.0))
    motion = motion_of_clip(load_clip("idle"), stage.character("a"))
    actor = follower_of(stage, "a", motion)
    times = np.arange(60) / motion.fps
    own = np.array([actor.motion.qpos[k] for k in range(60)])
    found = measure(actor, times, own)
    assert found["error_deg_mean"] < 1.0 and found["drift_m"] < 1e-6
    elbow = actor.character.joint("l_elbow")
    more = rotations.from_rotation_vector(np.array([0.0, -0.3, 0.0]))
    turned, at = own.copy(), elbow.qpos - actor.slices[0].start
    turned[:, at : at + 4] = rotations.multiply(own[:, at : at + 4], more)
    turned[:, :2] += [0.3, -0.4]
    other = measure(actor, times, turned)
    assert other["joint_error_deg"]["l_elbow"] - found["joint_error_deg"]["l_elbow"] == pytest.approx(
        np.degrees(0.3), abs=0.5
    )
    assert other["error_deg"]["l_forearm"] == pytest.approx(np.degrees(0.3), abs=0.8)
    assert other["error_deg_max"] == pytest.approx(np.degrees(0.3), abs=0.8)
    assert other["drift_m"] == pytest.approx(0.5, abs=1e-6) and other["heading_deg"] == pytest.approx(0.0, abs=1e-3)
