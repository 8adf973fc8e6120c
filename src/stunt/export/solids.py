"""Triangle surfaces for scene files: points, normals, bones, triangles by colour; and geoms of a model as such."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats, rotate
from stunt.record.raycast.colors import visible_geoms
from stunt.record.raycast.trees import surface_of, surface_triangles

Ints = NDArray[np.int64]
Color = tuple[float, float, float, float]
"""Display (sRGB) red, green and blue, and opacity, in 0–1."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface of V points."""

    points: Floats  #: [m], (V, 3)
    normals: Floats  #: Outward, of length 1, (V, 3)
    parts: tuple[tuple[Color, Ints], ...]  #: Triangles (T, 3) by colour
    bones: Ints | None = None  #: Up to four bones each point hangs on, (V, 4); None where it hangs on none
    weights: Floats | None = None  #: How much on each; they add up to 1, (V, 4)

    def moved(self, place: Floats, turn: Floats) -> Surface:
        """Return it turned and moved."""
        return Surface(rotate(turn, self.points) + place, rotate(turn, self.normals), self.parts)

    def on_bone(self, bone: int) -> Surface:
        """Return it hanging on one bone alone."""
        bones, weights = np.zeros((len(self.points), 4), np.int64), np.zeros((len(self.points), 4))
        bones[:, 0], weights[:, 0] = bone, 1.0
        return Surface(self.points, self.normals, self.parts, bones, weights)


def together(surfaces: Sequence[Surface]) -> Surface:
    """Return several surfaces as one, triangles of one colour together."""
    parts: dict[Color, list[Ints]] = {}
    start = 0
    for surface in surfaces:
        for color, triangles in surface.parts:
            parts.setdefault(color, []).append(triangles + start)
        start += len(surface.points)
    bones = [s.bones for s in surfaces if s.bones is not None]
    weights = [s.weights for s in surfaces if s.weights is not None]
    skinned = len(bones) == len(surfaces) and bool(surfaces)
    return Surface(
        np.concatenate([s.points for s in surfaces] or [np.zeros((0, 3))]),
        np.concatenate([s.normals for s in surfaces] or [np.zeros((0, 3))]),
        tuple((color, np.concatenate(some)) for color, some in parts.items()),
        np.concatenate(bones) if skinned else None,
        np.concatenate(weights) if skinned else None,
    )


_AROUND, _ALONG = 32, 12  # Facets of round things.
_PLANE = 5.0  # Half the edge of an endless plane [m].
PLAIN = (0.63, 0.68, 0.75)
GROUPS = (0, 1, 2)
_GEOM = mujoco.mjtGeom


def colored_geoms(model: mujoco.MjModel) -> dict[int, Color]:
    """Return the geoms that are shown, and their colours; of several that are one and the same shape, the first.

    Bodies from URDF have every shape twice, to be seen and to be touched; two surfaces in one place flicker.
    """
    geoms, linear = visible_geoms(model, GROUPS, PLAIN)
    shown = np.column_stack([np.sqrt(linear[:, :3]), linear[:, 3]])
    found: dict[bytes, tuple[int, Color]] = {}
    for geom, row in zip(geoms, shown, strict=True):
        found.setdefault(_shape_key(model, int(geom)), (int(geom), _color(row)))
    return dict(found.values())


def _shape_key(model: mujoco.MjModel, geom: int) -> bytes:
    """Return what tells a geom from others of its body."""
    kind = [model.geom_bodyid[geom], model.geom_type[geom], model.geom_dataid[geom]]
    rest = [*model.geom_size[geom], *model.geom_pos[geom], *model.geom_quat[geom]]
    return np.round(np.array([*kind, *rest], float), 9).tobytes()


def _color(row: Floats) -> Color:
    red, green, blue, alpha = (round(float(value), 4) for value in row)
    return red, green, blue, alpha


def body_surface(model: mujoco.MjModel, body: int, colors: dict[int, Color]) -> Surface:
    """Return what is seen of a body, in its own frame."""
    geoms = [geom for geom in colors if model.geom_bodyid[geom] == body]
    return together([geom_surface(model, geom, colors[geom]) for geom in geoms])


def geom_surface(model: mujoco.MjModel, geom: int, color: Color) -> Surface:
    """Return a geom's surface in its body's frame."""
    kind, size = int(model.geom_type[geom]), np.asarray(model.geom_size[geom], float)
    points, normals, triangles = _shape(model, geom, kind, size)
    surface = Surface(points, normals, ((color, triangles),))
    return surface.moved(np.asarray(model.geom_pos[geom], float), np.asarray(model.geom_quat[geom], float))


def _shape(model: mujoco.MjModel, geom: int, kind: int, size: Floats) -> tuple[Floats, Floats, Ints]:
    if kind == _GEOM.mjGEOM_SPHERE:
        return _ellipsoid(np.full(3, size[0]))
    if kind == _GEOM.mjGEOM_ELLIPSOID:
        return _ellipsoid(size)
    if kind == _GEOM.mjGEOM_CAPSULE:
        return _capsule(size[0], size[1])
    if kind == _GEOM.mjGEOM_CYLINDER:
        return _cylinder(size[0], size[1])
    if kind == _GEOM.mjGEOM_BOX:
        return _box(size)
    if kind == _GEOM.mjGEOM_PLANE:
        return _plane(size[0] or _PLANE, size[1] or _PLANE)
    if surface_of(model, geom) is None:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    corners, normals = surface_triangles(model, geom)
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.maximum(np.linalg.norm(flat, axis=-1, keepdims=True), 1e-12)
    normals = np.where(lengths > 1e-6, normals / np.maximum(lengths, 1e-12), flat[:, None])
    whole = np.linalg.norm(normals, axis=-1) > 0.5
    normals = np.where(whole[..., None], normals, [0.0, 0.0, 1.0])  # of triangles without area
    return corners.reshape(-1, 3), normals.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)


def _ball(rows: int) -> tuple[Floats, Ints]:
    """Return a unit ball's points, rows of latitude from the south up, and its triangles."""
    latitude = np.linspace(-0.5 * math.pi, 0.5 * math.pi, rows)
    longitude = np.arange(_AROUND) * 2.0 * math.pi / _AROUND
    ring = np.cos(latitude)[1:-1, None]
    x, y = ring * np.cos(longitude), ring * np.sin(longitude)
    z = np.broadcast_to(np.sin(latitude)[1:-1, None], x.shape)
    inner = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    points = np.concatenate([[[0.0, 0.0, -1.0]], inner, [[0.0, 0.0, 1.0]]])
    return points, _ball_triangles(rows - 2, len(points))


def _ball_triangles(rings: int, count: int) -> Ints:
    here = np.arange(_AROUND)
    there = (here + 1) % _AROUND
    found = [np.stack([np.zeros_like(here), 1 + there, 1 + here], axis=1)]
    for ring in range(rings - 1):
        low, high = 1 + ring * _AROUND, 1 + (ring + 1) * _AROUND
        found.append(np.stack([low + here, low + there, high + there], axis=1))
        found.append(np.stack([low + here, high + there, high + here], axis=1))
    last = 1 + (rings - 1) * _AROUND
    found.append(np.stack([last + here, last + there, np.full_like(here, count - 1)], axis=1))
    return np.concatenate(found)


def _ellipsoid(semi: Floats) -> tuple[Floats, Floats, Ints]:
    unit, triangles = _ball(2 * _ALONG + 1)
    normals = unit / semi
    return unit * semi, normals / np.linalg.norm(normals, axis=1, keepdims=True), triangles


def _capsule(radius: float, half: float) -> tuple[Floats, Floats, Ints]:
    unit, triangles = _ball(2 * _ALONG + 2)  # an even number of rows: no ring on the equator, two halves to pull apart
    shift = np.zeros_like(unit)
    shift[:, 2] = np.sign(unit[:, 2]) * half
    return unit * radius + shift, unit, triangles


def _cylinder(radius: float, half: float) -> tuple[Floats, Floats, Ints]:
    angle = np.arange(_AROUND) * 2.0 * math.pi / _AROUND
    around = np.stack([np.cos(angle), np.sin(angle), np.zeros(_AROUND)], axis=1)
    up, rim = np.array([0.0, 0.0, 1.0]), radius * around
    low_rim, high_rim = rim - half * up, rim + half * up
    points = np.concatenate([low_rim, high_rim, low_rim, high_rim, [-half * up, half * up]])
    caps = np.tile(up, (_AROUND, 1))
    normals = np.concatenate([around, around, -caps, caps, [-up, up]])
    here, n = np.arange(_AROUND), _AROUND
    there = (here + 1) % n
    low, high = np.full(n, 4 * n), np.full(n, 4 * n + 1)
    triangles = [
        np.stack([here, there, n + there], axis=1), np.stack([here, n + there, n + here], axis=1),
        np.stack([low, 2 * n + there, 2 * n + here], axis=1), np.stack([high, 3 * n + here, 3 * n + there], axis=1),
    ]  # fmt: skip
    return points, normals, np.concatenate(triangles)


def _box(half: Floats) -> tuple[Floats, Floats, Ints]:
    points: list[Floats] = []
    normals: list[Floats] = []
    triangles: list[list[int]] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for sign in (-1.0, 1.0):
            first = len(points)
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner, normal = np.zeros(3), np.zeros(3)
                corner[[axis, u, v]] = sign * half[axis], s * half[u], t * half[v]
                normal[axis] = sign
                points.append(corner)
                normals.append(normal)
            turn = (0, 1, 2, 3) if sign > 0 else (0, 3, 2, 1)
            a, b, c, d = (first + corner for corner in turn)
            triangles += [[a, b, c], [a, c, d]]
    return np.array(points), np.array(normals), np.array(triangles, np.int64)


def _plane(x: float, y: float) -> tuple[Floats, Floats, Ints]:
    points = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return points, np.tile([0.0, 0.0, 1.0], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]], np.int64)
