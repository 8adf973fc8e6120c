"""The figures of P1, on trajectories, adaptation and impacts, from fresh runs: `stunt figures p1 --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from papers.drawing import Draw, Progress, draw_all
from papers.p1 import collisions, following, forward

FIGURES: Final[dict[str, Draw]] = {
    "smooth waist": following.draw_smooth,
    "jumping waist": following.draw_jumps,
    "steps": following.draw_steps,
    "collisions": collisions.draw,
    "forward dynamics": forward.draw,
}
"""What is drawn, in order."""


def make(out: Path, progress: Progress | None = None) -> list[Path]:
    """Draw all figures into a folder; returns the files, in the order of the paper."""
    return draw_all(FIGURES.values(), out, progress)
