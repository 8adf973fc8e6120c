"""A simulated person with the bones of somebody else's skeleton.

Built from a plan in plain data: where the bones are, which part of a person each is, which way is forward on it, and
where its sole is. Every bone's frame is the skeleton's own, so that its orientation in the world is comparable to the
clip's. Masses are a person's by segment; radii of gyration of limbs are the table's, on the bone's own length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from stunt.character.anthropometry import TABLES, Floats, Inertia, Sex, ellipsoid, mass_share, together, weigh
from stunt.character.bone_shapes import BoneShape, bone_shapes, fleshed
from stunt.character.contacts import write_excludes
from stunt.character.ligaments import add_limits
from stunt.character.notes import Notes
from stunt.character.skeleton import GIRDLE_SHARE, NECK_SHARE
from stunt.character.skeleton_plan import BonePlan, SkeletonPlan
from stunt.character.strength import ARMATURE_PER_STRENGTH, DAMPING_TIME, peak_torque
from stunt.maths.rotations import from_matrix

Joints = Literal["ball", "hinge"]

FRICTION = (0.9, 0.005, 0.0001)
_GRIPPING = ("foot", "toe", "hand")
GRIP = (0.9, 0.06, 0.0001)
"""Of soles and palms: flesh holds on a patch, not at a point. The points of a sole of 25 × 8 cm are 6.8 cm from its
middle on the mean: it turns at 0.9 × 6.8 cm × load. Contacts are soft, and below that they creep, the slower by the
square of this number: at half of it, whoever stood on one heel with 600 N turned by 60°/s under 3 N·m."""
SEGMENTS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot", "head")
TOE_SHARE = 0.2  # of the foot's mass, in front of the ball


@dataclass(frozen=True)
class Build:
    """How a plan becomes a body."""

    mass: float | None = None  #: Body mass [kg]; None keeps the table's build at that height
    sex: Sex = "male"  #: Which anthropometric table
    root: Literal["fixed", "free"] = "free"  #: `free` gives the root a free joint
    joints: Joints = "ball"  #: One ball joint per bone, or three hinges about the bone's x, y and z
    strength: float = 1.0  #: Factor on every peak torque
    self_collision: bool = True  #: Whether limbs touch each other


# The strongest direction of each joint stands for the ball.
_STRONGEST = {
    "spine": "lumbar_flexion",
    "neck": "neck_flexion",
    "head": "head_nod",
    "clavicle": "clavicle_elevation",
    "upper_arm": "shoulder_flexion",
    "forearm": "elbow_flexion",
    "hand": "wrist_flexion",
    "thigh": "hip_flexion",
    "shank": "knee_flexion",
    "foot": "ankle_flexion",
}


def build_from_plan(plan: SkeletonPlan, build: Build) -> mujoco.MjSpec:
    """Build a body in its reference stance, to be attached to a scene."""
    spec = mujoco.MjSpec()
    spec.modelname = plan.name
    spec.compiler.degree = False
    mass = body_mass(plan, build)
    made: list[mujoco.MjsBody] = []
    masses = bone_masses(plan, build.sex)
    for bone, share in zip(plan.bones, masses, strict=True):
        parent = spec.worldbody if bone.parent < 0 else made[bone.parent]
        body = parent.add_body(name=bone.name, pos=bone.origin, quat=bone.stance)
        made.append(body)
        shapes = bone_shapes(plan, bone)
        weigh(body, _inertia(bone, share * mass, build.sex, fleshed(plan, bone)))
        _hang(body, bone, plan, build, mass)
        for number, shape in enumerate(shapes, start=1):
            _add_geom(body, f"{bone.name}_{number}", shape, grips=_grips(plan, bone))
    _add_sites(plan, made)
    add_limits(spec, plan)
    write_excludes(spec, all_pairs=not build.self_collision)
    _describe(plan, build, mass).write(spec)
    return spec


def body_mass(plan: SkeletonPlan, build: Build) -> float:
    """Body mass [kg]."""
    table = TABLES[build.sex]
    return table.mass * (plan.height / table.height) ** 2 if build.mass is None else build.mass


def bone_masses(plan: SkeletonPlan, sex: Sex) -> list[float]:
    """Share of the body mass of each bone; they add up to 1."""
    table = TABLES[sex]
    have = {bone.side + bone.part for bone in plan.bones}
    shares = np.zeros(len(plan.bones))
    for number, bone in enumerate(plan.bones):
        if bone.part in SEGMENTS:
            shares[number] = mass_share(table, bone.part)
        if bone.part == "head" and "neck" in have:
            shares[number] *= 1.0 - NECK_SHARE
        elif bone.part == "clavicle":
            shares[number] = GIRDLE_SHARE * mass_share(table, "upper_trunk")
        elif bone.part == "foot" and f"{bone.side}toe" in have:
            shares[number] *= 1.0 - TOE_SHARE
        elif bone.part == "toe":
            shares[number] = TOE_SHARE * mass_share(table, "foot")
        elif bone.part == "pelvis":
            shares[number] = mass_share(table, "lower_trunk")
    _split(shares, plan, "neck", NECK_SHARE * mass_share(table, "head"))
    trunk = mass_share(table, "upper_trunk") + mass_share(table, "middle_trunk")
    girdles = shares[[bone.part == "clavicle" for bone in plan.bones]].sum()
    if not _split(shares, plan, "spine", trunk - float(girdles)):
        shares[0] += trunk - girdles
    result: list[float] = (shares / shares.sum()).tolist()  # a limb the skeleton does not have weighs on all others
    return result


def _split(shares: Floats, plan: SkeletonPlan, part: str, total: float) -> bool:
    """Share a mass among the bones of one part by their length; a bone of no length counts as half the mean."""
    numbers = [n for n, bone in enumerate(plan.bones) if bone.part == part]
    if not numbers:
        return False
    lengths = np.array([np.linalg.norm(plan.bones[n].tip) for n in numbers])
    lengths = np.maximum(lengths, 0.5 * lengths.mean() + 1e-6)
    shares[numbers] = total * lengths / lengths.sum()
    return True


def _inertia(bone: BonePlan, mass: float, sex: Sex, shapes: list[BoneShape]) -> Inertia:
    """Mass properties in the bone's frame: limbs by the table, the rest as flesh that fills its shapes evenly."""
    length = float(np.linalg.norm(bone.tip))
    if bone.part in ("upper_arm", "forearm", "thigh", "shank") and length > 0.05:
        row = TABLES[sex].segments[bone.part]
        along = bone.tip / length
        across, own = (mass * (row.transverse / 100 * length) ** 2, mass * (row.longitudinal / 100 * length) ** 2)
        tensor = across * np.eye(3) + (own - across) * np.outer(along, along)
        return Inertia(mass, bone.tip * row.center / 100.0, tensor)
    solid = [shape for shape in shapes if shape.solid]
    volumes = np.array([shape.volume for shape in solid])
    pieces = [_filled(shape, mass * v / volumes.sum()) for shape, v in zip(solid, volumes, strict=True)]
    return together(pieces)


def _filled(shape: BoneShape, mass: float) -> Inertia:
    piece = ellipsoid(mass, (0.0, 0.0, 0.0), shape.semi_axes)
    return Inertia(mass, shape.center, shape.axes @ piece.tensor @ shape.axes.T)


def _hang(body: mujoco.MjsBody, bone: BonePlan, plan: SkeletonPlan, build: Build, mass: float) -> None:
    if bone.parent < 0:
        if build.root == "free":
            body.add_freejoint(name="root")
        return
    natural = natural_strength(bone.part, build.sex, plan.height, mass)
    common = {
        "actfrclimited": mujoco.mjtLimited.mjLIMITED_TRUE if build.joints == "hinge" else 0,
        "actfrcrange": [-natural * build.strength, natural * build.strength],
        "armature": ARMATURE_PER_STRENGTH * natural,
        "damping": DAMPING_TIME * natural,
    }
    if build.joints == "ball":
        if bone.reach is not None:
            common |= {"limited": mujoco.mjtLimited.mjLIMITED_TRUE, "range": [0.0, bone.reach]}
        body.add_joint(name=bone.joint, type=mujoco.mjtJoint.mjJNT_BALL, **common)
        return
    for axis, letter in zip(np.eye(3), "xyz", strict=True):
        body.add_joint(name=f"{bone.joint}_{letter}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, **common)


def natural_strength(part: str, sex: Sex, height: float, mass: float) -> float:
    """Peak torque of the joint a part hangs on [N·m]: that of its strongest direction."""
    if part == "toe":
        return 0.25 * peak_torque("ankle_flexion", sex, height, mass)  # push-off goes mostly through the ankle
    return peak_torque(_STRONGEST[part], sex, height, mass)


def _grips(plan: SkeletonPlan, bone: BonePlan) -> bool:
    """Whether a bone's flesh holds the ground on a patch: soles, palms, and the fist of an arm without a hand."""
    hands = {other.side for other in plan.bones if other.part == "hand"}
    return bone.part in _GRIPPING or (bone.part == "forearm" and bone.side not in hands)


def _add_geom(body: mujoco.MjsBody, name: str, shape: BoneShape, *, grips: bool) -> None:
    geom = body.add_geom(
        name=name, type=shape.kind, rgba=shape.color, mass=0.0, friction=GRIP if grips else FRICTION,
        condim=4 if grips else 3, pos=shape.center, quat=from_matrix(shape.axes), size=shape.size,
    )  # fmt: skip
    if not shape.solid:
        geom.contype = geom.conaffinity = 0


def _add_sites(plan: SkeletonPlan, made: list[mujoco.MjsBody]) -> None:
    names = {"hand": "palm", "toe": "toe", "head": "head_top"}
    for bone, body in zip(plan.bones, made, strict=True):
        if bone.part in names:
            body.add_site(name=f"{bone.side}{names[bone.part]}", pos=bone.tip, size=[0.008] * 3, group=4)


def _describe(plan: SkeletonPlan, build: Build, mass: float) -> Notes:
    notes = Notes(f"{plan.name}: the clip's own skeleton, {plan.height:.3g} m, {mass:.4g} kg, {build.joints} joints")
    notes.add("segment masses and limb inertias: de Leva 1996; strength: the strongest direction of each joint")
    for line in plan.notes:
        notes.add(line)
    return notes
