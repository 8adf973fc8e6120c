"""Reeling from a blow: for a moment the knees give, and then one is up or is not."""

from __future__ import annotations

from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, failed
from stunt.supervise.reflexes.base import Aim, Hearing
from stunt.supervise.reflexes.lie import at_rest
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

HEAD = ("head", "neck")
TRUNK = ("thorax", "spine2", "lumbar", "pelvis")
LONGEST = 1.5
"""Nobody reels longer [s]: it is down by then."""


class Reel(Hearing):
    """Lose most of one's strength after a hard blow at head or trunk.

    Attributes:
        head: Force of a hit at the head that is too much, in body weights.
        trunk: The same at the trunk.
        lasts: How long it takes, per body weight of force [s].
        tone: How stiff the body is meanwhile.
    """

    name = "reel"
    priority = REFLEX - 1
    interrupts = True
    longest = 3.0
    fresh = 0.15

    def __init__(
        self, name: str = "", *, head: float = 1.0, trunk: float = 2.0, lasts: float = 0.5, tone: float = 0.02
    ) -> None:
        """Say how much is too much [body weights], and for how long [s per body weight]."""
        super().__init__(name)
        self.head, self.trunk, self.lasts, self.tone = head, trunk, lasts, tone
        self._until = 0.0

    def bid(self, now: Situation) -> Bid | None:
        """Offer right after a blow that was too much."""
        if (hit := self.heard(now)) is None:
            return None
        felt = self.feel(now)
        weights = hit.force / (self.anatomy.mass * 9.81)
        if weights < (self.head if hit.body in HEAD else self.trunk) or felt.height < 0.7:
            return None
        return Bid(min(1.0, 0.3 * weights), f"hit on the {hit.body} by '{hit.by}', {weights:.1f} body weights", weights)

    def minds(self, body: str) -> bool:
        """Whether a hit on a body may be too much."""
        return body in (*HEAD, *TRUNK)

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Forget the blow: it stuns once."""
        self._heard = None
        self._until = now.time + min(LONGEST, self.lasts * float(bid.plan or 1.0))

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Let limbs and knees give."""
        return Aim(self.lifted(at_rest(), felt.turn), self.tone, 0.0, 0.3)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It wears off; whoever can must catch it then."""
        return RUNNING if now.time < self._until else failed("came to itself")
