"""Getting up from any side: by the motion that begins most like the body lies."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from stunt import rotations
from stunt.direction.behaviours.base import Behaviour
from stunt.direction.behaviours.sense import Felt
from stunt.direction.motion_rows import Motion
from stunt.direction.supervisor.actor import Actor
from stunt.direction.supervisor.contract import RECOVERY, RUNNING, Bid, Status, failed, succeeded
from stunt.direction.supervisor.situation import Situation

_UP = np.array([0.0, 0.0, 1.0])
DOWN = 0.6
"""A root below this share of its standing height has something to get up from."""
BROKEN = 0.8
"""Seconds with a broken root spring after which it has failed."""


class GetUp(Behaviour):
    """Get up by following a motion.

    Attributes:
        motions: What to follow, by the side the body lies on.
        gather: How long going to the motion's first pose may take [s].
    """

    name = "get up"
    priority = RECOVERY
    longest = 12.0
    shared = ("sense", "drive", "motions")

    def __init__(self, motions: Mapping[str, Motion], name: str = "", *, gather: float = 0.6) -> None:
        """Say by which motions; they start lying and end standing."""
        super().__init__(name)
        self.motions, self.gather = dict(motions), gather
        self.side = next(iter(self.motions))

    def bid(self, now: Situation) -> Bid | None:
        """Offer when the body is down and at rest."""
        felt = self.feel(now)
        if felt.height > DOWN or float(np.linalg.norm(felt.velocity)) > 0.4:
            return None
        side, fit = self.nearest(felt)
        return Bid(0.5 + 0.5 * max(fit, 0.0), f"lies on its {side}", side)

    def nearest(self, felt: Felt) -> tuple[str, float]:
        """Return the motion whose first frame is tilted most like the body, and the cosine between them."""
        assert self.sense is not None
        stance = self.sense.anatomy.stance
        seen = {
            side: float(
                felt.up_seen
                @ rotations.rotate(
                    rotations.conjugate(rotations.multiply(motion.qpos[0, 3:7], rotations.conjugate(stance))), _UP
                )
            )
            for side, motion in self.motions.items()
        }
        side = max(seen, key=lambda name: seen[name])
        return side, seen[side]

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Follow the motion from the pose the body has."""
        felt = self.feel(now)
        self.side = bid.plan if bid.plan in self.motions else self.nearest(felt)[0]
        actor.recover()
        actor.follow(self.motions[self.side], blend=self.gather, actual=True)

    def step(self, now: Situation, actor: Actor) -> Status:
        """Wait for the motion's end, and see whether it stands."""
        felt = self.feel(now)
        if actor.broken_for > BROKEN:
            return failed(f"tipped over getting up from its {self.side}")
        if now.elapsed < self.motions[self.side].duration:
            return RUNNING
        if felt.height > 0.85 and felt.tilt < 0.5:
            return succeeded("stands")
        return failed(f"did not come up: {math.degrees(felt.tilt):.0f}° tilted at {felt.height:.2f} of its height")

    def stop(self, now: Situation, actor: Actor) -> None:
        """Nothing to give back."""
