"""What all behaviours share: senses, muscles, and the contract with the supervisor.

A behaviour says what it wants now (`want`: state → targets, tension, help for the root) and how it gets on (`judge`).
Everything it drives is internal torque within the joints' strength, except what it asks of the root spring, which is
metered as assistance.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from stunt.direction.behaviours.drive import Aim, Drive
from stunt.direction.behaviours.posture import Posture
from stunt.direction.behaviours.sense import Felt, Glimpse, Sense
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import RUNNING, BaseController, Bid, Status, failed
from stunt.direction.supervisor.situation import Situation
from stunt.rotations import Floats

PATIENCE = 0.9
"""Share of the time a behaviour may take after which it gives up by itself, before the supervisor takes it out."""


class Behaviour(BaseController):
    """A dynamic controller that moves by postures."""

    kinematic = False
    shared: ClassVar[tuple[str, ...]] = ("sense", "drive")

    def __init__(self, name: str = "") -> None:
        """Name it."""
        super().__init__(name)
        self.sense: Sense | None = None
        self.drive: Drive | None = None

    def feel(self, now: Situation) -> Felt:
        """Return the character's own state."""
        if self.sense is None:
            self.sense = Glimpse.of(now.stage).sense(now.character.name)
        return self.sense.feel()

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Take the body as it is."""
        felt = self.feel(now)
        assert self.sense is not None
        self.drive = Drive(actor, self.sense)
        self.drive.begin()
        self.prepare(now, felt, bid)
        self.drive.aim(self.want(now, felt))

    def step(self, now: Situation, actor: Actor) -> Status:
        """Aim anew, and say how it goes."""
        felt = self.feel(now)
        status = self.judge(now, felt)
        if status.running and now.elapsed > PATIENCE * self.longest:
            return failed("took too long")
        if status.running and self.drive is not None:
            self.drive.aim(self.want(now, felt))
        return status

    def stop(self, now: Situation, actor: Actor) -> None:
        """Give the body back."""
        if self.drive is not None:
            self.drive.end()

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note what the start was like."""

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Return what the body should do now."""
        raise NotImplementedError

    def judge(self, now: Situation, felt: Felt) -> Status:
        """Return how it goes."""
        return RUNNING

    def lifted(self, posture: Posture, root: Floats) -> Floats:
        """Return a posture as bodies turned from neutral, its root turned so in the world, (B, 4)."""
        assert self.sense is not None
        result = self.sense.anatomy.lifted(posture)
        result[0] = root
        return result

    def save(self) -> Any:
        """Return what must survive a restore, the muscles' targets with it."""
        return super().save(), None if self.drive is None else self.drive.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        own, targets = state
        super().restore(own)
        if targets is None:
            self.drive = None  # it had not begun yet
        elif self.drive is not None:
            self.drive.restore(targets)


def under_data(now: Situation) -> bool:
    """Whether data is in charge: then nothing falls, whatever it looks like."""
    return now.active is not None


def flat(direction: Floats, least: float = 1e-6) -> Floats:
    """Return the unit direction over the ground of a vector, (2,); forward where it has none."""
    size = float(np.linalg.norm(direction[:2]))
    return np.array([1.0, 0.0]) if size < least else np.asarray(direction[:2]) / size
