"""Transition curves: how a joint's progress from one pose to the next unfolds in time.

A curve is a cubic Hermite spline over [0, 1] in time, from progress 0 to progress 1. In between, progress may leave
[0, 1]: below 0 the motion recoils before it sets out, above 1 it overshoots before it settles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError

MOST_KNOTS: Final = 6
MOST_WARP: Final = 8.0
Knot = tuple[float, float, float]


@dataclass(frozen=True)
class Curve:
    """A transition curve."""

    #: (time, progress, slope) of each knot; the first at (0, 0), the last at (1, 1).
    knots: tuple[Knot, ...] = ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0))
    #: Exponential re-parameterisation of time: u → (e^(a·u) − 1)/(e^a − 1). 0 is none; positive starts slowly.
    warp: float = 0.0
    name: str = ""  #: The preset it came from, if any

    def at(self, share: Any) -> NDArray[np.float64]:
        """Return progress at shares of the transition's time; before 0 it is 0, after 1 it is 1."""
        u = np.clip(np.asarray(share, float), 0.0, 1.0)
        if abs(self.warp) >= 1e-9:
            u = np.expm1(self.warp * u) / math.expm1(self.warp)
        time, progress, slope = np.array(self.knots).T
        k = np.clip(np.searchsorted(time, u, side="left") - 1, 0, len(time) - 2)
        width = time[k + 1] - time[k]
        s = (u - time[k]) / width
        rest = 1.0 - s
        inner = progress[k] + width * slope[k] / 3.0, progress[k + 1] - width * slope[k + 1] / 3.0
        value = rest**3 * progress[k] + 3 * rest**2 * s * inner[0] + 3 * rest * s**2 * inner[1] + s**3 * progress[k + 1]
        return np.asarray(value)


PRESETS: Final[dict[str, Curve]] = {
    name: Curve(knots, 0.0, name)
    for name, knots in {
        "ease": ((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)),
        "linear": ((0.0, 0.0, 1.0), (1.0, 1.0, 1.0)),
        "ease_in": ((0.0, 0.0, 0.0), (1.0, 1.0, 2.0)),
        "ease_out": ((0.0, 0.0, 2.0), (1.0, 1.0, 0.0)),
        "recoil": ((0.0, 0.0, 0.0), (0.25, -0.12, 0.0), (1.0, 1.0, 0.0)),
        "overshoot": ((0.0, 0.0, 0.0), (0.75, 1.12, 0.0), (1.0, 1.0, 0.0)),
        "recoil_overshoot": ((0.0, 0.0, 0.0), (0.22, -0.1, 0.0), (0.78, 1.1, 0.0), (1.0, 1.0, 0.0)),
        # A step: what a plain spring does whose set-point jumps. Its shape is the actuator's own.
        "step": ((0.0, 0.0, 0.0), (0.001, 1.0, 0.0), (1.0, 1.0, 0.0)),
    }.items()
}
"""Curves by name; `ease` is in and out."""


def preset(name: str, warp: float = 0.0, place: Place = NOWHERE) -> Curve:
    """Return a curve by name.

    Raises:
        UnknownNameError: There is none; says which exist.
    """
    if name not in PRESETS:
        raise UnknownNameError("curve", name, PRESETS, place)
    return make_curve(PRESETS[name].knots, warp, place, name)


def make_curve(knots: tuple[Knot, ...], warp: float = 0.0, place: Place = NOWHERE, name: str = "") -> Curve:
    """Make a curve and check it.

    Raises:
        InvalidValueError: Knots that leave [0, 1] in time or do not increase, a curve that does not lead from 0 to 1.
    """
    times = [knot[0] for knot in knots]
    if not 2 <= len(knots) <= MOST_KNOTS:
        raise InvalidValueError("the number of a curve's knots", len(knots), f"from 2 to {MOST_KNOTS}", place)
    if not all(math.isfinite(x) and abs(x) <= 1e3 for knot in knots for x in knot):
        raise InvalidValueError("a curve's knots", knots, "made of finite numbers", place)
    if min(times) < 0.0 or max(times) > 1.0:
        outside = min(times) if min(times) < 0.0 else max(times)
        raise InvalidValueError("the time of a curve's knot", outside, "from 0 to 1: a share of the transition", place)
    if any(b - a < 1e-6 for a, b in zip(times, times[1:], strict=False)):
        raise InvalidValueError("the times of a curve's knots", times, "increasing", place)
    if knots[0][:2] != (0.0, 0.0) or knots[-1][:2] != (1.0, 1.0):
        ends = (knots[0][:2], knots[-1][:2])
        raise InvalidValueError("a curve's ends", ends, "(0, 0) and (1, 1) in time and progress", place)
    if not (math.isfinite(warp) and abs(warp) <= MOST_WARP):
        raise InvalidValueError("warp", warp, f"a number from {-MOST_WARP:g} to {MOST_WARP:g}", place)
    return Curve(tuple(knots), warp, name)
