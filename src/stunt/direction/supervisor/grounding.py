"""Feet of clips that sink into the ground are lifted out of it.

A recorded foot is often a centimetre below the floor, mostly where the toes push off. As data nobody minds; but the
moment forces take over, the ground throws it out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from stunt.character.character import Character
from stunt.direction.motion_rows import Motion, sole_geoms
from stunt.direction.supervisor.legs import Leg, legs_and_bodies, reach
from stunt.direction.supervisor.posing import Posed, posed
from stunt.direction.supervisor.posing_kernel import write_lowest
from stunt.rotations import Floats

MOST: Final = 0.05
"""Deeper than this is no sinking foot but another floor: it is left alone [m]."""
_SMOOTH = 0.025  # standard deviation of the smoothing [s]


def lowest_points(model: mujoco.MjModel, geom: int, first: int, where: Posed) -> Floats:
    """Return the height of a geom's lowest point in every frame [m], (F,)."""
    body = int(model.geom_bodyid[geom]) - first
    out = np.zeros(len(where.positions))
    write_lowest(
        where.positions[:, body], where.turns[:, body], model.geom_pos[geom], model.geom_quat[geom],
        model.geom_size[geom], int(model.geom_type[geom]), out,
    )  # fmt: skip
    return out


def grounded(model: mujoco.MjModel, character: Character, motion: Motion) -> Motion:
    """Return a motion whose feet do not sink into a floor at height 0.

    Args:
        model: The scene.
        character: Whose motion; its legs must hang on ball joints, or nothing is changed.
        motion: In its coordinates.
    """
    return replace(motion, qpos=lifted_out(model, character, motion.qpos, motion.fps))


def lifted_out(
    model: mujoco.MjModel, character: Character, frames: Floats, fps: float, *, most: float = MOST, ease: float = 0.0
) -> Floats:
    """Return frames with their feet lifted out of the floor.

    Args:
        model: The scene.
        character: Who.
        frames: Its coordinates, (F, nq).
        fps: Frames per second.
        most: Feet deeper than this are left alone [m].
        ease: Over how long the lift comes in at the beginning [s], where the first frame must stay as it is.
    """
    legs, some = legs_and_bodies(model, character)
    if not legs:
        return frames
    qpos = frames.copy()
    where = posed(model, character, qpos, some)
    for leg in legs:
        depth = _depth(model, character, leg, where)
        if depth.max() <= 1e-4 or depth.max() > most:
            continue
        # The lift must be there in full where it is needed, and come and go smoothly.
        width = max(1, round(2.0 * _SMOOTH * fps))
        wide = maximum_filter1d(depth, 2 * width + 1, mode="nearest")
        lift = np.maximum(gaussian_filter1d(wide, _SMOOTH * fps, mode="nearest"), depth)
        if ease > 0.0:
            s = np.minimum(np.arange(len(lift)) / (ease * fps), 1.0)
            lift = lift * s * s * (3.0 - 2.0 * s)
        path = where.positions[:, leg.foot] + lift[:, None] * np.array([0.0, 0.0, 1.0])
        reach(model, character, qpos, leg, where, path, where.turns[:, leg.foot])
    return qpos


def _depth(model: mujoco.MjModel, character: Character, leg: Leg, where: Posed) -> Floats:
    """Return how deep a foot with its toes is below the floor [m], (F,); 0 where it is above."""
    first = character.root_body
    depth = np.zeros(len(where.positions))
    for geom in sole_geoms(model, character):
        body = int(model.geom_bodyid[geom])
        if leg.foot + first in (body, int(model.body_parentid[body])):
            depth = np.maximum(depth, -lowest_points(model, geom, first, where))
    return depth
