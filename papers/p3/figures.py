"""The figures of P3, Dynamo, from fresh runs with the package's own clips: `stunt figures p3 --out DIR`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from papers.drawing import Draw, Progress, draw_all
from papers.p3 import experiments, sweeps

FIGURES: Final[dict[str, Draw]] = {
    **{shown.name: partial(experiments.draw_experiment, shown=shown) for shown in experiments.EXPERIMENTS},
    "boxing": experiments.draw_boxing,
    "gains": sweeps.draw_gains,
    "deltas": sweeps.draw_deltas,
}
"""What is drawn, in order."""


def make(out: Path, progress: Progress | None = None) -> list[Path]:
    """Draw all figures into a folder; returns the files, in the order of the paper."""
    return draw_all(FIGURES.values(), out, progress)
