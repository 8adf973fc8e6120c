"""The figures of P3 are drawn, from runs that show what they claim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from papers.p3 import experiments, sweeps
from papers.p3 import figures as p3
from stunt.examples import example_names


def test_every_experiment_is_an_example_and_has_a_figure() -> None:
    assert {shown.name for shown in experiments.EXPERIMENTS} | {"boxing"} <= set(example_names())
    assert list(p3.FIGURES)[-3:] == ["boxing", "gains", "deltas"]


def test_rows_of_pictures_are_written(tmp_path: Path) -> None:
    shown = next(entry for entry in experiments.EXPERIMENTS if entry.name == "stuck_arm")
    (path,) = experiments.draw_experiment(tmp_path, shown)
    with Image.open(path) as picture:
        assert picture.width == 1800
        assert len(picture.convert("RGB").resize((64, 64)).getcolors(4096) or []) > 16


def test_world_space_degrades_less_than_parent_space_with_equal_gains() -> None:
    found = sweeps.gain_sweep(("punch",), (0.25, 4.0))
    ratios = {servo: float(errors[0, 0] / errors[1, 0]) for servo, errors in found.items()}
    print({servo: errors.round(2).tolist() for servo, errors in found.items()})
    assert ratios["world"] <= 8.0 and ratios["world"] < ratios["parent_equal"]
    assert (found["parent_equal"][:, 0] > found["world"][:, 0]).all()
    # Seen from the parent, parent space with summed stiffness is the better one: say so.
    assert found["parent"][1, 1] < found["world"][1, 1] * 1.2


def test_a_longer_response_comes_back_later() -> None:
    back = {}
    for delta in (0.1, 0.8):
        time, error, _ = sweeps.response(delta, 1.5)
        far = np.flatnonzero(error > 0.35 * error.max())
        back[delta] = float(time[far[-1]])
    print("the arm is two thirds back after [s]:", back)
    assert back[0.1] < back[0.8]
