"""The doctor for bodies: what a body is, what looks wrong with it, what is missing and what was assumed.

What can be read off a compiled body: size, density, inertias, limits, loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import mujoco
import numpy as np

from stunt.character.bodies import BUILT_IN
from stunt.character.character import Character
from stunt.character.kinematics import box_corners
from stunt.character.notes import describe_body
from stunt.check.body_trial import RATES, Held, Marks, hold, make_marks, raised, stage_for
from stunt.library.names import HERE
from stunt.maths.rotations import Floats, rotate
from stunt.motion.rig.retarget import body_parts
from stunt.motion.rig.skeleton_body import NEEDED

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
    body = int(model.geom_bodyid[geom])
    return np.asarray(data.xpos[body] + rotate(data.xquat[body], box_corners(model, geom)))


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


def too_weak(body: Any) -> tuple[Weak, ...]:
    """Return joints of a body, a CharacterSpec, that cannot hold what hangs on them if as strong as its file says."""
    stage = stage_for(replace(body, strength=1.0), 480.0)
    return level_loads(stage.model, stage.data, stage.character("it"))


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


_DENSITIES = (50.0, 20_000.0)  # [kg/m³]: foam to lead
_SIZES = (0.05, 30.0)  # [m]
_LIGHT = 1e-6  # [kg·m²] a joint that moves less is hard to hold
_MARK = 1.0  # [°] a beat may be off


@dataclass(frozen=True)
class BodyDiagnosis:
    """What the doctor found.

    Attributes:
        body: As it was named.
        kind: `built-in`, `MJCF`, `URDF` or `skeleton`.
        bodies: How many bodies.
        joints: How many joints of each kind.
        dofs: Degrees of freedom, without the root's.
        mass_kg: Total mass.
        heaviest: The heaviest body and its mass [kg].
        lightest: The lightest body that joints move, and its mass [kg].
        size_m: Extent at rest along x, y and z.
        density: Mass by the volume of its solid shapes [kg/m³]; None where it has none.
        smallest_moment: Smallest moment of inertia a joint moves [kg·m²] (a slide: mass [kg]), and which joint.
        inertia_ratio: Largest by smallest of these.
        unlimited: Joints without limits.
        strength: Weakest and strongest joint: name and peak torque [N·m] or force [N].
        weak: Joints that cannot hold what hangs on them level: the load as a share of their strength.
        held: Trial at several rates (see `body_trial`).
        marks: Two beats tried.
        parts: Which body was taken for which part of a person.
        missing: What is not there, as sentences.
        assumed: What was taken for granted, as sentences.
        warnings: What the user should look at, as sentences.
    """

    body: str
    kind: str
    bodies: int
    joints: dict[str, int]
    dofs: int
    mass_kg: float
    heaviest: tuple[str, float]
    lightest: tuple[str, float]
    size_m: tuple[float, float, float]
    density: float | None
    smallest_moment: tuple[str, float]
    inertia_ratio: float
    unlimited: tuple[str, ...]
    strength: tuple[tuple[str, float], tuple[str, float]]
    weak: tuple[Weak, ...]
    held: tuple[Held, ...]
    marks: Marks
    parts: dict[str, str]
    missing: tuple[str, ...]
    assumed: tuple[str, ...]
    warnings: tuple[str, ...] = field(default=())

    @property
    def usable(self) -> bool:
        """Whether it holds still at every rate and makes its marks."""
        return all(held.stable for held in self.held) and self.marks.error_deg <= _MARK

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "usable": self.usable}


def examine_body(body: str, **options: Any) -> BodyDiagnosis:
    """Examine a body.

    Args:
        body: A built-in body's name, or a file: MJCF, URDF, or a skeleton (BVH, glTF, …).
        options: What else a `CharacterSpec` takes: height, mass, sex, strength, self_collision.

    Raises:
        StuntError: It is no body; the message says why.
    """
    spec = raised(body, **options)
    stage = stage_for(spec, 480.0)
    model, data, character = stage.model, stage.data, stage.character("it")
    held = tuple(hold(spec, hz) for hz in RATES)
    marks = make_marks(spec, 480.0)
    moments = _moments(model, data, character)
    first = min(moments, key=lambda name: moments[name])
    names = {index: name for name, index in character.bodies.items()}
    weights = {name: float(model.body_mass[index]) for name, index in character.bodies.items()}
    moving = {name: weights[name] for name, index in character.bodies.items() if model.body_dofnum[index]}
    strengths = {joint.name: joint.strength for joint in character.joints.values()}
    weak = level_loads(model, data, character)
    parts = {part: names[index] for part, index in body_parts(character).items()}
    diagnosis = BodyDiagnosis(
        body=body, kind=_kind(body), bodies=len(character.bodies), joints=_counts(character), dofs=len(character.dofs),
        mass_kg=character.mass, heaviest=_most(weights), lightest=_least(moving),
        size_m=extents(model, data, character), density=solid_density(model, character),
        smallest_moment=(first, moments[first]),
        inertia_ratio=max(moments.values()) / max(moments[first], 1e-12), unlimited=limits_without(character),
        strength=(_least(strengths), _most(strengths)), weak=weak, held=held, marks=marks, parts=parts,
        missing=_missing(model, character, parts), assumed=tuple(describe_body(model, "it")),
    )  # fmt: skip
    found = _warnings(diagnosis, model, data, character)
    return BodyDiagnosis(**{**diagnosis.__dict__, "warnings": found})


def _kind(body: str) -> str:
    if body in BUILT_IN:
        return "built-in"
    if HERE.is_clip(body):
        return "skeleton"
    return "URDF" if body.lower().endswith(".urdf") else "MJCF"


def _counts(character: Character) -> dict[str, int]:
    kinds = [joint.kind for joint in character.joints.values()]
    return {kind: kinds.count(kind) for kind in ("hinge", "slide", "ball") if kind in kinds}


def _most(values: dict[str, float]) -> tuple[str, float]:
    return max(values.items(), key=lambda item: item[1])


def _least(values: dict[str, float]) -> tuple[str, float]:
    return min(values.items(), key=lambda item: item[1])


def _moments(model: mujoco.MjModel, data: mujoco.MjData, character: Character) -> dict[str, float]:
    """Return the smallest moment of inertia (or mass) each joint moves, by name."""
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    diagonal = np.diag(inertia)
    return {joint.name: float(diagonal[joint.dof : joint.dof + joint.nv].min()) for joint in character.joints.values()}


def _missing(model: mujoco.MjModel, character: Character, parts: dict[str, str]) -> tuple[str, ...]:
    found = []
    for what, names in (
        ("no limits", limits_without(character)),
        ("no shape that can be touched", no_contact(model, character)),
    ):
        if names:
            found.append(f"{what}: {drawn_out(names)}")
    absent = [part for part in NEEDED if part not in parts]
    if absent and len(parts) > 1:
        found.append(f"no body is called like a person's {', '.join(absent)}: clips need a mapping file")
    elif absent:
        found.append("no names of a person's parts: clips need a mapping file")
    return tuple(found)


def _warnings(
    found: BodyDiagnosis, model: mujoco.MjModel, data: mujoco.MjData, character: Character
) -> tuple[str, ...]:
    lines = list(odd_inertias(model, data, character))
    if not _SIZES[0] <= max(found.size_m) <= _SIZES[1]:
        lines.append(f"it is {max(found.size_m):.4g} m large: the file may be in other units than metres")
    if found.density is not None and not _DENSITIES[0] <= found.density <= _DENSITIES[1]:
        lines.append(f"its shapes have a density of {found.density:.3g} kg/m³: mass or size may be in other units")
    if found.smallest_moment[1] < _LIGHT:
        joint, moment = found.smallest_moment
        lines.append(f"joint '{joint}' moves only {moment:.2g} kg·m²: give it an armature")
    lines += [f"at rest {pair}" for pair in overlaps(model, data, character)]
    lines += [f"joint '{name}' is outside its limits at rest" for name in rest_outside(model, character)]
    lines += [
        f"joint '{weak.joint}' cannot hold what hangs on it level: that takes {weak.share:.2g} of its strength"
        for weak in found.weak
    ]
    lines += [f"it does not hold still at {held.hz:g} Hz" for held in found.held if not held.stable]
    if not np.isfinite(found.marks.error_deg):
        lines.append(f"a small move blew up, at '{found.marks.joint}' first")
    elif found.marks.error_deg > _MARK:
        lines.append(f"it missed a small move: '{found.marks.joint}' was {found.marks.error_deg:.3g}° off")
    return tuple(lines)
