"""Frames and piecewise cubics in flat memory, read inside compiled code (see `stunt.motion.trajectory.Pieces`)."""

from __future__ import annotations

from typing import Any

from stunt.maths.compiled import inlined


@inlined
def frame_at(frames: int, frame: float) -> tuple[int, int, float]:
    """Return the rows before and after a fractional frame, and how far it is between them; held at the ends."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    return low, min(low + 1, frames - 1), x - low


@inlined
def find(breaks: Any, first: int, count: int, hint: int, time: float) -> int:
    """Return which of `count` pieces a time falls into; time mostly moves on, so the search starts at the last one."""
    piece = min(max(hint, 0), count - 1)
    while piece > 0 and time < breaks[first + piece]:
        piece -= 1
    while piece < count - 1 and time >= breaks[first + piece + 1]:
        piece += 1
    return piece


@inlined
def evaluate(
    breaks: Any, coefficients: Any, first: int, count: int, hint: int, component: int, time: float
) -> tuple[int, float, float, float]:
    """Return the piece, value, velocity and acceleration at a time; before and after its pieces a path stands still.

    Args:
        breaks: Beginnings of all pieces of all paths [s]; each path has one more entry, its end.
        coefficients: Their polynomials, highest power first.
        first: Where the path's breaks begin; its coefficients begin at 16 × that (4 components of 4).
        count: How many pieces it has.
        hint: The piece of the last time.
        component: Which one.
        time: When [s].
    """
    early, late = time < breaks[first], time > breaks[first + count]
    t = min(max(time, breaks[first]), breaks[first + count])
    piece = find(breaks, first, count, hint, t)
    t -= breaks[first + piece]
    c = 16 * (first + piece) + 4 * component
    a, b, d, e = coefficients[c], coefficients[c + 1], coefficients[c + 2], coefficients[c + 3]
    value = ((a * t + b) * t + d) * t + e
    if early or late:
        return piece, value, 0.0, 0.0
    return piece, value, (3.0 * a * t + 2.0 * b) * t + d, 6.0 * a * t + 2.0 * b
