"""How deep shapes are in one another, and how far from the ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats
from stunt.review.measures.footage import Figurant, Footage

_EVERY: Final = 2  # frames: how deep parts are changes slowly
_PLANE, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{name}"))
    for name in ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX")
)


@dataclass(frozen=True)
class Depth:
    """The deepest that one thing was in another."""

    depth: float = 0.0  #: [m], beyond that at rest
    time: float | None = None  #: When [s]
    between: str = ""  #: Which parts


def overlaps(footage: Footage, person: Figurant) -> tuple[Depth, Depth]:
    """Return how deep parts of one body that are not joined are in each other, beyond their depth at rest.

    Returns:
        Of arms in trunk and head; of all other parts.
    """
    model = footage.model
    groups = {geom: _moved_by(model, int(model.geom_bodyid[geom])) for geom in person.geoms}
    pairs = [(a, b) for a, b in combinations(person.geoms, 2) if not _joined(model, groups[a], groups[b])]
    kinds = {geom: _region(footage, person, geom) for geom in person.geoms}
    arms = [pair for pair in pairs if {kinds[geom] for geom in pair} == {"arm", "trunk"}]
    rest = [pair for pair in pairs if pair not in set(arms)]
    return _deepest(footage, arms, at_rest=True), _deepest(footage, rest, at_rest=True)


def _region(footage: Footage, person: Figurant, geom: int) -> str:
    names = [part for part, body in person.parts.items() if body == int(footage.model.geom_bodyid[geom])]
    if any(name.endswith(("clavicle", "arm", "hand")) for name in names):
        return "arm"
    return "trunk" if any(name.startswith(("hips", "spine", "neck", "head")) for name in names) else ""


def between(footage: Footage, person: Figurant, others: Iterable[Figurant]) -> Depth:
    """Return how deep a body is in others' bodies."""
    pairs = [pair for other in others for pair in product(person.geoms, other.geoms)]
    return _deepest(footage, pairs, at_rest=False)


def sunk(footage: Footage, person: Figurant) -> Depth:
    """Return how deep a body is in the ground, scenery or props."""
    model, worst = footage.model, Depth()
    planes = [geom for geom in footage.surroundings if model.geom_type[geom] == _PLANE]
    for plane in planes:
        for geom in person.geoms:
            gap = above_plane(footage, geom, plane)
            frame = int(gap.argmin())
            if -gap[frame] > worst.depth:
                worst = Depth(-float(gap[frame]), float(footage.time[frame]), f"{_part(model, geom)} in the ground")
    solid = [geom for geom in footage.surroundings if model.geom_type[geom] != _PLANE]
    other = _deepest(footage, list(product(person.geoms, solid)), at_rest=False)
    return max(worst, other, key=lambda depth: depth.depth)


def gaps(footage: Footage, geoms: Sequence[int], within: float, grounds: Sequence[int]) -> Floats:
    """Return how far the nearest of some shapes is from the nearest of others [m], (T,).

    Args:
        footage: Where they are.
        geoms: Which.
        within: What is further away is as good as infinitely far [m].
        grounds: The others: ground, scenery, props.
    """
    model, found = footage.model, np.full(len(footage.time), np.inf)
    for geom, ground in product(geoms, [g for g in grounds if model.geom_type[g] == _PLANE]):
        found = np.minimum(found, above_plane(footage, geom, ground))
    solid = [ground for ground in grounds if model.geom_type[ground] != _PLANE]
    if solid:
        data = mujoco.MjData(model)
        for k in range(len(footage.time)):
            near = _near(footage, k, geoms, solid, within)
            if near:
                _pose(footage, data, k)
                found[k] = min([found[k], *(mujoco.mj_geomDistance(model, data, a, b, within, None) for a, b in near)])
    return np.where(found <= within, found, np.inf)


def above_plane(footage: Footage, geom: int, plane: int) -> Floats:
    """Return how far a shape's lowest point is above a plane [m], (T,)."""
    normal = footage.axes[:, plane, :, 2]
    height = ((footage.shapes[:, geom] - footage.shapes[:, plane]) * normal).sum(axis=1)
    return np.asarray(height - reach(footage, geom, normal))


def reach(footage: Footage, geom: int, way: Floats) -> Floats:
    """Return how far a shape reaches from its centre in directions [m], (T,)."""
    size, kind = footage.model.geom_size[geom], int(footage.model.geom_type[geom])
    along = np.einsum("tij,ti->tj", footage.axes[:, geom], way)  # directions in the shape's own axes, (T, 3)
    if kind == _SPHERE:
        return np.full(len(along), size[0])
    if kind == _CAPSULE:
        return np.asarray(size[0] + size[1] * np.abs(along[:, 2]))
    if kind == _CYLINDER:
        return np.asarray(size[0] * np.linalg.norm(along[:, :2], axis=1) + size[1] * np.abs(along[:, 2]))
    if kind == _ELLIPSOID:
        return np.asarray(np.linalg.norm(along * size, axis=1))
    box = size if kind == _BOX else footage.model.geom_aabb[geom, 3:]
    return np.asarray(np.abs(along) @ box)


def _deepest(footage: Footage, pairs: Sequence[tuple[int, int]], *, at_rest: bool) -> Depth:
    if not pairs:
        return Depth()
    model, data = footage.model, mujoco.MjData(footage.model)
    rest = np.zeros(len(pairs))
    if at_rest:
        mujoco.mj_kinematics(model, data)
        rest = np.array([-min(mujoco.mj_geomDistance(model, data, a, b, 0.0, None), 0.0) for a, b in pairs])
    one, other = (np.array(side) for side in zip(*pairs, strict=True))
    worst = Depth()
    for k in range(0, len(footage.time), _EVERY):
        near = _touching(footage, k, one, other)
        if len(near):
            _pose(footage, data, k)
        for index in near:
            a, b = pairs[index]
            depth = -mujoco.mj_geomDistance(model, data, a, b, 0.0, None) - rest[index]
            if depth > worst.depth + 1e-6:
                words = f"{_part(model, a)} in {_part(model, b)}"
                worst = Depth(float(depth), float(footage.time[k]), words)
    return worst


def _touching(footage: Footage, k: int, one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.intp]:
    bounds, apart = footage.model.geom_rbound, footage.shapes[k, one] - footage.shapes[k, other]
    return np.flatnonzero((apart**2).sum(axis=1) < (bounds[one] + bounds[other]) ** 2)


def _near(
    footage: Footage, k: int, geoms: Sequence[int], others: Sequence[int], within: float
) -> list[tuple[int, int]]:
    one, other = np.array(geoms), np.array(others)
    apart = np.linalg.norm(footage.shapes[k, one][:, None] - footage.shapes[k, other][None], axis=2)
    bounds = footage.model.geom_rbound
    wide = np.where(bounds[other] > 0.0, bounds[other], np.inf)  # height fields know no bound
    near = np.argwhere(apart < bounds[one][:, None] + wide[None] + within)
    return [(int(one[a]), int(other[b])) for a, b in near]


def _pose(footage: Footage, data: mujoco.MjData, k: int) -> None:
    data.geom_xpos[:] = footage.shapes[k]
    data.geom_xmat[:] = footage.axes[k].reshape(-1, 9)


def _part(model: mujoco.MjModel, geom: int) -> str:
    return str(model.body(int(model.geom_bodyid[geom])).name.partition("/")[2] or model.geom(geom).name or "scenery")


def _moved_by(model: mujoco.MjModel, body: int) -> int:
    """Return the body that moves with a body: itself, or the one it is fixed to."""
    while body and not model.body_jntnum[body]:
        body = int(model.body_parentid[body])
    return body


def _joined(model: mujoco.MjModel, one: int, other: int) -> bool:
    """Whether two bodies are one, or joined by a joint."""
    above = [_moved_by(model, int(model.body_parentid[body])) if body else -1 for body in (one, other)]
    return one == other or above[0] == other or above[1] == one
