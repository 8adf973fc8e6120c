"""The figures of P3, Dynamo, from fresh runs with the package's own clips: `stunt figures p3 --out DIR`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from papers.p3 import experiments, sweeps

FIGURES: Final[dict[str, Callable[[Path], list[Path]]]] = {
    **{shown.name: partial(experiments.draw_experiment, shown=shown) for shown in experiments.EXPERIMENTS},
    "boxing": experiments.draw_boxing,
    "gains": sweeps.draw_gains,
    "deltas": sweeps.draw_deltas,
}
"""What is drawn, in order."""


def make(out: Path, progress: Callable[[float], None] | None = None) -> list[Path]:
    """Draw all figures.

    Args:
        out: The folder they go to; made if need be.
        progress: Called with the share that is done, 0 to 1.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number, draw in enumerate(FIGURES.values(), start=1):
        paths += draw(out)
        if progress is not None:
            progress(number / len(FIGURES))
    return paths
