"""Where the next steps land: on treads with the whole sole, not too high at once, and not too unlike one another.

A clip's steps are as long as they are; stairs are as deep as they are. Over the next few steps every foot may land
shorter than the clip has it, or a little farther; what is sought is the row of landings that costs least: for a
sole that is not carried, for a rise, for a length that is not the clip's, and for a change of length, which is a change
of pace. Found by dynamic programming over places along the way, 2 cm apart, and the length of the step before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats

GRID: Final = 0.02
"""Distance between places that are looked at [m]."""
SHORTEST: Final = 0.2
"""Shortest step [m]."""
LONGER: Final = 0.1
"""How much longer than the clip's a step may be [m]."""
MARGIN: Final = 0.02
"""So far before and behind the sole the ground should be as it is under it [m]."""
CARRIED: Final = 0.02
"""What is lower than this below a sole does not carry it [m]."""
STEEPEST: Final = 0.5
"""Ground steeper than this is none to put a sole flat on."""
STRAIGHT: Final = 0.012
"""Ground under a sole that is nowhere farther from a line is a slope [m]."""
EASY_RISE: Final = 0.1
"""A step up or down by this costs nothing [m]."""
# What costs as much as anything else: so much of the sole in the air; metres of height over the easy ones, of a step
# that is shorter or longer than the clip's, of a change of length.
_UNCARRIED, _RISE, _SHORT, _LONG, _CHANGE = 0.25, 0.07, 0.3, 0.08, 0.3
_TOO_MUCH = 12.0  # no rise costs more: who must fall down a ledge does not dither before it


@dataclass(frozen=True, eq=False)
class Footholds:
    """What it is like to land at each place of a line.

    Attributes:
        height: Of the sole there [m], (P,).
        slope: Rise over run of the ground there, (P,).
        cost: (P,).
    """

    height: Floats
    slope: Floats
    cost: Floats


@dataclass(frozen=True)
class Landing:
    """One landing.

    Attributes:
        length: Of the step [m].
        height: Of the sole [m].
        slope: Rise over run of the ground.
    """

    length: float
    height: float
    slope: float


def footholds(heights: Floats, behind: float, before: float) -> Footholds:
    """Judge each place of a line for a sole whose middle is there.

    Args:
        heights: Of the ground, `GRID` apart [m], (P,).
        behind: How far the sole goes back from its middle [m].
        before: And forward.
    """
    count, margin = len(heights), round(MARGIN / GRID)
    reach = np.arange(-round(behind / GRID) - margin, round(before / GRID) + margin + 1)
    places = np.clip(np.arange(count)[:, None] + reach, 0, count - 1)
    own = slice(margin, len(reach) - margin)
    over = heights[places] - heights[:, None]
    under = over[:, own]
    slope = np.where(_is_slope(under), (under[:, -1] - under[:, 0]) / (np.ptp(reach[own]) * GRID), 0.0)
    over -= slope[:, None] * reach * GRID
    level = over[:, own].max(axis=1)
    carried = np.abs(over - level[:, None]) < CARRIED
    lost = 1.0 - carried.mean(axis=1)
    return Footholds(heights + level, slope, (lost / _UNCARRIED) ** 2)


def _is_slope(heights: Floats) -> NDArray[np.bool_]:
    """Return whether the ground under soles is one slope, not too steep to stand on, (P,) for (P, places)."""
    rise = heights[:, -1] - heights[:, 0]
    line = heights[:, :1] + rise[:, None] * np.linspace(0.0, 1.0, heights.shape[1])
    straight = np.abs(heights - line).max(axis=1) < STRAIGHT
    return np.asarray(straight & (np.abs(rise) < STEEPEST * heights.shape[1] * GRID))


def landings(lines: list[Footholds], lengths: list[float], origin: int, height: float, pace: float) -> list[Landing]:
    """Choose where the next steps land.

    Args:
        lines: What each step finds at each place.
        lengths: Of the clip's steps [m].
        origin: Place of the foot that stands.
        height: Of its sole [m].
        pace: Length of a step at the speed the body has [m].
    """
    strides = np.arange(round(SHORTEST / GRID), round((max(lengths) + LONGER) / GRID) + 1)
    sizes, count = strides * GRID, len(lines[0].cost)
    change = ((sizes[:, None] - sizes) / _CHANGE) ** 2  # from the one before, to
    until = np.full((count, len(sizes)), np.inf)  # cost of what comes before a step of a size that begins at a place
    until[origin] = ((sizes - pace) / _CHANGE) ** 2
    ways, below, costs = [np.zeros((count, len(sizes)), int)], np.full(count, height), until
    for number, (line, length) in enumerate(zip(lines, lengths, strict=True)):
        if number > 0:
            through = costs[:, :, None] + change
            ways.append(through.argmin(axis=1))
            until = through.min(axis=1)
        costs = _arrived(until, line, below, strides, length)
        below = line.height
    return _followed_back(costs, ways, lines, strides)


def _arrived(until: Floats, line: Footholds, below: Floats, strides: NDArray[np.int64], length: float) -> Floats:
    """Return the cost of having come to each place by a step of each size, (P, sizes)."""
    costs = np.full_like(until, np.inf)
    off = strides * GRID - length
    own = np.where(off < 0.0, off / _SHORT, off / _LONG) ** 2
    for number, stride in enumerate(strides):
        rise = np.maximum(np.abs(line.height[stride:] - below[:-stride]) - EASY_RISE, 0.0)
        climb = np.minimum((rise / _RISE) ** 2, _TOO_MUCH)
        costs[stride:, number] = until[:-stride, number] + own[number] + line.cost[stride:] + climb
    return costs


def _followed_back(
    costs: Floats, ways: list[NDArray[np.int64]], lines: list[Footholds], strides: NDArray[np.int64]
) -> list[Landing]:
    """Return the landings that cost least, from the cost of having come to the last one."""
    place, number = (int(k) for k in np.unravel_index(int(np.argmin(costs)), costs.shape))
    found = list[Landing]()
    for line, way in zip(reversed(lines), reversed(ways), strict=True):
        found.insert(0, Landing(float(strides[number] * GRID), float(line.height[place]), float(line.slope[place])))
        place -= int(strides[number])
        number = int(way[place, number])
    return found
