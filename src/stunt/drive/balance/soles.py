"""Two feet as far as their ankles tell: what they cover, where its middle is, and how far outside a weight is going."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from stunt.drive.balance.capture import outside_feet
from stunt.maths.rotations import Floats

AHEAD: Final = 0.045
"""How far the middle of a sole is ahead of its ankle [m]."""
REACH: Final = 0.11
"""How far a sole goes from its middle [m]."""
WIDE: Final = 0.04
"""How far it goes to either side [m]."""
COVERED: Final = 0.15
"""How far from their middle whatever is lowest of a body carries it, feet or not [m]."""
_LOWEST = 4  # bodies: those of two feet with their toes


class TwoFeet(NamedTuple):
    """Where two feet are, and where they point.

    Attributes:
        one: An ankle [m], (3,).
        other: The other [m], (3,).
        facing: Heading of the body they are of [rad].
    """

    one: Floats
    other: Floats
    facing: float

    @property
    def _ahead(self) -> Floats:
        return AHEAD * np.array([np.cos(self.facing), np.sin(self.facing)])

    @property
    def middle(self) -> Floats:
        """The point on the ground between them, under the middle of their soles [m], (2,)."""
        return np.asarray(0.5 * (self.one + self.other)[:2] + self._ahead)

    def ankle_over(self, place: Floats) -> Floats:
        """Return where the ankle of a foot is, over the ground, the middle of whose sole is at a place [m], (2,)."""
        return np.asarray(place - self._ahead)

    @property
    def outlines(self) -> tuple[Floats, Floats]:
        """Corners of both soles over the ground [m], two of (4, 2)."""
        ahead = self._ahead / AHEAD
        across = np.array([-ahead[1], ahead[0]])
        corners = np.array([a * REACH * ahead + b * WIDE * across for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))])
        return self.one[:2] + self._ahead + corners, self.other[:2] + self._ahead + corners

    def outside(self, point: Floats) -> float:
        """Return how far a point over the ground, (2,), is outside of what they cover [m]; below 0 it is inside."""
        return outside_feet(point, self.one[:2] + self._ahead, self.other[:2] + self._ahead, REACH)


def past_lowest(capture: Floats, com: Floats, places: Floats) -> float:
    """Return how far a capture point is at most past what is lowest of a body, and taken to carry it [m]; 0: it is not.

    Args:
        capture: The capture point [m], (2,).
        com: The centre of mass [m], (3,).
        places: Where its bodies are [m], (B, 3).
    """
    low = places[np.argsort(places[:, 2])[:_LOWEST], :2].mean(axis=0)
    beside = float(np.linalg.norm(com[:2] - low))
    return max(0.0, float(np.linalg.norm(capture - com[:2])) + beside - COVERED)
