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
from stunt.direction.supervisor.going_over_kernel import lift_feet
from stunt.direction.supervisor.legs import legs_of
from stunt.direction.supervisor.posing import bones_of

MOST: Final = 0.05
"""Deeper than this is no sinking foot but another floor: it is left alone [m]."""


def grounded(model: mujoco.MjModel, character: Character, motion: Motion) -> Motion:
    """Return a motion whose feet do not sink into a floor at height 0.

    Args:
        model: The scene.
        character: Whose motion; its legs must hang on ball joints, or nothing is changed.
        motion: In its coordinates.
    """
    legs, qpos = legs_of(model, character), motion.qpos.copy()
    places, turns = np.zeros((len(qpos), len(legs.some), 3)), np.zeros((len(qpos), len(legs.some), 4))
    bones = bones_of(model, character)
    lift_feet(qpos, places, turns, motion.fps, 0.0, MOST, bones, legs.some, legs.chains, legs.soles)
    return replace(motion, qpos=qpos)
