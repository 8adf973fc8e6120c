"""Spikes of a capture bridged: frames in which a leg turns faster than any person's could.

Swapped or lost markers turn a thigh by 70° from one frame to the next. Whoever is to stand on that leg falls for no
reason an animator could see. Such frames are replaced by the way between the good ones around them, in all joints of
the leg: knee and ankle were solved for together with the hip, and make no sense without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.control.servo.law import part_of
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths import rotations
from stunt.maths.rotations import Floats

FASTEST: Final = 50.0
"""No hip or knee turns faster [rad/s]: kicks of athletes reach about 30."""
SPIKE_AROUND: Final = 0.05
"""Frames this near to a spike are doubtful too [s]."""


def bridge_spikes(model: mujoco.MjModel, character: Character, motion: BodyMotion) -> BodyMotion:
    """Return a motion without spikes in its legs; the same one if there are none.

    Args:
        model: The scene.
        character: Who; only ball joints are looked at.
        motion: What it does.
    """
    qpos, first = motion.qpos, character.root.qpos if character.root is not None else 0
    for joints in _legs(model, character).values():
        own = [slice(joint.qpos - first, joint.qpos - first + 4) for joint in joints]
        # Only what carries tells: a foot that twitches fells nobody.
        carries = [part for part, joint in zip(own, joints, strict=True) if _carries(model, joint)]
        bad = np.any([_spikes(motion.qpos[:, part], motion.fps) for part in carries], axis=0)
        if bad.any() and not bad.all():
            qpos = qpos.copy() if qpos is motion.qpos else qpos
            for part in own:
                qpos[:, part] = _bridged(motion.qpos[:, part], bad)
    return motion if qpos is motion.qpos else replace(motion, qpos=qpos)


def _legs(model: mujoco.MjModel, character: Character) -> dict[int, list[Joint]]:
    """Return the ball joints of each leg, by the leg's first body."""
    found: dict[int, list[Joint]] = {}
    for joint in character.joints.values():
        body = int(model.jnt_bodyid[joint.id])
        if joint.kind != "ball" or part_of(model.body(body).name) != "leg":
            continue
        while part_of(model.body(int(model.body_parentid[body])).name) == "leg":
            body = int(model.body_parentid[body])
        found.setdefault(body, []).append(joint)
    return found


def _carries(model: mujoco.MjModel, joint: Joint) -> bool:
    """Whether a joint of a leg is a hip or a knee."""
    name = model.body(int(model.jnt_bodyid[joint.id])).name.lower()
    return "foot" not in name and "toe" not in name


def _spikes(turns: Floats, fps: float) -> NDArray[np.bool_]:
    """Return which frames of a joint are at a spike, (F,)."""
    dots = np.abs((turns[1:] * turns[:-1]).sum(axis=1)).clip(0.0, 1.0)
    bad, near = np.zeros(len(turns), bool), max(1, round(SPIKE_AROUND * fps))
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
