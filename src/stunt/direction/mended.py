"""Spikes of a capture bridged: frames in which a leg turns faster than any person's could.

Swapped or lost markers turn a thigh by 70° from one frame to the next. Whoever is to stand on that leg falls for no
reason an animator could see. Such frames are replaced by the way between the good ones around them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt import rotations
from stunt.character.character import Character
from stunt.control.worldspace import part_of
from stunt.direction.motion_rows import Motion
from stunt.rotations import Floats

FASTEST: Final = 50.0
"""No hip or knee turns faster [rad/s]: kicks of athletes reach about 30."""
AROUND: Final = 0.05
"""Frames this near to a spike are doubtful too [s]."""


def mended(model: mujoco.MjModel, character: Character, motion: Motion) -> Motion:
    """Return a motion without spikes in its legs; the same one if there are none.

    Args:
        model: The scene.
        character: Who; only ball joints are looked at.
        motion: What it does.
    """
    qpos, first = motion.qpos, character.root.qpos if character.root is not None else 0
    for joint in character.joints.values():
        own = slice(joint.qpos - first, joint.qpos - first + 4)
        if joint.kind != "ball" or not _carries(model.body(int(model.jnt_bodyid[joint.id])).name):
            continue
        bad = _spikes(motion.qpos[:, own], motion.fps)
        if bad.any() and not bad.all():
            qpos = qpos.copy() if qpos is motion.qpos else qpos
            qpos[:, own] = _bridged(motion.qpos[:, own], bad)
    return motion if qpos is motion.qpos else replace(motion, qpos=qpos)


def _carries(name: str) -> bool:
    """Whether a body is a thigh or a shank; a foot that twitches fells nobody."""
    return part_of(name) == "leg" and "foot" not in name.lower() and "toe" not in name.lower()


def _spikes(turns: Floats, fps: float) -> NDArray[np.bool_]:
    """Return which frames of a joint are at a spike, (F,)."""
    dots = np.abs((turns[1:] * turns[:-1]).sum(axis=1)).clip(0.0, 1.0)
    bad, near = np.zeros(len(turns), bool), max(1, round(AROUND * fps))
    for frame in np.flatnonzero(2.0 * np.arccos(dots) * fps > FASTEST):
        bad[max(0, frame + 1 - near) : frame + near + 1] = True
    return bad


def _bridged(turns: Floats, bad: NDArray[np.bool_]) -> Floats:
    """Return a joint's turns, (F, 4), with bad frames on the way between the good ones."""
    good = np.flatnonzero(~bad)
    after = np.searchsorted(good, np.arange(len(turns))).clip(0, len(good) - 1)
    low, high = good[np.maximum(after - 1, 0)], good[after]
    span = np.maximum(high - low, 1)
    share = np.where(bad, ((np.arange(len(turns)) - low) / span).clip(0.0, 1.0), 0.0)
    result = turns.copy()
    result[bad] = rotations.slerp(turns[low[bad]], turns[high[bad]], share[bad])
    return result
