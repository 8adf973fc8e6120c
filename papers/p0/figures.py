"""The figures of P0, "On the Beat", from fresh runs: `stunt figures p0 --out DIR`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from papers.p0 import against, arm_swing, arrival, catch, gains

FIGURES: Final[dict[str, Callable[[Path], list[Path]]]] = {
    "arm swing": arm_swing.draw,
    "YMCA": gains.draw_ymca,
    "conductor": gains.draw_conductor,
    "catch": catch.draw,
    "constant gains": against.draw_constant_pd,
    "local inertia": against.draw_local_inertia,
    "arrival": arrival.draw,
}
"""What is drawn, in order."""


def make(out: Path, progress: Callable[[float], None] | None = None) -> list[Path]:
    """Draw all figures.

    Args:
        out: The folder they go to; made if need be.
        progress: Called with the share that is done, 0 to 1.

    Returns:
        The files, in the order of the paper.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number, draw in enumerate(FIGURES.values(), start=1):
        paths += draw(out)
        if progress is not None:
            progress(number / len(FIGURES))
    return paths
