"""Clutching the place that was hit: the hand that can reach it goes there and stays a while."""

from __future__ import annotations

import numpy as np

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import ORDINARY, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import BodyWeights, Seconds
from stunt.supervise.reflexes.balance import BalanceReflex
from stunt.supervise.reflexes.base import Aim, Hearing
from stunt.supervise.reflexes.posture import SIDES, limb, sign_of, with_limb
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

FLESH = 0.05
"""The palm ends so far in front of the bone's surface point [m]."""


class Clutch(BalanceReflex, Hearing):
    """Grab where it hurts.

    Attributes:
        least: Force of a hit from which it hurts, in body weights.
        hold: How long the hand stays [s].
    """

    name = "clutch"
    priority = ORDINARY + 5
    interrupts = True
    wakes = "hit"
    longest = 5.0

    def __init__(self, name: str = "", *, least: BodyWeights = 0.4, hold: Seconds = 1.4) -> None:
        """Say what hurts, and how long."""
        super().__init__(name, spring=0.4)
        self.least, self.hold = least, hold
        self._body, self._spot, self._side = "", np.zeros(3), "r"

    def bid(self, now: Situation) -> Bid | None:
        """Offer when something hit the body hard, and it still stands."""
        if (hit := self.heard(now)) is None:
            return None
        felt = self.feel(now)
        if hit.force < self.least * self.anatomy.mass * 9.81 or felt.tilt > 0.5 or felt.height < 0.8:
            return None
        return Bid(0.6, f"hit on the {hit.body} by '{hit.by}'", (hit.body, hit.position))

    def minds(self, body: str) -> bool:
        """Whether a hand goes to a place that was hit."""
        return body not in _SPARED

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Remember the place on the body, and choose a hand that is not the one that was hit."""
        super().prepare(now, felt, bid)
        self._heard = None
        anatomy = self.anatomy
        self._body, place = bid.plan[0], np.array(bid.plan[1])
        k = anatomy.number(self._body)
        self._spot = rotations.rotate(rotations.conjugate(felt.turns[k]), place - felt.places[k])
        own = self._body[0] if self._body[1:2] == "_" and "arm" in self._body or "hand" in self._body else ""
        free = [side for side in SIDES if side != own]
        self._side = min(
            free, key=lambda side: float(np.linalg.norm(felt.places[anatomy.number(f"{side}_upper_arm")] - place))
        )

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Stand, one hand on the place."""
        anatomy = self.anatomy
        lifted = self.upright(felt)
        k = anatomy.number(self._body)
        place = felt.places[k] + rotations.rotate(felt.turns[k], self._spot)
        actual = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        elbow = np.array([-0.3, sign_of(self._side), -0.5])
        turned, _ = limb(anatomy, self._side, "arm", actual, self._wrist(felt, place), elbow)
        return Aim(with_limb(anatomy, lifted, turned), 1.0, self.spring, 0.08)

    def _wrist(self, felt: Felt, place: Floats) -> Floats:
        """Return where the wrist goes so that the palm covers the place, seen from the root [m]."""
        shoulder = felt.places[self.anatomy.number(f"{self._side}_upper_arm")]
        way = shoulder - place
        return felt.seen_from_root(place + way / max(float(np.linalg.norm(way)), 1e-9) * (0.08 + FLESH))

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It wears off."""
        if felt.tilt > 0.7 or felt.height < 0.7:
            return failed("was knocked off its feet")
        return RUNNING if now.elapsed < self.hold else succeeded("it hurts less")


_SPARED = tuple(f"{side}_{part}" for side in SIDES for part in ("foot", "toe", "hand", "forearm"))
