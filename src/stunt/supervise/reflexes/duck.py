"""Ducking: out of the way of what flies at the head, and up again once it has passed."""

from __future__ import annotations

import numpy as np

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Help, Metres, Seconds
from stunt.supervise.reflexes.base import Aim, Behaviour
from stunt.supervise.reflexes.posture import (
    SIDES,
    Posture,
    arm,
    between,
    head,
    leg,
    middle,
    spots_for,
    standing,
    standing_on,
    together,
    trunk,
    turn,
)
from stunt.supervise.reflexes.senses import Felt, Incoming, flying, passing, soonest
from stunt.supervise.situation import Situation

HEAD = 0.125
"""Radius of a head [m]."""
RISE = 0.9
"""How long coming up again takes [s]."""
DEEP, UP = 0.38, 0.975
"""Height of the root crouching all the way and standing, over that of standing straight."""
CLEAR, LEAST = 0.06, 0.25
"""How far the top of the head goes below what flies at it [m], and the least share of a deep crouch it takes."""
BOWED = 64.0
"""How far the line from hips to head is bent forward in a deep crouch [°]."""
SINK, LOOK = 0.03, 0.05
"""How much lower than it is the root is aimed at, over its height, and how far ahead of its fall [s]."""


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
    low = True

    def __init__(self, name: str = "", *, horizon: Seconds = 0.65, margin: Metres = 0.01, spring: Help = 0.4) -> None:
        """Say how far ahead it looks [s], how careful it is [m], and how much it is helped."""
        super().__init__(name)
        self.horizon, self.margin, self.spring = horizon, margin, spring
        self._until, self._facing, self._rises_from, self._share = 0.0, 0.0, DEEP, LEAST

    def threat(self, now: Situation) -> Incoming | None:
        """Return what will hit the head where it is now, if anything."""
        return soonest(passing(now, self._head(now), self.horizon), HEAD + self.margin) if flying(now) else None

    def _head(self, now: Situation) -> Floats:
        """Return the middle of the head [m]."""
        felt = self.feel(now)
        k = self.anatomy.number("head")
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
        self._facing, self._share = felt.facing, LEAST
        self._deepen(now, self.threat(now))

    def _deepen(self, now: Situation, threat: Incoming | None) -> None:
        """Go as deep as it takes for the head to be under what flies at it, and no deeper."""
        if threat is None:
            return
        felt, high = self.feel(now), self.anatomy.height
        top = self._head(now)[2] + HEAD
        long = float(np.linalg.norm(self._head(now) - felt.root))
        shares = np.linspace(0.0, 1.0, 21)
        standing_top = high + long + HEAD
        tops = standing_top - high * (1.0 - DEEP) * shares - long * (1.0 - np.cos(np.radians(BOWED) * shares))
        wanted = min(float(threat.at[2]) - threat.radius - CLEAR, top)
        self._share = max(self._share, float(np.interp(-wanted, -tops, shares)))

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Crouch, then come up."""
        threat = self.threat(now)
        if threat is not None:
            self._until = max(self._until, now.time + threat.time + 0.15)
            self._deepen(now, threat)
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        if now.time < self._until:
            self._rises_from = felt.root[2] / self.anatomy.height
            root = rotations.multiply(heading, turn(self._share * CROUCH_PITCH))
            deep = 1.0 - self._share * (1.0 - DEEP)
            # No faster than it falls: legs drawn up sooner would leave the ground.
            fallen = felt.root[2] / self.anatomy.height - SINK + LOOK * min(float(felt.velocity[2]), 0.0)
            low = between(standing(), crouching(), self._share)
            return Aim(self._on_feet(felt, low, root, max(deep, fallen)), 1.0, self.spring, 0.04)
        share = min((now.time - self._until) / RISE, 1.0)
        ease = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)  # minimum jerk: no push that would lift the feet
        high = self._rises_from + ease * (UP - self._rises_from)
        root = rotations.multiply(heading, turn((1.0 - ease) * self._share * CROUCH_PITCH))
        rises = between(standing(), crouching(), (1.0 - ease) * self._share)
        return Aim(self._on_feet(felt, rises, root, high), 1.0, self.spring, 0.06)

    def _on_feet(self, felt: Felt, posture: Posture, root: Floats, high: float) -> Floats:
        """Return a posture whose legs end where the feet stand, its root at a share of its standing height, (B, 4)."""
        anatomy = self.anatomy
        under = middle(anatomy, felt)
        back = felt.com[:2] - felt.root[:2]
        place = np.append(under - 0.6 * (felt.capture - under) - back, high * anatomy.height)
        return standing_on(anatomy, self.lifted(posture, root), spots_for(anatomy, felt), root, place, self._facing)

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
