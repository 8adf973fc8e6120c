"""Drawing a paper's figures one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

Draw = Callable[[Path], list[Path]]
"""Draws into a folder, and says which files it wrote."""
Progress = Callable[[float], None]
"""Is told the share that is done, 0 to 1."""


def draw_all(drawings: Iterable[Draw], out: Path, progress: Progress | None = None) -> list[Path]:
    """Draw everything.

    Args:
        drawings: What, in the order of the paper.
        out: The folder it goes to; made if need be.
        progress: Called after each.

    Returns:
        The files, in order.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    every, paths = list(drawings), list[Path]()
    for number, draw in enumerate(every, start=1):
        paths += draw(out)
        if progress is not None:
            progress(number / len(every))
    return paths
