"""What can be read off a compiled body: size, density, inertias, limits, loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.rotations import Floats

_GRAVITY = 9.81
_SPREAD = 1.5  # a body's mass may lie this many times farther out than its shapes
_TOUCH = 5e-4  # [m] shapes may overlap at rest
_SHOWN = 6


@dataclass(frozen=True)
class Weak:
    """A joint whose load, stretched out level, is more than its strength: the share."""

    joint: str
    share: float


def drawn_out(names: Sequence[str]) -> str:
    """Return names for a sentence, cut short where there are many."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Floats:
    """Return the corners of a geom's box in the world [m], (8, 3)."""
    center, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    inside = center + signs * half
    return np.asarray(data.geom_xpos[geom] + inside @ data.geom_xmat[geom].reshape(3, 3).T)


def extents(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> tuple[float, float, float]:
    """Return how far a body reaches at rest along x, y and z [m]; of its joints where it has no shapes."""
    points = [_corners(model, data, geom) for geom in sorted(character.geoms)]
    cloud = np.concatenate(points) if points else data.xpos[sorted(character.bodies.values())]
    x, y, z = np.ptp(cloud, axis=0)
    return float(x), float(y), float(z)


def _solid(model: mujoco.MjModel, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def solid_density(model: mujoco.MjModel, character: Character) -> float | None:
    """Return the mass of all bodies that can be touched by the volume of their shapes [kg/m³]; None without any."""
    volume, bodies = 0.0, set()
    for geom in character.geoms:
        if _solid(model, geom):
            volume += _volume(model, geom)
            bodies.add(int(model.geom_bodyid[geom]))
    return float(model.body_mass[list(bodies)].sum() / volume) if volume > 0 else None


def _volume(model: mujoco.MjModel, geom: int) -> float:
    a, b, c = (float(size) for size in model.geom_size[geom])
    kinds = mujoco.mjtGeom
    match int(model.geom_type[geom]):
        case kinds.mjGEOM_SPHERE:
            return 4 / 3 * np.pi * a**3
        case kinds.mjGEOM_CAPSULE:
            return np.pi * a**2 * (2 * b + 4 / 3 * a)
        case kinds.mjGEOM_CYLINDER:
            return np.pi * a**2 * 2 * b
        case kinds.mjGEOM_ELLIPSOID:
            return 4 / 3 * np.pi * a * b * c
    return 0.5 * 8.0 * float(np.prod(model.geom_aabb[geom][3:]))  # a mesh fills about half its box


def odd_inertias(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> list[str]:
    """Return sentences about bodies whose inertia is that of something much larger than their shapes."""
    found = []
    for name, body in character.bodies.items():
        mass = float(model.body_mass[body])
        points = [_corners(model, data, g) for g in character.geoms if model.geom_bodyid[g] == body]
        if mass <= 0 or not points:
            continue
        reach = float(np.linalg.norm(np.concatenate(points) - data.xipos[body], axis=1).max())
        spread = float(np.sqrt(model.body_inertia[body].max() / mass))
        if spread > _SPREAD * reach:
            found.append(
                f"the inertia of '{name}' is that of a ring {2 * spread:.2g} m wide, its shapes reach {reach:.2g} m"
            )
    return found


def limits_without(character: Character) -> tuple[str, ...]:
    """Return the joints that have no limits."""
    return tuple(joint.name for joint in character.joints.values() if joint.range is None)


def rest_outside(model: mujoco.MjModel, character: Character) -> tuple[str, ...]:
    """Return hinges and slides whose neutral position is outside their limits."""
    return tuple(
        joint.name
        for joint in character.joints.values()
        if joint.nv == 1
        and joint.range is not None
        and not joint.range[0] - 1e-6 <= model.qpos0[joint.qpos] <= joint.range[1] + 1e-6
    )


def no_contact(model: mujoco.MjModel, character: Character) -> tuple[str, ...]:
    """Return bodies without a shape that can be touched."""
    solid = {int(model.geom_bodyid[geom]) for geom in character.geoms if _solid(model, geom)}
    return tuple(name for name, body in character.bodies.items() if body not in solid)


def overlaps(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> list[str]:
    """Return sentences about the body's own parts that overlap at rest."""
    names = {index: name for name, index in character.bodies.items()}
    worst: dict[tuple[str, str], float] = {}
    for contact in range(data.ncon):
        first, second = (int(model.geom_bodyid[g]) for g in data.contact.geom[contact])
        depth = -float(data.contact.dist[contact])
        if first in names and second in names and depth > _TOUCH:
            pair = (names[first], names[second])
            worst[pair] = max(depth, worst.get(pair, 0.0))
    return [f"'{a}' and '{b}' overlap by {1000 * depth:.0f} mm" for (a, b), depth in worst.items()]


def level_loads(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> tuple[Weak, ...]:
    """Return joints too weak to hold what hangs on them, in the worst direction of gravity."""
    found = []
    for joint in character.joints.values():
        body = int(model.jnt_bodyid[joint.id])
        weight = float(model.body_subtreemass[body]) * _GRAVITY
        load = weight
        if joint.kind != "slide":
            arm = data.subtree_com[body] - data.xanchor[joint.id]
            if joint.kind == "hinge":
                arm = arm - data.xaxis[joint.id] * (arm @ data.xaxis[joint.id])
            load *= float(np.linalg.norm(arm))
        if load > joint.strength:
            found.append(Weak(joint.name, load / joint.strength))
    return tuple(sorted(found, key=lambda weak: -weak.share))
