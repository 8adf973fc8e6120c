"""Curling up: head between the arms, knees to the chest, until what comes has passed."""

from __future__ import annotations

import numpy as np

from stunt.maths import rotations
from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, succeeded
from stunt.supervise.parameters import Metres, Seconds
from stunt.supervise.reflexes.base import Aim, Behaviour
from stunt.supervise.reflexes.posture import SIDES, arm, head, standing, together, trunk, tucked, turn
from stunt.supervise.reflexes.senses import Felt, Incoming, flying, passing, soonest
from stunt.supervise.situation import Situation


class Curl(Behaviour):
    """Protect the head from a thing that comes too soon to be ducked, or while lying.

    Attributes:
        horizon: How far ahead it looks [s].
        within: How near to the chest it must come to count [m], beyond its own radius.
        hold: How long it stays curled after it has passed [s].
    """

    name = "curl"
    priority = REFLEX
    interrupts = True
    wakes = "flying"
    longest = 5.0
    low = True

    def __init__(self, name: str = "", *, horizon: Seconds = 0.5, within: Metres = 0.4, hold: Seconds = 0.4) -> None:
        """Say how far ahead it looks [s], how near counts [m], and how long it holds [s]."""
        super().__init__(name)
        self.horizon, self.within, self.hold = horizon, within, hold
        self._until, self._facing, self._down = 0.0, 0.0, False

    def threat(self, now: Situation) -> Incoming | None:
        """Return what will come near the chest, if anything."""
        if not flying(now):
            return None
        felt = self.feel(now)
        chest = felt.places[self.anatomy.number("thorax")]
        return soonest(passing(now, chest, self.horizon), self.within)

    def bid(self, now: Situation) -> Bid | None:
        """Offer when something comes; an upright body ducks first where it can."""
        threat = self.threat(now)
        if threat is None or float(np.linalg.norm(threat.velocity)) < 3.0:
            return None
        down = self.feel(now).height < 0.6
        return Bid(0.5 if not down else 0.9, f"'{threat.name}' comes in {threat.time:.2f} s", threat.time)

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note until when to stay curled."""
        self._until = now.time + (float(bid.plan) if bid.plan is not None else 0.3) + self.hold
        self._facing, self._down = felt.facing, felt.height < 0.6

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Lying: a ball. Standing: turn in, arms round the head."""
        if self._down:
            return Aim(self.lifted(tucked(1.0), felt.turn), 0.6, 0.0, 0.06)
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        arms = [arm(side, 98.0, 4.0, 42.0, 132.0) for side in SIDES]
        guard = together(standing(), *arms, trunk(8.0), head(22.0))
        return Aim(self.lifted(guard, rotations.multiply(heading, turn(2.0))), 1.0, 0.4, 0.05)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over when nothing comes any more."""
        threat = self.threat(now)
        if threat is not None:
            self._until = max(self._until, now.time + threat.time + self.hold)
        return RUNNING if now.time < self._until else succeeded("it has passed")
