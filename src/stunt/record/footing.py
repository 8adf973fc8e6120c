"""Whether a character stayed on its feet, and how much of that it owes to forces from outside its body."""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.servo.memory import hip_height
from stunt.maths import rotations
from stunt.record.cast import CastMember
from stunt.record.take import Take

FALL_TILT_DEG: Final = 60.0
"""A free root that leans further than this from how it stood at the start has fallen."""
FALL_HEIGHT: Final = 0.5
"""So has one that is below this share of its height at the start."""
_STANDARD_GRAVITY = 9.81
Floats = NDArray[np.float64]


def down(take: Take, where: int, stood: Floats) -> NDArray[np.bool_]:
    """Return in which frames a free root has left its stand, (T,).

    Args:
        take: The performance.
        where: First index of the root in `qpos`.
        stood: How it stands: position [m] and quaternion, (7,).
    """
    height = take.qpos[:, where + 2]
    found = tilt_deg(take.qpos[:, where + 3 : where + 7], stood[3:7]) > FALL_TILT_DEG
    if stood[2] > 0.0:
        found |= height < FALL_HEIGHT * stood[2]
    return found


def tilt_deg(orientation: Floats, stood: Floats) -> Floats:
    """Return the angle between the direction that was up when it stood (4,) and the vertical [°], (T,)."""
    up = np.array([0.0, 0.0, 1.0])
    own_up = rotations.rotate(rotations.conjugate(stood), up)
    now = rotations.rotate(orientation, own_up)
    return np.asarray(np.degrees(np.arctan2(np.linalg.norm(now[:, :2], axis=1), now[:, 2])))


def assistance(take: Take, number: int, about: CastMember, model: mujoco.MjModel) -> dict[str, Any]:
    """Say how much force and torque a character got from outside its body, beyond contacts and pushes.

    Args:
        take: The performance.
        number: Which of the take's characters.
        about: The character, from the take's cast.
        model: The take's model.
    """
    # The first frame was not reached by a step, so nothing could act on the way to it.
    pull = np.linalg.norm(take.assistance[1:, number, :3], axis=1)
    twist = np.linalg.norm(take.assistance[1:, number, 3:], axis=1)
    gravity = float(np.linalg.norm(model.opt.gravity)) or _STANDARD_GRAVITY
    weight = about.mass * gravity
    root = about.root_qpos
    # As the root spring's own limit and meter have it; a fixed root has no hips that could sink.
    height = _centre_height(take, model, about.root_body) if root is None else hip_height(model, root)
    lever = weight * height
    return {
        "root": about.root,
        "force_mean": _mean(pull) / weight,
        "force_peak": float(pull.max(initial=0.0)) / weight,
        "torque_mean": _mean(twist) / lever,
        "torque_peak": float(twist.max(initial=0.0)) / lever,
        "impulse": float(pull @ np.diff(take.time)),
    }


def _centre_height(take: Take, model: mujoco.MjModel, root_body: int) -> float:
    """Return how high the centre of mass is at the start [m], at least a centimetre."""
    data = mujoco.MjData(model)
    data.qpos[:] = take.qpos[0]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return max(float(data.subtree_com[root_body, 2]), 0.01)


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0
