"""Every planted fault is found, and captured people pass."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import numpy as np
import planted
import pytest

import stunt
from captured import MOCAP
from stunt.review.figures import FIGURES
from stunt.review.filmed import WHO, take_of_clip
from stunt.review.ranges import ranges
from stunt.review.verdict import review

FAULTS = {
    "arm_in_trunk_cm": planted.arm_through_trunk,
    "overlap_cm": planted.leg_through_leg,
    "between_cm": planted.one_in_another,
    "sink_cm": planted.sunk,
    "airborne_s": planted.hovering,
    "slide_mean": planted.skating,
    "slide_cm": planted.skating,
    "turn_forearm": planted.snapping("l_forearm", -70.0),
    "turn_thigh": planted.snapping("r_thigh", -50.0),
    "turn_neck": planted.snapping("head", 60.0),
    "mirror_deg": planted.mirrored,
    "wrist_range": planted.stiff_wrists,
    "head_speed": planted.plank,
    "fall_bend": planted.plank,
    "reaction_s": planted.plank,
    "help_force": planted.carried_by_nobody,
    "support": planted.carried_by_nobody,
    "strength_used": planted.too_strong,
}


def test_somebody_who_stands_and_breathes_passes():
    found = review(planted.standing())
    assert found.passed, [finding.sentence() for finding in found.outside]


@pytest.mark.parametrize("figure", FAULTS)
def test_a_planted_fault_is_found(figure):
    found = review(FAULTS[figure]())
    who = found.findings[0].character
    assert not found.of(who)[figure].inside and not found.passed


@pytest.mark.parametrize(
    ("fault", "word"),
    [(planted.missed_throw, "ball"), (planted.swallowed_push, "80 N·s"), (planted.beat_while_lying, "salute")],
)
def test_what_was_asked_for_and_did_not_happen_is_told(fault, word):
    (missing,) = review(fault()).missing
    assert word in missing.what


def test_a_throw_that_arrives_a_felt_push_and_a_beat_on_the_feet_are_not_told():
    take = planted.missed_throw()
    event = {**take.events[0], "aim": [0.0, 0.52, 1.6]}
    assert not review(replace(take, events=[event])).missing
    felt = planted.moved(planted.swallowed_push(), np.outer(np.maximum(planted.TIME - 1.0, 0.0), [1.0, 0.0, 0.0]))
    assert not review(felt).missing
    upright = replace(planted.standing(), events=planted.beat_while_lying().events)
    assert not review(upright).missing


def test_a_blow_that_may_fell_and_is_not_answered_is_told():
    blow = {"kind": "blow", "time": 0.3, "character": "ada", "body": "head", "by": "bob", "part": "r_hand"}
    take, answer = planted.standing(), {"kind": "reaction", "time": 0.4, "character": "ada", "state": "stunned"}
    tried = ((24.0, True, [], 1), (24.0, False, [], 0), (8.0, True, [], 0), (24.0, True, [answer], 0))
    for size, landed, events, told in tried:
        one = {**blow, "size": size, "landed": landed, "worth": size / 20.0 if landed else 0.0}
        assert len(review(replace(take, events=[one, *events])).missing) == told


def test_the_frame_of_a_fault_is_told():
    found = review(planted.snapping("l_forearm", -70.0)()).of(WHO)["turn_forearm"].measured
    assert found.time == pytest.approx(1.5, abs=0.04) and found.what == "l_forearm"


def test_depths_are_what_was_planted():
    found = review(planted.sunk()).of(WHO)["sink_cm"].measured.value
    assert found == pytest.approx(20.0, abs=1.5)
    assert review(planted.hovering()).of(WHO)["airborne_s"].measured.value == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("frames", [1, 2, 3, 20, 75])
def test_even_a_moment_can_be_reviewed(frames):
    take = planted.standing()
    names = ("time", "qpos", "qvel", "target", "target_velocity", "torque", "stiffness", "damping", "saturated")
    cut = {name: getattr(take, name)[:frames] for name in (*names, "assistance")}
    assert review(replace(take, **cut)).findings


def test_every_figure_has_a_range_and_says_whose():
    assert set(ranges()) == set(FIGURES)
    table = json.loads(files("stunt.review").joinpath("ranges.json").read_text())
    assert len(table["captures"]) == 26 and len(table["left_out"]) == 2
    assert all(entry["source"] for entry in table["ranges"].values())


def test_a_review_is_plain_data():
    found = stunt.review.review(planted.sunk())
    data = json.loads(json.dumps(found.to_data(), allow_nan=False))
    (sink,) = [entry for entry in data["characters"][WHO] if entry["figure"] == "sink_cm"]
    assert not data["passed"] and not sink["inside"] and sink["high"] < sink["value"]


@pytest.mark.skipif(not (MOCAP / "cmu").is_dir(), reason="the captures are not here")
def test_captured_people_pass():
    paths = sorted((MOCAP / "cmu").glob("*.bvh"))
    failed = [path.stem for path in paths if not review(take_of_clip(stunt.load_clip(path))).passed]
    assert len(paths) - len(failed) >= 24, failed
