"""A controller that bids where its learned pre-condition says that it will succeed."""

from __future__ import annotations

from typing import Any

from stunt.direction.learning.features import body_digest, features
from stunt.direction.learning.machine import Machine
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import BaseController, Bid, Controller, Status
from stunt.direction.supervisor.situation import Situation
from stunt.stage.loop import Stage


class LearnedBid(BaseController):
    """A controller whose own pre-condition is replaced by a learned one.

    Attributes:
        inner: The controller.
        machine: What was learned.
        least: Chance of success from which it bids.
    """

    shared = ("inner", "machine")

    def __init__(
        self, inner: Controller, machine: Machine, stage: Stage, character: str, *, least: float = 0.5
    ) -> None:
        """Put a learned pre-condition before a controller.

        Raises:
            WrongBodyError: It was learned on another body.
        """
        super().__init__(inner.name)
        machine.check_body(body_digest(stage.model, stage.character(character)))
        self.inner, self.machine, self.least = inner, machine, least
        self.kinematic, self.priority, self.interrupts = inner.kinematic, inner.priority, inner.interrupts
        self.longest = inner.longest

    def bid(self, now: Situation) -> Bid | None:
        """Bid with the chance of success, where the controller itself would think of it at all."""
        if now.active is not None:  # data is in charge: nobody needs help
            return None
        chance = float(self.machine.chance(features(now.stage, now.character)))
        if chance < self.least:
            return None
        own = self.inner.bid(now)
        plan = own.plan if isinstance(own, Bid) else None
        return Bid(chance, f"{100 * chance:.0f} % by what it learned", plan)

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Let the controller begin."""
        self.inner.start(now, actor, bid)

    def step(self, now: Situation, actor: Actor) -> Status:
        """Let it go on."""
        return self.inner.step(now, actor)

    def stop(self, now: Situation, actor: Actor) -> None:
        """Let it stop."""
        self.inner.stop(now, actor)

    def save(self) -> Any:
        """Return what the controller must keep."""
        return self.inner.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.inner.restore(state)
