"""The figures of P0, "On the Beat", from fresh runs: `stunt figures p0 --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from papers.drawing import Draw, Progress, draw_all
from papers.p0 import against, arm_swing, arrival, catch, gains

FIGURES: Final[dict[str, Draw]] = {
    "arm swing": arm_swing.draw,
    "YMCA": gains.draw_ymca,
    "conductor": gains.draw_conductor,
    "catch": catch.draw,
    "constant gains": against.draw_constant_pd,
    "local inertia": against.draw_local_inertia,
    "arrival": arrival.draw,
}
"""What is drawn, in order."""


def make(out: Path, progress: Progress | None = None) -> list[Path]:
    """Draw all figures into a folder; returns the files, in the order of the paper."""
    return draw_all(FIGURES.values(), out, progress)
