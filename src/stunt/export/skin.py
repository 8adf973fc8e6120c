"""A smooth skin for a person: the surface of its flesh, in the colours of its clothes, hanging on its bones."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy import sparse

from stunt.export.flesh import Flesh, Lump, by_color, field_on_grid, lumps_of, nearest
from stunt.export.garments import cut_by_color
from stunt.export.rig import Rig
from stunt.export.skin_weights import weigh
from stunt.export.surface import Color, Ints, Surface
from stunt.export.surface_nets import Grid, surface_nets
from stunt.rotations import Floats

_COARSE = 0.0135  # Edge of the grid's cells on a person of 1.74 m [m] …
_FINE = {"head": 0.0065, "l_hand": 0.0065, "r_hand": 0.0065}  # … and where these bones are.
_TALL = 1.74
_ROUNDS = 4  # Of smoothing along the surface and going back onto it.


def skin(model: mujoco.MjModel, rig: Rig, colors: dict[int, Color]) -> Surface:
    """Return a person's skin in the rest pose."""
    lumps = lumps_of(model, rig, colors)
    grid = _grid(lumps, rig)
    points, triangles = surface_nets(field_on_grid(lumps, grid), grid)
    flesh = Flesh(lumps, points)
    points = _settled(flesh, points, triangles)
    slopes = flesh.gradient(points)
    normals = slopes / np.maximum(np.linalg.norm(slopes, axis=1, keepdims=True), 1e-9)
    bones, weights = weigh(lumps, rig, points, neighbours(triangles, len(points)))
    distances = {color: nearest(some, points) for color, some in by_color(lumps)}
    return cut_by_color(Surface(points, normals, ((lumps[0].color, triangles),), bones, weights), distances)


def neighbours(triangles: Ints, count: int) -> sparse.csr_array:
    """Return the matrix that replaces a value at each point by the mean of its neighbours', (V, V)."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    ones = np.ones(len(pairs))
    graph = sparse.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(count, count)).tocsr()
    graph = ((graph + graph.T) > 0).astype(float)
    degree = np.maximum(graph.sum(axis=1), 1.0)
    return sparse.csr_array(sparse.diags_array(1.0 / degree) @ graph)


def _settled(flesh: Flesh, points: Floats, triangles: Ints) -> Floats:
    """Even out a mesh along its surface, and bring every point back onto the flesh."""
    mean = neighbours(triangles, len(points))
    for _ in range(_ROUNDS):
        points = points + 0.5 * (mean @ points - points)
        slope = flesh.gradient(points)
        square = np.maximum(np.sum(slope**2, axis=1, keepdims=True), 0.05)
        points = points - np.clip(flesh.field(points)[:, None] * slope / square, -0.004, 0.004)
    return np.asarray(points)


def _grid(lumps: list[Lump], rig: Rig) -> Grid:
    """Lay a grid around everything, finer where face and fingers are."""
    low = np.min([lump.box[0] for lump in lumps], axis=0)
    high = np.max([lump.box[1] for lump in lumps], axis=0)
    scale = float(high[2] - low[2]) / _TALL
    pad = 3.0 * _COARSE * scale + 0.01
    zones = []
    for bone, name in enumerate(rig.names):
        own = [lump.box for lump in lumps if lump.bone == bone]
        if name in _FINE and own:
            near, far = np.min([box[0] for box in own], axis=0), np.max([box[1] for box in own], axis=0)
            zones.append((near - 0.01, far + 0.01, _FINE[name] * scale))
    axes = [
        _steps(low[k] - pad, high[k] + pad, _COARSE * scale, [(a[k], b[k], fine) for a, b, fine in zones])
        for k in range(3)
    ]
    return axes[0], axes[1], axes[2]


def _steps(low: float, high: float, coarse: float, zones: list[tuple[float, float, float]]) -> Floats:
    """Return coordinates from low to high, closer together in some zones."""
    found = [low]
    while found[-1] < high:
        here = found[-1]
        found.append(here + min([fine for first, last, fine in zones if first <= here <= last], default=coarse))
    return np.array(found)
