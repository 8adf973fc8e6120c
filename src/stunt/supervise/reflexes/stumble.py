"""Stumbling: steps to where the weight is going, until it is over the feet again.

Which foot, where and how fast is the house's one law of catching steps (`drive/balance/steps.py`), by which bodies on
their own feet recover too; it is asked again while the foot is on its way.
"""

from __future__ import annotations

import math

import numpy as np

from stunt.drive.balance.steps import CatchingStep, catching_step
from stunt.drive.body.reactions import DOWN
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import IDLE, REFLEX, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Count, Help
from stunt.supervise.reflexes.base import Aim, Behaviour, under_data
from stunt.supervise.reflexes.fall import pace_of, strays
from stunt.supervise.reflexes.posture import (
    SIDES,
    SOLE,
    apart,
    arm,
    feet,
    over_feet,
    past_feet,
    spots_for,
    standing,
    standing_on,
    together,
    two_feet,
)
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

LIFT = 0.09
"""How high a foot is lifted [m]."""
FIXED = 0.08
"""So long before it comes down a foot goes where it goes [s]."""
OUT = 0.06
"""It has to be so far outside the feet as well [m]; who walks has it there all the time."""
INSIDE = 0.02
"""Once it is so far inside again, it stands [m]."""
SLOW = 0.45
"""And so slow, it has caught itself [m/s]."""
FAR, WAIT = 0.5, 0.6
"""Feet further apart than this are brought closer by another step [m], if that is not too late [s]."""
LOW, TIPPED = 0.75, 0.6
"""Whoever is lower than this share of its standing height, or further tilted [rad], needs its hands."""
ONCE = 1.5
"""After it gave up, it does not try again for so long [s]: the hands are out by then."""
HOPELESS = 0.42
"""Weight that goes further past both feet than this is not caught by steps [m]."""
HELPED = ("weak", "auto")
"""Whoever hangs on a hook, has nothing but its own feet, or nothing at all, goes by that alone."""
STARTLED = 0.1
"""So long somebody who is pushed waits for what becomes of it [s]: half a shove tells nothing of the whole."""
LEG = 0.9
"""Length of a grown-up's legs [m]."""


class Stumble(Behaviour):
    """Catch a body by steps.

    Attributes:
        most_steps: After so many it gives up.
        spring: Help for the root, share of m·g·h.
    """

    name = "stumble"
    priority = REFLEX
    interrupts = True
    wakes = "strays"
    longest = 4.0

    def __init__(self, name: str = "", *, most_steps: Count = 6, spring: Help = 0.3) -> None:
        """Say how many steps it may take, and how much it is helped."""
        super().__init__(name)
        self.most_steps, self.spring = most_steps, spring
        self._swing, self._steps, self._since, self._seconds = "", 0, 0.0, 0.3
        self._from, self._to = np.zeros(3), np.zeros(3)
        self._planted: dict[str, Floats] = {}
        self._facing, self._gave_up = 0.0, -1e9
        self._pace, self._pushed, self._asked = np.zeros(3), -1e9, -1e9

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body is pushed past its feet, or goes where its motion does not, and is not too far gone."""
        if under_data(now):
            return None
        felt, actor = self.feel(now), now.stage.actors.get(now.character.name)
        if actor is not None and (actor.on_own_feet or actor.root.kind not in HELPED or actor.said == DOWN):
            return None
        if now.pushed:
            self._pushed = now.time if now.time - self._asked > STARTLED else self._pushed
            self._asked = now.time
            if now.time - self._pushed < STARTLED:
                return None
        pace = pace_of(actor) if actor is not None else None
        self._pace = np.zeros(3) if pace is None else pace
        out = past_feet(self.anatomy, felt)
        if felt.height < LOW or felt.tilt > TIPPED or self._hopeless(felt) or now.time - self._gave_up < ONCE:
            return None
        if out < OUT or (actor is not None and (actor.low or (actor.follows and not strays(actor, felt)))):
            wide = apart(self.anatomy, felt)
            # No emergency: nobody is interrupted for it, but if nobody else can stand like this, it steps.
            return Bid(0.4, f"feet {wide:.2f} m apart", priority=IDLE + 2) if out > 0.05 or wide > 0.4 else None
        return Bid(0.7, f"{math.degrees(felt.tilt):.0f}° tilted, {out:.2f} m outside its feet")

    def _hopeless(self, felt: Felt) -> bool:
        """Whether no step can catch it, by what it has beyond its motion's pace: walkers' feet are where that goes."""
        return two_feet(self.anatomy, felt).outside(felt.capture_beyond(self._pace)) > HOPELESS

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Begin with the first step."""
        self._steps, self._facing = 0, felt.facing
        self._begin_step(now, felt)

    @property
    def _help(self) -> float:
        """Return how much its root is helped, share of m·g·h: no more than where it stands."""
        assert self.drive is not None
        return min(self.spring, self.drive.actor.root.limit)

    def _catching(self, felt: Felt, feet_allowed: tuple[int, ...], left: float | None) -> CatchingStep:
        """Return the best step from here."""
        size = float(self.anatomy.length("l_thigh") + self.anatomy.length("l_shank")) / LEG
        soles = two_feet(self.anatomy, felt)._replace(facing=self._facing).outlines
        return catching_step(soles, felt.capture, felt.rate, self._facing, size=size, feet=feet_allowed, left=left)

    def _begin_step(self, now: Situation, felt: Felt) -> None:
        """Choose foot, place and time."""
        self._planted = feet(self.anatomy, felt)
        for side in SIDES:
            self._planted[side][2] = float(np.clip(self._planted[side][2], SOLE, 0.12))
        step = self._catching(felt, (0, 1), None)
        self._swing, self._seconds = SIDES[step.foot], step.seconds
        self._since, self._steps = now.time, self._steps + 1
        self._from, self._to = feet(self.anatomy, felt)[self._swing], self._ankle(felt, step)

    def _ankle(self, felt: Felt, step: CatchingStep) -> Floats:
        """Return where the ankle of a foot is whose sole has come down [m], (3,)."""
        feet = two_feet(self.anatomy, felt)._replace(facing=self._facing)
        return np.append(feet.ankle_over(step.place), SOLE)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Swing one leg and stand on the other; or stand on both, and bring the weight to rest over them."""
        anatomy, left = self.anatomy, self._since + self._seconds - now.time
        if left <= 0.0:
            out = past_feet(self.anatomy, felt)
            if out > INSIDE or (self._swing and apart(anatomy, felt) > FAR and now.time - self._since < WAIT):
                self._begin_step(now, felt)
                left = self._seconds
            else:
                self._swing = ""
        elif left > FIXED:
            self._to = self._ankle(felt, self._catching(felt, (SIDES.index(self._swing),), left))
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        arms = [arm(side, 35.0, 45.0, 10.0, 45.0) for side in SIDES]
        lifted = self.lifted(together(standing(), *arms), heading)
        if not self._swing:
            lifted = standing_on(
                anatomy, lifted, spots_for(anatomy, felt), heading, over_feet(anatomy, felt), self._facing
            )
            return Aim(lifted, 1.0, self._help, 0.06)
        share = 1.0 - left / self._seconds
        ease = share * share * (3.0 - 2.0 * share)
        spot = self._from + ease * (self._to - self._from) + [0.0, 0.0, LIFT * math.sin(math.pi * share)]
        place = np.append(felt.root[:2], 0.94 * anatomy.height)
        # The standing leg pushes the body up to where it should be; the swinging one goes by where it is.
        spots = {**self._planted, self._swing: spot + place - felt.root}
        lifted = standing_on(anatomy, lifted, spots, felt.turn, place, self._facing)
        return Aim(lifted, 1.0, self._help, 0.03, swing=self._swing)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is done when the weight is over the feet, and has failed when the body is too low or too tilted."""
        if felt.height < LOW or felt.tilt > TIPPED or self._hopeless(felt):
            self._gave_up = now.time
            return failed("could not catch itself")
        slow = float(np.linalg.norm(felt.velocity)) < SLOW
        if not self._swing and slow and felt.tilt < 0.35 and past_feet(self.anatomy, felt) < INSIDE:
            return succeeded(f"caught itself in {self._steps} step{'s' if self._steps > 1 else ''}")
        if self._steps <= self.most_steps:
            return RUNNING
        self._gave_up = now.time
        return failed(f"{self._steps} steps were not enough")
