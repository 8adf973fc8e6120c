"""Frames of a motion placed over the ground, compiled (see `tracks`)."""

from __future__ import annotations

import math
from typing import Any

from stunt.compiled import compiled


@compiled
def lay_rows(
    base: Any, loop: bool, first: int, x: float, y: float, angle: float, dx: float, dy: float, turn: float, nq: int,
    out: Any,
) -> None:  # fmt: skip
    """Write a motion's frames from one on, placed, round after round; held at the end of one that does not loop.

    Args:
        base: Positions and velocities, (F, nq + nv).
        loop: Whether its last frame is its first one, a round later.
        first: Which frame to begin with; past the end of a looping one: rounds later.
        x: Where it is placed [m]; `y` likewise, `angle` its heading [rad].
        y: See `x`.
        angle: See `x`.
        dx: How far one round goes, in the frame it begins in; `dy` and `turn` likewise.
        dy: See `dx`.
        turn: See `dx`.
        nq: Number of position coordinates.
        out: Written, (count, nq + nv).
    """
    last, row = base.shape[0] - 1, first
    cos, sin = math.cos(angle), math.sin(angle)
    for f in range(out.shape[0]):
        while loop and row >= last:
            x, y, angle, row = x + cos * dx - sin * dy, y + sin * dx + cos * dy, angle + turn, row - last
            cos, sin = math.cos(angle), math.sin(angle)
        source, target = base[min(row, last)], out[f]
        for k in range(out.shape[1]):
            target[k] = source[k]
        c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
        a, b = source[0], source[1]
        target[0], target[1] = x + cos * a - sin * b, y + sin * a + cos * b
        a, b = source[nq], source[nq + 1]
        target[nq], target[nq + 1] = cos * a - sin * b, sin * a + cos * b
        w, i, j, k = source[3], source[4], source[5], source[6]
        target[3], target[4], target[5], target[6] = c * w - s * k, c * i - s * j, c * j + s * i, c * k + s * w
        row += 1


@compiled
def place_rows(turns: Any, path: Any, x: float, y: float, angle: float, out: Any, way: Any) -> None:
    """Write a servo's rows placed on the ground: only the root's own turn and place change.

    Args:
        turns: (F, bodies, 4); the root's first.
        path: Of the root, (F, 3).
        x: Where [m]; `y` likewise, `angle` the heading [rad].
        y: See `x`.
        angle: See `x`.
        out: Turns, written.
        way: Path, written.
    """
    cos, sin, c, s = math.cos(angle), math.sin(angle), math.cos(0.5 * angle), math.sin(0.5 * angle)
    for f in range(out.shape[0]):
        for body in range(1, out.shape[1]):
            for k in range(4):
                out[f, body, k] = turns[f, body, k]
        w, i, j, k = turns[f, 0, 0], turns[f, 0, 1], turns[f, 0, 2], turns[f, 0, 3]
        out[f, 0, 0], out[f, 0, 1], out[f, 0, 2] = c * w - s * k, c * i - s * j, c * j + s * i
        out[f, 0, 3] = c * k + s * w
        a, b = path[f, 0], path[f, 1]
        way[f, 0], way[f, 1], way[f, 2] = x + cos * a - sin * b, y + sin * a + cos * b, path[f, 2]
