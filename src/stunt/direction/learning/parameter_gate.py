"""A controller that bids by what it learned about its states and its parameters, and chooses those left open."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

from stunt.direction.learning.features import body_digest, features
from stunt.direction.learning.machine import Machine
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import IDLE, BaseController, Bid, Controller, Status
from stunt.direction.supervisor.practice import Practice
from stunt.direction.supervisor.situation import Situation
from stunt.rotations import Floats
from stunt.stage.loop import Stage

CHOICES: Final = 9
"""So many values are looked at for each parameter that is left open."""


class ParameterBid(BaseController):
    """A controller whose bids go by a pre-condition over states and parameters.

    It bids as the controller does where its chance is good; with a poor one a try is only better than nobody. A
    parameter that is None is chosen: the value with the best chance from here.

    Attributes:
        inner: The controller.
        machine: What was learned.
        least: Chance of success from which it bids in earnest.
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
        self.sampled = tuple((str(n), float(low), float(high)) for n, low, high in machine.about.get("sampled", ()))
        self.kinematic, self.priority, self.interrupts = inner.kinematic, inner.priority, inner.interrupts
        self.longest, self.low = inner.longest, bool(getattr(inner, "low", False))
        self._open = [name for name, _, _ in self.sampled if getattr(inner, name) is None]

    def bid(self, now: Situation) -> Bid | None:
        """Bid where the controller does, by its chance."""
        own = self.inner.bid(now)
        if own is None:
            return None
        given = own if isinstance(own, Bid) else Bid(float(own))
        chance, chosen = self.best(features(now.stage, now.character))
        why = f"{given.why}; " * bool(given.why) + f"{100 * chance:.0f} % by what it learned"
        plan = given.plan, chosen
        if chance < self.least:
            return Bid(chance, why, plan, IDLE + 1)
        return Bid(given.score, why, plan, given.priority)

    def best(self, seen: Floats) -> tuple[float, dict[str, float]]:
        """Return the best chance from a state (17,), and the parameters left open that it needs."""
        axes = [
            np.linspace(low, high, CHOICES) if name in self._open else np.array([float(getattr(self.inner, name))])
            for name, low, high in self.sampled
        ]
        choices = list(itertools.product(*(axis.tolist() for axis in axes)))
        practice = Practice(sampled=self.sampled)
        chances = self.machine.chance(np.array([[*seen, *practice.features(told)] for told in choices]))
        k = int(np.argmax(chances))
        told = dict(zip((name for name, _, _ in self.sampled), choices[k], strict=True))
        return float(chances[k]), {name: told[name] for name in self._open}

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Let the controller begin, with the parameters chosen."""
        plan, chosen = bid.plan if bid.plan is not None else (None, {})
        for name, value in chosen.items():
            setattr(self.inner, name, value)
        self.inner.start(now, actor, Bid(bid.score, bid.why, plan, bid.priority))

    def step(self, now: Situation, actor: Actor) -> Status:
        """Let it go on."""
        return self.inner.step(now, actor)

    def stop(self, now: Situation, actor: Actor) -> None:
        """Let it stop; what was chosen is open again."""
        self.inner.stop(now, actor)
        for name in self._open:
            setattr(self.inner, name, None)

    def save(self) -> Any:
        """Return what the controller must keep."""
        return self.inner.save()

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.inner.restore(state)
