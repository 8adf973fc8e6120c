"""The tactile sense of the soles: how a standing character knows what the ground does to it.

Pressure is sampled some sixty times a second and followed with a short delay, as nerves do; without it, what a foot
feels would be what its own ankle did a step ago, and the two would talk each other up. How much the ground carries in
all is known: the weight.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.drive.balance.capture import pressure_on
from stunt.drive.tension.performer import TensionPerformer
from stunt.drive.tension.spec import Floats

SENSE_HZ: Final = 60.0
DELAY: Final = 0.12
"""Time constant with which felt pressure follows [s]."""


class GroundSense:
    """Crew that tells a character's antagonists what carries it."""

    def __init__(self, performer: TensionPerformer) -> None:
        """Start feeling.

        Args:
            performer: Whose soles.
        """
        self._performer = performer
        stage = performer.stage
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / SENSE_HZ))
        self._due = stage.tick
        self._felt: dict[int, Floats] = {}  # body → share of the weight, then point in the body's frame
        stage.crew.append(self)

    def due(self) -> int:
        """Return the tick of the next sample."""
        return self._due

    def act(self) -> None:
        """Feel the ground and pass it on."""
        stage = self._performer.stage
        self._due = stage.tick + self._stride
        pressure = pressure_on(stage.model, stage.data, self._performer.character)
        total = sum(force for force, _ in pressure.values())
        follow = 1.0 - np.exp(-self._stride * stage.step_time / DELAY)
        if not self._felt:
            follow = 1.0  # the first touch is not known to be any other
        for body in {*self._felt, *pressure}:
            force, point = pressure.get(body, (0.0, None))
            share = force / total if total > 1.0 else 0.0
            here = self._local(body, point) if point is not None else None
            old = self._felt.get(body)
            if old is None:
                old = np.array([0.0, *(here if here is not None else np.zeros(3))])
            new = old + follow * (np.array([share, *(here if here is not None else old[1:])]) - old)
            self._felt[body] = new
        self._felt = {body: felt for body, felt in self._felt.items() if felt[0] > 1e-3}
        self._tell()

    def _local(self, body: int, point: Any) -> Floats:
        data = self._performer.stage.data
        return np.asarray(data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body]))

    def _tell(self) -> None:
        performer = self._performer
        model, data = performer.stage.model, performer.stage.data
        mass = performer.character.mass + sum(performer._believed[grip][1] for grip in performer._held())
        soles = []
        for body, felt in self._felt.items():
            point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ felt[1:]
            soles.append((body, -felt[0] * mass * model.opt.gravity, point))
        performer.program.set_soles(soles)

    def move(self, by: Renumbered) -> bool:
        """Go on, if whose soles they are does."""
        moved = ((by.number("body", body), felt) for body, felt in self._felt.items())
        self._felt = {body: felt for body, felt in moved if body >= 0}
        return self._performer.character.name in self._performer.stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return {body: felt.copy() for body, felt in self._felt.items()}, self._due

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        felt, self._due = state
        self._felt = {body: array.copy() for body, array in felt.items()}
