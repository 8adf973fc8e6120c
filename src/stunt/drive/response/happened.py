"""What has happened to somebody since a moment: blows, falls, and what a program has said."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from stunt.maths import rotations
from stunt.stage.loop import StageLoop
from stunt.stage.shock import Shock

FALLEN: Final = math.radians(60.0)
"""A root that leans so far from how it stood has fallen,"""
LOW: Final = 0.5
"""and one that is lower than this share of its height."""
_UP = np.array([0.0, 0.0, 1.0])


class Happened:
    """Listens, on behalf of one character, and forgets whenever it is told to."""

    def __init__(self, stage: StageLoop, name: str) -> None:
        """Begin to listen."""
        self._stage, self._name = stage, name
        self._hit: set[str] = set()
        self._said: set[str] = set()
        root = stage.character(name).root
        self._stood = stage.data.qpos[root.qpos : root.qpos + 7].copy() if root is not None else None
        stage.shock_listeners.append(self._hear)
        stage.signal_listeners.append(self._said.add)

    def _hear(self, shock: Shock) -> None:
        if shock.character == self._name:
            self._hit.add(shock.body)

    def forget(self) -> None:
        """Forget what happened until now."""
        self._hit.clear()
        self._said.clear()

    def hit(self, body: str) -> bool:
        """Whether one of its bodies was hit or pushed; `any`: whether any was."""
        return bool(self._hit) if body == "any" else body in self._hit

    def said(self, signal: str) -> bool:
        """Whether a program has said this."""
        return signal in self._said

    @property
    def fell(self) -> bool:
        """Whether it lies now, or leans as nobody does who stands."""
        root = self._stage.character(self._name).root
        if root is None or self._stood is None:
            return False
        here = self._stage.data.qpos[root.qpos : root.qpos + 7]
        up = rotations.rotate(here[3:], rotations.rotate(rotations.conjugate(self._stood[3:]), _UP))
        return bool(up[2] < math.cos(FALLEN) or here[2] < LOW * self._stood[2])

    def save(self) -> Any:
        """Return what must survive a restore."""
        return set(self._hit), set(self._said), None if self._stood is None else self._stood.copy()

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        hit, said, self._stood = state
        self.forget()
        self._hit |= hit
        self._said |= said
