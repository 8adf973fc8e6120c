"""A point of a body brought to a place by inverse kinematics (`mink`), within the joints' limits.

Import only where `mink` is installed.
"""

from __future__ import annotations

import mink
import mujoco
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 40
_STRIDE = 0.08  # how far the point goes at once [m]
_CLOSE = 1e-3  # [m]
_STAY = 3e-3  # cost of leaving the pose so far


class PointTask(mink.Task):  # type: ignore[misc]
    """Bring a point that is fixed to a body to a place in the world."""

    def __init__(self, body: int, point: Floats) -> None:
        super().__init__(cost=np.ones(3), gain=1.0, lm_damping=0.0)
        self._body, self._point = body, point
        self.target = np.zeros(3)

    def place(self, configuration: mink.Configuration) -> Floats:
        """Return where the point is now [m], (3,)."""
        data = configuration.data
        rotation = data.xmat[self._body].reshape(3, 3)
        return np.asarray(data.xpos[self._body] + rotation @ self._point)

    def compute_error(self, configuration: mink.Configuration) -> Floats:
        """Return the way the point has to go, with the sign mink's tasks have, (3,)."""
        return self.place(configuration) - self.target

    def compute_jacobian(self, configuration: mink.Configuration) -> Floats:
        """Return how the point moves with the joints, (3, nv)."""
        jacobian = np.zeros((3, configuration.model.nv))
        mujoco.mj_jac(
            configuration.model, configuration.data, jacobian, None, self.place(configuration), self._body
        )
        return jacobian


def approach(
    model: mujoco.MjModel, start: Floats, rest: Floats, body: int, point: Floats, goal: Floats, free: set[int]
) -> tuple[Floats, float]:
    """Move the point towards the goal in small steps.

    Args:
        model: The stage's model.
        start: Where to start from, (nq,).
        rest: The pose to leave as little as possible, (nq,).
        body: The body the point is fixed to.
        point: The point in the body's frame [m], (3,).
        goal: Where it should go, in the world [m], (3,).
        free: The degrees of freedom that may move.

    Returns:
        The positions, (nq,), and how far off the point is [m].
    """
    configuration = mink.Configuration(model, start.copy())
    task, posture = PointTask(body, point), mink.PostureTask(model, cost=_STAY)
    posture.set_target(rest)
    frozen = mink.DofFreezingTask(model, [d for d in range(model.nv) if d not in free])
    limits = [mink.ConfigurationLimit(model)]
    for _ in range(_STEPS):
        here = task.place(configuration)
        off = float(np.linalg.norm(goal - here))
        if off < _CLOSE:
            break
        task.target = here + (goal - here) * min(1.0, _STRIDE / off)
        velocity = mink.solve_ik(
            configuration, [task, posture], 0.1, "daqp", damping=1e-4, limits=limits, constraints=[frozen]
        )  # fmt: skip
        configuration.integrate_inplace(velocity, 0.1)
    return configuration.q.copy(), float(np.linalg.norm(goal - task.place(configuration)))
