"""Foot slide: the way of standing feet, neither of swinging ones nor of those in the air."""

from __future__ import annotations

import numpy as np
import pytest

import stunt
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.measures import foot_slide
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.library.doctor import foot_slide as slide_of_clip
from stunt.library.names import load_clip


def follower(clip: str) -> BodyActor:
    ada = stunt.CharacterSpec(clip, root="free")
    stage = stunt.Stage(stunt.Scene({"ada": ada}, physics_hz=120.0, control_hz=120.0))
    return follower_of(stage, "ada", motion_of_clip(load_clip(clip), stage.character("ada")))


def test_a_body_exactly_on_its_clip_slides_as_the_doctor_says() -> None:
    clip, tracker = load_clip("walk"), follower("walk")
    times = np.arange(clip.frames) / clip.fps
    found, said = foot_slide(tracker, times, tracker.motion.qpos, tracker.history), slide_of_clip(clip, clip.parts)[0]
    swung = np.linalg.norm(np.diff(clip.world.positions[:, clip.parts["l_toe"], :2], axis=0), axis=-1).sum()
    print(f"body {found:.4f} m, clip {said:.4f} m; a foot goes {swung:.2f} m in all")
    assert found == pytest.approx(said, rel=0.25, abs=0.003) and found < 0.05 * swung


def test_standing_feet_that_are_shifted_slide_as_far_as_that_and_lifted_ones_do_not() -> None:
    tracker = follower("idle")
    times = np.linspace(0.0, 1.0, 61)
    still = np.repeat(tracker.motion.qpos[:1], 61, axis=0)
    still[:, 2] -= 0.002
    shifted = still.copy()
    shifted[:, 1] += np.linspace(0.0, 0.2, 61)
    lifted = shifted.copy()
    lifted[:, 2] += 0.1
    ways = [foot_slide(tracker, times, own, tracker.history) for own in (still, shifted, lifted)]
    print(ways)
    assert ways[0] < 1e-6 and ways[1] == pytest.approx(0.4, rel=0.1) and ways[2] == 0.0
