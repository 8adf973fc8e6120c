"""Lying: limp but not without tone, until the body has come to rest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, RUNNING, Bid, Status, succeeded
from stunt.supervise.parameters import MetresPerSecond, Seconds, Share
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.base import Aim, Behaviour, under_data
from stunt.supervise.reflexes.posture import SIDES, arm, head, leg, together, trunk
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

LOW = 0.5
"""A root below this share of its standing height is down."""


class Lie(Behaviour):
    """Rest on the ground.

    Attributes:
        still: Speed below which it is at rest [m/s].
        rest: How long it rests before it is done [s].
        tone: How stiff it is while it lies.
    """

    name = "lie"
    priority = IDLE + 1
    longest = 30.0
    low = True
    practice: ClassVar[Practice] = Practice(("falling", "lying"), "says")

    def __init__(
        self, name: str = "", *, still: MetresPerSecond = 0.25, rest: Seconds = 0.4, tone: Share = 0.05
    ) -> None:
        """Say how long to rest [s], and what counts as rest [m/s]."""
        super().__init__(name)
        self.still, self.rest, self.tone = still, rest, tone
        self._since = -1.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body is down."""
        if under_data(now):
            return None
        felt = self.feel(now)
        return Bid(0.5, "is down") if felt.height < LOW else None

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Begin to rest."""
        self._since = -1.0

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Let the limbs lie, a little bent."""
        return Aim(self.lifted(at_rest(), felt.turn), self.tone, 0.0, 0.4)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It has rested once it was still for a while."""
        if float(np.linalg.norm(felt.velocity)) > self.still:
            self._since = -1.0
        elif self._since < 0.0:
            self._since = now.time
        elif now.time - self._since >= self.rest:
            return succeeded("lies still")
        return RUNNING


def at_rest() -> dict[str, Floats]:
    """Return how limbs lie."""
    limbs = [piece for side in SIDES for piece in (arm(side, 15.0, 25.0, 0.0, 30.0), leg(side, 12.0, 20.0, 0.0, 6.0))]
    return together(*limbs, trunk(5.0), head(5.0))
