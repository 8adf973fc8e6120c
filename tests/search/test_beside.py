"""What to ask for beside a clip is searched for: who ended turned away ends as the clip does, by the usual help."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pytest

from stunt.cli.track_command import add_track_arguments, script_of
from stunt.control.servo.law import RootSpring
from stunt.library.names import find_clip
from stunt.record.report import make_report
from stunt.script.performance import Performance
from stunt.search import beside, manners
from stunt.search.beside import BesideSearch
from stunt.search.manners import fault_of
from tests.captured import PYBULLET


def script_for(*words: str):
    parser = argparse.ArgumentParser()
    add_track_arguments(parser)
    args = parser.parse_args([*words])
    return script_of(find_clip(args.clip), args)


def report_of(script):
    return make_report(Performance(script, foretell=False).run())["characters"]["double"]


@pytest.mark.skipif(not (PYBULLET / "humanoid3d_dance_a.txt").exists(), reason="pybullet's motions are not here")
def test_a_dancer_that_ends_turned_away_ends_as_its_clip_does() -> None:
    script = script_for(str(PYBULLET / "humanoid3d_dance_a.txt"))
    before = report_of(script)
    assert "aside" in fault_of(before)
    part = script.parts["double"].sections["clips"]
    found, how = manners._searched(script, "double", part)
    assert found is not None and "search" in how
    settings = found.parts["double"].sections["clips"].settings
    assert (
        replace(settings, beside=()) == part.settings and found.parts["double"].sections["clips"].root == RootSpring()
    )
    after = report_of(found)
    assert fault_of(after) == ""
    assert after["assistance"]["torque_peak"] <= 1.05 * max(before["assistance"]["torque_peak"], 1e-9)


def test_a_search_that_may_ask_for_nothing_finds_nothing_and_says_the_same_again(monkeypatch) -> None:
    script = script_for("walk")
    monkeypatch.setattr(beside, "DRAWN", 4)
    monkeypatch.setattr(beside, "KEPT", 2)
    first, second = (BesideSearch(script, "double", seed=3).find() for _ in range(2))
    assert first is not None and np.array_equal(first, second)
    assert np.abs(first).max() <= beside.MOST * 0.2 + 1e-12
    monkeypatch.setattr(beside, "LONGEST", 0.5)
    search = BesideSearch(script, "double")
    assert not search.possible and search.find() is None and search.trials == 0


def test_a_flight_is_a_fall_with_one_spin() -> None:
    search = BesideSearch(script_for("jump"), "double")
    whole, fps = search._clip._whole, search._clip._fps
    flying = np.flatnonzero(
        (np.abs(np.diff(whole[:, 5]) * fps + 9.81) < 1e-6) & (np.diff(whole[:, 6:], axis=0) == 0.0).all(axis=1)
    )
    assert len(flying) > 0.12 * fps
    start, end = flying[0], flying[-1]
    fallen = whole[start, 2] + whole[start, 5] * (end - start) / fps - 0.5 * 9.81 * ((end - start) / fps) ** 2
    assert whole[end, 2] == pytest.approx(fallen, abs=1e-6)
