"""A simulated body with the bones of any skeleton: for what is no person, one capsule per bone, of water's density.

Nothing is known of such a body but where its bones are. Thickness follows length, mass follows volume, strength follows
what each joint has to hold; all of it is said in the body's notes.
"""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np

from stunt.character.anthropometry import Floats
from stunt.character.contacts import write_excludes
from stunt.character.foreign_stance import lowest_point
from stunt.character.foreign_strength import HOLD, joint_strengths
from stunt.character.from_skeleton import FRICTION, Build
from stunt.character.notes import Notes
from stunt.character.skeleton_plan import BonePlan, SkeletonPlan
from stunt.character.strength import ARMATURE_PER_STRENGTH, DAMPING_TIME
from stunt.errors import BodyError

THICKNESS = 0.14
"""Radius of a bone's flesh by its length."""
THINNEST, THICKEST = 0.012, 0.09
"""Least and largest radius, by the size of the whole skeleton."""
DENSITY = 1000.0
STANDS = 0.1
"""What is no higher above its lowest point, as a share of its height at rest, stands on the ground."""
LEAN = 0.5
"""Share of the way from a joint to the foot that is level at most where the foot carries."""
_COLOR = (0.62, 0.54, 0.45, 1.0)


def build_creature(plan: SkeletonPlan, build: Build) -> mujoco.MjSpec:
    """Build a body in its rest pose, standing on z = 0, to be attached to a scene."""
    spec = mujoco.MjSpec()
    spec.modelname = plan.name
    spec.compiler.degree = False
    made: list[mujoco.MjsBody] = []
    for bone in plan.bones:
        parent = spec.worldbody if bone.parent < 0 else made[bone.parent]
        made.append(parent.add_body(name=bone.name, pos=bone.origin, quat=bone.stance))
        _hang(made[-1], bone, build)
    for number, (bone, body) in enumerate(zip(plan.bones, made, strict=True)):
        _flesh(body, bone, [other.origin for other in plan.bones if other.parent == number], plan.height)
    mass = _weigh(spec, build)
    _strengthen(spec, build)
    write_excludes(spec, all_pairs=not build.self_collision)
    _stand(spec, made[0])
    _describe(plan, mass).write(spec)
    return spec


def _hang(body: mujoco.MjsBody, bone: BonePlan, build: Build) -> None:
    if bone.parent < 0:
        if build.root == "free":
            body.add_freejoint(name="root")
    elif build.joints == "ball":
        body.add_joint(name=bone.joint, type=mujoco.mjtJoint.mjJNT_BALL)
    else:
        for axis, letter in zip(np.eye(3), "xyz", strict=True):
            body.add_joint(name=f"{bone.joint}_{letter}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)


def _flesh(body: mujoco.MjsBody, bone: BonePlan, ends: list[Floats], size: float) -> None:
    """Put a capsule between a bone's joint and each joint that hangs on it, or its tip; a ball where they coincide."""
    added = 0
    for end in ends or [bone.tip]:
        length = float(np.linalg.norm(end))
        if length < 1e-3 * size:
            continue
        added += 1
        radius = float(np.clip(THICKNESS * length, THINNEST * size, THICKEST * size))
        body.add_geom(
            name=f"{bone.name}_{added}", type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0.0, 0.0, 0.0, *end],
            size=[radius, 0.0, 0.0], density=DENSITY, rgba=_COLOR, friction=FRICTION, condim=3,
        )  # fmt: skip
    if not added:
        body.add_geom(
            name=f"{bone.name}_1", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[THINNEST * size, 0.0, 0.0], density=DENSITY,
            rgba=_COLOR, friction=FRICTION, condim=3,
        )  # fmt: skip


def _weigh(spec: mujoco.MjSpec, build: Build) -> float:
    """Give the flesh the density that makes the wanted mass; return the mass [kg]."""
    try:
        whole = float(spec.compile().body_mass.sum())
    except (ValueError, mujoco.FatalError) as error:
        raise BodyError(f"MuJoCo cannot compile a body of this skeleton: {str(error).splitlines()[0]}.") from error
    if not whole > 0.0:
        raise BodyError("a body of this skeleton weighs nothing: its bones have no length.")
    if build.mass is None:
        return whole
    for geom in spec.geoms:
        geom.density = DENSITY * build.mass / whole
    return build.mass


def _strengthen(spec: mujoco.MjSpec, build: Build) -> None:
    """Make joints as strong as what hangs on them asks for, and those of limbs it stands on as what they carry."""
    model = spec.compile()
    carried = _carried(model)
    for name, found in joint_strengths(model).items():
        joint = spec.joint(name)
        found = replace(found, peak=max(found.peak, carried.get(name, 0.0)))
        ball = joint.type == mujoco.mjtJoint.mjJNT_BALL
        joint.actfrcrange = [-found.peak * build.strength, found.peak * build.strength]
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE if ball else mujoco.mjtLimited.mjLIMITED_TRUE
        joint.armature = ARMATURE_PER_STRENGTH * found.peak
        joint.damping[:] = 0.0
        joint.damping[0] = DAMPING_TIME * found.peak


def _carried(model: mujoco.MjModel) -> dict[str, float]:
    """Return what joints between root and ground hold half of the weight with, twice over, by name [N·m].

    In a gait two of four feet carry all of it; the way to the foot is taken as leaning by 30° at most.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    reach = model.geom_size[:, 1] * np.abs(data.geom_xmat[:, 8]) + model.geom_size[:, 0]
    low = data.geom_xpos[:, 2] - reach
    size = float((data.geom_xpos[:, 2] + reach).max() - low.min())
    found = dict[str, float]()
    for geom in np.flatnonzero(low < low.min() + STANDS * size):
        body, foot = int(model.geom_bodyid[geom]), data.geom_xpos[geom] - [0.0, 0.0, reach[geom]]
        while body > 0:
            for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
                way = float(np.linalg.norm(data.xanchor[joint] - foot))
                torque = HOLD * 0.5 * float(model.body_mass.sum()) * 9.81 * LEAN * way
                found[model.joint(joint).name] = max(found.get(model.joint(joint).name, 0.0), torque)
            body = int(model.body_parentid[body])
    return found


def _stand(spec: mujoco.MjSpec, root: mujoco.MjsBody) -> None:
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    root.pos = [0.0, 0.0, float(root.pos[2]) - lowest_point(model, data)]


def _describe(plan: SkeletonPlan, mass: float) -> Notes:
    notes = Notes(f"{plan.name}: no person's skeleton; {len(plan.bones)} bones, {plan.height:.3g} m, {mass:.4g} kg")
    notes.add(f"a capsule per bone, its radius {THICKNESS:g} of its length; {DENSITY:g} kg/m³ where no mass is given")
    notes.add("strength derived from the mass each joint moves, and carries where it stands; no joint has limits")
    for line in plan.notes:
        notes.add(line)
    return notes
