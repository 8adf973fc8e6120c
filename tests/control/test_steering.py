"""Steering by the legs: steps bring a body back to its clip's place and heading, and nothing pulls from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stunt.control.servo.law import ServoSettings
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.names import find_clip
from stunt.library.read import read_clip
from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene


def walker(*, steer: bool, off: float = 0.0, turned: float = 0.0, clip: str = "walk") -> BodyActor:
    """Put a walker on a stage, beside its path [m] or turned away from it [rad]."""
    path = find_clip(clip)
    body = CharacterSpec(str(path), root="free", strength=1.5, self_collision=False)
    stage = StageLoop(Scene({"a": body}, physics_hz=120.0, control_hz=120.0))
    motion = replace(motion_of_clip(read_clip(path), stage.character("a")), loop=True)
    tracker = follower_of(stage, "a", motion, settings=ServoSettings(steer=steer))
    root = stage.character("a").root
    assert root is not None
    spin = rotations.from_rotation_vector(np.array([0.0, 0.0, turned]))
    data = stage.data
    data.qpos[root.qpos + 1] += off
    data.qpos[root.qpos + 3 : root.qpos + 7] = rotations.multiply(spin, data.qpos[root.qpos + 3 : root.qpos + 7])
    data.qvel[root.dof : root.dof + 3] = rotations.rotate(spin, data.qvel[root.dof : root.dof + 3])
    return tracker


def distance(tracker: BodyActor) -> float:
    """Return how far the hips are from the clip's place [m]."""
    path = tracker.rows.path
    frame = min(round((tracker.stage.time - tracker.started) * tracker.rows.fps), len(path) - 1)
    return float(np.linalg.norm(tracker.stage.data.qpos[:2] - path[frame, :2]))


@pytest.mark.parametrize(("off", "turned"), [(0.12, 0.0), (0.0, 0.15)])
def test_steps_bring_a_walker_back_to_its_path(off: float, turned: float) -> None:
    found = {}
    for steer in (False, True):
        tracker = walker(steer=steer, off=off, turned=turned)
        tracker.stage.step(6.0)
        found[steer] = distance(tracker)
    print(f"{off} m and {turned} rad off, after 6 s without and with steering [m]:", found)
    assert found[True] < 0.6 * found[False]
    assert found[True] < 0.2


def test_who_stands_does_not_steer() -> None:
    tracker = walker(steer=True, off=0.1, clip="idle")
    tracker.stage.step(1.0)
    assert np.all(tracker.program.steer == 0.0)


def test_steering_is_saved_and_restored() -> None:
    tracker = walker(steer=True, off=0.1)
    stage = tracker.stage
    stage.step(0.6)
    saved = stage.save()
    assert np.any(tracker.program.steer != 0.0)
    stage.step(0.5)
    after = stage.data.qpos.copy()
    stage.restore(saved)
    stage.step(0.5)
    assert np.array_equal(stage.data.qpos, after)


def test_motions_without_known_feet_are_not_steered() -> None:
    tracker = walker(steer=True, off=0.1)
    tracker.stage.step(0.6)
    tracker.program.aim(tracker.number, replace(tracker.rows, swing=None), tracker.started)
    assert np.all(tracker.program.steer == 0.0)
