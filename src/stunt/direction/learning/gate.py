"""A controller that bids by what it learned about its chance of success."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from stunt.direction.learning.features import CAPTURE, HEIGHT, LEAN, body_digest, features
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


LOWEST: Final = 0.55
"""A centre of mass less than this above the feet belongs to a body that is down, and no try was made on one [m]."""
LAID: Final = 0.85
"""Neither was on one that leans farther than this: the sine of 58°."""
BETTER: Final = 0.2
"""So much better another's chance must be to step back for it."""


def is_up(seen: Floats) -> bool:
    """Whether a body with such features (17,) is still on its feet, as all were that anything was tried on."""
    return bool(seen[HEIGHT] > LOWEST) and math.hypot(*seen[LEAN : LEAN + 2]) < LAID


def off_balance(seen: Floats) -> bool:
    """Whether a body with such features (17,) is about to fall, or may be."""
    return math.hypot(*seen[CAPTURE : CAPTURE + 2]) > OFF_BALANCE or math.hypot(*seen[LEAN : LEAN + 2]) > LEANING


class LearnedBid(Wrapped):
    """A controller whose bids go by a learned pre-condition.

    Attributes:
        inner: The controller.
        machine: What was learned.
        least: Chance of success from which it bids in earnest.
        rivals: What others of the same pool learned: where one of them has a much better chance, it steps back.
    """

    shared = ("inner", "machine", "rivals")

    def __init__(
        self,
        inner: Controller,
        machine: Machine,
        stage: Stage,
        character: str,
        *,
        least: float = 0.5,
        rivals: Sequence[Machine] = (),
    ) -> None:
        """Put a learned pre-condition before a controller.

        Raises:
            WrongBodyError: It was learned on another body.
        """
        super().__init__(inner)
        machine.check_body(body_digest(stage.model, stage.character(character)))
        self.machine, self.least, self.rivals = machine, least, tuple(rivals)
        self.wakes = "forces"

    def bid(self, now: Situation) -> Bid | None:
        """Bid as the controller does, unless its chance is poor and a rival's is much better.

        Where its own rule gives up although help is needed, it offers to try all the same: better than nobody.
        """
        if now.active is not None:  # data is in charge: nobody needs help
            return None
        own, seen = self.inner.bid(now), features(now.stage, now.character)
        failed = now.last is not None and now.last.status.state == "failed"
        if own is None and not (is_up(seen) and (failed or off_balance(seen))):
            return None
        chance = float(self.machine.chance(seen))
        why = f"{100 * chance:.0f} % by what it learned"
        given = own if isinstance(own, Bid) else Bid(own if own is not None else chance)
        if own is None or (chance < self.least and self._has_better(seen, chance)):
            return Bid(chance, why, given.plan, IDLE + 1)
        return Bid(given.score, f"{given.why}; {why}" if given.why else why, given.plan, given.priority)

    def _has_better(self, seen: Floats, chance: float) -> bool:
        """Whether a rival has a much better chance."""
        return any(float(rival.chance(seen)) > max(self.least, chance + BETTER) for rival in self.rivals)
