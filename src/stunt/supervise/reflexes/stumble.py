"""Stumbling: steps to where the weight is going, until it is over the feet again."""

from __future__ import annotations

import math

import numpy as np

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, REFLEX, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Count, Help
from stunt.supervise.reflexes.base import Aim, Behaviour, flat, under_data
from stunt.supervise.reflexes.posture import (
    SIDES,
    apart,
    arm,
    feet,
    past_feet,
    sign_of,
    standing,
    standing_on,
    together,
)
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

STEP = 0.26
"""How long a step takes [s]."""
LIFT = 0.12
"""How high a foot is lifted [m]."""
ONCE = 1.5
"""After it gave up, it does not try again for so long [s]: the hands are out by then."""
HOPELESS = 0.9
"""Weight that goes further past both feet than this is not caught by steps [m]."""
LONGEST_STEP = 0.65
"""From the hip, over the ground [m]."""


class Stumble(Behaviour):
    """Catch a body by steps.

    Attributes:
        most_steps: After so many it gives up.
        spring: Help for the root, share of m·g·h.
    """

    name = "stumble"
    priority = REFLEX
    interrupts = True
    wakes = "forces"
    longest = 4.0

    def __init__(self, name: str = "", *, most_steps: Count = 6, spring: Help = 0.4) -> None:
        """Say how many steps it may take, and how much it is helped."""
        super().__init__(name)
        self.most_steps, self.spring = most_steps, spring
        self._swing, self._steps, self._since = "", 0, 0.0
        self._from, self._to = np.zeros(3), np.zeros(3)
        self._planted: dict[str, Floats] = {}
        self._facing, self._gave_up = 0.0, -1e9

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body tips or is pushed past its feet, and is not too far gone."""
        if under_data(now):
            return None
        felt = self.feel(now)
        out = past_feet(self.anatomy, felt)
        if felt.height < 0.7 or felt.tilt > 0.8 or out > HOPELESS or now.time - self._gave_up < ONCE:
            return None
        if not (out > 0.28 or (out > 0.12 and felt.tilt > 0.25)):
            wide = apart(self.anatomy, felt)
            # No emergency: nobody is interrupted for it, but if nobody else can stand like this, it steps.
            return Bid(0.4, f"feet {wide:.2f} m apart", priority=IDLE + 2) if out > 0.05 or wide > 0.4 else None
        return Bid(0.7, f"{math.degrees(felt.tilt):.0f}° tilted, {out:.2f} m outside its feet")

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Begin with the first step."""
        self._steps, self._facing, self._swing = 0, felt.facing, ""
        self._begin_step(now, felt)

    def _begin_step(self, now: Situation, felt: Felt) -> None:
        """Choose the foot that is behind, or the one on the side of the fall."""
        self._planted = feet(self.anatomy, felt)
        for side in SIDES:
            self._planted[side][2] = float(np.clip(self._planted[side][2], 0.08, 0.12))
        way = flat(felt.capture - felt.com[:2])
        ahead, left = felt.level(way)
        if float(np.linalg.norm(felt.capture - felt.com[:2])) < 0.08:  # no hurry: the foot that is farther out
            swing = max(SIDES, key=lambda side: float(np.linalg.norm(self._planted[side][:2] - felt.com[:2])))
        elif abs(left) > abs(ahead):
            swing = "l" if left > 0 else "r"
            if self._swing == swing:  # the other foot closes up
                swing = "r" if swing == "l" else "l"
        else:
            swing = min(SIDES, key=lambda side: float(self._planted[side][:2] @ way))
        self._swing, self._since, self._steps = swing, now.time, self._steps + 1
        self._from = feet(self.anatomy, felt)[swing]

    def _aim_foot(self, felt: Felt) -> Floats:
        """Return where the swinging foot should land [m], (3,)."""
        across = np.array([-math.sin(felt.facing), math.cos(felt.facing)])
        goal = felt.capture + 0.08 * flat(felt.velocity) + 0.09 * sign_of(self._swing) * across
        way = goal - felt.root[:2]
        far = float(np.linalg.norm(way))
        goal = felt.root[:2] + way * min(1.0, LONGEST_STEP / max(far, 1e-9))
        return np.append(goal, 0.085)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Swing one leg, stand on the other."""
        share = (now.time - self._since) / STEP
        if share >= 1.0:
            self._begin_step(now, felt)
            share = 0.0
        self._to = self._aim_foot(felt)
        ease = share * share * (3.0 - 2.0 * share)
        spot = self._from + ease * (self._to - self._from) + [0.0, 0.0, LIFT * math.sin(math.pi * min(share, 1.0))]
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        arms = [arm(side, 35.0, 45.0, 10.0, 45.0) for side in SIDES]
        lifted = self.lifted(together(standing(), *arms), heading)
        place = np.append(felt.root[:2], 0.94 * self.anatomy.height)
        # The standing leg pushes the body up to where it should be; the swinging one goes by where it is.
        spots = {**self._planted, self._swing: spot + place - felt.root}
        lifted = standing_on(self.anatomy, lifted, spots, felt.turn, place, self._facing)
        return Aim(lifted, 1.0, self.spring, 0.03, swing=self._swing)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is done when the weight is over the feet, and has failed when the body is too low or too tilted."""
        if felt.height < 0.62 or felt.tilt > 0.85 or past_feet(self.anatomy, felt) > HOPELESS:
            self._gave_up = now.time
            return failed("could not catch itself")
        slow = float(np.linalg.norm(felt.velocity)) < 0.7
        close = apart(self.anatomy, felt) < 0.5
        if slow and close and felt.tilt < 0.35 and past_feet(self.anatomy, felt) < 0.04:
            return succeeded(f"caught itself in {self._steps} step{'s' if self._steps > 1 else ''}")
        if self._steps <= self.most_steps:
            return RUNNING
        self._gave_up = now.time
        return failed(f"{self._steps} steps were not enough")
