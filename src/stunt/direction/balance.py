"""Balance on two feet as in the paper: ankles and hips lean so that the centre of mass stays over the soles.

No force from outside: the asked angles of ankles and hips are shifted by how far the centre of mass is from the middle
of the feet and how fast it moves away. What the ground can give through the soles is all there is.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np

from stunt.control import antagonist_layout as at
from stunt.direction.tension_performer import TensionPerformer
from stunt.direction.tension_plan import Floats

BALANCE_HZ: Final = 120.0
ANKLE: Final = (1.2, 0.35)
"""How far the ankles lean per metre the centre of mass is off [rad/m], and per metre per second [rad·s/m]."""
HIP: Final = (0.6, 0.15)
MOST: Final = 0.3
"""Largest shift [rad]."""


class Balance:
    """Crew that shifts ankles and hips."""

    def __init__(self, performer: TensionPerformer) -> None:
        """Start balancing.

        Args:
            performer: Who; its legs must be under tension.
        """
        self._performer = performer
        stage = performer.stage
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / BALANCE_HZ))
        self._due = stage.tick
        self._feet = [id_ for name, id_ in performer.character.bodies.items() if name.endswith("foot")]
        stage.crew.append(self)

    def due(self) -> int:
        """Return the tick of the next look."""
        return self._due

    def act(self) -> None:
        """Lean against what is off."""
        performer = self._performer
        stage, root = performer.stage, performer.character.root_body
        model, data = stage.model, stage.data
        self._due = stage.tick + self._stride
        middle = np.mean([data.xipos[foot] for foot in self._feet], axis=0)
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacSubtreeCom(model, data, jacobian, root)
        off, speed = data.subtree_com[root] - middle, jacobian @ data.qvel
        forward, left = self._axes()
        for name, (gain, rate), axis, sign in (
            ("ankle_flexion", ANKLE, forward, -1.0), ("hip_flexion", HIP, forward, -0.0),
            ("ankle_inversion", ANKLE, left, 0.0), ("hip_abduction", HIP, left, 0.0),
        ):  # fmt: skip
            shift = float(np.clip(sign * (gain * off @ axis + rate * speed @ axis), -MOST, MOST))
            self._shift(name, shift)

    def _axes(self) -> tuple[Floats, Floats]:
        """Return where forward and left are, by the feet, level."""
        data = self._performer.stage.data
        forward = np.sum([data.xmat[foot].reshape(3, 3)[:, 0] for foot in self._feet], axis=0)
        forward[2] = 0.0
        forward /= max(float(np.linalg.norm(forward)), 1e-9)
        return forward, np.array([-forward[1], forward[0], 0.0])

    def _shift(self, joint: str, angle: float) -> None:
        for side in ("l_", "r_"):
            known = self._performer.character.joints.get(side + joint)
            if known is not None:
                self._performer.program.rows[known.dof, at.SHIFT] = angle

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._due

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._due = state
