"""The step that catches a body: which foot, where and when, for whoever drives it.

Bodies on their own feet choose their recovery steps by the same compiled law (`control/own/placement.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stunt.control.own.placement import LEAD, TIMES, weigh_step
from stunt.control.own.polygon import inside_by, outline
from stunt.maths.rotations import Floats

PRESSED = 0.8
"""The pressure under a standing sole goes at most so far from its middle to its edge."""


class CatchingStep(NamedTuple):
    """A step that catches a body.

    Attributes:
        foot: Which: 0 the first, 1 the second.
        place: Where the middle of its sole comes down [m], (2,).
        seconds: How long it takes.
        miss: How far that is from where it would catch the body whole [m].
        cost: What it costs, without unit: below about 4 it is easily done.
    """

    foot: int
    place: Floats
    seconds: float
    miss: float
    cost: float


def catching_step(
    soles: tuple[Floats, Floats],
    capture: Floats,
    rate: float,
    facing: float,
    *,
    size: float = 1.0,
    first_is_left: bool = True,
    feet: tuple[int, ...] = (0, 1),
    left: float | None = None,
) -> CatchingStep:
    """Return the best step of a body that would tip over otherwise.

    Args:
        soles: Points of both soles over the ground [m], two of (n, 2) or (n, 3).
        capture: Where the body would have to be put its foot to come to rest (see `capture_point`) [m], (2,).
        rate: Of its pendulum: √(g / height of the centre of mass) [1/s].
        facing: Its heading [rad].
        size: Length of its legs as a share of a grown-up's of 0.9 m.
        first_is_left: Whether the first sole is the left one.
        feet: Which feet may step.
        left: Of a step that is under way, how long it still takes [s]; None: choose.
    """
    flat = [np.array(np.asarray(sole, float)[:, :2]) for sole in soles]
    middles, face = [sole.mean(axis=0) for sole in flat], np.array([np.cos(facing), np.sin(facing)])
    best, found, spot = CatchingStep(feet[0], middles[feet[0]], 0.0, np.inf, np.inf), np.zeros(3), np.zeros(2)
    point = np.asarray(capture, float)[:2].copy()
    for foot in feet:
        stand = 1 - foot
        hull = np.zeros((len(flat[stand]) + 1, 2))
        corners = outline(flat[stand].copy(), len(flat[stand]), hull)
        inside_by(point[0], point[1], hull, corners, spot)
        press = middles[stand] + PRESSED * (spot - middles[stand])
        side = 1.0 if (foot == 0) == first_is_left else -1.0
        for seconds in [long * np.sqrt(size) for long in TIMES] if left is None else [left]:
            cost = weigh_step(
                middles[foot], middles[stand], press, face, side, size, point, rate, float(seconds),
                LEAD * float(np.sqrt(size)) if left is None else 0.0, found,
            )  # fmt: skip
            if cost < best.cost:
                best = CatchingStep(foot, found[:2].copy(), float(seconds), float(found[2]), float(cost))
    return best
