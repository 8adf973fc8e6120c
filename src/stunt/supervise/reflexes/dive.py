"""A goalkeeper's save: to where the ball will be when it is there, on the feet if that will do, else by diving."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, succeeded
from stunt.supervise.parameters import Help, Metres, Seconds
from stunt.supervise.reflexes.base import Aim, Behaviour
from stunt.supervise.reflexes.posture import (
    SIDES,
    arm,
    head,
    leg,
    limb,
    sign_of,
    spots_for,
    standing_on,
    together,
    trunk,
    turn,
    with_limb,
)
from stunt.supervise.reflexes.senses import Felt, crossing, flying
from stunt.supervise.situation import Situation

ON_FEET = 0.75
"""A ball that passes nearer than this to the middle is reached standing [m]."""

LEAD, TURNS, PACE = 0.25, 2.9, 1.8
"""A dive takes so long to get under way [s], turns a body so fast [rad/s] and carries it so fast [m/s]."""
LAG = 0.07
"""How far an arm is behind where it is told to be [s]."""
REACH_FOR = 0.8
"""The hands go to the ball in the last so many seconds."""
APART = 0.05
"""Each hand meets the ball on its own side of the middle, by so much [m]."""
ACROSS, BEFORE = 0.1, 0.25
"""No further across than that goes an arm [m], and at least so far before the chest: ribs are in the way."""
LEG = ("thigh", "shank", "foot", "toe")
LONG = 1.05
"""From a keeper's hips to a ball in its outstretched hands [m]."""
HIPS = (0.4, 1.0)
"""How high its hips may be then [m]."""
HASTE = 0.25
"""It leans on so far ahead of where it is [s]."""
PUSH, RISE = 0.12, 0.06
"""Legs push off towards where the hips will be in so long, over the ground and upward [s]."""
FLIES = 0.35
"""So long before the ball is there it leaves the ground, at most [s]."""


@dataclass(frozen=True)
class Goal:
    """What is to be kept, seen by who keeps it."""

    half: Metres = 1.5  #: Half of its width [m]
    height: Metres = 2.0  #: [m]
    ahead: Metres = 0.25  #: How far in front of the keeper the ball is met [m]


@dataclass(frozen=True)
class IncomingShot:
    """A ball as it will come: in how many seconds, how far to the keeper's left and how high [m], and where."""

    time: float
    left: float
    high: float
    at: tuple[float, float, float]


class Dive(Behaviour):
    """Keep a goal.

    Attributes:
        goal: What is kept.
        ball: Name of the ball.
        horizon: How far ahead it looks [s].
        spring: Help for the root, share of m·g·h.
    """

    name = "dive"
    priority = REFLEX + 2
    interrupts = True
    wakes = "flying"
    longest = 4.0
    low = True

    def __init__(
        self, ball: str = "ball", name: str = "", *, goal: Goal | None = None, horizon: Seconds = 1.2,
        spring: Help = 0.4,
    ) -> None:  # fmt: skip
        """Say which ball, which goal, how far ahead it looks [s] and how much it is helped."""
        super().__init__(name)
        self.ball, self.goal, self.horizon, self.spring = ball, goal or Goal(), horizon, spring
        self._tips, self._over, self._side = False, 0.0, 0.0
        self._facing, self._home, self._before = 0.0, np.zeros(3), (0.0, np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
        self._shot = IncomingShot(0.5, 0.0, 1.0, (0.0, 0.0, 1.0))
        self._meets = meeting(self._shot)

    def shot(self, now: Situation, felt: Felt, home: Floats, facing: float) -> IncomingShot | None:
        """Return where the ball will cross the keeper's plane, if it will."""
        ball = now.things().get(self.ball)
        if ball is None:
            return None
        out = np.array([math.cos(facing), math.sin(facing), 0.0])
        if float(ball.velocity @ out) > -2.0:
            return None  # it does not come
        gravity = np.asarray(now.stage.scene.gravity)
        met = crossing(ball.position, ball.velocity, gravity, home + self.goal.ahead * out, out, self.horizon)
        if met is None:
            return None
        time, at = met
        left = float((at - home) @ np.array([-out[1], out[0], 0.0]))
        # A ball that would have hit the ground before rolls or bounces on low.
        high = max(float(at[2]), ball.radius)
        return IncomingShot(time, left, high, (float(at[0]), float(at[1]), high))

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the ball comes into the goal and the keeper is on its feet."""
        if not flying(now):
            return None
        felt = self.feel(now)
        if felt.height < 0.7:
            return None
        shot = self.shot(now, felt, felt.root, felt.facing)
        if shot is None or abs(shot.left) > self.goal.half + 0.3 or shot.high > self.goal.height + 0.3:
            return None
        side = "left" if shot.left > 0 else "right"
        why = f"'{self.ball}' comes {abs(shot.left):.2f} m {side}, {shot.high:.2f} m high, in {shot.time:.2f} s"
        return Bid(0.9, why, shot)

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Choose the side."""
        self._tips, self._home, self._facing = False, felt.root.copy(), felt.facing
        self._before = (now.time, felt.turn.copy(), felt.root.copy())
        shot = bid.plan if isinstance(bid.plan, IncomingShot) else self.shot(now, felt, self._home, self._facing)
        self._shot = shot or self._shot
        self._over = now.time + self._shot.time
        self._side = 0.0 if abs(self._shot.left) < ON_FEET else math.copysign(1.0, self._shot.left)
        self._meets = meeting(self._shot)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Tip, push off and reach."""
        seen = self.shot(now, felt, self._home, self._facing)
        if seen is not None:
            self._shot, self._over = seen, now.time + seen.time
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        left = self._over - now.time
        if self._side == 0.0:
            posture, tilt = blocking(self._shot)
            lifted = self.lifted(posture, rotations.multiply(heading, tilt))
        else:
            lifted = self._thrown(felt, heading, left)
        if -0.1 < left < REACH_FOR:
            lifted = self._reach(felt, lifted)
        self._before = (felt.time, felt.turn.copy(), felt.root.copy())
        return Aim(lifted, 1.0, self.spring, 0.04)

    def _thrown(self, felt: Felt, heading: Floats, left: float) -> Floats:
        """Wait, or tip over and push off, so that the body is where it should be in so many seconds."""
        side, meets = self._side, self._meets
        self._tips = self._tips or left <= meets.seconds
        if not self._tips:
            return self.lifted(ready(), rotations.multiply(heading, turn(16.0, -side * 8.0)))
        out = side * np.array([-math.sin(self._facing), math.cos(self._facing), 0.0])
        up = rotations.rotate(felt.turn, np.array([0.0, 0.0, 1.0]))
        tilt, left = math.atan2(float(up @ out), float(up[2])), max(left, 0.06)
        tilt += float(np.clip((meets.tilt - tilt) / left * HASTE, -0.2, 1.2))
        lifted = self.lifted(
            diving(side, meets.tilt), rotations.multiply(heading, turn(4.0, -side * math.degrees(tilt)))
        )
        pushing = felt.touching & {f"{one}_{part}" for one in SIDES for part in ("foot", "toe")}
        if not pushing or left <= 0.06:
            return lifted
        gravity = -float(felt.sense.stage.scene.gravity[2])
        beside = float(np.clip((meets.beside - float((felt.root - self._home) @ out)) / left, 0.0, 3.0))
        rise = (meets.high - float(felt.root[2])) / left + 0.5 * gravity * min(left, FLIES)
        place = felt.root + PUSH * beside * out + [0.0, 0.0, RISE * float(np.clip(rise, -1.0, 2.5))]
        stood = standing_on(self.anatomy, lifted, spots_for(self.anatomy, felt), felt.turn, place, self._facing)
        sides = {name[0] for name in pushing}
        legs = [k for k, name in enumerate(self.anatomy.names) if name[0] in sides and name[2:] in LEG]
        lifted[legs] = stood[legs]
        return lifted

    def _reach(self, felt: Felt, lifted: Floats) -> Floats:
        """Put both hands in the ball's way, seen from where the body will be when the arms are there."""
        actual = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        then, turned, place = self._before
        passed = max(felt.time - then, 1e-3)
        later = rotations.integrate(felt.turn, rotations.difference(felt.turn, turned) / passed, LAG)
        away = np.array(self._shot.at) - felt.root - LAG * (felt.root - place) / passed
        for side in SIDES:
            spot = rotations.rotate(rotations.conjugate(later), away) + [0.0, APART * sign_of(side), 0.0]
            if spot[1] * sign_of(side) < -ACROSS:
                spot = np.array([max(spot[0], BEFORE), -ACROSS * sign_of(side), spot[2]])
            elbow = np.array([-0.5, 0.6 * sign_of(side), -0.2])
            turned_arm, _ = limb(self.anatomy, side, "arm", actual, spot, elbow)
            lifted = with_limb(self.anatomy, lifted, turned_arm)
        return lifted

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over shortly after the ball was there."""
        if now.time < self._over + (0.12 if self._side else 0.3):
            return RUNNING
        return succeeded("the ball is past" if self._side == 0.0 else "has dived")


def blocking(shot: IncomingShot) -> tuple[dict[str, Floats], Floats]:
    """Return a posture on the feet, leaning to the ball and as low as it comes, and how the root is turned."""
    low = float(np.clip((1.0 - shot.high) / 0.8, 0.0, 1.0))
    lean = float(np.clip(shot.left / ON_FEET, -1.0, 1.0))
    legs = [
        leg(side, 30.0 + 75.0 * low + 12.0 * lean * sign_of(side), 40.0 + 70.0 * low + 25.0 * lean * sign_of(side),
            10.0 + 15.0 * low, 14.0)
        for side in SIDES
    ]  # fmt: skip
    arms = [arm(side, 60.0, 15.0, 0.0, 30.0) for side in SIDES]
    posture = together(*legs, *arms, trunk(10.0 + 25.0 * low, -22.0 * lean), head(-15.0))
    return posture, turn(12.0 + 20.0 * low, -14.0 * lean)


def ready() -> dict[str, Floats]:
    """Return the posture of who is about to dive: on the toes, low, hands before the chest."""
    legs = [leg(side, 45.0, 62.0, 12.0, 16.0) for side in SIDES]
    arms = [arm(side, 80.0, 20.0, 0.0, 30.0) for side in SIDES]
    return together(*legs, *arms, trunk(12.0), head(-15.0))


def diving(side: float, tilt: float) -> dict[str, Floats]:
    """Return the posture of a dive to a side (+1 to the left, −1 to the right) that tips over so far [rad]."""
    near, far = ("l", "r") if side > 0 else ("r", "l")
    arms = [arm(s, 80.0, 20.0, 0.0, 30.0) for s in SIDES]
    legs = [leg(far, 5.0, 5.0, -35.0, 35.0), leg(near, 45.0, 60.0, 10.0, 5.0)]
    return together(*legs, *arms, trunk(4.0, -side * 30.0 * min(tilt, 1.0)), head(-5.0, side * 15.0))


@dataclass(frozen=True)
class Meeting:
    """How a diving keeper is when the ball is there.

    Attributes:
        tilt: How far it has tipped over [rad].
        beside: How far its hips have gone to the ball's side [m].
        high: How high they are [m].
    """

    tilt: float
    beside: float
    high: float

    @property
    def seconds(self) -> float:
        """How long before the ball is there the dive must begin [s]."""
        return LEAD + self.tilt / TURNS + max(self.beside, 0.0) / PACE


def meeting(shot: IncomingShot) -> Meeting:
    """Return where a keeper's hips should be, and how far it should have tipped, to have the ball in its hands."""
    tilts = np.radians(np.arange(10.0, 96.0, 2.5))
    beside, high = abs(shot.left) - LONG * np.sin(tilts), shot.high - LONG * np.cos(tilts)
    farthest = PACE * max(shot.time - LEAD, 0.05)
    beyond = np.maximum(beside - farthest, 0.0) ** 2 + np.maximum(HIPS[0] - high, 0.0) ** 2
    beyond += np.maximum(high - HIPS[1], 0.0) ** 2 + 0.5 * np.maximum(-beside, 0.0) ** 2
    k = int(np.argmin(4.0 * beyond + 0.02 * tilts))
    return Meeting(float(tilts[k]), float(beside[k]), float(high[k]))
