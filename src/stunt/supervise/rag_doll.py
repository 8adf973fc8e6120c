"""Controllers that can always take over: the last resort of every pool."""

from __future__ import annotations

from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import AWAKE, DOWN
from stunt.supervise.contract import IDLE, RUNNING, BaseController, Bid, Status, succeeded
from stunt.supervise.parameters import MetresPerSecond, Seconds
from stunt.supervise.situation import Situation

LIES, STANDS = 1.0, 0.4
"""Tilts beyond and below which a body lies and stands [rad]."""


class RagDoll(BaseController):
    """Let everything go until the body lies still; takes any character in any state."""

    name = "rag doll"
    priority = IDLE
    longest = 1e9

    def __init__(
        self, name: str = "", *, still: MetresPerSecond = 0.15, rest: Seconds = 0.5, tone: float = 0.0
    ) -> None:
        """Say when it lies, and how limp it is.

        Args:
            name: What it is called.
            still: Below which speed of the root a body lies [m/s].
            rest: How long it must [s].
            tone: Share of its strength that is left: with a little, a body that falls holds itself together.
        """
        super().__init__(name)
        self.still, self.rest, self.tone = still, rest, tone
        self._still_since, self._lay = -1.0, False

    def bid(self, now: Situation) -> Bid | float | None:
        """Always, but after everybody else."""
        return Bid(0.01, "always possible")

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Let go."""
        if self.tone > 0.0 and actor.rows is not None:
            actor.stun(self.tone, down=0.05, hold=1e9, up=1.0)
            actor.aim(actor.here, over=0.0)  # on its clip it would go on, however weakly, and push itself up again
        else:
            actor.go_limp()
        if not (actor.log and actor.log[-1].get("state") == DOWN):
            actor.note(DOWN, why=now.last.status.reason if now.last is not None else "")
        self._still_since, self._lay = -1.0, False

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Wait until it lies; somebody who lay and is put back on its feet is to stand."""
        self._lay |= now.tilt > LIES
        if self._lay and now.tilt < STANDS and actor.awake >= AWAKE:
            return succeeded("is upright again")
        if abs(now.root_velocity).max() > self.still:
            self._still_since = -1.0
        elif self._still_since < 0.0:
            self._still_since = now.time
        elif now.time - self._still_since > self.rest:
            return succeeded("lies still")
        return RUNNING
