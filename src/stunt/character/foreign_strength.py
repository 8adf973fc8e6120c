"""How strong a foreign body's joints are: from its actuators, where it has none from what they have to move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A joint without an actuator holds what hangs on it, stretched out level, twice over, and turns it this fast on top.
HOLD = 2.0
ANGULAR_ACCELERATION = 60.0  # [rad/s²]
LINEAR_ACCELERATION = 20.0  # [m/s²]


@dataclass(frozen=True)
class Strength:
    """Peak torque [N·m] or force [N] of a joint, and whether the file states it or it was derived."""

    peak: float
    stated: bool


def joint_strengths(model: mujoco.MjModel) -> dict[str, Strength]:
    """Peak torque of every joint but free ones, by name."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    stated = _from_actuators(model, data)
    derived = _from_inertia(model, data)
    found = {}
    for id_ in range(model.njnt):
        if model.jnt_type[id_] == mujoco.mjtJoint.mjJNT_FREE:
            continue
        first = int(model.jnt_dofadr[id_])
        dofs = slice(first, first + (3 if model.jnt_type[id_] == mujoco.mjtJoint.mjJNT_BALL else 1))
        peak = float(stated[dofs].max())
        if model.jnt_actfrclimited[id_]:
            limit = float(np.abs(model.jnt_actfrcrange[id_]).max())
            peak = min(peak, limit) if 0 < peak < math.inf else limit
        # An actuator that hardly turns the joint (a tendon passing by) says nothing about its strength.
        usable = 1e-3 * float(derived[dofs].max()) < peak < math.inf
        found[model.joint(id_).name] = Strength(peak if usable else float(derived[dofs].max()), usable)
    return found


def _from_actuators(model: mujoco.MjModel, data: mujoco.MjData) -> Floats:
    """What all actuators together can do about each degree of freedom in the model's own pose, (nv,).

    Every kind of transmission is covered: the moment matrix says how an actuator's force becomes joint torque.
    """
    moments = np.zeros((model.nu, model.nv))
    if model.nu:
        mujoco.mju_sparse2dense(
            moments, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
        )
    up, down = np.zeros(model.nv), np.zeros(model.nv)
    for id_ in range(model.nu):
        row = moments[id_]
        lowest, highest = actuator_force_range(model, id_)
        touched = row != 0.0
        ends = np.array([row[touched] * lowest, row[touched] * highest])
        up[touched] += ends.max(axis=0)
        down[touched] += ends.min(axis=0)
    return np.maximum(up, -down)


def actuator_force_range(model: mujoco.MjModel, id_: int) -> tuple[float, float]:
    """Smallest and largest force of an actuator, before its transmission.

    In this order: its force range; a muscle's peak force (it only pulls); a servo's gain times half its control range
    (times one radian without a range); a motor's gain times its control range (infinite without one).
    """
    if model.actuator_forcelimited[id_]:
        return float(model.actuator_forcerange[id_][0]), float(model.actuator_forcerange[id_][1])
    gain = model.actuator_gainprm[id_]
    if model.actuator_gaintype[id_] == mujoco.mjtGain.mjGAIN_MUSCLE:
        # A negative peak force means: scale divided by the acceleration one newton makes.
        peak = float(gain[2]) if gain[2] >= 0 else float(gain[3]) / max(float(model.actuator_acc0[id_]), 1e-9)
        return -peak, 0.0
    limited, control = bool(model.actuator_ctrllimited[id_]), model.actuator_ctrlrange[id_]
    if model.actuator_biastype[id_] == mujoco.mjtBias.mjBIAS_AFFINE and model.actuator_biasprm[id_][1] != 0.0:
        reach = abs(float(gain[0])) * (float(control[1] - control[0]) / 2 if limited else 1.0)
        return -reach, reach
    if not limited:
        return -math.inf, math.inf
    ends = sorted((float(gain[0] * control[0]), float(gain[0] * control[1])))
    return ends[0], ends[1]


def _from_inertia(model: mujoco.MjModel, data: mujoco.MjData) -> Floats:
    """Strength that suits the mass each degree of freedom moves, (nv,)."""
    inertia = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, inertia)
    found = np.zeros(model.nv)
    for dof in range(model.nv):
        joint, body = int(model.dof_jntid[dof]), int(model.dof_bodyid[dof])
        mass = float(model.body_subtreemass[body])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
            found[dof] = HOLD * mass * 9.81 + LINEAR_ACCELERATION * inertia[dof, dof]
        else:
            arm = float(np.linalg.norm(data.subtree_com[body] - data.xanchor[joint]))
            found[dof] = HOLD * mass * 9.81 * arm + ANGULAR_ACCELERATION * inertia[dof, dof]
    return found
