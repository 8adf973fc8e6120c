"""Shapes that make a bare skeleton look and touch like a person: one or two primitives per bone.

Sizes are those of a man of 1.741 m and grow with height. All in the bone's own frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from stunt.character.anthropometry import FOOT_BREADTH, MALE, Floats
from stunt.character.shapes import EYE, HAIR, SHIRT, SHOE, SKIN, TROUSERS, Color
from stunt.character.skeleton_plan import BonePlan, SkeletonPlan, Sole

CAPSULE, ELLIPSOID, BOX = mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_ELLIPSOID, mujoco.mjtGeom.mjGEOM_BOX


@dataclass(frozen=True, eq=False)
class BoneShape:
    """One primitive in a bone's frame."""

    kind: mujoco.mjtGeom  #: MuJoCo's geom type
    center: Floats  #: [m], (3,)
    axes: Floats  #: Its own axes as columns, (3, 3); a capsule lies along the third
    size: tuple[float, float, float]  #: As MuJoCo wants it for the kind [m]
    color: Color  #: RGBA
    solid: bool = True  #: Whether it touches anything

    @property
    def semi_axes(self) -> Floats:
        """Semi-axes of the ellipsoid of about the same moments [m], (3,)."""
        a, b, c = self.size
        if self.kind == CAPSULE:
            return np.array([a, a, 1.15 * (b + a)])
        return np.array([a, b, c]) * (1.29 if self.kind == BOX else 1.0)  # √(5/3): a box's moments

    @property
    def volume(self) -> float:
        """About its volume [m³]."""
        return float(np.prod(self.semi_axes))


def bone_shapes(plan: SkeletonPlan, bone: BonePlan) -> list[BoneShape]:
    """Shapes of one bone."""
    unit = plan.height / MALE.height
    maker = {"pelvis": _pelvis, "spine": _spine, "head": _head, "hand": _hand, "foot": _foot, "toe": _toe}
    if bone.part in maker:
        return maker[bone.part](plan, bone, unit)
    radius, color = _LIMBS[bone.part]
    limb = _limb(bone, radius * unit, color)
    return [limb, _muscle(bone, unit)] if bone.part == "thigh" and limb.kind == CAPSULE else [limb]


def fleshed(plan: SkeletonPlan, bone: BonePlan) -> list[BoneShape]:
    """Return what a bone's mass fills: trunk and shoulders are wider than their solid shapes, which let arms hang free.

    A rib cage reaches below the joint of the bone that bears it, so its weight is not where its slab is.
    """
    unit, up, forward = plan.height / MALE.height, bone.axes[:, 2], bone.axes[:, 0]
    top = float(bone.tip @ up)
    if bone.part in _FLESH:
        length = float(np.linalg.norm(bone.tip))
        axes = along(bone.tip / length, forward) if length >= 1e-3 else np.eye(3)
        return [BoneShape(CAPSULE, 0.5 * bone.tip, axes, (_FLESH[bone.part] * unit, 0.5 * length, 0.0), SHIRT)]
    if bone.part == "pelvis":
        seat, *waist = _pelvis(plan, bone, unit)
        half = max(seat.size[1] + 0.015 * unit, 0.145 * unit)
        hips = replace(seat, size=(0.105 * unit, half, 0.105 * unit))
        return [hips, *(replace(part, size=(0.100 * unit, 0.138 * unit, part.size[2])) for part in waist)]
    if bone.part != "spine":
        return bone_shapes(plan, bone)
    if bone is not [other for other in plan.bones if other.part == "spine"][-1]:
        half = max(0.5 * top + 0.070 * unit, 0.085 * unit)
        return [BoneShape(ELLIPSOID, 0.5 * bone.tip, bone.axes, (0.104 * unit, 0.142 * unit, half), SHIRT)]
    ahead, high = forward * float(bone.tip @ forward), top + 0.01 * unit
    low = min(-0.02 * unit, high - 0.26 * unit)
    size = (0.118 * unit, 0.160 * unit, 0.5 * (high - low))
    chest = BoneShape(ELLIPSOID, up * 0.5 * (high + low) + 0.5 * ahead, bone.axes, size, SHIRT)
    across, yoke = along(bone.axes[:, 1], forward), (0.062 * unit, 0.095 * unit, 0.0)
    return [chest, BoneShape(CAPSULE, up * (high - 0.055 * unit) + ahead, across, yoke, SHIRT)]


_LIMBS: dict[str, tuple[float, Color]] = {
    "neck": (0.052, SKIN),
    "clavicle": (0.044, SHIRT),
    "upper_arm": (0.045, SHIRT),
    "forearm": (0.0405, SKIN),
    "thigh": (0.062, TROUSERS),
    "shank": (0.051, TROUSERS),
}
"""Radius [m]: girths are within 15 % of published ones (`tests/character/test_girths.py`), on the slim side: arms hang
free of hips and ribs."""


_FLESH = {"clavicle": 0.050, "upper_arm": 0.045}  # radius of what bones weigh by, from joint to joint [m]
_BEGINS = {
    "clavicle": 0.5,
    "upper_arm": 0.25,
    "thigh": 0.2,
}  # share of the bone: beside the neck, not in it; under the hip, beside a wrist. A shoulder's ball is the
# collar-bone's: it goes where that goes, and does not wedge the arm off the ribs when the shoulder sinks under a load


def _limb(bone: BonePlan, radius: float, color: Color) -> BoneShape:
    """A capsule along the bone, its round ends in the joints; shank and forearm end at ankle and wrist."""
    length = float(np.linalg.norm(bone.tip))
    if length < 1e-3:
        return BoneShape(ELLIPSOID, np.zeros(3), np.eye(3), (radius,) * 3, color)
    axes = along(bone.tip / length, bone.axes[:, 0])
    start = _BEGINS.get(bone.part, 0.0) * length
    end = max(length - radius, 0.5 * length) if bone.part in ("shank", "forearm") else length
    middle = 0.5 * (start + end) / length
    return BoneShape(CAPSULE, middle * bone.tip, axes, (radius, 0.5 * (end - start), 0.0), color)


def _muscle(bone: BonePlan, unit: float) -> BoneShape:
    """The thick upper half of a thigh, deeper than wide: the other one is beside it, and a hand."""
    length = float(np.linalg.norm(bone.tip))
    axes = along(bone.tip / length, bone.axes[:, 0])
    size = (0.089 * unit, 0.070 * unit, 0.31 * length)
    return BoneShape(ELLIPSOID, 0.36 * bone.tip, axes, size, TROUSERS)


def along(third: Floats, hint: Floats) -> Floats:
    """Return axes whose third column is a direction and whose first leans to a hint, (3, 3)."""
    first = hint - third * (hint @ third)
    if np.linalg.norm(first) < 1e-6:
        spare = np.eye(3)[int(np.argmin(np.abs(third)))]
        first = spare - third * (spare @ third)
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(third, first), third], axis=1)


def _pelvis(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    hips = [other.origin for other in plan.bones if other.parent == 0 and other.part == "thigh"]
    middle = np.mean(hips, axis=0) if hips else np.zeros(3)
    half = 0.5 * float(np.linalg.norm(hips[0] - hips[1])) if len(hips) == 2 else 0.09 * unit
    up, forward = bone.axes[:, 2], bone.axes[:, 0]
    center = 0.65 * middle + up * 0.02 * unit - forward * 0.01 * unit
    size = (0.125 * unit, max(half + 0.047 * unit, 0.136 * unit), 0.105 * unit)
    seat = BoneShape(ELLIPSOID, center, bone.axes, size, TROUSERS)
    reach = float(bone.tip @ up)
    if reach < 0.13 * unit:
        return [seat]
    waist = BoneShape(ELLIPSOID, up * 0.62 * reach, bone.axes, (0.108 * unit, 0.131 * unit, 0.55 * reach), SHIRT)
    return [seat, waist]


def _spine(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    """A slab of the trunk along the bone; the uppermost bears the shoulders.

    Each slab covers its own bone and a little of its neighbours, so that what is not joined is hardly in each other at
    rest: ribs belong to the bones they are on, whichever those are.
    """
    spines = [other for other in plan.bones if other.part == "spine"]
    up, forward, last = bone.axes[:, 2], bone.axes[:, 0], bone is spines[-1]
    top = float(bone.tip @ up)
    ahead = forward * 0.5 * float(bone.tip @ forward)
    low, high = (0.0, max(top, 0.0))
    if last:
        low, high = min(low, high - 0.10 * unit), high - 0.02 * unit
    over = _OVER * unit
    half, middle = 0.5 * (high - low) + over, 0.5 * (high + low)
    size = _girdle(plan, bone, unit)
    slab = BoneShape(ELLIPSOID, up * middle + ahead, bone.axes, (*size, max(half, 0.06 * unit)), SHIRT)
    if not last:
        return [slab]
    yoke = along(bone.axes[:, 1], forward)
    place = up * (high - 0.035 * unit) + 2.0 * ahead
    return [slab, BoneShape(CAPSULE, place, yoke, (0.060 * unit, 0.071 * unit, 0.0), SHIRT)]


_OVER = 0.045
"""How far a slab of the trunk reaches into its neighbours, of a man of 1.741 m [m]."""
_WAIST, _CHEST = (0.109, 0.131), (0.135, 0.131)  # half depth and half width


def _girdle(plan: SkeletonPlan, bone: BonePlan, unit: float) -> tuple[float, float]:
    """Return half the depth and width of the trunk at a spine's bone [m]: ribs are the upper half of the spine."""
    spines = [other for other in plan.bones if other.part == "spine"]
    ends = np.cumsum([max(float(other.tip @ other.axes[:, 2]), 0.0) for other in spines])
    number = next(k for k, other in enumerate(spines) if other is bone)
    start = ends[number - 1] if number else 0.0
    share = 0.5 * (start + ends[number]) / max(float(ends[-1]), 1e-6)
    ribs = float(np.clip((share - 0.25) / 0.3, 0.0, 1.0))
    depth, width = (unit * (low + ribs * (high - low)) for low, high in zip(_WAIST, _CHEST, strict=True))
    return depth, width


def _head(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    forward, left, up = bone.axes.T
    reach = min(max(float(np.linalg.norm(bone.tip)), 0.10 * unit), 0.30 * unit)
    # The tip is the top of the head in some files and its middle in others.
    high = max(reach, 0.185 * unit)
    center = up * (high - 0.125 * unit) + forward * 0.02 * unit
    skull = BoneShape(ELLIPSOID, center, bone.axes, (0.100 * unit, 0.078 * unit, 0.125 * unit), SKIN)
    has_neck = any(other.part == "neck" for other in plan.bones)
    throat = [] if has_neck else [_stalk(center, 0.050 * unit)]

    def feature(x: float, y: float, z: float, size: tuple[float, float, float], color: Color) -> BoneShape:
        place = center + (forward * x + left * y + up * z) * unit
        return BoneShape(ELLIPSOID, place, bone.axes, (size[0] * unit, size[1] * unit, size[2] * unit), color, False)

    hair = feature(-0.014, 0.0, 0.030, (0.099, 0.083, 0.105), HAIR)
    nose = feature(0.098, 0.0, -0.020, (0.016, 0.011, 0.020), SKIN)
    eyes = [feature(0.089, side * 0.031, 0.012, (0.010, 0.011, 0.007), EYE) for side in (1.0, -1.0)]
    return [skull, *throat, hair, nose, *eyes]


def _stalk(top: Floats, radius: float) -> BoneShape:
    """A neck for a head that sits on its own joint."""
    length = float(np.linalg.norm(top))
    return BoneShape(
        CAPSULE, 0.5 * top, along(top / length, np.array([1.0, 0.0, 0.0])), (radius, 0.5 * length, 0.0), SKIN
    )


def _hand(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    arm = plan.bones[bone.parent].tip
    reach = bone.tip if np.linalg.norm(bone.tip) > 1e-3 else arm
    direction = reach / np.linalg.norm(reach)
    # Palms face down in a T-pose, and to the thighs in a stance with hanging arms.
    flat = bone.axes[:, 2] if abs(direction @ bone.axes[:, 2]) < 0.7 else bone.axes[:, 1]
    axes = along(direction, flat)
    size = (0.019 * unit, 0.043 * unit, 0.088 * unit)
    return [BoneShape(ELLIPSOID, direction * 0.078 * unit, axes, size, SKIN)]


def _foot(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    """A shoe whose flat underside is the sole's plane, from the heel to the ball (or the tip, without toes)."""
    has_toe = any(other.part == "toe" and other.side == bone.side for other in plan.bones)
    sole, axes = _sole_axes(bone)
    ball = float(bone.tip @ axes[:, 0])
    heel = -0.060 * unit
    front = ball + 0.012 * unit if has_toe else max(ball, 0.15 * unit)
    half = 0.5 * FOOT_BREADTH * plan.height * 0.9
    thick = min(0.022 * unit, 0.45 * max(sole.depth, 0.02))
    base = -sole.normal * sole.depth
    center = base + axes[:, 0] * 0.5 * (front + heel) + axes[:, 2] * thick
    flat = BoneShape(BOX, center, axes, (0.5 * (front - heel), half, thick), SHOE)
    upper = 0.75 * max(sole.depth, 0.04)
    place = base + axes[:, 0] * 0.4 * (front + heel) + axes[:, 2] * 0.6 * upper
    bulge = BoneShape(ELLIPSOID, place, axes, (0.5 * (front - heel), 0.85 * half, 0.6 * upper), SHOE, False)
    return [flat, bulge]


def _toe(plan: SkeletonPlan, bone: BonePlan, unit: float) -> list[BoneShape]:
    sole, axes = _sole_axes(bone)
    reach = min(max(float(bone.tip @ axes[:, 0]), 0.055 * unit), 0.09 * unit)
    half = 0.5 * FOOT_BREADTH * plan.height * 0.9
    thick = min(0.014 * unit, 0.8 * max(sole.depth, 0.01))
    center = -sole.normal * sole.depth + axes[:, 0] * 0.5 * reach + axes[:, 2] * thick
    return [BoneShape(BOX, center, axes, (0.5 * reach, half, thick), SHOE)]


def _sole_axes(bone: BonePlan) -> tuple[Sole, Floats]:
    """Return the sole, and the shoe's axes: along the foot, to its left, out of the floor."""
    sole = bone.sole or Sole(bone.axes[:, 2], 0.04, bone.axes[:, 0])
    return sole, np.stack([sole.forward, np.cross(sole.normal, sole.forward), sole.normal], axis=1)
