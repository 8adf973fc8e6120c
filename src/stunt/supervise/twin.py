"""The tracking twin of a kinematic controller: the same motion, by forces (P2: the first to take over after a hit)."""

from __future__ import annotations

from collections.abc import Sequence

from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import Thresholds, feel
from stunt.supervise.contract import ORDINARY, BaseController, Bid, Controller, Status, failed, succeeded
from stunt.supervise.situation import Situation

SETTLE = 0.6
"""How long it tracks at least before data may take over again [s]."""
CALM = 0.4
"""How long nothing must have hit it [s]."""
ASK_EVERY = 0.2
TILT, BROKEN = 1.1, 0.2
"""Further tilted than this [rad], or with its root spring broken for longer [s], it has lost its balance."""
STAYS = 1e9
"""How long it may track where it is to stay [s]: for good."""
SOON = 0.1
"""With less of the motion left than this [s] it takes more of it along."""


class Twin(BaseController):
    """Tracks what its kinematic brother was playing, until the body is back in the data's reach or out of its own.

    Attributes:
        brother: Whose twin.
        thresholds: How hard a hit must be to stun or fell it.
        stays: Whether it goes on tracking even where data could take over (see `Supervisor.keep_to_forces`).
    """

    longest = 120.0
    shared = ("brother", "thresholds")

    def __init__(self, brother: Controller, thresholds: Thresholds | None = None) -> None:
        """Become somebody's twin."""
        super().__init__(self.name_for(brother.name))
        self.brother, self.thresholds = brother, thresholds or Thresholds()
        self.priority, self.low = min(brother.priority, ORDINARY), bool(getattr(brother, "low", False))
        self._hit_at, self._ask_at = -1e9, 0.0
        self.stays = False

    @staticmethod
    def name_for(name: str) -> str:
        """Return what the twin of a controller is called."""
        return f"{name} (tracking)"

    def bid(self, now: Situation) -> Bid | float | None:
        """Only its brother's motion, and only right after him: see `Supervisor`."""
        return None

    def start(self, now: Situation, actor: BodyActor, bid: Bid) -> None:
        """Go on by forces from where data was."""
        actor.recover()
        actor.lean(None)
        actor.keep_on()
        self._hit_at = self._ask_at = now.time
        self.longest = STAYS if self.stays else type(self).longest
        self._feel(now, actor)

    def stay(self, stays: bool) -> None:
        """Go on tracking even where data could take over; False: no longer, but nobody is hurried."""
        self.stays = stays
        self.longest = STAYS if stays else self.longest

    def step(self, now: Situation, actor: BodyActor) -> Status:
        """Track; give way to blows."""
        if self._feel(now, actor):
            return failed("hit too hard to go on")
        if actor.broken_for > BROKEN or now.tilt > TILT:
            return failed("lost its balance")
        calm_at = max(now.time - now.elapsed + SETTLE, self._hit_at + CALM, self._ask_at + ASK_EVERY)
        if self.stays:
            calm_at = now.time + STAYS
        elif now.pushed:
            calm_at = now.time + ASK_EVERY
        elif now.time > calm_at:
            self._ask_at, calm_at = now.time, now.time + ASK_EVERY
            if self.brother.bid(now) is not None:
                return succeeded("the data is in reach again")
        if actor.left < SOON:
            actor.keep_on()
            if actor.left < 0.05:
                return succeeded("the motion ended")
        wake = max(min(calm_at - now.time + 1e-6, actor.left - 0.5 * SOON), 0.0)
        return Status("running", wake=wake, tilt=TILT, broken=BROKEN)

    def _feel(self, now: Situation, actor: BodyActor) -> bool:
        """Give way to what hit it; return whether it is too much."""
        if now.hits:
            self._hit_at = now.time
        return feel(actor, now.hits, self.thresholds, blows=now.blows)


def with_twins(pool: Sequence[Controller]) -> list[Controller]:
    """Return a pool in which every kinematic controller has a twin; those that have one keep it."""
    names = {controller.name for controller in pool}
    made = [Twin(c) for c in pool if c.kinematic and Twin.name_for(c.name) not in names]
    return [*pool, *made]
