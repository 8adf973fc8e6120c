"""Poses made by hand: sliders, a hand or foot dragged (inverse kinematics by `mink`), left and right exchanged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.direction.performance import Performance
from stunt.errors import StuntError

Floats = NDArray[np.float64]
_STEPS = 30
_CLOSE = 1e-3  # [m]
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
        try:
            import mink
        except ImportError as error:
            raise StuntError("dragging limbs needs 'mink': pip install 'stunt[studio]'.") from error
        someone = self.stage.character(character)
        free = self._chain(someone, someone.body(body))
        start = self.qpos_of(character, angles)
        configuration = mink.Configuration(self.model, start.copy())
        task = mink.FrameTask(self.model.body(someone.body(body)).name, "body", position_cost=1.0, orientation_cost=0.0)
        rest = mink.PostureTask(self.model, cost=2e-3)
        rest.set_target(start)
        frozen = mink.DofFreezingTask(self.model, [d for d in range(self.model.nv) if d not in free])
        limits = [mink.ConfigurationLimit(self.model)]
        goal, point = np.asarray(goal, float), np.asarray(point, float)
        for _ in range(_STEPS):
            pose = configuration.get_transform_frame_to_world(task.frame_name, "body")
            offset = goal - (pose.rotation().as_matrix() @ point + pose.translation())
            if np.linalg.norm(offset) < _CLOSE:
                break
            target = mink.SE3.from_rotation_and_translation(pose.rotation(), pose.translation() + offset)
            task.set_target(target)
            velocity = mink.solve_ik(
                configuration, [task, rest], 0.1, "daqp", damping=1e-3, limits=limits, constraints=[frozen]
            )  # fmt: skip
            configuration.integrate_inplace(velocity, 0.1)
        return self._angles(someone, configuration.q, {**angles}, free)

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
