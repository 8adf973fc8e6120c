"""The velocity a motion begins with.

The difference of two captured frames is mostly noise, and the first frames of a capture are its worst: they start a
body with a spin that no friction of its soles can take up. Joints are read from a parabola through the first tenth of
a second. The angular momentum of the whole body changes slowly, since only the ground can change it: it is read from a
longer stretch, by a line that a few bad frames do not move (Theil and Sen), and the root is turned so as to have it.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths.rotations import Floats

ONSET: Final = 0.1
"""Seconds of a motion that tell how its joints begin to move."""
STRETCH: Final = 0.3
"""Seconds that tell its momentum."""


def first_velocity(model: mujoco.MjModel, qpos: Floats, character: Character, motion: BodyMotion) -> Floats:
    """Return the velocity a motion begins with, (nv,).

    Args:
        model: The scene.
        qpos: The scene's coordinates, the character in the motion's first frame, (nq,).
        character: Who; its root is free.
        motion: What begins.
    """
    assert character.root is not None  # only free characters follow clips
    address, frames = character.root.qpos, len(motion.qpos)
    count = min(frames - 1, max(1, round(ONSET * motion.fps)))
    if count <= 0:
        return np.zeros(model.nv)
    way = _ways(model, qpos, address, motion, count)
    times = np.arange(1, count + 1) / motion.fps
    powers = np.stack([times, times**2][: min(count, 2)], axis=1)
    velocity: Floats = np.linalg.lstsq(powers, way, rcond=None)[0][0]
    if frames >= round(STRETCH * motion.fps):
        velocity = _with_momentum(model, qpos, character, motion, velocity)
    return velocity


def _ways(model: mujoco.MjModel, qpos: Floats, address: int, motion: BodyMotion, count: int) -> Floats:
    """Return the ways from the first frame to the next ones, in velocities times a second, (count, nv)."""
    way, later = np.zeros((count, model.nv)), qpos.copy()
    for frame in range(count):
        later[address : address + motion.qpos.shape[1]] = motion.qpos[frame + 1]
        mujoco.mj_differentiatePos(model, way[frame], 1.0, qpos, later)
    return way


def _with_momentum(
    model: mujoco.MjModel, qpos: Floats, character: Character, motion: BodyMotion, velocity: Floats
) -> Floats:
    """Return a velocity whose root makes the whole body's angular momentum what the motion's first stretch says."""
    assert character.root is not None
    data, dof, whole = mujoco.MjData(model), character.root.dof, character.root_body
    wanted = _first_momentum(model, qpos, data, character, motion)
    data.qpos[:] = qpos
    now = _momentum(model, data, velocity, whole)
    wanted = np.concatenate([now[:3], wanted])
    effect = np.zeros((6, 6))
    for k in range(6):
        unit = np.zeros(model.nv)
        unit[dof + k] = 1.0
        effect[:, k] = _momentum(model, data, unit, whole)
    result = velocity.copy()
    result[dof : dof + 6] += np.linalg.solve(effect, wanted - now)
    return result


def _first_momentum(
    model: mujoco.MjModel, qpos: Floats, data: mujoco.MjData, character: Character, motion: BodyMotion
) -> Floats:
    """Return the momentum about its centre of mass that a body begins a motion with [kg·m²/s], (3,)."""
    assert character.root is not None
    address, width = character.root.qpos, motion.qpos.shape[1]
    count = min(len(motion.qpos) - 1, round(STRETCH * motion.fps))
    before, after, found = qpos.copy(), qpos.copy(), []
    for frame in range(1, count):
        before[address : address + width] = motion.qpos[frame - 1]
        after[address : address + width] = motion.qpos[frame + 1]
        speed = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, speed, 2.0 / motion.fps, before, after)
        data.qpos[:] = qpos
        data.qpos[address : address + width] = motion.qpos[frame]
        found.append(_momentum(model, data, speed, character.root_body)[3:])
    from scipy.stats import theilslopes  # the slowest import of all, and few need it

    times = np.arange(1, count) / motion.fps
    return np.array([theilslopes(column, times).intercept for column in np.array(found).T])


def _momentum(model: mujoco.MjModel, data: mujoco.MjData, velocity: Floats, whole: int) -> Floats:
    """Return a body's momentum, linear and about its centre of mass, (6,)."""
    data.qvel[:] = velocity
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    mujoco.mj_subtreeVel(model, data)
    linear = data.subtree_linvel[whole] * model.body_subtreemass[whole]
    return np.concatenate([linear, data.subtree_angmom[whole]])
