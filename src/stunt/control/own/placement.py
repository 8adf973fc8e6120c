"""Where a step has to come down to catch a body: pure geometry of one pendulum and two feet, compiled.

While a body stands on one foot with its pressure at p, its capture point ξ runs away as p + (ξ − p)·exp(ω·t). A foot
that comes down there catches it. Where a leg cannot reach that place, or not in time, or would cross the other, the
step costs: which foot, how fast and where are chosen by the cheapest.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.maths.compiled import compiled

TIMES: Final = (0.20, 0.24, 0.28, 0.32, 0.38)
"""How long a recovery step of a grown-up may take [s]."""
LEAD: Final = 0.02
"""A step that is just beginning takes so much longer until its foot carries [s]."""
CROSS: Final = 0.20
"""Feet that are apart fore and aft may cross by so much [m]."""
FASTEST: Final = 3.2
"""Mean speed of a stepping foot [m/s]."""
_FORE, _AFT, _OUT = 0.90, 0.70, 0.70  # how far a foot can be put from the other [m]
_LIFT = 0.08  # seconds in which a stepping foot does not get on
_MISS = 0.05  # to miss by this costs 1 [m]
_SECOND = 3.0  # what a second step costs in itself
_LONG, _WIDE = 0.09, 0.03  # from the middle of a sole to where its pressure can go [m]
_BESIDE = 0.13  # feet side by side are so far apart at least [m]


@compiled
def least_out(along: float, size: float) -> float:
    """Return how far a foot has to be to its own side of the one that stands [m], which is `along` behind or ahead."""
    apart = min(max((abs(along) - 0.15 * size) / (0.2 * size), 0.0), 1.0)
    return (1.0 - apart) * _BESIDE * size - apart * CROSS * size


@compiled
def reachable(
    side: float, size: float, x: float, y: float, sx: float, sy: float, hx: float, hy: float
) -> tuple[float, float]:  # fmt: skip
    """Return the nearest place to (x, y) where a foot can be put, seen from the one that stands at (sx, sy).

    An ellipse; feet side by side do not cross, feet apart fore and aft may.

    Args:
        side: 1 for a left foot, −1 for a right one.
        size: Length of the legs as a share of a grown-up's.
        x: Where it should be [m].
        y: Likewise.
        sx: Where the other one stands [m].
        sy: Likewise.
        hx: Which way the body faces, of length 1.
        hy: Likewise.
    """
    ox, oy = -hy * side, hx * side
    along, out = (x - sx) * hx + (y - sy) * hy, (x - sx) * ox + (y - sy) * oy
    reach = (_FORE if along > 0.0 else _AFT) * size
    far = math.hypot(along / reach, out / (_OUT * size))
    if far > 1.0:
        along, out = along / far, out / far
    out = max(out, least_out(along, size))
    return sx + along * hx + out * ox, sy + along * hy + out * oy


@compiled
def clear_of_leg(
    side: float, size: float, x: float, y: float, own: float, hx: float, hy: float
) -> tuple[float, float]:  # fmt: skip
    """Return where a swinging foot goes that should be at (x, y), seen from the one that stands: not through its leg.

    Legs that meet knock the standing foot over, and throw the body the way the step was to catch it. Who is thrown over
    the standing foot steps as near beside it as goes, across where the feet are apart, and then wide with the other.

    Args:
        side: 1 for a left foot, −1 for a right one.
        size: Length of the legs as a share of a grown-up's.
        x: Where it should be [m].
        y: Likewise.
        own: How far to its own side the clip has it [m]: a clip whose feet pass closer, or cross, is left alone.
        hx: Which way the body faces, of length 1.
        hy: Likewise.
    """
    along, out = x * hx + y * hy, side * (y * hx - x * hy)
    lacks = side * max(min(own, least_out(along, size)) - out, 0.0)
    return x - lacks * hy, y + lacks * hx


@compiled
def _burden(fx: float, fy: float, sx: float, sy: float, hx: float, hy: float, side: float, size: float, ux: float,
            uy: float, seconds: float) -> float:  # fmt: skip
    """Return what moving a foot from f to u beside one at s costs: haste, the leg in its way, crossing, length."""
    tempo = math.sqrt(size)  # by which a larger body's times are longer (Froude)
    go = math.hypot(ux - fx, uy - fy)
    late = max(0.0, go / (FASTEST * tempo) + _LIFT * tempo - seconds)
    near = 0.0
    for share in (0.3, 0.5, 0.7):  # past the leg that stands
        px, py = fx - sx + share * (ux - fx), fy - sy + share * (uy - fy)
        if abs(px * hx + py * hy) < 0.2 * size:
            near = max(near, 0.10 * size - math.hypot(px, py))
    crosses = max(0.0, 0.05 * size - ((ux - sx) * -hy + (uy - sy) * hx) * side)
    return float(
        (late / (0.03 * tempo)) ** 2 + (near / (0.05 * size)) ** 2 + (crosses / (0.1 * size)) ** 2
        + (go / (0.6 * size)) ** 2 + ((seconds / tempo - 0.3) / 0.3) ** 2
    )  # fmt: skip


@compiled
def weigh_step(foot: Any, stand: Any, press: Any, face: Any, side: float, size: float, capture: Any, omega: float,
               seconds: float, lead: float, found: Any) -> float:  # fmt: skip
    """Return what a step costs; write where it comes down, and how far that is from where it should [m], to `found`.

    What it misses by costs its square, or what the best step of the other foot after it would cost, if that is less.

    Args:
        foot: Middle of the sole that steps [m], (2,).
        stand: Of the one that stands, (2,).
        press: Where the pressure under that one can go to, (2,).
        face: Which way the body faces, of length 1, (2,).
        side: 1 where the stepping foot is a left one, −1 a right one.
        size: Length of the legs as a share of a grown-up's.
        capture: The capture point [m], (2,).
        omega: Rate of the pendulum [1/s].
        seconds: How long the step takes.
        lead: How much later its foot carries [s].
        found: Written, (3,).
    """
    fx, fy, sx, sy, hx, hy = foot[0], foot[1], stand[0], stand[1], face[0], face[1]
    grown = math.exp(omega * (seconds + lead))
    x, y = press[0] + (capture[0] - press[0]) * grown, press[1] + (capture[1] - press[1]) * grown
    ux, uy = reachable(side, size, x, y, sx, sy, hx, hy)
    cost = _burden(fx, fy, sx, sy, hx, hy, side, size, ux, uy, seconds)
    found[0], found[1], found[2] = ux, uy, math.hypot(x - ux, y - uy)
    missed = (found[2] / (_MISS * size)) ** 2
    if missed > _SECOND:
        missed = min(missed, _SECOND + _after(ux, uy, x, y, sx, sy, hx, hy, -side, size, omega))
    return float(cost + missed)


@compiled
def _after(sx: float, sy: float, xi: float, yi: float, fx: float, fy: float, hx: float, hy: float, side: float,
           size: float, omega: float) -> float:  # fmt: skip
    """Return what the best step of the foot at f costs once the other has come down at s, the capture point at ξ."""
    tempo = math.sqrt(size)
    along, across = (xi - sx) * hx + (yi - sy) * hy, (yi - sy) * hx - (xi - sx) * hy
    along, across = min(max(along, -_LONG * size), _LONG * size), min(max(across, -_WIDE * size), _WIDE * size)
    px, py = sx + along * hx - across * hy, sy + along * hy + across * hx
    best = math.inf
    for long in TIMES:
        seconds = long * tempo
        grown = math.exp(omega * (seconds + 2.0 * LEAD * tempo))
        x, y = px + (xi - px) * grown, py + (yi - py) * grown
        ux, uy = reachable(side, size, x, y, sx, sy, hx, hy)
        cost = (math.hypot(x - ux, y - uy) / (_MISS * size)) ** 2
        best = min(best, cost + _burden(fx, fy, sx, sy, hx, hy, side, size, ux, uy, seconds))
    return best
