"""The contact sheet: the right moments, the right names, a finished file or none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PIL import Image

from stunt.errors import InvalidValueError, TakeError, UnknownNameError
from stunt.record.filmstrip import MOST_PANELS, choose_panels, clearest, filmstrip


def test_there_is_one_panel_per_beat_with_its_pose_and_error(take):
    panels = choose_panels(take, None, ["ada"])
    assert [(p.time, p.name) for p in panels] == [(0.4, "ready"), (0.8, "left up"), (1.2, "right up"), (1.6, "both up")]
    assert [p.error_deg for p in panels] == pytest.approx([0.02, 0.04, 0.06, 0.08])


def test_beats_of_two_characters_at_one_time_share_a_panel_with_the_worse_error(take):
    take.events.append({"kind": "beat", "time": 0.8, "pose": "bow", "character": "bob", "error_deg": 0.5})
    panel = choose_panels(take, None, ["ada", "bob"])[1]
    assert (panel.name, panel.error_deg) == ("left up · bow", 0.5)


def test_many_beats_are_thinned_out_evenly_from_the_first_to_the_last(take):
    take.events[:] = [{"kind": "beat", "time": 0.01 * k, "pose": str(k), "character": "ada"} for k in range(1, 101)]
    times = [p.time for p in choose_panels(take, None, ["ada"])]
    assert len(times) <= MOST_PANELS
    assert (times[0], times[-1]) == (0.01, 1.0)
    assert np.ptp(np.diff(times)) < 0.02


def test_without_beats_the_panels_are_evenly_spaced(take):
    take.events.clear()
    times = [p.time for p in choose_panels(take, None, ["ada"])]
    assert np.diff(times) == pytest.approx(np.diff(times)[0])


def test_given_times_are_kept_and_named_where_a_beat_falls_on_them(take):
    panels = choose_panels(take, [0.1, 0.8], ["ada"])
    assert [(p.time, p.name) for p in panels] == [(0.1, ""), (0.8, "left up")]


def test_the_sheet_is_a_picture_whose_panels_differ_as_the_poses_do(take, tmp_path):
    path = filmstrip(take, tmp_path / "strip.png", times=[0.0, 0.8], columns=2, title="A title")
    sheet = np.asarray(Image.open(path).convert("RGB")).astype(int)
    left, right = sheet[90:-60, 20:420], sheet[90:-60, 20 + 434 : 420 + 434]
    assert sheet.shape[1] == 2 * 434 + 14
    assert 0.005 < (np.abs(left - right).max(axis=2) > 40).mean() < 0.3


def test_an_unknown_character_is_named_with_those_that_exist_and_nothing_is_written(take, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'ada'"):
        filmstrip(take, tmp_path / "strip.png", character="adda")
    assert not list(tmp_path.iterdir())


def test_no_columns_and_times_that_are_no_numbers_are_refused(take, tmp_path):
    with pytest.raises(InvalidValueError, match="columns"):
        filmstrip(take, tmp_path / "strip.png", columns=0)
    with pytest.raises(InvalidValueError, match="times"):
        filmstrip(take, tmp_path / "strip.png", times=[float("nan")])


def test_a_take_without_frames_is_refused(take):
    take.time = np.empty(0)
    with pytest.raises(TakeError, match="no frames"):
        choose_panels(take, None, [])


@pytest.mark.parametrize("line", [0.0, 0.4, math.pi / 2, 2.5])
def test_the_camera_stands_where_nobody_hides_anybody_and_no_further_round_than_that_takes(line):
    along = np.array([math.cos(line), math.sin(line)])
    roots = np.stack([0.0 * along, 0.9 * along])[None].repeat(3, axis=0)
    found = clearest(roots, line)  # it would look along the line on which both stand
    across = np.array([-math.sin(found), math.cos(found)])
    assert abs(0.9 * along @ across) >= 0.5
    assert clearest(roots, line + math.pi / 2) == pytest.approx(line + math.pi / 2)  # all is seen from there
    assert clearest(roots[:, :1], line) == line


def test_the_moment_of_the_hardest_blow_is_shown(take):
    take.events[:] = [
        {"kind": "hit", "time": t, "force": f, "character": "ada"} for t, f in ((0.31, 5.0), (0.77, 40.0))
    ]
    times = [panel.time for panel in choose_panels(take, None, ["ada"])]
    assert 0.77 in times and 0.31 not in times and times == sorted(times)


def test_where_fists_land_is_shown_rather_than_where_guards_touch(take):
    blow = {"kind": "blow", "character": "ada", "seconds": 0.02}
    take.events[:] = [
        {"kind": "hit", "time": 0.31, "force": 900.0, "character": "ada"},
        {**blow, "time": 0.5, "landed": False, "worth": 0.0}, {**blow, "time": 0.77, "landed": True, "worth": 1.2},
    ]  # fmt: skip
    times = [panel.time for panel in choose_panels(take, None, ["ada"])]
    assert any(abs(time - 0.78) < 1e-9 for time in times) and 0.31 not in times and times == sorted(times)
