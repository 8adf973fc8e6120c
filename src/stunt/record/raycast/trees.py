"""Triangle surfaces for the ray-caster: meshes and height fields, each in a tree of bounding boxes.

A tree is an array of nodes in depth-first order. Each node says where to go on when its box is missed, so that a ray
walks it without a stack.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from stunt.record.raycast.scene import Floats, Ints

_LEAF = 6  # Triangles per leaf: few enough to be quick to test, many enough to keep the tree small.


class Trees(NamedTuple):
    """All surfaces of a model, one after another."""

    #: First and past-the-last node by surface, keyed `("mesh" or "hfield", index)`.
    span: dict[tuple[str, int], tuple[int, int]]
    box: Floats  #: Node bounds [m], (N, 6)
    link: Ints  #: Next node if missed, first triangle, number of triangles, (N, 3)
    triangle: Floats  #: Corners, (K, 3, 3)
    normal: Floats  #: Normals at the corners, (K, 3, 3)


def plant_trees(model: mujoco.MjModel) -> Trees:
    """Build the trees of all meshes and height fields that geoms of the model show."""
    boxes: list[Floats] = [np.empty((0, 6))]
    links: list[Ints] = [np.empty((0, 3), np.int32)]
    corners: list[Floats] = [np.empty((0, 3, 3))]
    normals: list[Floats] = [np.empty((0, 3, 3))]
    span: dict[tuple[str, int], tuple[int, int]] = {}
    nodes = triangles = 0
    for key in surfaces(model):
        triangle, normal = _triangles(model, key)
        order, box, link = _tree(triangle)
        corners.append(triangle[order])
        normals.append(normal[order])
        boxes.append(box)
        links.append(link + np.array([nodes, triangles, 0], np.int32))
        span[key] = (nodes, nodes + len(box))
        nodes, triangles = nodes + len(box), triangles + len(triangle)
    return Trees(span, np.concatenate(boxes), np.concatenate(links), np.concatenate(corners), np.concatenate(normals))


def surface_triangles(model: mujoco.MjModel, geom: int) -> tuple[Floats, Floats]:
    """Return corners [m] and normals of the triangles a mesh or height field shows, in its frame, (K, 3, 3) each."""
    key = surface_of(model, geom)
    return (np.empty((0, 3, 3)), np.empty((0, 3, 3))) if key is None else _triangles(model, key)


def _triangles(model: mujoco.MjModel, key: tuple[str, int]) -> tuple[Floats, Floats]:
    return _mesh(model, key[1]) if key[0] == "mesh" else _height_field(model, key[1])


def surfaces(model: mujoco.MjModel) -> list[tuple[str, int]]:
    """List the surfaces geoms refer to, each once, in order."""
    found = {surface_of(model, geom): None for geom in range(model.ngeom)}
    return [key for key in found if key is not None]


def surface_of(model: mujoco.MjModel, geom: int) -> tuple[str, int] | None:
    """Name the triangle surface a geom shows, if it shows one."""
    kind, which = int(model.geom_type[geom]), int(model.geom_dataid[geom])
    if which < 0:
        return None
    if kind == int(mujoco.mjtGeom.mjGEOM_HFIELD):
        return "hfield", which
    return ("mesh", which) if kind in (int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_SDF)) else None


def _mesh(model: mujoco.MjModel, mesh: int) -> tuple[Floats, Floats]:
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    vertex = model.mesh_vert[model.mesh_vertadr[mesh] :]
    normal = model.mesh_normal[model.mesh_normaladr[mesh] :]
    return (vertex[model.mesh_face[faces]].astype(np.float64), normal[model.mesh_facenormal[faces]].astype(np.float64))


def _height_field(model: mujoco.MjModel, field: int) -> tuple[Floats, Floats]:
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, _ = model.hfield_size[field]
    first = model.hfield_adr[field]
    height = model.hfield_data[first : first + rows * columns].reshape(rows, columns).astype(np.float64) * top
    x, y = np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows)
    slope_y, slope_x = np.gradient(height, y, x)
    points = np.stack([*np.meshgrid(x, y), height], axis=-1)
    normals = np.stack([-slope_x, -slope_y, np.ones_like(height)], axis=-1)
    return _quads(points), _quads(normals)


def _quads(grid: Floats) -> Floats:
    """Split each square of a grid of values (r, c, 3) into two triangles of values, (2 (r-1) (c-1), 3, 3)."""
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    halves = [np.stack(corners, axis=-2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))]
    return np.concatenate(halves)


def _tree(triangle: Floats) -> tuple[Ints, Floats, Ints]:
    """Split triangles at the median of their widest axis until few are left; return order, boxes and links."""
    low, high, centre = triangle.min(axis=1), triangle.max(axis=1), triangle.mean(axis=1)
    order = np.arange(len(triangle), dtype=np.int32)
    boxes: list[Floats] = []
    links: list[list[int]] = []
    waiting: list[tuple[int, int, int]] = [(0, len(triangle), -1)]  # Range, and the node to close first.
    while waiting:
        first, last, closing = waiting.pop()
        if closing >= 0:
            links[closing][0] = len(links)
            continue
        mine = order[first:last]
        boxes.append(np.concatenate([low[mine].min(axis=0) - 1e-9, high[mine].max(axis=0) + 1e-9]))
        leaf = last - first <= _LEAF
        links.append([len(links) + 1, first, last - first if leaf else 0])
        if leaf:
            continue
        axis = int(np.argmax(np.ptp(centre[mine], axis=0)))
        middle = (first + last) // 2
        order[first:last] = mine[np.argpartition(centre[mine, axis], middle - first)]
        waiting += [(0, 0, len(links) - 1), (middle, last, -1), (first, middle, -1)]
    return order, np.array(boxes), np.array(links, dtype=np.int32)
