"""Trajectories: where a joint or a site should be, over time, as piecewise polynomials.

A trajectory is made from points (a smooth spline, straight lines or jumps between them), from evenly sampled data such
as a clip or a capture, or from a function of time. Whoever follows one asks for its `pieces`: polynomials whose value,
velocity and acceleration a compiled program can evaluate. Before its first and after its last point a trajectory stands
still. Joint angles are in radians, positions in metres, orientations unit quaternions wxyz; times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.errors import NO_NUMBERS, NOWHERE, InvalidValueError, Place, TrajectoryGapError, TrajectoryOrderError

Floats = NDArray[np.float64]
Between = Literal["spline", "linear", "step"]
BETWEENS: Final = ("spline", "linear", "step")
_FUNCTION_HZ: Final = 240.0
"""How densely a function of time is sampled; a cubic through that is exact to 1e-9 for human motion."""


@dataclass(frozen=True)
class Pieces:
    """Cubic polynomials, end to end."""

    breaks: Floats  #: Times at which a piece begins, and the end of the last [s], (n + 1,)
    coefficients: Floats  #: Of (t − breaks[i])³ … (t − breaks[i])⁰ for each component, (n, components, 4)

    @property
    def components(self) -> int:
        """How many numbers a point has."""
        return int(self.coefficients.shape[1])

    def at(self, time: float) -> tuple[Floats, Floats, Floats]:
        """Return value, velocity and acceleration at a time, each (components,)."""
        if time < self.breaks[0] or time > self.breaks[-1]:
            end = self.breaks[0] if time < self.breaks[0] else self.breaks[-1]
            value, _, _ = self.at(float(end))
            return value, np.zeros_like(value), np.zeros_like(value)
        piece = min(int(np.searchsorted(self.breaks, time, side="right")) - 1, len(self.breaks) - 2)
        t = time - self.breaks[piece]
        a, b, c, d = self.coefficients[piece].T
        return ((a * t + b) * t + c) * t + d, (3 * a * t + 2 * b) * t + c, 6 * a * t + 2 * b


@dataclass(frozen=True)
class Trajectory:
    """Points over time.

    Attributes:
        times: When [s], increasing, (n,).
        values: Where, (n, components).
        between: How it goes from point to point: `spline` (smooth, at rest at both ends), `linear`, or `step` (stays,
            then jumps).
        function: Instead of points: what to ask for the value at a time [s]. Then `times` is when it begins and ends.
        place: Where it was written.
    """

    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...] = ()
    between: Between = "spline"
    function: Callable[[float], Any] | None = field(default=None, compare=False)
    place: Place = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        """Check that time moves forward and every point is a point."""
        if not isinstance(self.times, Sequence) or isinstance(self.times, str | bytes):
            raise InvalidValueError("the times of a trajectory", self.times, "numbers, one per point", self.place)
        for number, time in enumerate(self.times):
            if type(time) not in (int, float) and not isinstance(time, np.number):
                raise InvalidValueError(f"the time of point {number + 1}", time, "a number", self.place)
            if math.isnan(time) or (self.function is None and not math.isfinite(time)):
                raise InvalidValueError(f"the time of point {number + 1}", time, "a finite number", self.place)
            if number and not time > self.times[number - 1]:
                raise TrajectoryOrderError(time, self.times[number - 1], self.place)
        if self.function is None:
            self._check_points()

    def _check_points(self) -> None:
        if not self.times or len(self.times) != len(self.values):
            raise InvalidValueError("the number of values", len(self.values), "one per time", self.place)
        if self.between not in BETWEENS:
            raise InvalidValueError("between", self.between, f"one of {', '.join(BETWEENS)}", self.place)
        width = len(self.values[0])
        for time, value in zip(self.times, self.values, strict=True):
            if len(value) != width:
                raise InvalidValueError(f"the point at {time:g} s", value, f"{width} numbers, as the first", self.place)
            if not all(math.isfinite(x) for x in value):
                raise TrajectoryGapError(time, self.place)

    @staticmethod
    def through(
        times: Sequence[float], values: Sequence[Any] | Floats, between: Between = "spline", *, place: Place = NOWHERE
    ) -> Trajectory:
        """Make a trajectory through points; a point is a number, a position (3,) or a quaternion (4,)."""
        try:
            points = tuple(tuple(float(x) for x in np.atleast_1d(np.asarray(value, float))) for value in values)
            moments = tuple(float(t) for t in times)
        except NO_NUMBERS:
            what = (times, values)
            raise InvalidValueError("times and values", what, "numbers, and points of numbers", place) from None
        return Trajectory(moments, points, between, place=place)

    @staticmethod
    def sampled(values: Any, hz: float, *, start: float = 0.0, place: Place = NOWHERE) -> Trajectory:
        """Make a trajectory of evenly sampled data: a column of a clip, a marker, a recorded take."""
        if not (math.isfinite(hz) and hz > 0.0):
            raise InvalidValueError("the rate of a sampled trajectory", hz, "a positive number of hertz", place)
        rows = np.asarray(values, float)
        return Trajectory.through((start + np.arange(len(rows)) / hz).tolist(), rows, place=place)

    @staticmethod
    def of(
        function: Callable[[float], Any], *, start: float = 0.0, end: float = math.inf, place: Place = NOWHERE
    ) -> Trajectory:
        """Make a trajectory of a function of time [s]; it returns a number, a position or a quaternion."""
        return Trajectory((float(start), float(end)), function=function, place=place)

    @property
    def components(self) -> int:
        """How many numbers a point has."""
        return len(self.values[0]) if self.function is None else len(self._ask(self.times[0]))

    @property
    def end(self) -> float:
        """When its last point falls [s]; infinite for a function without an end."""
        return self.times[-1]

    def pieces(self, begin: float, until: float) -> Pieces:
        """Return the trajectory as polynomials; a function is sampled from `begin` to `until` [s]."""
        if self.function is not None:
            return self._sample(max(begin, self.times[0]), min(until, self.times[-1]))
        times, values = np.array(self.times), _aligned(np.array(self.values))
        if len(times) == 1:
            return _standing(times[0], values[0])
        if self.between == "step":
            return _jumps(times, values)
        if self.between == "linear":
            return _from_poly(
                scipy.interpolate.PPoly(
                    np.stack([np.diff(values, axis=0) / np.diff(times)[:, None], values[:-1]]), times
                )
            )
        return _from_poly(scipy.interpolate.CubicSpline(times, values, bc_type="clamped"))

    def _ask(self, time: float) -> Floats:
        assert self.function is not None
        value = np.atleast_1d(np.asarray(self.function(time), float)).ravel()
        if not np.isfinite(value).all():
            raise TrajectoryGapError(time, self.place)
        return value

    def _sample(self, begin: float, until: float) -> Pieces:
        if until <= begin:
            return _standing(begin, self._ask(min(max(begin, self.times[0]), self.times[-1])))
        count = max(2, math.ceil((until - begin) * _FUNCTION_HZ) + 1)
        times = np.linspace(begin, until, count)
        values = _aligned(np.array([self._ask(float(t)) for t in times]))
        return _from_poly(
            scipy.interpolate.CubicSpline(times, values, bc_type="not-a-knot" if count > 3 else "natural")
        )


def _aligned(values: Floats) -> Floats:
    """Put successive quaternions on one side of their double cover; everything else stays."""
    if values.ndim == 2 and values.shape[1] == 4:
        turn = np.where((values[1:] * values[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        values = values.copy()
        values[1:] *= np.cumprod(turn)[:, None]
    return values


def _standing(time: float, value: Floats) -> Pieces:
    coefficients = np.zeros((1, len(value), 4))
    coefficients[0, :, 3] = value
    return Pieces(np.array([time, time + 1.0]), coefficients)


def _jumps(times: Floats, values: Floats) -> Pieces:
    """Stay at each value until the next one's time; the last piece only says where it stays."""
    coefficients = np.zeros((len(values), values.shape[1], 4))
    coefficients[:, :, 3] = values
    return Pieces(np.append(times, times[-1] + 1.0), coefficients)


def _from_poly(poly: scipy.interpolate.PPoly) -> Pieces:
    degree = poly.c.shape[0]
    coefficients = np.zeros((poly.c.shape[1], poly.c.shape[2], 4))
    coefficients[:, :, 4 - degree :] = np.moveaxis(poly.c, 0, -1)
    return Pieces(np.asarray(poly.x, float), coefficients)
