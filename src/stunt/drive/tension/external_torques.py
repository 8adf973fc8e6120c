"""What a character feels in a state before it is there: gravity, what it believes it carries, and how both change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_TURNING = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_BALL))


@dataclass(frozen=True)
class Load:
    """Something carried, at the weight it is believed to have.

    Attributes:
        holder: Body that holds it.
        point: Where it hangs, in the holder's frame [m].
        mass: Believed mass [kg].
    """

    holder: int
    point: tuple[float, float, float]
    mass: float


class ExternalTorques:
    """Predicts the external torques of states, on data of its own."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Keep a copy to try states on.

        Args:
            model: The scene.
        """
        self._model = model
        self._data = mujoco.MjData(model)
        self._loads: list[Load] = []

    def torques(self, qpos: Floats, held: Iterable[Load] = ()) -> Floats:
        """Return the torque each degree of freedom feels at rest in a state [N·m], (nv,).

        Args:
            qpos: The state, (nq,).
            held: What is carried in it.
        """
        model, data = self._model, self._data
        self._loads = list(held)
        data.qpos[:] = qpos
        data.qvel[:] = 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        bias = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, bias)
        force = -bias
        for load in self._loads:
            jacobian = np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, jacobian, None, self._place(load), load.holder)
            force += np.asarray(jacobian.T @ (load.mass * model.opt.gravity))
        return force

    def local(self, qpos: Floats, holder: int, place: Floats) -> tuple[float, float, float]:
        """Return a place of the world in a body's frame, in a state [m]."""
        self.torques(qpos)
        x, y, z = self._data.xmat[holder].reshape(3, 3).T @ (place - self._data.xpos[holder])
        return float(x), float(y), float(z)

    def gradient(self, dofs: Sequence[int] | NDArray[np.int32]) -> Floats:
        """Return how the torques of the last state change with the angles, ∂F_i/∂θ_j [N·m/rad], (n, n).

        Turning an inboard joint turns everything outboard as one: the derivative of a_i·(r_i × mg) about a_j. A ball
        joint's angles are those of its rotation vector; its axes turn together, so both orders count half.
        """
        model, count = self._model, len(dofs)
        matrix = np.zeros((count, count))
        index = {int(dof): k for k, dof in enumerate(dofs)}
        for dof, k in index.items():
            if not self._turns(dof):
                continue
            moment = self._first_moment(dof)
            inboard = dof
            while inboard >= 0:
                if inboard in index and self._turns(inboard):
                    matrix[k, index[inboard]] = matrix[index[inboard], k] = self._change(dof, inboard, moment)
                inboard = int(model.dof_parentid[inboard])
        return matrix

    def _change(self, outer: int, inner: int, moment: Floats) -> float:
        a, b = self._axis(outer), self._axis(inner)
        turned = np.cross(b, np.cross(a, moment))
        if self._model.dof_jntid[outer] == self._model.dof_jntid[inner]:
            turned = 0.5 * (turned + np.cross(a, np.cross(b, moment)))
        return float(turned @ self._model.opt.gravity)

    def _turns(self, dof: int) -> bool:
        return int(self._model.jnt_type[self._model.dof_jntid[dof]]) in _TURNING

    def _axis(self, dof: int) -> Floats:
        """Return a degree of freedom's axis in the world; a ball joint's are its body's."""
        model, data = self._model, self._data
        joint = int(model.dof_jntid[dof])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            return data.xmat[model.dof_bodyid[dof]].reshape(3, 3)[:, dof - int(model.jnt_dofadr[joint])]
        return data.xaxis[joint]

    def _first_moment(self, dof: int) -> Floats:
        """Return mass × lever of all that hangs on a joint, loads included [kg·m], (3,)."""
        model, data = self._model, self._data
        body, anchor = int(model.dof_bodyid[dof]), data.xanchor[model.dof_jntid[dof]]
        moment = model.body_subtreemass[body] * (data.subtree_com[body] - anchor)
        for load in self._loads:
            if self._carries(body, load.holder):
                moment = moment + load.mass * (self._place(load) - anchor)
        return np.asarray(moment)

    def _carries(self, body: int, outboard: int) -> bool:
        while outboard > body:
            outboard = int(self._model.body_parentid[outboard])
        return outboard == body

    def _place(self, load: Load) -> Floats:
        data = self._data
        return np.asarray(data.xpos[load.holder] + data.xmat[load.holder].reshape(3, 3) @ np.array(load.point))
