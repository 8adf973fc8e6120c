"""Moving a foot of a pose: the leg follows by two-bone inverse kinematics, the foot keeps its orientation."""

from __future__ import annotations

import numpy as np

from stunt.motion.clip import Clip, ClipPose, WorldPose
from stunt.rotations import Floats, conjugate, from_rotation_vector, multiply, rotate

STRETCH = 0.998  # of its length that a leg may be pulled to: at 1 the knee would snap


def with_ankle_at(clip: Clip, pose: ClipPose, world: WorldPose, leg: tuple[int, int, int], ankle: Floats) -> ClipPose:
    """Return poses with one ankle moved.

    Args:
        clip: Whose skeleton.
        pose: The poses, along one leading axis (F).
        world: Where they have the joints.
        leg: Thigh, shank and foot joint.
        ankle: Where the ankle should be [m], (F, 3); as near to it as the leg reaches.
    """
    thigh, shank, foot = leg
    hip, knee, old = (world.positions[:, joint] for joint in leg)
    upper, lower = (np.linalg.norm(b - a, axis=-1) for a, b in ((hip, knee), (knee, old)))
    wanted = np.linalg.norm(ankle - hip, axis=-1)
    reach = np.clip(wanted, np.abs(upper - lower) + 1e-6, STRETCH * (upper + lower))
    bend = _knee(upper, lower, reach) - _knee(upper, lower, np.linalg.norm(old - hip, axis=-1))
    axis = _knee_axis(hip, knee, old, world.rotations[:, thigh])
    # The shank turns about the knee until the ankle is as far from the hip as it should be …
    opened = from_rotation_vector(bend[:, None] * axis)
    ankle_then = knee + rotate(opened, old - knee)
    # … then the whole leg turns about the hip.
    swing = _turn(ankle_then - hip, ankle - hip)
    return _with_turned(clip, pose, world, leg, swing, multiply(swing, opened))


def _knee(upper: Floats, lower: Floats, reach: Floats) -> Floats:
    """Return the angle between thigh and shank [rad] at a distance from hip to ankle; π is straight."""
    cosine = (upper**2 + lower**2 - reach**2) / (2.0 * upper * lower)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _knee_axis(hip: Floats, knee: Floats, ankle: Floats, thigh: Floats) -> Floats:
    """Return the axis about which turning the shank opens the knee (F, 3)."""
    axis = np.cross(hip - knee, ankle - knee)
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    # A straight leg has no plane of its own: it bends as knees do, its shank back.
    side = -rotate(thigh, np.array([0.0, 1.0, 0.0]))
    down = (ankle - hip) / np.maximum(np.linalg.norm(ankle - hip, axis=-1, keepdims=True), 1e-9)
    side = side - down * np.sum(side * down, axis=-1, keepdims=True)
    side = side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-9)
    return np.where(length > 1e-3 * 0.2, axis / np.maximum(length, 1e-12), side)


def _turn(start: Floats, end: Floats) -> Floats:
    """Return the shortest turns from directions to others, (F, 4)."""
    a = start / np.maximum(np.linalg.norm(start, axis=-1, keepdims=True), 1e-12)
    b = end / np.maximum(np.linalg.norm(end, axis=-1, keepdims=True), 1e-12)
    axis = np.cross(a, b)
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    angle = np.arctan2(sine, np.sum(a * b, axis=-1, keepdims=True))
    return from_rotation_vector(np.where(sine > 1e-12, axis / np.maximum(sine, 1e-12), 0.0) * angle)


def _with_turned(
    clip: Clip, pose: ClipPose, world: WorldPose, leg: tuple[int, int, int], swing: Floats, both: Floats
) -> ClipPose:
    """Return poses whose thigh and shank are turned in the world; the foot is turned back."""
    thigh, shank, foot = leg
    rotations = pose.rotations.copy()
    parents = clip.skeleton.parents
    identity = np.broadcast_to(np.array([1.0, 0.0, 0.0, 0.0]), swing.shape)
    for joint, turned, above in ((thigh, swing, identity), (shank, both, swing), (foot, identity, both)):
        parent = multiply(above, world.rotations[:, parents[joint]])
        rotations[:, joint] = multiply(conjugate(parent), multiply(turned, world.rotations[:, joint]))
    return ClipPose(pose.root, rotations)
