"""The walks that come with the package, and the page on motion graphs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from stunt.library.doctor import foot_slide
from stunt.library.names import load_clip
from stunt.maths.rotations import heading
from stunt.motion.clips.recognise import guess_parts

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("name", "turn"), [("walk_start", 0), ("walk_turn", 90), ("walk_curve", 45), ("walk_stop", 0)])
def test_an_own_walk_turns_as_its_name_says_and_its_planted_feet_stay(name, turn):
    clip = load_clip(name)
    way, seconds = foot_slide(clip, guess_parts(clip.skeleton.names, clip.skeleton.parents))
    turned = np.degrees(np.unwrap(heading(clip.rotations[:, 0])))
    print(f"\n{name}: turns {turned[-1] - turned[0]:.1f}°, feet slide {100 * way / seconds:.1f} cm/s while planted")
    assert turned[-1] - turned[0] == pytest.approx(turn, abs=6.0)
    assert way / seconds < 0.03


def test_starting_begins_and_stopping_ends_as_one_stands():
    idle = load_clip("idle")
    for name, time in (("walk_start", 0.0), ("walk_stop", 4.2)):
        clip = load_clip(name)
        off = clip.rotations[round(time * clip.fps), 1:] - idle.rotations[0, 1:]
        assert np.abs(off).max() < 0.08
        assert np.linalg.norm(clip.velocities_at(time)[0]) < 0.1


def test_the_files_are_what_the_tool_makes(tmp_path, monkeypatch):
    if not (ROOT / "tools" / "make_walks.py").exists():
        pytest.skip("not a checkout")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import make_walks

    for path in make_walks.write(tmp_path):
        kept = ROOT / "src" / "stunt" / "examples" / "clips" / path.name
        new, old = (np.array(re.findall(r"-?\d+\.?\d*", p.read_text()), float) for p in (path, kept))
        assert np.abs(new - old).max() < 1e-3
    for name in ("make_walks", "make_clips"):
        sys.modules.pop(name, None)


def test_the_page_on_motion_graphs_runs(capsys):
    text = (ROOT / "docs" / "motion_graphs.md").read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "motion_graphs.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "from the path at the mean" in printed
    assert "\n24 0.0\n" in printed
