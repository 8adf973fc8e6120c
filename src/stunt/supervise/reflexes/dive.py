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
from stunt.supervise.reflexes.posture import SIDES, arm, head, leg, limb, sign_of, together, trunk, turn, with_limb
from stunt.supervise.reflexes.senses import Felt, crossing, flying
from stunt.supervise.situation import Situation

ON_FEET = 0.75
"""A ball that passes nearer than this to the middle is reached standing [m]."""

LEAD = 0.25
"""A dive begins so much earlier than it needs to on paper [s]: looking and getting under way take time."""
LAG = 0.07
"""How far an arm is behind where it is told to be [s]."""
REACH_FOR = 0.8
"""The hands go to the ball in the last so many seconds."""


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
        self._tips, self._over, self._side = -1.0, 0.0, 0.0
        self._facing, self._home = 0.0, np.zeros(3)
        self._shot = IncomingShot(0.5, 0.0, 1.0, (0.0, 0.0, 1.0))

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
        self._tips, self._home, self._facing = -1.0, felt.root.copy(), felt.facing
        shot = bid.plan if isinstance(bid.plan, IncomingShot) else self.shot(now, felt, self._home, self._facing)
        self._shot = shot or self._shot
        self._over = now.time + self._shot.time
        self._side = 0.0 if abs(self._shot.left) < ON_FEET else math.copysign(1.0, self._shot.left)

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Tip, push off and reach."""
        seen = self.shot(now, felt, self._home, self._facing)
        if seen is not None:
            self._shot, self._over = seen, now.time + seen.time
        heading = rotations.from_rotation_vector(np.array([0.0, 0.0, self._facing]))
        left = self._over - now.time
        if self._side == 0.0:
            posture, tilt = blocking(self._shot)
        else:
            if self._tips < 0.0 and left <= tipping_time(self._shot) + LEAD:
                self._tips = now.time
            posture, tilt = diving(self._side, now.time - self._tips if self._tips >= 0.0 else -1.0, self._shot)
        lifted = self.lifted(posture, rotations.multiply(heading, tilt))
        if -0.1 < left < REACH_FOR:
            lifted = self._reach(felt, lifted)
        return Aim(lifted, 1.0, self.spring, 0.04)

    def _reach(self, felt: Felt, lifted: Floats) -> Floats:
        """Put both hands in the ball's way."""
        actual = rotations.multiply(rotations.conjugate(felt.turn), felt.turns)
        for side in SIDES:
            apart = np.array([0.0, 0.07 * sign_of(side), 0.0])
            # Until the arm is there, the body has moved on.
            spot = felt.seen_from_root(np.array(self._shot.at) - LAG * felt.velocity) + apart
            elbow = np.array([-0.5, 0.6 * sign_of(side), -0.2])
            turned, _ = limb(self.anatomy, side, "arm", actual, spot, elbow)
            lifted = with_limb(self.anatomy, lifted, turned)
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


def diving(side: float, since: float, shot: IncomingShot) -> tuple[dict[str, Floats], Floats]:
    """Return the posture of a dive to a side, and how the root is turned.

    Args:
        side: +1 to the left, −1 to the right.
        since: Seconds since the tipping began; below 0 it still waits.
        shot: Where the ball will be.
    """
    near, far = ("l", "r") if side > 0 else ("r", "l")
    arms = [arm(s, 80.0, 20.0, 0.0, 30.0) for s in SIDES]
    if since < 0.0:  # on the toes, low, the weight coming over the near foot
        legs = [leg(s, 45.0, 62.0, 12.0, 16.0) for s in SIDES]
        return together(*legs, *arms, trunk(12.0), head(-15.0)), turn(16.0, -side * 8.0)
    push = since > 0.10
    legs = [
        leg(far, 5.0 if push else 50.0, 5.0 if push else 75.0, -35.0 if push else 20.0, 35.0 if push else 15.0),
        leg(near, 45.0, 60.0, 10.0, 5.0),
    ]
    roll = -side * (math.degrees(tilt_for(shot)) + 25.0)
    return together(*legs, *arms, trunk(4.0, -side * 40.0), head(-5.0, side * 15.0)), turn(4.0, roll)


_SHOULDER, _ARM = 1.3, 0.5  # of a keeper [m]: height of the shoulders, comfortable reach
_TIPPED = ((0.0, 0.0), (0.3, 0.35), (0.4, 0.66), (0.5, 0.96), (0.6, 1.22), (0.7, 1.40))
"""How far a dive has tipped [rad] so many seconds after it began."""


def tilt_for(shot: IncomingShot) -> float:
    """Return how far a keeper must have tipped to have the ball in reach [rad]."""
    tilts = np.linspace(0.1, 1.4, 27)
    away = np.hypot(_SHOULDER * np.sin(tilts) - abs(shot.left), _SHOULDER * np.cos(tilts) - shot.high)
    return float(tilts[np.argmin(np.maximum(away - _ARM, 0.0) + 0.05 * tilts)])


def tipping_time(shot: IncomingShot) -> float:
    """Return how long before the ball is there a dive must begin [s]."""
    return float(np.interp(tilt_for(shot), [tilt for _, tilt in _TIPPED], [time for time, _ in _TIPPED]))
