"""Poses made by hand: sliders, a hand or foot dragged (inverse kinematics by `mink`), left and right exchanged.

A point of a body is brought to a place within the joints' limits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import mink
import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.script.performance import Performance

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
        mujoco.mj_jac(configuration.model, configuration.data, jacobian, None, self.place(configuration), self._body)
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


_REACHED = 0.01  # [m]
_BEND = 0.25  # [rad]
_STRAIGHT = re.compile("elbow_flexion|knee_flexion")
_MID = re.compile(r"(?:^|_)(bend|rotation|turn|tilt)$")  # sideways or about the vertical: changes sign in a mirror


class Posing:
    """Works out poses on a copy of a stage's state; the performance never notices."""

    def __init__(self, performance: Performance) -> None:
        """Start from the stage as it is at its beginning."""
        self.stage = performance.stage
        self.model = performance.stage.model
        self._base: Floats = np.array(performance.recorder.column("qpos")[0] if performance.recorder.count
                                      else performance.stage.data.qpos)  # fmt: skip
        self._data = mujoco.MjData(self.model)

    def qpos_of(self, character: str, angles: Mapping[str, float]) -> Floats:
        """Return the whole stage's positions with one character in a pose [degrees, metres for slides], (nq,)."""
        qpos, someone = self._base.copy(), self.stage.character(character)
        for name, angle in angles.items():
            joint = someone.joint(name)
            if joint.nq == 1:
                value = angle if joint.kind == "slide" else np.radians(angle)
                qpos[joint.qpos] = np.clip(value, *joint.range) if joint.range else value
        return qpos

    def poses(self, qpos: Floats) -> Floats:
        """Return positions and quaternions of all bodies, (nbody, 7)."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self._data)
        return np.hstack([self._data.xpos, self._data.xquat])

    def reach(self, character: str, angles: Mapping[str, float], body: str, point: Any, goal: Any) -> dict[str, float]:
        """Move a body's point to a place in the world, with the joints between it and the root, within their limits.

        Args:
            character: Whose.
            angles: The pose so far [°].
            body: The body that is dragged.
            point: The point on it, in its own frame [m], (3,).
            goal: Where the point should go, in the world [m], (3,).

        Returns:
            The pose's angles [°] after the move: those it had, and those the move changed.
        """
        someone = self.stage.character(character)
        number = someone.body(body)
        whole = self._chain(someone, number)
        limb = self._limb(someone, body) & whole
        rest = self.qpos_of(character, angles)
        # The limb alone first; the trunk helps only where the limb cannot reach.
        for free in (limb, whole) if limb else (whole,):
            start = self._bent(someone, rest, free)
            qpos, off = approach(
                self.model, start, rest, number, np.asarray(point, float), np.asarray(goal, float), free
            )
            if off < _REACHED:
                break
        return self._angles(someone, qpos, {**angles}, free)

    def _limb(self, someone: Character, body: str) -> set[int]:
        """Return the degrees of freedom on the same side as a body; none for a body of the trunk."""
        side = body[:2] if body[1:2] == "_" else None
        mine = [j for j in someone.joints.values() if side and j.name.startswith(side)]
        return {joint.dof + k for joint in mine for k in range(joint.nv)}

    def _bent(self, someone: Character, qpos: Floats, free: set[int]) -> Floats:
        """Bend straight elbows and knees a little: a straight limb does not know which way to give."""
        bent = qpos.copy()
        for joint in someone.joints.values():
            if joint.dof in free and _STRAIGHT.search(joint.name) and joint.range and joint.kind == "hinge":
                low, high = joint.range
                way = 1.0 if abs(high) > abs(low) else -1.0
                if way * bent[joint.qpos] < _BEND:
                    bent[joint.qpos] = way * _BEND
        return bent

    def _chain(self, someone: Character, body: int) -> set[int]:
        """Return the character's degrees of freedom that move a body, from it up to the trunk."""
        dofs = set()
        mine = {joint.dof + k for joint in someone.joints.values() for k in range(joint.nv)}
        while body > 0 and body != someone.root_body:
            first, count = int(self.model.body_dofadr[body]), int(self.model.body_dofnum[body])
            dofs |= set(range(first, first + count)) & mine
            body = int(self.model.body_parentid[body])
        return dofs

    def _angles(self, someone: Character, qpos: Floats, known: dict[str, float], moved: set[int]) -> dict[str, float]:
        for joint in someone.joints.values():
            if joint.dof in moved and joint.nq == 1:
                value = float(qpos[joint.qpos])
                known[joint.name] = round(value if joint.kind == "slide" else float(np.degrees(value)), 1)
        return known


def mirrored(angles: Mapping[str, float]) -> dict[str, float]:
    """Return a pose with left and right exchanged.

    Left and right joints of a built-in body turn alike at equal angles; those of the trunk and head that turn about
    the vertical, or bend sideways, change sign.
    """
    found = {}
    for name, angle in angles.items():
        if name.startswith("l_"):
            found["r_" + name[2:]] = angle
        elif name.startswith("r_"):
            found["l_" + name[2:]] = angle
        else:
            found[name] = -angle if _MID.search(name) else angle
    return found
