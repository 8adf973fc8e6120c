"""Fair comparisons on a noisy machine: the same work, interleaved, medians, ratios within one run."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Job = Callable[[], float]
"""Does its work once and returns the seconds that counted."""
Floats = NDArray[np.float64]


def stopwatch(work: Callable[[], object]) -> float:
    """Return how long a call took [s]."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def interleaved(jobs: Sequence[Mapping[str, Job]], rounds: int) -> dict[str, Floats]:
    """Run every job of every case once per round, so that a slow moment of the machine hits all of them alike.

    Args:
        jobs: For each case (say, a state to start from), the jobs to compare, by name; the same names in each.
        rounds: How often.

    Returns:
        Seconds by name, (rounds, cases).
    """
    names = list(jobs[0])
    seconds = {name: np.empty((rounds, len(jobs))) for name in names}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            for case, of_case in enumerate(jobs):
                # Whoever comes first finds a colder cache; they take turns.
                for name in names if (turn + case) % 2 == 0 else reversed(names):
                    seconds[name][turn, case] = of_case[name]()
    finally:
        if collecting:
            gc.enable()
    return seconds


def typical(seconds: Floats) -> float:
    """Return the time of all cases together, each at the median of its rounds [s]."""
    return float(np.median(seconds, axis=0).sum())


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of seconds over sizes on logarithmic axes."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)
