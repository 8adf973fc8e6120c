"""Steering by the legs: steps bring a body back to its clip's place and heading, and nothing pulls from outside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from stunt.character.from_skeleton import GRIP
from stunt.control.servo.law import ServoSettings
from stunt.control.servo.steering import PIVOT, PIVOT_TWIST
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.motion.body_motion import make_rows, motion_of_clip
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


def heading(tracker: BodyActor) -> float:
    """Return how far the root has to turn to face as the clip does [rad], counterclockwise."""
    return float(tracker.program.actors[tracker.number]["heading"])


@pytest.mark.parametrize("turned", [0.4, -0.4])
def test_who_stands_turned_away_shuffles_back_to_the_clips_heading(turned: float) -> None:
    found = {}
    for steer in (False, True):
        tracker = walker(steer=steer, turned=turned, clip="idle")
        tracker.stage.step(4.0)
        found[steer] = heading(tracker) * -np.sign(turned)
        assert tracker.leans < 0.05
    print(f"{turned} rad aside, after 4 s without and with steering [rad]:", found)
    assert found[False] > 0.3
    assert -0.05 < found[True] < 0.25


def pivoting(rate: float, aside: float) -> tuple[float, float]:
    """Return how soles hold, sliding and turning [m], of who turns on the spot [rad/s] and looks aside [rad]."""
    tracker = walker(steer=True, turned=0.5 * rate - aside, clip="idle")
    motion = tracker.motion
    angle = rate * np.arange(120) / motion.fps
    qpos = np.repeat(motion.qpos[:1], len(angle), axis=0)
    spins = rotations.from_rotation_vector(angle[:, None] * [0.0, 0.0, 1.0])
    qpos[:, 3:7] = rotations.multiply(spins, qpos[:, 3:7])
    rows = make_rows(tracker.stage.model, tracker.character, replace(motion, qpos=qpos, loop=False), tracker.soles)
    rows = replace(rows, swing=np.zeros((len(angle), 2)), legs=tracker.rows.legs)
    tracker.program.aim(tracker.number, rows, -0.5)
    tracker.stage.advance(1)
    assert heading(tracker) == pytest.approx(aside, abs=0.01)
    slide, twist = tracker.stage.model.geom_friction[tracker.soles, :2].min(axis=0)
    return float(slide), float(twist)


def test_a_sole_holds_where_that_turns_the_hips_toward_the_heading_and_else_gives_way() -> None:
    held = pivoting(0.5, 0.0)
    assert held == pytest.approx(GRIP[:2])
    assert pivoting(0.5, -0.2) == pytest.approx(held)  # hips are turned clockwise, which is where they have to go
    assert pivoting(-0.5, 0.2) == pytest.approx(held)
    for rate, aside in ((0.5, 0.2), (-0.5, -0.2)):
        assert pivoting(rate, aside) == pytest.approx((PIVOT, PIVOT_TWIST * held[1]))
    assert held[0] > pivoting(0.25, 0.2)[0] > PIVOT


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
