"""`stunt review` finds takes and clips, and says by its exit code whether they can be believed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from stunt import load_clip
from stunt.review.filmed import take_of_clip


def test_a_clip_is_reviewed_by_its_name(stunt, script):
    result = stunt("review", "idle", "--json")
    data = json.loads(result.out)
    assert result.code == (0 if data["passed"] else 1) and "it" in data["characters"]


def test_a_take_out_of_range_has_exit_code_1_a_picture_and_words(stunt, script):
    take = take_of_clip(load_clip("idle"))
    take.qpos[:, 2] -= np.linspace(0.0, 0.3, len(take.time))
    Path("takes").mkdir()
    take.save("takes/take.npz")
    result = stunt("review", "takes")
    assert result.code == 1 and "sink_cm" in result.out and "out of captured people's range" in result.out
    assert Path("takes/review.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_has_a_panel_of_the_review(stunt, script):
    assert stunt("perform", script, "--out", "out", "--no-pictures").code == 0
    panel = json.loads(Path("out/report.json").read_text())["review"]
    assert panel["passed"] and panel["figures"] > 0 and "review: " in stunt("show", "out").out


def test_what_is_neither_a_take_nor_a_clip_is_a_mistake(stunt, script):
    assert stunt("review", "nothing").code == 2
