"""The flesh of a person as a field: how far a point is outside the body, with limbs and muscles flowing together.

Every shape of the model (capsules, ellipsoids, boxes) has a signed distance; shapes are joined with a smooth minimum
(I. Quilez, *smooth minimum*, the quadratic one), so that the surface where the field is zero has no creases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.export.rig import Rig
from stunt.export.solids import Color
from stunt.maths.rotations import Floats, multiply, rotate, to_matrix

_BLEND = 0.62  # How far shapes reach over to each other, as a share of their thinnest half width …
_MOST_BLEND, _LEAST_BLEND = 0.034, 0.003  # … within these bounds [m].
_FEATURE_BLEND = 0.005  # Of eyes, nose, hair: things that touch nothing [m].
_ROUNDING = 0.75  # Of a box's edges, as a share of its thinnest half width.
_FAR = 1.0
Kind = mujoco.mjtGeom


@dataclass(frozen=True, eq=False)
class Lump:
    """One shape of the flesh, in the rest pose."""

    kind: int  #: MuJoCo's geom type
    center: Floats  #: [m], (3,)
    axes: Floats  #: Its axes as columns, (3, 3)
    size: Floats  #: As MuJoCo has it [m], (3,)
    color: Color  #: What it looks like
    bone: int  #: The bone it hangs on
    blend: float  #: How far it flows over to others [m]
    solid: bool  #: Whether it touches things; features such as eyes do not

    @property
    def reach(self) -> Floats:
        """Half edges of the box around it, in its own axes [m], (3,)."""
        if self.kind == Kind.mjGEOM_CAPSULE:
            return np.array([self.size[0], self.size[0], self.size[0] + self.size[1]])
        if self.kind == Kind.mjGEOM_CYLINDER:
            return np.array([self.size[0], self.size[0], self.size[1]])
        return np.full(3, self.size[0]) if self.kind == Kind.mjGEOM_SPHERE else self.size

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The corners of the box around it [m], (3,) each."""
        half = np.abs(self.axes) @ self.reach
        return self.center - half, self.center + half

    def distance(self, points: Floats) -> Floats:
        """Return how far points (…, 3) are outside [m], about (…)."""
        p = (points - self.center) @ self.axes
        if self.kind == Kind.mjGEOM_CAPSULE:
            along = p[..., 2] - np.clip(p[..., 2], -self.size[1], self.size[1])
            return np.asarray(np.sqrt(p[..., 0] ** 2 + p[..., 1] ** 2 + along**2) - self.size[0])
        if self.kind == Kind.mjGEOM_BOX:
            return _rounded_box(p, self.size)
        if self.kind == Kind.mjGEOM_CYLINDER:
            return np.maximum(np.hypot(p[..., 0], p[..., 1]) - self.size[0], np.abs(p[..., 2]) - self.size[1])
        return _ellipsoid(p, self.reach)


def _rounded_box(p: Floats, half: Floats) -> Floats:
    rounding = _ROUNDING * float(half.min())
    over = np.abs(p) - (half - rounding)
    outside = np.linalg.norm(np.maximum(over, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(over.max(axis=-1), 0.0) - rounding)


def _ellipsoid(p: Floats, semi: Floats) -> Floats:
    """Return the distance to first order: exact on the surface, with slope 1 across it."""
    scaled = np.linalg.norm(p / semi, axis=-1)
    slope = np.linalg.norm(p / semi**2, axis=-1)
    return np.where(slope > 1e-9, scaled * (scaled - 1.0) / np.maximum(slope, 1e-9), -semi.min())


def lumps_of(model: mujoco.MjModel, rig: Rig, colors: dict[int, Color]) -> list[Lump]:
    """Return a character's shapes in its rest pose; the largest first, features last."""
    bones = {body: bone for bone, body in enumerate(rig.bodies) if body >= 0}
    found = []
    for geom, color in colors.items():
        bone = bones.get(int(model.geom_bodyid[geom]))
        if bone is not None:
            found.append(_lump(model, rig, geom, color, bone))
    return sorted(found, key=lambda lump: (not lump.solid, -float(np.prod(lump.reach))))


def _lump(model: mujoco.MjModel, rig: Rig, geom: int, color: Color, bone: int) -> Lump:
    turn = multiply(rig.body_turn[bone], np.asarray(model.geom_quat[geom], float))
    place = rig.body_rest[bone] + rotate(rig.body_turn[bone], np.asarray(model.geom_pos[geom], float))
    solid = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
    size = np.asarray(model.geom_size[geom], float)
    lump = Lump(int(model.geom_type[geom]), place, to_matrix(turn), size, color, bone, 0.0, solid)
    blend = float(np.clip(_BLEND * lump.reach.min(), _LEAST_BLEND, _MOST_BLEND)) if solid else _FEATURE_BLEND
    return Lump(lump.kind, place, lump.axes, size, color, bone, blend, solid)


def join(a: Floats, b: Floats, blend: float) -> Floats:
    """Return the smooth minimum of two distances."""
    h = np.maximum(blend - np.abs(a - b), 0.0) / blend
    return np.asarray(np.minimum(a, b) - 0.25 * blend * h * h)


class Flesh:
    """Shapes joined into one field, looked at near some points.

    A shape matters only near itself; which points those are is found out once, so points may move by a centimetre.
    """

    def __init__(self, lumps: list[Lump], points: Floats) -> None:
        self._near = []
        for lump in lumps:
            low, high = lump.box
            margin = _margin(lump) + 0.01
            inside = ((points > low - margin) & (points < high + margin)).all(axis=1)
            self._near.append((lump, np.flatnonzero(inside)))

    def field(self, points: Floats) -> Floats:
        """Return the field at the points, (N,)."""
        total = np.full(len(points), _FAR)
        for lump, near in self._near:
            total[near] = join(total[near], lump.distance(points[near]), lump.blend)
        return total

    def gradient(self, points: Floats, step: float = 2e-4) -> Floats:
        """Return the field's slope at the points, by central differences, (N, 3)."""
        slopes = []
        for axis in np.eye(3):
            slopes.append((self.field(points + step * axis) - self.field(points - step * axis)) / (2.0 * step))
        return np.stack(slopes, axis=-1)


def _margin(lump: Lump) -> float:
    """Return how far from a shape its distance still matters [m]."""
    return 2.0 * lump.blend + 0.02


def field_on_grid(lumps: list[Lump], grid: tuple[Floats, Floats, Floats]) -> Floats:
    """Return the field at the corners of a grid, (X, Y, Z). Each shape is looked at only near itself."""
    total = np.full(tuple(len(axis) for axis in grid), _FAR)
    for lump in lumps:
        low, high = lump.box
        margin = _margin(lump) + 0.01
        spans = [_span(axis, a - margin, b + margin) for axis, a, b in zip(grid, low, high, strict=True)]
        corner = np.stack(np.meshgrid(*[axis[s] for axis, s in zip(grid, spans, strict=True)], indexing="ij"), axis=-1)
        window = tuple(spans)
        total[window] = join(total[window], lump.distance(corner), lump.blend)
    return total


def _span(axis: Floats, low: float, high: float) -> slice:
    first, last = np.searchsorted(axis, [low, high])
    return slice(int(first), int(last))


def by_color(lumps: list[Lump]) -> Iterator[tuple[Color, list[Lump]]]:
    """Yield the shapes of each colour."""
    for color in dict.fromkeys(lump.color for lump in lumps):
        yield color, [lump for lump in lumps if lump.color == color]


def nearest(lumps: list[Lump], points: Floats) -> Floats:
    """Return the distance to the nearest of some shapes [m], (N,)."""
    return np.asarray(np.min([lump.distance(points) for lump in lumps], axis=0))
