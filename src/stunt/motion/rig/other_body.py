"""A clip in the coordinates of a body with other bones: retargeted, and put on the floor by that body's own soles."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import corners_over, pose_frames
from stunt.errors import BodyError
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.mapping import JointMapping
from stunt.motion.rig.retarget import body_parts, retarget
from stunt.motion.rig.skeleton_body import NEEDED, SkeletonBody, is_creature

SAME_BONE: Final = 1e-3
"""Bones whose joints are nearer than this count as the same [m]."""
STANDING: Final = 0.2
"""Share of the frames in which a foot is taken to be on the floor at least."""


def makes_a_body(clip: Clip) -> bool:
    """Whether a body can be built from a clip's skeleton: a person's by its parts, or a creature's bone by bone."""
    parts = clip.parts
    return all(part in parts for part in NEEDED) or (is_creature(parts) and clip.door.parts is None)


def has_bones_of(character: Character, body: SkeletonBody) -> bool:
    """Whether a character has the very bones a clip's body has: the same joints, places and frames."""
    bones = body.plan.bones[1:]
    if list(character.joints) != [bone.joint for bone in bones]:
        return False
    if any(joint.kind != "ball" for joint in character.joints.values()):
        return False
    model = character.model
    own = [character.bodies[bone.name] for bone in bones if bone.name in character.bodies]
    if len(own) != len(bones):
        return False
    apart = np.linalg.norm(model.body_pos[own] - np.stack([bone.origin for bone in bones]), axis=1)
    turned = np.abs((model.body_quat[own] * np.stack([bone.stance for bone in bones])).sum(axis=1))
    return bool(apart.max() < SAME_BONE and turned.min() > 1.0 - 1e-6)


def sole_geoms(model: mujoco.MjModel, character: Character) -> list[int]:
    """Return the geoms a character stands on: those of feet and toes, or what its names say is a foot."""
    bodies = {body for name, body in character.bodies.items() if "foot" in name.lower() or "toe" in name.lower()}
    if not bodies:
        bodies = {body for part, body in body_parts(character).items() if part.endswith(("foot", "toe"))}
    return [g for g in sorted(character.geoms) if model.geom_bodyid[g] in bodies and model.geom_contype[g]]


def retargeted_qpos(clip: Clip, character: Character, mapping: JointMapping | None = None) -> tuple[Floats, bool]:
    """Return a clip in a character's own coordinates, and whether its feet were laid on the floor one by one.

    Returns:
        Root, then its joints, (F, nq of the character); what was laid foot by foot needs no planting any more.

    Raises:
        BodyError: The character has no free root, or its parts cannot be told.
    """
    root = character.root
    if root is None:
        raise BodyError(f"'{character.name}' must have a free root to follow a clip.")
    moved = retarget(clip, character, mapping)
    whole = moved.qpos(character)
    joints = character.joints.values()
    last = max(joint.qpos + joint.nq for joint in joints)
    qpos = whole[:, root.qpos : last]
    if not moved.planted:
        qpos[:, 2] -= _floor(character, qpos)
    return qpos, moved.planted


def _floor(character: Character, qpos: Floats) -> float:
    """Return how high the floor is under the lower foot, where it stands [m]."""
    model = character.model
    soles = sole_geoms(model, character)
    if not soles:
        return 0.0
    lowest = corners_over(model, character, soles, *pose_frames(model, character, qpos))[..., 2].min(axis=1)
    return float(np.quantile(lowest, STANDING))
