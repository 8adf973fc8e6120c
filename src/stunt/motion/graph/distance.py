"""How alike two moments of motion are: distance maps over clouds of joints, after the best move over the ground.

Kovar, Gleicher and Pighin, "Motion Graphs" (2002), section 3.1: the clouds are all joints over a window of frames; the
distance is what is left after the turn about the vertical and the shift over the ground that bring them closest. Both
have a closed form. Written with centred clouds every term of it is an inner product, so that a whole map is five
products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats
from stunt.motion.graph.planar import Planar


@dataclass(frozen=True, eq=False)
class Clouds:
    """Windows of joints around every frame that has a whole one."""

    first: int  #: The first such frame; it is half a window
    centre: Floats  #: Where each cloud's middle is over the ground [m], (N, 2)
    x: Floats  #: Coordinates about that middle [m], (N, K)
    y: Floats  #: Likewise
    z: Floats  #: Heights [m], (N, K)


def make_clouds(points: Floats, half: int) -> Clouds:
    """Gather windows of `half` frames before and after each; points are (F, P, 3)."""
    frames = len(points)
    count = max(frames - 2 * half, 0)
    window = np.arange(count)[:, None] + np.arange(2 * half + 1)
    cloud = points[window].reshape(count, -1, 3)  # (N, K, 3)
    centre = cloud[..., :2].mean(axis=1) if count else np.zeros((0, 2))
    flat = cloud[..., :2] - centre[:, None]
    # Whole arrays, not views: products of matrices are many times faster on them.
    x, y, z = (np.ascontiguousarray(values) for values in (flat[..., 0], flat[..., 1], cloud[..., 2]))
    return Clouds(half, centre, x, y, z)


def distance_map(one: Clouds, other: Clouds) -> Floats:
    """Return the root-mean-square distance of the clouds of every pair of frames [m], (N, M)."""
    along, across = _inner(one, other)
    own = (one.x**2 + one.y**2 + one.z**2).sum(axis=1)
    theirs = (other.x**2 + other.y**2 + other.z**2).sum(axis=1)
    # The best turn θ makes along·cos θ + across·sin θ largest, which is then its amplitude.
    squares = own[:, None] + theirs[None, :] - 2.0 * (one.z @ other.z.T) - 2.0 * np.hypot(along, across)
    result: Floats = np.sqrt(np.maximum(squares, 0.0) / max(one.x.shape[1], 1))
    return result


def _inner(one: Clouds, other: Clouds) -> tuple[Floats, Floats]:
    along = one.x @ other.x.T + one.y @ other.y.T
    across = one.y @ other.x.T - one.x @ other.y.T
    return along, across


def alignment(one: Clouds, other: Clouds, i: int, j: int) -> Planar:
    """Return the move of the other cloud j that brings it closest to cloud i (numbers of clouds, not of frames)."""
    along = one.x[i] @ other.x[j] + one.y[i] @ other.y[j]
    across = one.y[i] @ other.x[j] - one.x[i] @ other.y[j]
    turn = float(np.arctan2(across, along))
    spun = Planar(turn=turn).points(other.centre[j])
    return Planar(float(one.centre[i, 0] - spun[0]), float(one.centre[i, 1] - spun[1]), turn)


def local_minima(costs: Floats, most: float, reach: int, spread: int) -> np.ndarray:
    """Return the pairs (row, column) where the map has minima, (T, 2).

    Args:
        costs: The map.
        most: What is higher does not count.
        reach: A minimum is lowest among all pairs so close to it.
        spread: Of minima within so many rows and columns only the lowest counts: where two clips show the same motion
            the map has a valley without end, and a transition every so often is as good as one in every frame.
    """
    if costs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    lowest = scipy.ndimage.minimum_filter(costs, size=2 * reach + 1, mode="nearest")
    pairs = np.argwhere((costs <= lowest) & (costs <= most))
    order = np.argsort(costs[pairs[:, 0], pairs[:, 1]], kind="stable")
    chosen = _spaced(pairs[order], costs.shape[0], costs.shape[1], spread)
    return np.asarray(chosen[np.lexsort((chosen[:, 1], chosen[:, 0]))])


@compiled
def _spaced(pairs: Any, rows: int, columns: int, spread: int) -> Any:
    """Return those of the pairs, in their order, that are not within `spread` of one returned before."""
    taken = np.zeros((rows, columns), np.bool_)
    chosen, count = np.empty_like(pairs), 0
    for n in range(len(pairs)):
        i, j = pairs[n, 0], pairs[n, 1]
        if not taken[i, j]:
            chosen[count] = pairs[n]
            count += 1
            taken[max(i - spread, 0) : i + spread + 1, max(j - spread, 0) : j + spread + 1] = True
    return chosen[:count].copy()
