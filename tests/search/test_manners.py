"""A double rehearses: the first way that ends as the clip does is performed, and it is said which."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from stunt.cli.track_command import add_track_arguments, rehearses, script_of
from stunt.control.servo.law import RootSpring
from stunt.library.names import find_clip
from stunt.script.performance import Performance
from stunt.search import beside, manners
from stunt.search.manners import MANNERS, USUAL, fault_of, rehearsed

GOOD = {"error_deg_mean": 1.0, "heading_deg": 3.0, "fell": False, "state": "following"}


def asked(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_track_arguments(parser)
    return parser.parse_args(["walk", *words])


@pytest.fixture
def script():
    return script_of(find_clip("walk"), asked())


def settings_of(script):
    return script.parts["double"].sections["clips"].settings


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({}, ""), ({"heading_deg": -15.1}, "15° aside"), ({"heading_deg": 14.9}, ""), ({"fell": True}, "falls"),
        ({"error_deg_mean": 4.1}, "4.1° off"), ({"state": "lost"}, "loses"), ({"heading_deg": float("nan")}, "aside"),
        ({"error_deg_mean": None}, "nothing"),
    ],
)  # fmt: skip
def test_who_does_not_end_as_the_clip_does_is_told_what_is_wrong(changed, fault) -> None:
    found = fault_of({**GOOD, **changed})
    assert (found == "") == (fault == "") and fault in found


def test_the_first_way_that_ends_as_the_clip_is_taken_and_named(script, monkeypatch) -> None:
    tried = []

    def outcome(one, name: str) -> str:
        tried.append(settings_of(one))
        return "" if len(tried) == 4 else "falls"

    monkeypatch.setattr(manners, "_outcome", outcome)
    found = rehearsed(script)
    assert tried == [USUAL, *(manner.settings for manner in MANNERS[:3])]
    assert settings_of(found.script) == MANNERS[2].settings and found.tries == 4
    assert MANNERS[2].said in found.told and "falls" in found.told


@pytest.mark.parametrize(
    ("outcome", "tries", "told"), [("falls", len(MANNERS) + 1, "none ends"), ("", 1, ""), (None, 0, "")]
)
def test_who_ends_well_or_never_does_follows_in_the_usual_way(script, monkeypatch, outcome, tries, told) -> None:
    monkeypatch.setattr(manners, "_outcome", lambda one, name: outcome)
    monkeypatch.setattr(beside, "LONGEST", 0.0)  # nothing is searched for
    found = rehearsed(script)
    assert found.script is script and found.tries == tries and told in found.told and bool(told) == bool(found.told)


def test_no_way_helps_the_root_more_than_the_usual_one(script) -> None:
    part = script.parts["double"].sections["clips"]
    for manner in MANNERS:
        other = manners._in_manner(script, "double", part, manner).parts["double"].sections["clips"]
        assert other.root == part.root == RootSpring() and other.settings != USUAL
        assert not other.settings.external and other.settings.limited


@pytest.mark.parametrize(
    "words",
    [
        ("--servo", "world"), ("--gain", "1"), ("--assist", "weak"), ("--yaw", "0.1"), ("--force", "0.1"),
        ("--push", "20@1"), ("--as-told",), ("--seconds", "1"), ("--external",), ("--no-limits",),
        ("--targets", "absolute"), ("--limit", "0.3"), ("--ahead", "0.04"), ("--clock", "free"),
    ],
)  # fmt: skip
def test_who_is_told_how_does_as_told(words) -> None:
    assert rehearses(asked()) and rehearses(asked("--mirror", "--strength", "2")) and not rehearses(asked(*words))


def test_a_rehearsal_leaves_the_take_as_it_would_have_been(script) -> None:
    before = Performance(script).run()
    found = rehearsed(script)
    assert found.script is script and found.tries == 1
    assert np.array_equal(Performance(found.script).run().qpos, before.qpos)


def weak_robot(tmp_path):
    """A robot whose back carries 20 N·m, a twelfth of what its trunk weighs level."""
    path = tmp_path / "robot.xml"
    path.write_text("""<mujoco><worldbody><body name="pelvis" pos="0 0 1"><freejoint/><geom size=".1" mass="10"/>
      <body name="torso" pos="0 0 .1"><joint name="back" axis="0 1 0" range="-60 60"/>
       <geom type="capsule" fromto="0 0 0 0 0 1" size=".1" mass="50"/></body></body></worldbody>
      <actuator><motor joint="back" gear="20" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>""")
    return path


def test_a_body_too_weak_to_hold_itself_is_rehearsed_with_strength_enough_and_it_is_said(tmp_path, monkeypatch) -> None:
    script, tried = script_of(find_clip("walk"), asked("--body", str(weak_robot(tmp_path)))), []

    def outcome(one, name: str) -> str:
        tried.append((one.scene.characters[name].strength, settings_of(one)))
        return "" if one.scene.characters[name].strength > 20.0 and settings_of(one) == MANNERS[0].settings else "falls"

    monkeypatch.setattr(manners, "_outcome", outcome)
    found = rehearsed(script)
    strength = found.script.scene.characters["double"].strength
    assert strength == pytest.approx(2.0 * 50.0 * 9.81 * 0.5 / 20.0, abs=0.1)
    assert script.scene.characters["double"].strength == manners.STRENGTH == 1.5
    assert tried == [(1.5, USUAL), (strength, USUAL), (strength, MANNERS[0].settings)]
    assert "'back' cannot hold" in found.told and f"--strength {strength:g}" in found.told and found.tries == 3
    tried.clear()
    told = script_of(find_clip("walk"), asked("--body", str(weak_robot(tmp_path)), "--strength", "2"))
    assert rehearsed(told).script is told and {strength for strength, _ in tried} == {2.0}
