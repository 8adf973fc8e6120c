"""Balance on two feet: the ankles lean so that the centre of mass stays over the soles.

The paper's balance works on top of a root it holds. Here there is no force from outside: the asked angle of the ankles
is shifted by how far the centre of mass is from the middle of the feet and how fast it moves away. What the ground can
give through the soles is all there is; nobody takes a step.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.drive.balance.capture import centre_of_mass
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import Floats

BALANCE_HZ: Final = 120.0
ANKLE: Final = (1.2, 0.35)
"""How far the ankles lean per metre the centre of mass is off [rad/m], and per metre per second [rad·s/m]."""
MOST: Final = 0.3
"""Largest shift [rad]."""


class AnkleBalance:
    """Crew that leans the ankles."""

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
        com, speed = centre_of_mass(model, data, root)
        off = com - middle
        forward = self._forward()
        shift = -(ANKLE[0] * off @ forward + ANKLE[1] * speed @ forward)
        for side in ("l_", "r_"):
            ankle = performer.character.joints.get(f"{side}ankle_flexion")
            if ankle is not None:
                performer.program.rows["shift"][ankle.dof] = np.clip(shift, -MOST, MOST)

    def _forward(self) -> Floats:
        """Return where forward is, by the feet, level, (3,)."""
        data = self._performer.stage.data
        forward = np.sum([data.xmat[foot].reshape(3, 3)[:, 0] for foot in self._feet], axis=0)
        forward[2] = 0.0
        return np.asarray(forward / max(float(np.linalg.norm(forward)), 1e-9))

    def move(self, by: Renumbered) -> bool:
        """Go on, if who balances does."""
        self._feet = [by.number("body", foot) for foot in self._feet]
        return self._performer.character.name in self._performer.stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._due

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._due = state
