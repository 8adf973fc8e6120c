"""Composite inertia, readable: what P0's Algorithm 1 and equations 5–7 mean once their slips are mended.

Every body's inertia is gathered into its parent, from the finger tips inward, so that each body ends up with the mass,
centre and tensor of everything outboard of it. The paper moves tensors about link origins between link frames; here
everything is expressed in the world about the composite's own centre of mass, which is the same sum with fewer terms
to get wrong. The engine's inertia matrix agrees to rounding (`tests/papers/test_inertia.py`); the control kernel reads
the engine's, because it has just been computed anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RigidInertia:
    """Mass [kg], centre of mass [m] and inertia tensor about it [kg·m²], both in the world frame."""

    mass: float
    center: Floats
    tensor: Floats

    def about(self, point: Floats) -> Floats:
        """Return the tensor about another point (parallel-axis theorem), (3, 3)."""
        offset = self.center - point
        return self.tensor + self.mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))

    def joined(self, other: RigidInertia) -> RigidInertia:
        """Return the inertia of both bodies welded together (P0 eq. 5, in one common frame)."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return self
        center = (self.mass * self.center + other.mass * other.center) / mass
        return RigidInertia(mass, center, self.about_center(center) + other.about_center(center))

    def about_center(self, center: Floats) -> Floats:
        """Return the tensor moved to `center` (the same as `about`; massless bodies contribute nothing)."""
        return self.about(center) if self.mass > 0.0 else np.zeros((3, 3))


def link_inertia(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> RigidInertia:
    """Return one body's own inertia in the world. Needs kinematics up to date."""
    rotation = data.ximat[body].reshape(3, 3)
    tensor = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
    return RigidInertia(float(model.body_mass[body]), data.xipos[body].copy(), tensor)


def composite_inertias(model: mujoco.MjModel, data: mujoco.MjData) -> list[RigidInertia]:
    """Return, for every body, the inertia of it and everything outboard, in O(bodies)."""
    composite = [link_inertia(model, data, body) for body in range(model.nbody)]
    # Children have higher numbers than their parents, so one backward sweep visits each joint once.
    for body in range(model.nbody - 1, 0, -1):
        parent = int(model.body_parentid[body])
        composite[parent] = composite[parent].joined(composite[body])
    return composite


def moment_about_axis(inertia: RigidInertia, axis: Floats, anchor: Floats) -> float:
    """Return the moment of inertia about a joint axis (P0 eq. 7, without counting mass twice) [kg·m²]."""
    return float(axis @ inertia.about(anchor) @ axis)


def joint_moments(model: mujoco.MjModel, data: mujoco.MjData, *, composite: bool = True) -> Floats:
    """Return the moment of inertia each degree of freedom turns, armature included, (nv,).

    Args:
        model: The model.
        data: Its data, with kinematics up to date.
        composite: Everything outboard (the paper), or the joint's own link alone (`local`).
    """
    gathered = (
        composite_inertias(model, data)
        if composite
        else [link_inertia(model, data, body) for body in range(model.nbody)]
    )
    moments = model.dof_armature.copy()
    for dof in range(model.nv):
        joint = int(model.dof_jntid[dof])
        inertia = gathered[int(model.dof_bodyid[dof])]
        turning, axis = dof_axis(model, data, dof)
        moments[dof] += moment_about_axis(inertia, axis, data.xanchor[joint]) if turning else inertia.mass
    return moments


def dof_axis(model: mujoco.MjModel, data: mujoco.MjData, dof: int) -> tuple[bool, Floats]:
    """Return whether a degree of freedom turns (or slides), and its axis in the world, (3,)."""
    joint = int(model.dof_jntid[dof])
    kind = mujoco.mjtJoint(model.jnt_type[joint])
    index = dof - int(model.jnt_dofadr[joint])
    if kind == mujoco.mjtJoint.mjJNT_FREE and index < 3:
        return False, np.eye(3)[index]
    if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
        # Angular velocity of free and ball joints is measured in the body's own frame.
        return True, data.xmat[int(model.dof_bodyid[dof])].reshape(3, 3)[:, index % 3]
    return bool(kind == mujoco.mjtJoint.mjJNT_HINGE), data.xaxis[joint].copy()


def inertia_matrix(model: mujoco.MjModel, data: mujoco.MjData) -> Floats:
    """Return the joint-space inertia matrix M(q) from the composites, (nv, nv).

    Column i is the momentum of everything outboard of degree of freedom i when it moves at unit rate, felt at each
    degree of freedom j inboard of it.
    """
    composite = composite_inertias(model, data)
    matrix = np.diag(model.dof_armature.copy())
    for i in range(model.nv):
        inertia = composite[int(model.dof_bodyid[i])]
        turning, axis = dof_axis(model, data, i)
        lever = inertia.center - data.xanchor[int(model.dof_jntid[i])]
        linear = inertia.mass * (np.cross(axis, lever) if turning else axis)
        angular = inertia.tensor @ axis if turning else np.zeros(3)
        j = i
        while j >= 0:
            inboard_turning, inboard_axis = dof_axis(model, data, j)
            arm = inertia.center - data.xanchor[int(model.dof_jntid[j])]
            felt = inboard_axis @ (angular + np.cross(arm, linear)) if inboard_turning else inboard_axis @ linear
            matrix[i, j] += felt
            matrix[j, i] = matrix[i, j]
            j = int(model.dof_parentid[j])
    return matrix
