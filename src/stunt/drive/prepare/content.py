"""What was worked out once is known by its content: the same motion of the same body, whoever asks."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion

Made = TypeVar("Made")


class KnownByContent(Generic[Made]):
    """Results by the digest of what they were made of; those not asked for the longest are forgotten."""

    def __init__(self, kept: int) -> None:
        """Keep so many results."""
        self._kept, self._known = kept, OrderedDict[str, Made]()

    def get(self, key: str, make: Callable[[], Made]) -> Made:
        """Return what is known by a digest, made if it is not."""
        if key not in self._known:
            self._known[key] = make()
            if len(self._known) > self._kept:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()


def digest(model: mujoco.MjModel, character: Character, motion: BodyMotion, *how: Any) -> str:
    """Return what tells one motion of one body, and what is done to it, from any other.

    Args:
        model: The scene.
        character: Who: its bones, joints, shapes and masses count, and where in the scene it stands does not.
        motion: What it does.
        how: What is done to it; its `repr` counts.
    """
    first = character.root_body
    bodies, geoms = sorted(character.bodies.values()), sorted(character.geoms)
    joints = [joint.id for joint in character.joints.values()]
    parts = (
        motion.qpos, np.array([motion.fps, float(motion.loop), float(motion.planted)]), model.opt.gravity,
        model.body_parentid[bodies[1:]] - first, model.body_pos[bodies[1:]], model.body_quat[bodies[1:]],
        model.body_mass[bodies], model.body_ipos[bodies], model.body_iquat[bodies], model.body_inertia[bodies],
        model.jnt_type[joints], model.jnt_bodyid[joints] - first, model.jnt_axis[joints], model.jnt_pos[joints],
        model.jnt_range[joints], model.jnt_limited[joints], model.dof_armature[_dofs(character)],
        model.geom_bodyid[geoms] - first, model.geom_type[geoms], model.geom_size[geoms], model.geom_pos[geoms],
        model.geom_quat[geoms], model.geom_contype[geoms], model.geom_conaffinity[geoms],
        np.array([character.grip.get(geom, 0.0) for geom in geoms]),
    )  # fmt: skip
    touching = [(a - first, b - first) for a, b in ((s >> 16, s & 0xFFFF) for s in model.exclude_signature.tolist())]
    own = [pair for pair in touching if 0 <= min(pair) and max(pair) <= max(bodies) - first]
    whole = hashlib.sha256(repr((motion.name, list(character.bodies), own, how)).encode())
    for part in parts:
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()


def _dofs(character: Character) -> list[int]:
    return [dof for joint in character.joints.values() for dof in range(joint.dof, joint.dof + joint.nv)]
