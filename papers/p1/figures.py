"""The figures of P1, on trajectories, adaptation and impacts, from fresh runs: `stunt figures p1 --out DIR`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from papers.p1 import collisions, following, forward

FIGURES: Final[dict[str, Callable[[Path], list[Path]]]] = {
    "smooth waist": following.draw_smooth,
    "jumping waist": following.draw_jumps,
    "steps": following.draw_steps,
    "collisions": collisions.draw,
    "forward dynamics": forward.draw,
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
