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


_fine = time.get_clock_info("thread_time").resolution <= 1e-7
_clock = time.thread_time if _fine else time.perf_counter


def stopwatch(work: Callable[[], object]) -> float:
    """Return how long a call kept the processor [s]: time that other programs took in between does not count.

    Where the system measures that too coarsely, time on the wall.
    """
    began = _clock()
    work()
    return _clock() - began


def wall_clock(work: Callable[[], object]) -> float:
    """Return how long a call took for whoever waited for it [s]."""
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


def median_ratio(over: Floats, under: Floats) -> float:
    """Return the median of the ratios of what was measured right after each other.

    A neighbour on the machine slows both of a pair, or one of either kind as often as the other: the median of hundreds
    of pairs hardly moves, where a ratio of two medians does.
    """
    return float(np.median(over / under))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of seconds over sizes on logarithmic axes."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)
