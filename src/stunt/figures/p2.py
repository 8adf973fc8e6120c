"""The figures of P2, on hybrid control, from fresh runs: `stunt figures p2 --out DIR`.

Filmstrips of the experiments, each with a bar of who was in charge: light where data played, dark under forces.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from stunt.direction.performance import perform
from stunt.direction.script_file import load_script
from stunt.examples import example
from stunt.record.filmstrip import filmstrip

STRIPS: Final[dict[str, tuple[float, ...]]] = {
    "trip": (1.2, 1.8, 2.1, 2.4, 2.6, 2.8, 3.0, 3.2, 3.6, 4.2, 4.8, 5.4, 6.0, 6.6, 7.4, 8.2),
    "kick_partner": (0.5, 0.7, 0.8, 0.9, 1.1, 1.3, 1.5, 1.7, 1.9, 2.2, 2.8, 3.4, 4.0, 4.6, 5.2, 6.4),
    "goalkeeper": (0.4, 0.75, 0.95, 1.1, 1.25, 1.4, 1.5, 1.6, 1.7, 1.85, 2.0, 2.4, 3.0, 3.8, 4.6, 5.6),
    "duck": (0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.9, 3.3, 3.4, 4.7, 4.8, 4.9, 5.1, 5.2, 6.4),
    "boxing_match": (0.6, 1.2, 1.4, 1.9, 2.05, 2.2, 2.5, 3.6, 4.2, 4.4, 4.6, 5.9, 6.5, 6.8, 8.6, 9.2),
}
"""Which examples, and when to look at them [s]."""
SIDES: Final = {"trip": 75.0, "kick_partner": 110.0, "boxing_match": 105.0}
"""From which side, where not almost from the front [°]."""


def make(out: Path, progress: Callable[[float], None] | None = None) -> list[Path]:
    """Perform the experiments and draw their filmstrips.

    Args:
        out: The folder they go to; made if need be.
        progress: Called with the share that is done, 0 to 1.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (name, times) in enumerate(STRIPS.items(), start=1):
        paths.append(draw(name, times, out))
        if progress is not None:
            progress(number / len(STRIPS))
    return paths


def draw(name: str, times: tuple[float, ...], out: Path) -> Path:
    """Perform one example and draw its filmstrip."""
    take = perform(load_script(example(name).path))
    return filmstrip(take, out / f"p2-{name.replace('_', '-')}.png", times=times, columns=8, side=SIDES.get(name, 24.0))
