"""Balance: on its own two feet, the weight brought back over them, the arms out as far as it sways."""

from __future__ import annotations

import numpy as np

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, RECOVERY, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Help, Metres, Seconds
from stunt.supervise.reflexes.base import Aim, Behaviour, under_data
from stunt.supervise.reflexes.posture import (
    SIDES,
    apart,
    arm,
    middle,
    over_feet,
    past_feet,
    spots_for,
    standing,
    standing_on,
    together,
)
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

WIDE = 0.6
"""Feet farther apart than this [m] must be moved first."""


class BalanceReflex(Behaviour):
    """Keep a standing body up without moving its feet.

    Attributes:
        most: How far outside its feet the capture point may be [m]; beyond, it takes a step.
        spring: Help for the root, share of m·g·h.
        calm: How long it must be calm to be done [s].
    """

    name = "balance"
    priority = RECOVERY
    longest = 6.0

    def __init__(self, name: str = "", *, most: Metres = 0.12, spring: Help = 0.3, calm: Seconds = 0.4) -> None:
        """Say how far out is too far [m], and how much it is helped."""
        super().__init__(name)
        self.most, self.spring, self.calm = most, spring, calm
        self._facing, self._calm_since = 0.0, -1.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer where feet are on the ground and the weight is about over them."""
        if under_data(now) or now.last is None:
            return None
        felt = self.feel(now)
        if now.last.status.state == "succeeded" and float(np.linalg.norm(felt.velocity)) < 0.2:
            return None  # it stands already
        out = past_feet(self.anatomy, felt)
        if felt.tilt > 0.6 or felt.height < 0.7:
            return None
        if out > self.most or apart(self.anatomy, felt) > WIDE:
            return Bid(0.1, "still upright", priority=IDLE + 1)  # better than nobody
        return Bid(0.6, f"{out:.2f} m outside its feet" if out > 0 else "over its feet")

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Note where it faces."""
        self._facing, self._calm_since = felt.facing, -1.0

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Move the pelvis against the capture point's error."""
        return Aim(self.upright(felt), 1.0, self.spring, 0.06)

    def upright(self, felt: Felt) -> Floats:
        """Return an upright body on the feet as they are, its pelvis where the weight will come to rest."""
        anatomy = self.anatomy
        error = felt.capture - middle(anatomy, felt)
        size = float(np.linalg.norm(error))
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        spread = min(70.0, 250.0 * max(0.0, size - 0.06))
        arms = [arm(side, 6.0, 8.0 + spread, 10.0, 16.0 + 0.3 * spread) for side in SIDES]
        lifted = self.lifted(together(standing(), *arms), heading)
        return standing_on(anatomy, lifted, spots_for(anatomy, felt), heading, over_feet(anatomy, felt), self._facing)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is done when calm, and has failed when the weight is past the feet."""
        if felt.tilt > 0.7 or past_feet(self.anatomy, felt) > self.most + 0.05:
            return failed("the weight is past its feet")
        if float(np.linalg.norm(felt.velocity)) > 0.15:
            self._calm_since = -1.0
        elif self._calm_since < 0.0:
            self._calm_since = now.time
        elif now.time - self._calm_since >= self.calm:
            return succeeded("stands")
        return RUNNING
