"""Means of runs and differences of pairs of runs, with their intervals.

Runs are compared in pairs: the same clip, body, push and seed in one setting and in another. What is drawn again and
again is therefore a pair, never a run of one side; and since runs of one clip are alike, clips are drawn first, then
the pairs within each (two-stage bootstrap). Intervals of shares (how many fell) are those of a bootstrap and of the
score method together: where nobody of twenty fell, resampling alone would be sure that nobody ever will.

Newcombe (1998), "Improved confidence intervals for the difference between binomial proportions based on paired data",
method 10; Wilson (1927) for the shares themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats

LEVEL: Final = 0.95
RESAMPLES: Final = 2000
_Z: Final = 1.959963984540054
"""Of a normal distribution, 95 % lie within so many standard deviations."""


@dataclass(frozen=True)
class Interval:
    """A mean, or a difference of means, and between which limits it lies at `LEVEL`.

    Attributes:
        value: What was measured.
        low: Lower limit.
        high: Upper limit.
        count: Of how many runs, or pairs of runs.
    """

    value: float
    low: float
    high: float
    count: int

    @property
    def tells(self) -> bool:
        """Whether zero is outside."""
        return self.low > 0.0 or self.high < 0.0


def resampled_weights(groups: Sequence[object], resamples: int, rng: np.random.Generator) -> Floats:
    """Return how often each run is drawn in each resample.

    Args:
        groups: The group of each run, (N,): groups are drawn first, with replacement, then runs within each.
        resamples: How often it is drawn, B.
        rng: Where chance comes from.

    Returns:
        Counts, (B, N).
    """
    names = list(dict.fromkeys(groups))
    place = {name: number for number, name in enumerate(names)}
    numbers = np.array([place[group] for group in groups])
    drawn = rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=resamples)  # (B, groups)
    weights = np.empty((resamples, len(numbers)))
    for number in range(len(names)):
        members = np.flatnonzero(numbers == number)
        even = np.full(len(members), 1.0 / len(members))
        weights[:, members] = rng.multinomial(drawn[:, number] * len(members), even)
    return weights


def mean_of(values: Floats, weights: Floats, *, share: bool = False) -> Interval:
    """Return the mean of runs.

    Args:
        values: One per run, (N,).
        weights: Of `resampled_weights`, (B, N).
        share: Whether values are 0 or 1.
    """
    low, high = _limits(_means(values, weights))
    value = float(values.mean())
    if share:
        lower, upper = wilson(value, len(values))
        low, high = min(low, lower), max(high, upper)
    return Interval(value, low, high, len(values))


def difference_of(values: Floats, base: Floats, weights: Floats, *, share: bool = False) -> Interval:
    """Return by how much a measure differs between two sides of the same pairs: the first minus the second.

    Args:
        values: One per pair, (N,).
        base: The same of the other side, (N,).
        weights: Of `resampled_weights`, (B, N).
        share: Whether values are 0 or 1.
    """
    low, high = _limits(_means(values - base, weights))
    value = float((values - base).mean())
    if share:
        lower, upper = newcombe(values, base)
        low, high = min(low, lower), max(high, upper)
    return Interval(value, low, high, len(values))


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the score interval of a share of so many runs."""
    z = _Z * _Z
    middle = (share + z / (2.0 * count)) / (1.0 + z / count)
    half = _Z * math.sqrt(share * (1.0 - share) / count + z / (4.0 * count * count)) / (1.0 + z / count)
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def newcombe(values: Floats, base: Floats) -> tuple[float, float]:
    """Return the interval of the difference, first minus second, of shares of the same pairs, (N,) of 0 and 1 each."""
    count = len(values)
    one, other = float(values.mean()), float(base.mean())
    (low_one, high_one), (low_other, high_other) = wilson(one, count), wilson(other, count)
    alike = _correlation(values, base)
    below = (one - low_one) ** 2 - 2.0 * alike * (one - low_one) * (high_other - other) + (high_other - other) ** 2
    above = (high_one - one) ** 2 - 2.0 * alike * (high_one - one) * (other - low_other) + (other - low_other) ** 2
    return one - other - math.sqrt(max(below, 0.0)), one - other + math.sqrt(max(above, 0.0))


def _correlation(values: Floats, base: Floats) -> float:
    """Return the correlation of two columns of 0 and 1, corrected for continuity (method 10); 0 where undefined."""
    both, first = float((values * base).sum()), float((values * (1.0 - base)).sum())
    second, neither = float(((1.0 - values) * base).sum()), float(((1.0 - values) * (1.0 - base)).sum())
    spread = (both + first) * (second + neither) * (both + second) * (first + neither)
    if spread == 0.0:
        return 0.0
    product, count = both * neither - first * second, len(values)
    if product > 0.0:
        product = max(product - count / 2.0, 0.0)
    return product / math.sqrt(spread)


def _means(values: Floats, weights: Floats) -> Floats:
    means: Floats = (weights @ values) / weights.sum(axis=1)
    return means


def _limits(means: NDArray[np.float64]) -> tuple[float, float]:
    tail = 50.0 * (1.0 - LEVEL)
    low, high = np.percentile(means, [tail, 100.0 - tail])
    return float(low), float(high)
