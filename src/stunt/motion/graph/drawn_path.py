"""A path drawn on the ground: a cardinal spline through points, in steps of equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from stunt.errors import NOWHERE, InvalidValueError, Place
from stunt.maths.rotations import Floats

SPACING = 0.02
"""Between the samples of a path [m]."""
LONGEST = 10_000.0
_ON, _ALONG = 0.06, 0.3  # who is so near to a path [m], and faces along it [rad], is on it again
_LOST = 30.0  # no way back is longer [m]


@dataclass(frozen=True)
class DrawnPath:
    """A path over the ground."""

    points: tuple[tuple[float, float], ...]  #: What it goes through [m], (x, y) each; the last one is where it ends
    tension: float = 0.0  #: 0 rounds corners as a Catmull–Rom spline does, 1 cuts straight from point to point
    place: Place = NOWHERE  #: Where it was drawn, for complaints

    def __post_init__(self) -> None:
        given = np.asarray(self.points, float)
        if given.ndim != 2 or given.shape[1] != 2 or len(given) < 2 or not np.isfinite(given).all():
            raise InvalidValueError("a path", self.points, "two or more points [x, y] in metres", self.place)
        steps = np.linalg.norm(np.diff(given, axis=0), axis=1)
        if steps.min() < 1e-3 or steps.sum() > LONGEST:
            expected = f"points that differ, at most {LONGEST:g} m in all"
            raise InvalidValueError("a path", self.points, expected, self.place)
        if not 0.0 <= self.tension <= 1.0:
            raise InvalidValueError("the tension of a path", self.tension, "from 0 to 1", self.place)

    @classmethod
    def through(cls, points: Sequence[Sequence[float]], tension: float = 0.0, place: Place = NOWHERE) -> DrawnPath:
        """Draw a path through points."""
        return cls(tuple((float(x), float(y)) for x, y in points), tension, place)

    @cached_property
    def samples(self) -> Floats:
        """Points every `SPACING` along it and its direction there: [m], [m], [rad] unwrapped, (N, 3)."""
        given = np.asarray(self.points, float)
        # Knots by distance: a long and a short stretch side by side make no loop.
        knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(given, axis=0), axis=1))])
        slopes = (1.0 - self.tension) * np.gradient(given, knots, axis=0)
        spline = scipy.interpolate.CubicHermiteSpline(knots, given, slopes)
        fine = spline(np.linspace(0.0, knots[-1], max(200, int(knots[-1] / SPACING) * 8)))
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(fine, axis=0), axis=1))])
        where = np.append(np.arange(0.0, way[-1], SPACING), way[-1])
        places = np.column_stack([np.interp(where, way, fine[:, axis]) for axis in (0, 1)])
        along = np.gradient(places, axis=0)
        return np.column_stack([places, np.unwrap(np.arctan2(along[:, 1], along[:, 0]))])

    @property
    def length(self) -> float:
        """How long it is [m]."""
        return (len(self.samples) - 1) * SPACING

    def nearest(self, x: float, y: float) -> int:
        """Return the number of the sample nearest to a point [m]."""
        return int(((self.samples[:, :2] - [x, y]) ** 2).sum(axis=1).argmin())

    def way_back(self, x: float, y: float, heading: float, mark: int, tightest: float) -> DrawnPath:
        """Return a path from somewhere, the way one faces there, onto this one and along it to its end.

        Args:
            x: Where [m]; `y` likewise.
            y: See `x`.
            heading: Which way one faces there [rad].
            mark: Number of the sample that was reached; one comes back to it or to a later one.
            tightest: Radius of the tightest turn on the way [m].
        """
        points, samples, k = [(x, y)], self.samples, mark
        ahead, last = round(tightest / SPACING), len(samples) - 1
        for _ in range(round(_LOST / SPACING)):
            near = samples[k : k + ahead + 1, :2]
            k += int(((near - [x, y]) ** 2).sum(axis=1).argmin())
            goal = samples[min(k + ahead, last)]
            off = math.remainder(heading - goal[2], math.tau)
            if math.dist((x, y), samples[k, :2]) < _ON and abs(off) < _ALONG:
                break
            aside = math.remainder(math.atan2(goal[1] - y, goal[0] - x) - heading, math.tau)
            heading += min(max(aside, -SPACING / tightest), SPACING / tightest)
            x, y = x + SPACING * math.cos(heading), y + SPACING * math.sin(heading)
            points.append((x, y))
        rest = [(float(one[0]), float(one[1])) for one in samples[k + ahead :: ahead // 4]]
        end = (float(samples[-1, 0]), float(samples[-1, 1]))
        way = [*points[:: ahead // 4], *(rest[:-1] if rest and math.dist(rest[-1], end) < _ON else rest), end]
        return DrawnPath(tuple(way), place=self.place)

    def distances(self, places: Floats) -> Floats:
        """Return how far points (n, 2) are from the nearest point of the path [m], (n,)."""
        from scipy.spatial import cKDTree

        found, _ = cKDTree(self.samples[:, :2]).query(places)
        return np.asarray(found)
