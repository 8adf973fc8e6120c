"""A motion raised where hands, knees or the back are in the floor: who crawls, rolls or lies does so on it.

The floor of a clip is told by its standing feet. Knees of who crawls, and backs of who rolls, are often captured a
hand's breadth below it: the skeleton's flesh is not the person's. A body that begins there is thrown out of the ground,
and one that crawls on the ground is never as low as its clip.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
import scipy

from stunt.character.character import Character
from stunt.character.kinematics import box_corners, pose_frames
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths import rotations
from stunt.maths.rotations import Floats

FLESH: Final = 0.02
"""A part may be so deep in the floor: flesh and ground give [m]."""
MOST: Final = 0.2
"""What is deeper in the floor than this has another one; nobody is raised by more [m]."""
_EASE = 0.1  # over which a body is raised and let down [s]


def raised_by(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: set[int]) -> Floats:
    """Return how far a motion has to be raised for no part but its feet to be deep in a floor at height 0 [m], (F,).

    Args:
        model: The scene.
        character: Who.
        motion: What it does.
        feet: Geoms that are put on the floor otherwise.
    """
    places, turns = pose_frames(model, character, motion.qpos)
    deep = np.zeros(len(motion.qpos))
    for geom in character.geoms:
        if geom in feet or not model.geom_contype[geom]:
            continue
        body = int(model.geom_bodyid[geom]) - character.root_body
        near = np.flatnonzero(places[:, body, 2] < _reach(model, geom))
        if len(near):
            points, radius = _outline(model, geom)
            heights = rotations.rotate(turns[near, None, body], points)[..., 2].min(axis=1) - radius
            deep[near] = np.maximum(deep[near], -FLESH - places[near, body, 2] - heights)
    if not deep.any():
        return deep
    width = max(1, round(_EASE * motion.fps))
    most = scipy.ndimage.maximum_filter1d(np.minimum(deep, MOST), 2 * width + 1, mode="nearest")
    return np.asarray(scipy.ndimage.uniform_filter1d(most, 2 * width + 1, mode="nearest"))


def _reach(model: mujoco.MjModel, geom: int) -> float:
    """Return how far from its body's origin a geom goes [m]."""
    return float(np.linalg.norm(model.geom_pos[geom]) + model.geom_rbound[geom])


def _outline(model: mujoco.MjModel, geom: int) -> tuple[Floats, float]:
    """Return the points of a geom seen from its body [m], (n, 3), and how far its surface is below them [m]."""
    size = model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        ends = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
        return model.geom_pos[geom] + rotations.rotate(model.geom_quat[geom], ends), float(size[0])
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE:
        return model.geom_pos[geom][None], float(size[0])
    return box_corners(model, geom), 0.0
