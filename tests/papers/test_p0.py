"""The figures are drawn, from runs that show what they claim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from papers.p0 import arm_swing, arrival, catch, gains
from papers.p0 import figures as p0
from papers.runs import play, scripted
from papers.style import mark_beats, plot_area, save, shown_degrees
from stunt.record.plots import page


def test_the_bent_arm_swings_with_the_same_timing_and_less_stiffness() -> None:
    straight, bent = play("arm_swing_straight"), play("arm_swing_bent")
    joint = "r_shoulder_flexion"
    assert straight.beats == bent.beats
    assert np.abs(straight.angles_deg(joint) - bent.angles_deg(joint)).max() < 1.0
    first = slice(1, int(np.searchsorted(straight.take.time, straight.beats[0][0])))
    assert (bent.gains(joint)[first] < 0.8 * straight.gains(joint)[first]).all()


def test_the_error_falls_with_the_exponent_of_the_corrected_law() -> None:
    assert arrival.slope(*arrival.measured(2400.0)) == pytest.approx(arrival.arrival_exponents()[0], rel=0.05)


def test_with_constant_gains_a_tenth_of_the_way_remains() -> None:
    assert arrival.constant_gains(np.array([1.0, 0.0])) == pytest.approx([1.0, 0.1])


@pytest.mark.parametrize("name", ["catch", "catch_hit"])
def test_the_palm_is_at_the_ball_when_the_catch_is_due(name: str) -> None:
    played = play(name)
    gap = float(np.interp(played.results[0].time, played.take.time, catch.palm_gap(played)))
    assert gap <= 0.02


def test_plots_and_strips_are_written_as_pictures(tmp_path: Path) -> None:
    paths = [*arm_swing.draw(tmp_path), *gains.draw_ymca(tmp_path)]
    assert [path.name for path in paths] == [
        "fig1_arm_swing.png", "fig2_arm_swing_gains.png", "fig2_arm_swing_gains.svg", "fig3_ymca.png",
    ]  # fmt: skip
    for path in paths:
        if path.suffix == ".png":
            with Image.open(path) as picture:
                assert picture.width == 1800
                assert len(picture.convert("RGB").resize((64, 64)).getcolors(4096) or []) > 16


def test_the_same_runs_give_the_same_file(tmp_path: Path) -> None:
    def drawn(name: str) -> bytes:
        figure = page(3.0, "Title", "note")
        axes = plot_area(figure, 1.0, 1.5)
        axes.plot([0.0, 1.0], [0.0, 1.0])
        mark_beats(axes, [(0.5, "one"), (0.52, "two")])
        return save(figure, tmp_path, name, ("svg",))[0].read_bytes()

    assert drawn("one") == drawn("two")


def test_make_reports_its_progress_and_makes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(p0, "FIGURES", {name: lambda out, name=name: [out / f"{name}.png"] for name in ("a", "b")})
    shares: list[float] = []
    paths = p0.make(tmp_path / "new" / "folder", shares.append)
    assert shares == [0.5, 1.0]
    assert [path.name for path in paths] == ["a.png", "b.png"]
    assert (tmp_path / "new" / "folder").is_dir()


def test_a_script_keeps_its_own_rate_and_coupling_unless_told() -> None:
    assert scripted("ymca").scene.physics_hz == 480.0
    changed = scripted("ymca", coupling="local", rate=120.0)
    assert changed.scene.control_hz == 120.0
    assert {part.coupling for part in changed.parts.values()} == {"local"}


@pytest.mark.parametrize(("angle", "text"), [(0.0, "<0.001°"), (0.0123, "0.012°"), (0.5, "0.50°"), (12.34, "12.3°")])
def test_degrees_are_shown_with_the_digits_that_matter(angle: float, text: str) -> None:
    assert shown_degrees(angle) == text
