"""Controllers that can always take over: the last resort of every pool."""

from __future__ import annotations

from stunt.drive.body.actor import Actor
from stunt.supervise.contract import IDLE, RUNNING, BaseController, Bid, Status, succeeded
from stunt.supervise.parameters import MetresPerSecond, Seconds
from stunt.supervise.situation import Situation


class RagDoll(BaseController):
    """Let everything go until the body lies still; takes any character in any state."""

    name = "rag doll"
    priority = IDLE
    longest = 1e9

    def __init__(self, name: str = "", *, still: MetresPerSecond = 0.15, rest: Seconds = 0.5) -> None:
        """Say below which speed of the root a body lies [m/s], and how long it must [s]."""
        super().__init__(name)
        self.still, self.rest = still, rest
        self._still_since = -1.0

    def bid(self, now: Situation) -> Bid | float | None:
        """Always, but after everybody else."""
        return Bid(0.01, "always possible")

    def start(self, now: Situation, actor: Actor, bid: Bid) -> None:
        """Let go."""
        actor.go_limp()
        self._still_since = -1.0

    def step(self, now: Situation, actor: Actor) -> Status:
        """Wait until it lies."""
        if abs(now.root_velocity).max() > self.still:
            self._still_since = -1.0
        elif self._still_since < 0.0:
            self._still_since = now.time
        elif now.time - self._still_since > self.rest:
            return succeeded("lies still")
        return RUNNING
