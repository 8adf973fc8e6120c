"""Smoothing over time that keeps how fast a motion begins and ends."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.maths.rotations import Floats


def smoothed(values: Floats, sigma: float) -> Floats:
    """Return values smoothed over frames, (F, …): odd about both ends, so that the slope there stays.

    Held ends would halve the velocity a motion begins with: of a walk that is 9 cm of capture point.

    Args:
        values: One row per frame.
        sigma: Of the bell curve, in frames.
    """
    count = min(int(4.0 * sigma) + 1, len(values) - 1)
    if sigma <= 0.0 or count < 1:
        return values.copy()
    before, after = 2.0 * values[:1] - values[count:0:-1], 2.0 * values[-1:] - values[-2 : -count - 2 : -1]
    whole = np.concatenate([before, values, after])
    return np.asarray(scipy.ndimage.gaussian_filter1d(whole, sigma, axis=0)[count : count + len(values)])


def eased(flags: NDArray[np.bool_], sigma: float) -> Floats:
    """Return how much flags are set, 0 to 1, going over softly, (F,)."""
    return np.asarray(scipy.ndimage.gaussian_filter1d(flags.astype(float), max(sigma, 1e-3), axis=0, mode="nearest"))


def rates(values: Floats, fps: float) -> Floats:
    """Return how fast values change, per second, (F, …)."""
    return np.asarray(np.gradient(values, 1.0 / fps, axis=0)) if len(values) > 1 else np.zeros_like(values)
