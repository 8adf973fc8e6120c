"""A controller that bids by what it learned about its chance of success."""

from __future__ import annotations

import math
from typing import Final

from stunt.direction.learning.features import CAPTURE, LEAN, body_digest, features
from stunt.direction.learning.machine import Machine
from stunt.direction.supervisor.contract import IDLE, Bid, Controller
from stunt.direction.supervisor.situation import Situation
from stunt.direction.supervisor.wrappers import Wrapped
from stunt.rotations import Floats
from stunt.stage.loop import Stage

OFF_BALANCE: Final = 0.15
"""How far the capture point may be from the middle of the feet before help is needed [m]."""
LEANING: Final = 0.3
"""And the sine of how far the root may lean."""


def needs_help(seen: Floats) -> bool:
    """Whether a body with such features (17,) is about to fall, or may be."""
    capture, lean = seen[CAPTURE : CAPTURE + 2], seen[LEAN : LEAN + 2]
    return math.hypot(*capture) > OFF_BALANCE or math.hypot(*lean) > LEANING


class LearnedBid(Wrapped):
    """A controller whose bids go by a learned pre-condition.

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
        super().__init__(inner)
        machine.check_body(body_digest(stage.model, stage.character(character)))
        self.machine, self.least = machine, least
        self.wakes = "forces"

    def bid(self, now: Situation) -> Bid | None:
        """Bid as the controller does where it has a good chance; with a poor one a try is only better than nobody.

        Where its own rule gives up although help is needed, it offers to try all the same.
        """
        if now.active is not None:  # data is in charge: nobody needs help
            return None
        own, seen = self.inner.bid(now), features(now.stage, now.character)
        if own is None and not needs_help(seen):
            return None
        chance = float(self.machine.chance(seen))
        why = f"{100 * chance:.0f} % by what it learned"
        given = own if isinstance(own, Bid) else Bid(own if own is not None else chance)
        if own is None or chance < self.least:
            return Bid(chance, why, given.plan, IDLE + 1)
        return Bid(given.score, f"{given.why}; {why}" if given.why else why, given.plan, given.priority)
