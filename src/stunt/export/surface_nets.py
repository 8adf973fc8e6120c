"""A triangle mesh where a field on a grid is zero: naive surface nets.

After S. Gibson, *Constrained elastic surface nets* (1998), without its relaxation. One point in every cell the
surface passes through, four of them joined across every grid edge it crosses. Meshes are closed and evenly sized, with
no slivers, which skinning likes.
"""

from __future__ import annotations

import numpy as np

from stunt.export.surface import Ints
from stunt.rotations import Floats

Grid = tuple[Floats, Floats, Floats]


def surface_nets(values: Floats, grid: Grid) -> tuple[Floats, Ints]:
    """Return points (V, 3) and outward triangles (T, 3).

    Args:
        values: The field at the grid's corners, negative inside, positive on the outermost corners, (X, Y, Z).
        grid: The corners' coordinates along each axis, increasing; they need not be even.
    """
    inside = values < 0.0
    sums, counts = _crossings(values, inside, grid)
    cells = counts > 0
    number = np.full(cells.shape, -1, np.int64)
    number[cells] = np.arange(int(cells.sum()))
    points = sums[cells] / counts[cells][:, None]
    return points, _triangles(inside, number)


def _shift(axis: int, first: int, length: int) -> tuple[slice, ...]:
    return tuple(slice(first, first + length) if a == axis else slice(None) for a in range(3))


def _crossings(values: Floats, inside: np.ndarray, grid: Grid) -> tuple[Floats, Ints]:
    """Return, for each cell, the sum (…, 3) and the number of the points where its edges cross zero."""
    shape = tuple(n - 1 for n in values.shape)
    sums, counts = np.zeros((*shape, 3)), np.zeros(shape, np.int64)
    for axis in range(3):
        length = values.shape[axis] - 1
        a, b = values[_shift(axis, 0, length)], values[_shift(axis, 1, length)]
        crossed = inside[_shift(axis, 0, length)] != inside[_shift(axis, 1, length)]
        where = np.argwhere(crossed)
        share = a[crossed] / (a[crossed] - b[crossed])
        place = np.stack([grid[k][where[:, k]] for k in range(3)], axis=1)
        place[:, axis] += share * (grid[axis][where[:, axis] + 1] - grid[axis][where[:, axis]])
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for du in (0, 1):
            for dv in (0, 1):  # the four cells around the edge
                cell = where.copy()
                cell[:, u] -= du
                cell[:, v] -= dv
                np.add.at(sums, tuple(cell.T), place)
                np.add.at(counts, tuple(cell.T), 1)
    return sums, counts


def _triangles(inside: np.ndarray, number: Ints) -> Ints:
    found = []
    for axis in range(3):
        length = inside.shape[axis] - 1
        low = inside[_shift(axis, 0, length)]
        crossed = low != inside[_shift(axis, 1, length)]
        where = np.argwhere(crossed)
        u, v = (axis + 1) % 3, (axis + 2) % 3
        corners = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
            cell = where.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            corners.append(number[tuple(cell.T)])
        quad = np.stack(corners, axis=1)
        leaving = low[crossed]  # from inside to outside along the axis: the surface faces along it
        quad = np.where(leaving[:, None], quad, quad[:, ::-1])
        found += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return np.concatenate(found)
