"""The walks that come with the package, and the page on motion graphs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.library.doctor import foot_slide
from stunt.library.names import load_clip
from stunt.maths.rotations import heading
from stunt.motion.clips.recognise import guess_parts
from stunt.review import review, take_of_clip

ROOT = Path(__file__).parents[2]
STRIDE = 1.167  # [s]


@pytest.mark.parametrize(("name", "turn"), [("walk_start", 0), ("walk_turn", 90), ("walk_curve", 45), ("walk_stop", 0)])
def test_an_own_walk_turns_as_its_name_says_and_its_planted_feet_stay(name, turn):
    clip = load_clip(name)
    way, seconds = foot_slide(clip, guess_parts(clip.skeleton.names, clip.skeleton.parents))
    faces, stride = np.degrees(np.unwrap(heading(clip.rotations[:, 0]))), round(STRIDE * clip.fps)
    turned = faces[-stride:].mean() - faces[:stride].mean()  # hips turn with every step
    print(f"\n{name}: turns {turned:.1f}°, feet slide {100 * way / seconds:.1f} cm/s while planted")
    assert turned == pytest.approx(turn, abs=3.0)
    assert way / seconds < 0.03


def test_starting_begins_and_stopping_ends_as_one_stands():
    idle = load_clip("idle")
    for name, time in (("walk_start", 0.0), ("walk_stop", 4.2)):
        clip = load_clip(name)
        off = clip.rotations[round(time * clip.fps), 1:] - idle.rotations[0, 1:]
        assert np.abs(off).max() < 0.08
        assert np.linalg.norm(clip.velocities_at(time)[0]) < 0.1


GAITS = {"walk_slow": 0.84, "walk": 1.10, "walk_brisk": 1.43}


@pytest.mark.parametrize("name", GAITS)
def test_a_gait_goes_at_its_speed_and_every_figure_of_it_is_as_peoples(name):
    clip = load_clip(f"{name}?loop=true")
    way = np.linalg.norm((clip.root[-1] - clip.root[0])[:2])
    assert way / clip.duration == pytest.approx(GAITS[name], abs=0.01)
    slid, seconds = foot_slide(clip, guess_parts(clip.skeleton.names, clip.skeleton.parents))
    assert slid / seconds < 0.03
    found = review(take_of_clip(clip))
    assert found.passed, [finding.sentence() for finding in found.outside]


@pytest.mark.parametrize("name", GAITS)
def test_a_gait_repeats_without_a_jump(name):
    clip = load_clip(f"{name}?loop=true")
    assert np.abs(clip.rotations[0] - clip.rotations[-1]).max() < 1e-3
    step = np.abs(np.diff(clip.rotations, axis=0)).max()
    assert step < 0.12 and np.abs(clip.rotations[1] - clip.rotations[0]).max() < step


def test_a_gait_is_walked_on_own_feet_as_long_as_one_likes():
    clip = load_clip("walk?loop=true")
    stage = stunt.Stage(
        stunt.Scene({"ada": stunt.Body(clip, root="free", strength=1.5)}, physics_hz=480, control_hz=120)
    )
    stage.actor("ada").follow(clip, assist="own")
    told = stage.run(12.0).report()["characters"]["ada"]
    print({key: told[key] for key in ("error_deg_mean", "drift_m", "path_m", "own_feet")})
    assert not told["fell"] and told["path_m"] > 12.0 and told["drift_m"] < 0.5 and told["error_deg_mean"] < 5.0
    assert told["own_feet"]["recovery_steps"] == 0


def test_the_files_are_what_the_tool_makes(tmp_path, monkeypatch):
    if not (ROOT / "tools" / "make_gaits.py").exists():
        pytest.skip("not a checkout")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import make_gaits

    for path in make_gaits.write(tmp_path):
        kept = ROOT / "src" / "stunt" / "examples" / "clips" / path.name
        new, old = (np.array(re.findall(r"-?\d+\.?\d*", p.read_text()), float) for p in (path, kept))
        assert np.abs(new - old).max() < 1e-3
    for name in ("make_gaits", "gait_averages", "make_clips"):
        sys.modules.pop(name, None)


def test_the_page_on_motion_graphs_runs(capsys):
    text = (ROOT / "docs" / "motion_graphs.md").read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "motion_graphs.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "from the path at the mean" in printed
    assert "\n24 0.0\n" in printed
