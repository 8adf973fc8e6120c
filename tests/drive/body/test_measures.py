"""Foot slide: the way of standing feet, neither of swinging ones nor of those in the air."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import stunt
from stunt.drive.body.actor import BodyActor, follower_of
from stunt.drive.body.measures import foot_slide
from stunt.drive.motion.body_motion import motion_of_clip
from stunt.drive.prepare import fit
from stunt.drive.prepare.fit import fit_motion
from stunt.library.doctor import foot_slide as slide_of_clip
from stunt.library.names import load_clip
from stunt.maths import rotations


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


def with_hand_in_thigh() -> stunt.Clip:
    """Return a stance whose left arm goes through the body for a moment, a second after it began."""
    clip = load_clip("idle").trimmed(0.0, 2.0)
    turns, upper = clip.rotations.copy(), clip.parts["l_upper_arm"]
    bump = 0.25 * np.exp(-0.5 * ((np.arange(clip.frames) / clip.fps - 1.0) / 0.15) ** 2)
    turns[:, upper] = rotations.multiply(
        rotations.from_rotation_vector(np.outer(bump, [-1.0, 0.0, 0.0])), turns[:, upper]
    )
    return replace(clip, rotations=turns, name="through")


def test_the_report_says_what_was_changed_of_a_clip_so_that_the_body_can_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = with_hand_in_thigh()
    stage = stunt.Stage(
        {"ada": stunt.Body(clip, root="free"), "bob": stunt.Body(clip, root="free", at=(2.0, 0.0, 0.0))}
    )
    stage.actor("ada").follow(clip)
    stage.actor("bob").follow(clip, settings=stunt.ServoSettings(plant=False))
    fits = []
    monkeypatch.setattr(fit, "_fitted_once", lambda *args: fits.append(1))
    people = stage.run(0.3).report()["characters"]
    assert not fits  # it was fitted when it was to be followed
    monkeypatch.undo()
    ada = stage.actor("ada").body
    changes = fit_motion(ada.stage.model, ada.character, motion_of_clip(clip, ada.character)).changes
    told = people["ada"]["prepared"]["through"]
    print(told)
    assert told["overlap_cm"] == pytest.approx(changes.overlap_cm, abs=0.01) and told["overlap_cm"] > 1.0
    worst = told["overlaps"][0]
    assert worst["one"].startswith("l_") and worst["start_s"] < 1.0 < worst["end_s"] and told["apart_deg"] > 1.0
    assert told["left_cm"] < told["overlap_cm"]
    assert people["bob"]["prepared"] == {}  # followed as it is
