"""Joints inside their limits: what a body cannot do is not asked of it.

Hinges have a range, balls a largest turn away from the reference stance. A body built from a clip's own skeleton has
room for all of that clip and a little more (`stunt.character.ligaments`), so that only other clips, or a capture's
spikes, are ever cut. The ligaments of its knees and elbows are left to physics: they tell a bend from a hyperextension
only by lengths, and give by some degrees before they hold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths import rotations


def within_limits(character: Character, motion: BodyMotion) -> tuple[BodyMotion, float]:
    """Return a motion inside its joints' limits (the same one if it is), and the largest turn taken off [rad].

    Args:
        character: Who.
        motion: What it does.
    """
    assert character.root is not None  # only free characters follow clips
    qpos, worst = motion.qpos, 0.0
    for joint in character.joints.values():
        if joint.range is None or joint.kind == "slide":
            continue
        columns = slice(joint.qpos - character.root.qpos, joint.qpos - character.root.qpos + joint.nq)
        values = motion.qpos[:, columns]
        if joint.kind == "ball":
            vectors = rotations.to_rotation_vector(values)
            angle = np.linalg.norm(vectors, axis=1)
            over = angle - joint.range[1]
            share = joint.range[1] / np.maximum(angle, 1e-9)
            cut = rotations.from_rotation_vector(np.minimum(share, 1.0)[:, None] * vectors)
        else:
            over = np.maximum(values - joint.range[1], joint.range[0] - values)[:, 0]
            cut = np.clip(values, *joint.range)
        if (over > 1e-6).any():
            qpos = qpos.copy() if qpos is motion.qpos else qpos
            qpos[:, columns] = np.where((over > 1e-6)[:, None], cut, values)
            worst = max(worst, float(over.max()))
    return (motion if qpos is motion.qpos else replace(motion, qpos=qpos)), worst
