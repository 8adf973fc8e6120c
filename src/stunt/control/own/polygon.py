"""Convex outlines of points over the ground, compiled: what carries, how far a point is inside, where it would be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stunt.maths.compiled import compiled


@compiled
def outline(points: Any, count: int, out: Any) -> int:
    """Write the convex outline of points, counter-clockwise, to `out` (one more row than points); return its corners.

    Args:
        points: Over the ground [m], (n, 2); their order is changed.
        count: How many of them.
        out: Written, (n + 1, 2).
    """
    for i in range(1, count):  # few points: insertion is the fastest sort
        x, y = points[i, 0], points[i, 1]
        k = i - 1
        while k >= 0 and (points[k, 0] > x or (points[k, 0] == x and points[k, 1] > y)):
            points[k + 1, 0], points[k + 1, 1] = points[k, 0], points[k, 1]
            k -= 1
        points[k + 1, 0], points[k + 1, 1] = x, y
    if count <= 2:
        for i in range(count):
            out[i, 0], out[i, 1] = points[i, 0], points[i, 1]
        return count
    size = 0
    for i in range(count):
        size = _keep_left(out, size, 0, points[i, 0], points[i, 1])
    low = size - 1
    for i in range(count - 2, -1, -1):
        size = _keep_left(out, size, low, points[i, 0], points[i, 1])
    return size - 1


@compiled
def _keep_left(out: Any, size: int, low: int, x: float, y: float) -> int:
    """Append a corner after dropping those behind it that would turn right."""
    while size - low >= 2:
        ax, ay = out[size - 1, 0] - out[size - 2, 0], out[size - 1, 1] - out[size - 2, 1]
        if ax * (y - out[size - 2, 1]) - ay * (x - out[size - 2, 0]) > 0.0:
            break
        size -= 1
    out[size, 0], out[size, 1] = x, y
    return size + 1


@compiled
def inside_by(x: float, y: float, corners: Any, count: int, found: Any) -> float:
    """Return how far a point is inside an outline [m], below 0: outside; write the nearest point of it to `found`."""
    found[0], found[1] = x, y
    if count == 0:
        return -math.inf
    if count == 1:
        found[0], found[1] = corners[0, 0], corners[0, 1]
        return -math.hypot(x - corners[0, 0], y - corners[0, 1])
    inside, depth, nearest, nx, ny = count > 2, math.inf, math.inf, x, y
    for i in range(count):
        k = i + 1 if i + 1 < count else 0
        ex, ey = corners[k, 0] - corners[i, 0], corners[k, 1] - corners[i, 1]
        length = math.hypot(ex, ey)
        if length < 1e-9:
            continue
        px, py = x - corners[i, 0], y - corners[i, 1]
        share = min(max((px * ex + py * ey) / (length * length), 0.0), 1.0)
        qx, qy = corners[i, 0] + share * ex, corners[i, 1] + share * ey
        far = math.hypot(x - qx, y - qy)
        if far < nearest:
            nearest, nx, ny = far, qx, qy
        side = (ex * py - ey * px) / length
        if side < 0.0:
            inside = False
        depth = min(depth, side)
    if inside:
        return depth
    found[0], found[1] = nx, ny
    return -nearest


@compiled
def nearest_inside(points: Any, corners: Any, sizes: Any, inside: Any, outside: Any) -> None:
    """Write for each frame the nearest point of its outline, and how far outside it is [m]; left where there is none.

    Args:
        points: (F, 2).
        corners: (F, n, 2).
        sizes: How many corners there are, (F,).
        inside: Written, (F, 2).
        outside: Written, (F,).
    """
    found = np.zeros(2)
    for f in range(points.shape[0]):
        outside[f] = 0.0
        if sizes[f] == 0:
            continue
        depth = inside_by(points[f, 0], points[f, 1], corners[f], sizes[f], found)
        inside[f, 0], inside[f, 1] = found[0], found[1]
        outside[f] = max(0.0, -depth)
