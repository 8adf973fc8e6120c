"""Ducking: out of the way of what flies at the head, and up again once it has passed."""

from __future__ import annotations

import numpy as np

from stunt import rotations
from stunt.direction.behaviours.base import Behaviour
from stunt.direction.behaviours.drive import Aim
from stunt.direction.behaviours.incoming import Incoming, flying, passing, soonest
from stunt.direction.behaviours.posture import SIDES, arm, head, leg, standing, together, trunk, turn
from stunt.direction.behaviours.sense import Felt
from stunt.direction.supervisor.contract import REFLEX, RUNNING, Bid, Status, failed, succeeded
from stunt.direction.supervisor.situation import Situation
from stunt.rotations import Floats

HEAD = 0.125
"""Radius of a head [m]."""
RISE = 0.7
"""How long coming up again takes [s]."""


class Duck(Behaviour):
    """Drop out of the path of a thing that would hit the head.

    Attributes:
        horizon: How far ahead it looks [s].
        margin: How much beside the head still counts as a hit [m].
        spring: Help for the root while crouching, share of m·g·h.
    """

    name = "duck"
    priority = REFLEX + 1
    interrupts = True
    wakes = "flying"
    longest = 4.0

    def __init__(
        self, name: str = "", *, horizon: float = 0.65, margin: float = 0.01, spring: float = 0.4
    ) -> None:
        """Say how far ahead it looks [s], how careful it is [m], and how much it is helped."""
        super().__init__(name)
        self.horizon, self.margin, self.spring = horizon, margin, spring
        self._until, self._facing = 0.0, 0.0

    def threat(self, now: Situation) -> Incoming | None:
        """Return what will hit the head where it is now, if anything."""
        return soonest(passing(now, self._head(now), self.horizon), HEAD + self.margin) if flying(now) else None

    def _head(self, now: Situation) -> Floats:
        """Return the middle of the head [m]."""
        felt = self.feel(now)
        assert self.sense is not None
        k = self.sense.anatomy.number("head")
        return np.asarray(felt.places[k] + rotations.rotate(felt.turns[k], np.array([0.015, 0.0, 0.075])))

    def bid(self, now: Situation) -> Bid | None:
        """Offer when something flies at the head, and the body is up."""
        threat = self.threat(now)
        if threat is None or self.feel(now).height < 0.8:
            return None
        return Bid(0.9, f"'{threat.name}' would hit the head in {threat.time:.2f} s", threat.time)

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note until when to stay down."""
        self._until = now.time + (float(bid.plan) if bid.plan is not None else 0.4) + 0.15
        self._facing = felt.facing

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Crouch, then come up."""
        threat = self.threat(now)
        if threat is not None:
            self._until = max(self._until, now.time + threat.time + 0.15)
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        if now.time < self._until:
            root = rotations.multiply(heading, turn(CROUCH_PITCH))
            return Aim(self.lifted(crouching(), root), 1.0, self.spring, 0.05)
        return Aim(self.lifted(standing(), heading), 1.0, self.spring, 0.2)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over once it stands again."""
        if felt.tilt > 1.2:
            return failed("lost its balance ducking")
        if now.time < self._until + RISE:
            return RUNNING
        return succeeded("it has passed") if felt.height > 0.85 else RUNNING


CROUCH_PITCH = 35.0


def crouching() -> dict[str, Floats]:
    """Return a deep crouch with the head between the arms."""
    legs = [leg(side, 118.0, 125.0, 42.0, 8.0) for side in SIDES]
    arms = [arm(side, 95.0, 5.0, 35.0, 115.0) for side in SIDES]
    return together(*legs, *arms, trunk(42.0), head(35.0))
