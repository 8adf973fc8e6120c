"""What the hand does to the stage, as a script would write it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from stunt.errors import InvalidValueError

MOST_IMPULSE = 300.0
"""Largest push of the hand [N·s]."""
THINGS: dict[str, dict[str, Any]] = {
    "ball": {"shape": "sphere", "radius": 0.11, "mass": 0.6, "color": [0.9, 0.45, 0.12]},
    "crate": {"shape": "box", "size": [0.32, 0.32, 0.32], "mass": 6, "color": [0.62, 0.44, 0.26]},
}
"""What can be thrown."""
_FLIGHT = 0.6  # [s]
_FROM = 3.2  # [m]


def push_touch(
    target: str, at: float, impulse: Sequence[float], point: Sequence[float] | None = None
) -> dict[str, Any]:
    """Return a push: `target` is `character/body` or a prop, `impulse` in the world [N·s], `point` on the body [m].

    Raises:
        InvalidValueError: It is not finite, or larger than a hand's.
    """
    touch: dict[str, Any] = {"push": str(target), "at": _time(at), "impulse": _vector(impulse, MOST_IMPULSE)}
    if point is not None:
        touch["point"] = [round(value, 3) for value in _vector(point, 10.0)]
    return touch


def throw_touch(what: str, target: str, at: float, taken: Sequence[str], side: Sequence[float]) -> dict[str, Any]:
    """Return a throw of a new thing, which lies on the ground until then.

    Args:
        what: `ball` or `crate`.
        target: `character/body` to hit.
        at: When it leaves [s].
        taken: Names of things there are already.
        side: Where it comes from: a point on the ground [m], x and y.
    """
    thing = THINGS[what]
    name = next(n for n in (f"{what}{k or ''}" for k in range(1000)) if n not in taken)
    x, y, _ = _vector((*side, 0.0), 1000.0)
    height = thing["radius"] if what == "ball" else thing["size"][2] / 2
    prop = {**thing, "at": [round(x, 2), round(y, 2), round(height + 0.001, 3)]}
    start = _time(at)
    return {"throw": name, "target": str(target), "at": start, "hits_at": round(start + _FLIGHT, 4), "prop": prop}


def _time(at: float) -> float:
    if not (math.isfinite(at) and 0.0 <= at < 3600.0):
        raise InvalidValueError("at", at, "a time of the performance [s]")
    return round(float(at), 4)


def _vector(values: Sequence[float], most: float) -> list[float]:
    vector = [round(float(value), 4) for value in values]
    if len(vector) != 3 or not all(math.isfinite(value) and abs(value) <= most for value in vector):
        raise InvalidValueError("vector", list(values), f"three numbers up to {most:g}")
    return vector
