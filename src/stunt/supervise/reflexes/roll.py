"""Rolling over the ground: the way momentum goes, curled as tightly as one likes."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from stunt.maths import rotations
from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.parameters import Degrees, Help, RadiansPerSecond, Share
from stunt.supervise.practice import Practice
from stunt.supervise.reflexes.base import Aim, Behaviour, flat, under_data
from stunt.supervise.reflexes.fall import FASTEST, LEGS, held
from stunt.supervise.reflexes.posture import SIDES, arm, head, leg, together, tucked
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

LOW = 0.55
"""Below this share of its standing height a body can roll."""

LEAST = 0.5 * math.pi
"""Less than this is no roll [rad]."""
ALONG = 0.6
"""Cosine between a body and the way it slides from which on it slides along itself."""
LOG = together(
    *(piece for side in SIDES for piece in (arm(side, 75.0, 5.0, 30.0, 115.0), leg(side, 8.0, 12.0))), head(-12.0)
)
"""Arms before the chest, legs straight: somebody who rolls over a side."""
SINKING = 1.2
"""A body that comes down faster than this still falls [m/s]: hands and neck are busy with that."""
BRISK = 0.5
"""Who comes down with so much pace rolls it out [m/s]."""
STILL = 0.3
"""Slower than this it lies [m/s]."""
JUST = 1.0
"""A body that was up less than so many seconds ago has just fallen."""


class Roll(Behaviour):
    """Roll once the body is down and still moves.

    Attributes:
        direction: Where to over the ground, seen in the character's heading [rad] (0 forward, π/2 left); None: the way
            it moves.
        speed: How fast it should turn [rad/s].
        tightness: 0 (loose) to 1 (a ball).
        turn: How far it rolls at most [rad].
        spring: Help for the root, share of m·g·h.
    """

    name = "roll"
    priority = REFLEX + 1
    interrupts = True
    wakes = "forces"
    longest = 3.0
    low = True
    practice: ClassVar[Practice] = Practice(
        ("falling", "lying"), "says", (("direction", -math.pi, math.pi), ("speed", 1.0, 8.0), ("tightness", 0.2, 1.0))
    )

    def __init__(
        self, name: str = "", *, direction: Degrees | None = None, speed: RadiansPerSecond = 5.0,
        tightness: Share = 0.7, turn: Degrees = 2.0 * math.pi, spring: Help = 0.2,
    ) -> None:  # fmt: skip
        """Say where to, how fast, how tightly and how far."""
        super().__init__(name)
        self.direction, self.speed, self.tightness = direction, speed, tightness
        self.turn, self.spring = turn, spring
        self._axis, self._rolled = np.array([0.0, 1.0, 0.0]), 0.0
        self._up_at, self._long = -1e9, False
        self._last = np.array([1.0, 0.0, 0.0, 0.0])

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body has come down and still goes somewhere, or when asked to."""
        if under_data(now):
            self._up_at = now.time
            return None
        felt = self.feel(now)
        if felt.height > 0.75:
            self._up_at = now.time
        pace = float(np.linalg.norm(felt.velocity[:2]))
        asked = now.request == self.name
        landed = bool(felt.touching - LEGS) and felt.velocity[2] > -SINKING
        if landed and float(np.linalg.norm(felt.velocity)) < STILL:
            self._up_at = -1e9  # it lies: what moves from here on gets up
        falling = landed and now.time - self._up_at < JUST and pace > BRISK
        if felt.height > LOW or not (asked or falling):
            return None
        return Bid(0.8, "asked to" if asked else f"is down and slides at {pace:.1f} m/s")

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Choose the axis: across the way it goes; who slides on front or back rolls over a side, not over the head."""
        way = flat(felt.velocity)
        if self.direction is not None:
            way = np.array([math.cos(felt.facing + self.direction), math.sin(felt.facing + self.direction)])
        self._axis = np.array([-way[1], way[0], 0.0])
        long = rotations.rotate(felt.turn, np.array([0.0, 0.0, 1.0]))[:2]
        self._long = self.direction is None and abs(float(long @ way)) > ALONG
        if self._long:
            sign = 1.0 if float(np.append(flat(long), 0.0) @ felt.spin) >= 0.0 else -1.0
            self._axis = sign * np.append(flat(long), 0.0)
        self._rolled, self._last, self._up_at = 0.0, felt.turn, -1e9

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Curl up, and lean on into the roll."""
        ahead = rotations.from_rotation_vector(self._axis * min(1.0, 0.2 * self.speed))
        lifted = self.lifted(LOG if self._long else tucked(self.tightness), rotations.multiply(ahead, felt.turn))
        return Aim(lifted, 0.5, self.spring, 0.08, FASTEST, held(0.5))

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It is over when it has rolled far enough or does not roll any more."""
        step = rotations.to_rotation_vector(rotations.multiply(felt.turn, rotations.conjugate(self._last)))
        self._rolled, self._last = self._rolled + float(step @ self._axis), felt.turn
        around = f"rolled {math.degrees(self._rolled):.0f}°"
        if self._rolled >= self.turn:
            return succeeded(around)
        if now.elapsed > 0.5 and float(np.linalg.norm(felt.velocity)) < 0.3:
            return self._over(f"{around} and came to rest")
        return self._over(around) if now.elapsed > 2.0 else RUNNING

    def _over(self, words: str) -> Status:
        """It was a roll if it got over a quarter turn."""
        return succeeded(words) if self._rolled >= LEAST else failed(f"only {words}")
