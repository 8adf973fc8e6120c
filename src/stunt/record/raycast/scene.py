"""What the ray-caster's loops read: one picture's scene as arrays, and lists of what may be met where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from stunt.maths.compiled import cached

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Compiled = TypeVar("Compiled", bound=Callable[..., Any])


# No reference counts (`_nrt`; so nothing may be allocated): counting at every array access took half of the time.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function: Compiled) -> Compiled:
    """Compile an entry point, called from Python, free of the GIL; once per machine, then from the cache."""
    return cached(function, **_OPTIONS)


def inlined(function: Compiled) -> Compiled:
    """Compile a function that only kernels call, into them: calls with this many arrays cost more than their work."""
    return numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


class RaycastScene(NamedTuple):
    """Everything one picture needs, as arrays. G geoms, C cores, N tree nodes, K triangles."""

    kind: Ints  #: What each geom is, (G,)
    layer: Ints  #: 0 for solid geoms, from 1 on for translucent layers, (G,)
    pos: Floats  #: Geom centres [m], (G, 3)
    mat: Floats  #: Geom rotations, rows first, (G, 9)
    size: Floats  #: MuJoCo's geom sizes [m], (G, 3)
    color: Floats  #: Linear RGB and opacity, (G, 4)
    owner: Ints  #: The body each geom belongs to; things in the world's body own themselves, (G,)
    #: Capsules roughly filling the solid bodies, for ambient occlusion: ends, radius [m], owner, centre, and the square
    #: of its reach, (C, 12).
    core: Floats
    tree: Ints  #: First and past-the-last tree node of each geom's triangles, (G, 2)
    node_box: Floats  #: Bounds of each node in the geom's frame [m], (N, 6)
    node_link: Ints  #: Next node if the box is missed, first triangle, number of triangles, (N, 3)
    triangle: Floats  #: Corners, (K, 3, 3)
    normal: Floats  #: Normals at the corners, (K, 3, 3)
    tile_start: Ints  #: Where each screen tile's list begins, (tiles + 1,)
    tile_items: Ints  #: Geoms that may be seen in a tile
    cell_start: Ints  #: Likewise for the cells of a grid perpendicular to the key light
    cell_items: Ints  #: Geoms that may cast a shadow through a cell
    grid: Floats  #: Grid axes u and v, direction to the key light; origin and cell size and count in u and v, (5, 3)
    disc: Floats  #: Directions to points on the key light's disc, any four in a row well spread, (n, 3)
    lens: Floats  #: Eye, right, up (both scaled to half the picture) and forward, (4, 3)
    look: Floats  #: Linear colours and numbers of the style; see `stunt.record.raycast.render`, (12, 3)
    layers: int  #: Number of translucent layers


@cached
def sort_into_cells(rects: NDArray[Any], columns: int, rows: int) -> tuple[Ints, Ints]:
    """List, for each cell of a grid, the rectangles that touch it.

    Args:
        rects: First and last column, first and last row of each, all inclusive, (n, 4); empty if last < first.
        columns: Cells per row.
        rows: Rows of cells.

    Returns:
        Where each cell's list starts (cells + 1,), and the lists one after another.
    """
    start = np.zeros(columns * rows + 1, np.int32)
    for i in range(rects.shape[0]):
        for y in range(max(rects[i, 2], 0), min(rects[i, 3], rows - 1) + 1):
            for x in range(max(rects[i, 0], 0), min(rects[i, 1], columns - 1) + 1):
                start[y * columns + x + 1] += 1
    for cell in range(columns * rows):
        start[cell + 1] += start[cell]
    items, filled = np.empty(start[-1], np.int32), start[:-1].copy()
    for i in range(rects.shape[0]):
        for y in range(max(rects[i, 2], 0), min(rects[i, 3], rows - 1) + 1):
            for x in range(max(rects[i, 0], 0), min(rects[i, 1], columns - 1) + 1):
                items[filled[y * columns + x]] = i
                filled[y * columns + x] += 1
    return start, items
