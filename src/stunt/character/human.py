"""Builders of the papers' characters as MuJoCo specifications: `torso28`, `human38`, `human39`, `human47`.

Named points on a person: palms, fingertips, elbows, heels, toes, chest, eyes and the top of the head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from stunt.character.anthropometry import MALE, Floats, Inertia, weigh
from stunt.character.contacts import write_excludes
from stunt.character.limits import MOTIONS, axis_of, stem
from stunt.character.notes import Notes
from stunt.character.shapes import STAND, Shape, shapes
from stunt.character.skeleton import SIDES, Bone, Landmarks, Person, landmarks, skeleton
from stunt.character.strength import ARMATURE_PER_STRENGTH, DAMPING_TIME, peak_torque

_HALF = 0.5**0.5


@dataclass(frozen=True)
class Site:
    """One point."""

    name: str  #: Site name
    bone: str  #: The bone it is on
    position: Floats  #: In the frame of neutral standing [m], (3,)
    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  #: Its orientation there, wxyz


def sites(person: Person, marks: Landmarks) -> list[Site]:
    """All sites of a person."""
    unit = person.height / MALE.height
    chest = np.array([0.115 * unit, 0.0, (marks.xiphion[2] + marks.shoulder[2]) / 2])
    found = [
        Site("head_top", "head", marks.vertex),
        Site("eyes", "head", marks.vertex + np.array([0.10, 0.0, -0.118]) * unit),
        Site("chest", "thorax", chest),
    ]
    for side, sign in SIDES:
        found += _of_side(unit * (0.92 if person.sex == "female" else 1.0), marks, side, np.array([1.0, sign, 1.0]))
    return found


def _of_side(unit: float, marks: Landmarks, side: str, flip: Floats) -> list[Site]:
    # A quarter turn about x takes z out of the palm: to the right on the left hand, to the left on the right one.
    out_of_palm = (_HALF, float(flip[1]) * _HALF, 0.0, 0.0)
    ankle = marks.ankle
    return [
        Site(f"{side}palm", f"{side}hand", flip * (marks.wrist + np.array([0.0, -0.013, -0.052]) * unit), out_of_palm),
        Site(f"{side}fingertips", f"{side}hand", flip * (marks.wrist + np.array([0.0, -0.007, -0.188]) * unit)),
        Site(f"{side}elbow", f"{side}forearm", flip * marks.elbow),
        Site(f"{side}heel", f"{side}foot", flip * np.array([marks.heel, ankle[1], 0.0])),
        Site(f"{side}toe", f"{side}foot", flip * np.array([marks.toe, ankle[1], 0.0])),
    ]


Root = Literal["fixed", "free"]

_ARM = {
    "upper_arm": ("shoulder_flexion", "shoulder_abduction", "shoulder_rotation"),
    "forearm": ("elbow_flexion", "forearm_pronation"),
    "hand": ("wrist_flexion", "wrist_deviation"),
}
_LEG = {
    "thigh": ("hip_flexion", "hip_abduction", "hip_rotation"),
    "shank": ("knee_flexion",),
    "foot": ("ankle_flexion", "ankle_inversion"),
}
_CLAVICLE = {"clavicle": ("clavicle_elevation", "clavicle_protraction")}
_LUMBAR = {"lumbar": ("lumbar_flexion", "lumbar_bend", "lumbar_rotation")}
_THORAX = {"thorax": ("thorax_flexion", "thorax_bend", "thorax_rotation")}
_NECK = {"neck": ("neck_flexion", "neck_bend", "neck_rotation")}
_NOD = {"head": ("head_nod",)}

# Hinges of each bone, outermost first. A bone without hinges is part of its parent.
HINGES: dict[str, dict[str, tuple[str, ...]]] = {
    "torso28": {**_LUMBAR, **_THORAX, **_NECK, **_NOD, **_CLAVICLE, **_ARM},
    "human38": {**_LUMBAR, **_NECK, **_ARM, **_LEG},
    "human39": {**_LUMBAR, "thorax": ("thorax_flexion",), **_NECK, **_ARM, **_LEG},
    "human47": {"waist": ("pelvis_tilt",), **_LUMBAR, **_THORAX, **_NECK, **_NOD, **_CLAVICLE, **_ARM, **_LEG},
}

_KINDS = {
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
}
FRICTION = (0.9, 0.005, 0.0001)


@dataclass(frozen=True)
class Order:
    """What to build: which body, for whom, and how it is held."""

    body: str  #: Name of a built-in body
    person: Person  #: Sex, height and mass
    root: Root = "fixed"  #: `free` gives the pelvis a free joint
    strength: float = 1.0  #: Factor on every peak torque
    self_collision: bool = True  #: Whether the limbs touch each other


def build_human(order: Order) -> mujoco.MjSpec:
    """Build a person standing on z = 0, the middle of the feet over the origin, facing +x."""
    spec = mujoco.MjSpec()
    spec.modelname = order.body
    spec.compiler.degree = False
    marks = landmarks(order.person)
    has_legs = "foot" in HINGES[order.body]
    bones = [bone for bone in skeleton(order.person) if has_legs or bone.name[2:] not in _LEG]
    # With legs the origin lies between the feet; a torso's stand is right below its hips.
    shift = np.array([(marks.heel + marks.toe) / 2 if has_legs else 0.0, 0.0, 0.0])
    made: dict[str, mujoco.MjsBody] = {}
    origins = {"": shift}
    for bone in bones:
        origins[bone.name] = bone.origin
        parent = made.get(bone.parent, spec.worldbody)
        body = parent.add_body(name=bone.name, pos=bone.origin - origins[bone.parent])
        made[bone.name] = body
        weigh(body, bone.inertia)
        _hang(body, bone, order)
    _dress(made, origins, shapes(order.person, marks))
    for site in sites(order.person, marks):
        if site.bone in made:
            position = site.position - origins[site.bone]
            made[site.bone].add_site(name=site.name, pos=position, quat=site.quat, size=[0.008] * 3, group=4)
    if not has_legs:
        _put_on_stand(made["pelvis"], order.person, marks)
    write_excludes(spec, all_pairs=not order.self_collision)
    _describe(order).write(spec)
    return spec


def _describe(order: Order) -> Notes:
    person = order.person
    notes = Notes(f"{order.body}: {person.sex}, {person.height:.3g} m, {person.mass:.4g} kg")
    notes.add("segment masses, centres and inertias: de Leva 1996")
    if "foot" not in HINGES[order.body]:
        notes.add("the stand weighs what the legs would")
    return notes


def _hang(body: mujoco.MjsBody, bone: Bone, order: Order) -> None:
    """Give a bone its hinges, with limits and strength."""
    if not bone.parent:
        if order.root == "free":
            body.add_freejoint(name="root")
        return
    side = bone.name[:2] if bone.name[:2] in ("l_", "r_") else ""
    for hinge in HINGES[order.body].get(bone.name.removeprefix(side), ()):
        _add_hinge(body, f"{side}{hinge}", order)


def _add_hinge(body: mujoco.MjsBody, name: str, order: Order) -> None:
    motion, person = MOTIONS[stem(name)], order.person
    natural = peak_torque(name, person.sex, person.height, person.mass)
    peak = natural * order.strength
    # Flesh does not change with the strength factor: damping and armature follow the natural strength.
    body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=axis_of(name),
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=[math.radians(motion.low), math.radians(motion.high)],
        actfrclimited=mujoco.mjtLimited.mjLIMITED_TRUE,
        actfrcrange=[-peak, peak],
        damping=DAMPING_TIME * natural,
        armature=ARMATURE_PER_STRENGTH * natural,
    )


def _dress(made: dict[str, mujoco.MjsBody], origins: dict[str, np.ndarray], wardrobe: dict[str, list[Shape]]) -> None:
    for name, body in made.items():
        for number, shape in enumerate(wardrobe[name], start=1):
            _add_geom(body, f"{name}_{number}", shape, origins[name])


def _add_geom(body: mujoco.MjsBody, name: str, shape: Shape, origin: np.ndarray) -> None:
    geom = body.add_geom(name=name, type=_KINDS[shape.kind], rgba=shape.color, mass=0.0, friction=FRICTION, condim=3)
    start = np.asarray(shape.start) - origin
    geom.size = [*shape.size, 0.0, 0.0][:3]
    if shape.end is None:
        geom.pos = start
    else:
        geom.fromto = [*start, *(np.asarray(shape.end) - origin)]
    if not shape.solid:
        geom.contype = geom.conaffinity = 0


def _put_on_stand(pelvis: mujoco.MjsBody, person: Person, marks: Landmarks) -> None:
    """Set a torso on a stand that weighs what its legs would, so that the whole has the asked mass."""
    hip = float(marks.hip[2])
    legs = [bone for bone in skeleton(person) if bone.name[2:] in _LEG]
    mass = sum(bone.inertia.mass for bone in legs)
    unit = person.height
    foot = Shape("cylinder", (0.0, 0.0, 0.007 * unit), (0.13 * unit, 0.007 * unit), STAND)
    post = Shape("capsule", (0.0, 0.0, 0.02 * unit), (0.022 * unit,), STAND, (0.0, 0.0, 0.97 * hip))
    stand = pelvis.add_body(name="stand", pos=[0.0, 0.0, -hip])
    radius, tall = 0.13 * unit, hip / 2
    across = mass * (radius**2 / 4 + tall**2 / 12)
    weigh(stand, Inertia(mass, np.array([0.0, 0.0, tall / 2]), np.diag([across, across, mass * radius**2 / 2])))
    for number, shape in enumerate((foot, post), start=1):
        _add_geom(stand, f"stand_{number}", shape, np.zeros(3))
