"""Falling with the hands out toward the ground: the arms break the fall, the head is kept away from it."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stunt.drive.balance.soles import past_lowest
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, REFLEX, RUNNING, Bid, Status, succeeded
from stunt.supervise.parameters import Degrees, Metres
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.base import Aim, Behaviour, flat, under_data
from stunt.supervise.reflexes.lie import at_rest
from stunt.supervise.reflexes.posture import SIDES, head, leg, limb, sign_of, together, trunk, with_limb
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

TRUNK = frozenset(("pelvis", "lumbar", "spine2", "thorax", "head"))
FEET = frozenset(("l_foot", "r_foot", "l_toe", "r_toe"))
UP = 0.6
"""A root below this share of its standing height has fallen already, or is getting up."""
OFF_BALANCE = 0.4
"""From this tilt on [rad] a body that nobody else can handle is let fall well."""
BRACED = 0.5
"""Tension while falling: limbs hold their posture but give way."""
LANDED = 0.2
"""Tension once the hands touch: arms give like springs."""
LET_GO = 0.06
"""Tension once the trunk is down, or the hands have had their time."""
ON_HANDS = 0.35
"""Longest time the hands take the weight [s]."""


class Fall(Behaviour):
    """Take a character that cannot stay up any more, until it lies.

    Attributes:
        tipping: From this tilt on it counts as falling [rad].
        beyond: Or when the capture point is so far from both feet [m].
    """

    name = "fall"
    priority = REFLEX
    interrupts = True
    wakes = "forces"
    longest = 6.0
    practice: ClassVar[Practice] = Practice(("falling",), "says")

    def __init__(self, name: str = "", *, tipping: Degrees = 0.85, beyond: Metres = 0.45) -> None:
        """Say from which tilt on [rad], or how far past its feet [m], it falls."""
        super().__init__(name)
        self.tipping, self.beyond = tipping, beyond
        self._toward = np.array([1.0, 0.0])
        self._rest_since = self._landed = -1.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body tips over."""
        if under_data(now):
            return None
        felt = self.feel(now)
        if falls(felt, self.tipping, self.beyond):
            return Bid(0.9, f"tips over: {math.degrees(felt.tilt):.0f}°, {out_of_reach(felt):.2f} m past its feet")
        if felt.height > UP and (felt.tilt > OFF_BALANCE or felt.height < 0.8):
            # Not lost yet, so nobody is interrupted; but if nobody else can take it from here, the hands go out.
            return Bid(0.3, f"off balance: {math.degrees(felt.tilt):.0f}°", priority=IDLE + 1)
        return None

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note where it falls to."""
        self._toward, self._rest_since, self._landed = self._direction(felt), -1.0, -1.0

    def _direction(self, felt: Felt) -> Floats:
        """Return where over the ground it falls, (2,)."""
        return flat(felt.velocity[:2] + 2.0 * felt.lean)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Reach for the ground on the side it comes from; give way on the hands, and let go once the trunk is down."""
        touched = felt.touching - FEET
        if touched and self._landed < 0.0:
            self._landed = now.time
        if self._landed >= 0.0 and (touched & TRUNK or now.time - self._landed > ON_HANDS):
            return Aim(self.lifted(at_rest(), felt.turn), LET_GO, 0.0, 0.25)
        if self._landed < 0.0:
            self._toward = flat(0.8 * self._toward + 0.2 * self._direction(felt))
        ahead, left = felt.level(self._toward)
        lifted = self.lifted(falling(ahead, left), felt.turn)
        for side in SIDES:
            lifted = self._hand_out(felt, lifted, side)
        return Aim(lifted, BRACED if self._landed < 0.0 else LANDED, 0.0, 0.06)

    def _hand_out(self, felt: Felt, lifted: Floats, side: str) -> Floats:
        """Put a hand between the body and the ground."""
        anatomy = self.anatomy
        shoulder = felt.places[anatomy.number(f"{side}_upper_arm")]
        across = np.array([-self._toward[1], self._toward[0]])
        ahead, left = felt.level(self._toward)
        wide = 0.12 * sign_of(side) * float(np.sign(ahead) or 1.0) * abs(ahead)
        spot = np.append(shoulder[:2] + 0.28 * self._toward + wide * across, 0.03)
        actual = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        # Elbows point away from the fall and outward, so that the arms fold instead of locking.
        out = felt.level(np.array([0.0, sign_of(side), 0.0])) * [1.0, -1.0, 1.0]
        elbow = rotations.rotate(rotations.conjugate(felt.turn), out + np.append(-0.6 * self._toward, 0.4))
        turned, _ = limb(anatomy, side, "arm", actual, felt.seen_from_root(spot), elbow)
        return with_limb(anatomy, lifted, turned)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over once the body lies, or stands after all."""
        slow = float(np.linalg.norm(felt.velocity)) < 0.35
        if felt.height > 0.8 and felt.tilt < 0.35 and slow and out_of_reach(felt) < 0.1:
            return succeeded("stayed up after all")
        if not (slow and felt.touching - FEET):
            self._rest_since = -1.0
        elif self._rest_since < 0.0:
            self._rest_since = now.time
        elif now.time - self._rest_since > 0.2:
            return succeeded("lies")
        return RUNNING


def out_of_reach(felt: Felt) -> float:
    """Return how far the capture point is from the middle of the feet, beyond what feet cover [m]."""
    return past_lowest(felt.capture, felt.com, felt.places)


def falls(felt: Felt, tipping: float, beyond: float) -> bool:
    """Whether a body that is up is past saving by its feet."""
    if felt.height < UP or felt.velocity[2] > -0.25:
        return False  # lies already, bends down, or rises
    return felt.tilt > tipping or (out_of_reach(felt) > beyond and felt.height < 0.95)


def falling(ahead: float, left: float) -> dict[str, Floats]:
    """Return the posture of a fall toward a direction in the character's own heading; arms apart."""
    front, back, side = max(ahead, 0.0), max(-ahead, 0.0), abs(left)
    total = front + back + side
    front, back, side = front / total, back / total, side / total
    hip = 12.0 * front + 85.0 * back + 40.0 * side
    knee = 35.0 * front + 75.0 * back + 50.0 * side
    bend = 25.0 * side * float(np.sign(left))
    legs = [leg(s, hip, knee, 10.0 * back) for s in SIDES]
    neck = head(-30.0 * front + 50.0 * back + 12.0 * side, 1.4 * bend)
    return together(*legs, trunk(-4.0 * front + 55.0 * back + 15.0 * side, bend), neck)
