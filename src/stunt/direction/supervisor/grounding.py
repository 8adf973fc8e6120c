"""Feet of clips that sink into the ground are lifted out of it.

A recorded foot is often a centimetre below the floor, mostly where the toes push off. As data nobody minds; but the
moment forces take over, the ground throws it out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.direction.motion_rows import Motion
from stunt.direction.supervisor.feet_kernel import widened
from stunt.direction.supervisor.legs import legs_and_bodies, reach
from stunt.direction.supervisor.posing import Posed, posed
from stunt.direction.supervisor.posing_kernel import add_depth
from stunt.rotations import Floats

MOST: Final = 0.05
"""Deeper than this is no sinking foot but another floor: it is left alone [m]."""
_SMOOTH = 0.025  # standard deviation of the smoothing [s]


def grounded(model: mujoco.MjModel, character: Character, motion: Motion) -> Motion:
    """Return a motion whose feet do not sink into a floor at height 0.

    Args:
        model: The scene.
        character: Whose motion; its legs must hang on ball joints, or nothing is changed.
        motion: In its coordinates.
    """
    qpos = motion.qpos.copy()
    lift_out(model, character, qpos, qpos.shape[1], motion.fps)
    return replace(motion, qpos=qpos)


def lift_out(
    model: mujoco.MjModel, character: Character, frames: Floats, nq: int, fps: float, *, most: float = MOST,
    ease: float = 0.0,
) -> None:  # fmt: skip
    """Lift feet out of the floor, in place.

    Args:
        model: The scene.
        character: Who.
        frames: Its coordinates, and whatever follows them, (F, …), written.
        nq: How many coordinates there are.
        fps: Frames per second.
        most: Feet deeper than this are left alone [m].
        ease: Over how long the lift comes in at the beginning [s], where the first frame must stay as it is.
    """
    legs, some = legs_and_bodies(model, character)
    if not legs:
        return
    where = posed(model, character, frames[:, :nq], some)
    for leg in legs:
        depth = np.zeros(len(frames))
        deepest = max((write_depth(model, character, geom, where, depth) for geom in leg.soles), default=0.0)
        if 1e-4 < deepest <= most:
            path = where.positions[:, leg.foot].copy()
            path[:, 2] += _smooth_lift(depth, fps, ease)
            reach(frames, leg, where, path, where.turns[:, leg.foot])


def _smooth_lift(depth: Floats, fps: float, ease: float) -> Floats:
    """Return how high to lift a foot [m], (F,): in full where it is needed, coming and going smoothly."""
    width = max(1, round(2.0 * _SMOOTH * fps))
    lift = np.maximum(widened(depth, width, _SMOOTH * fps), depth)
    if ease > 0.0:
        s = np.minimum(np.arange(len(lift)) / (ease * fps), 1.0)
        lift = lift * s * s * (3.0 - 2.0 * s)
    return np.asarray(lift)


def write_depth(model: mujoco.MjModel, character: Character, geom: int, where: Posed, depth: Floats) -> float:
    """Raise `depth` to how deep a geom is below the floor [m], (F,), and return its largest."""
    body = int(model.geom_bodyid[geom]) - character.root_body
    return float(
        add_depth(
            where.positions, where.turns, body, model.geom_pos[geom], model.geom_quat[geom], model.geom_size[geom],
            int(model.geom_type[geom]), depth,
        )
    )  # fmt: skip
