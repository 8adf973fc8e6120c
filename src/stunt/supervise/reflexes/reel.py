"""Reeling from a blow: for a moment the knees give, and then one is up or is not.

What people strike with hands and feet counts by what it gives in all (`stunt.stage.blows`): a blow that may fell
somebody takes all strength away, a lighter one some of it for a shorter time. What things do counts by their force.
"""

from __future__ import annotations

from stunt.stage.blows import FELLS, HEAD, STAGGERS, TRUNK, Struck
from stunt.supervise.contract import REFLEX, RUNNING, Bid, Status, failed
from stunt.supervise.reflexes.base import Aim, Hearing
from stunt.supervise.reflexes.lie import at_rest
from stunt.supervise.reflexes.senses import Felt
from stunt.supervise.situation import Situation

LONGEST = 1.5
"""Nobody reels longer [s]: it is down by then."""
DAZED = 0.6
"""Nor longer than this after a blow [s]: hands go out then."""
STEADY = 0.5
"""How stiff is who only staggers, after the lightest blow that makes one."""


class Reel(Hearing):
    """Lose most of one's strength after a hard blow at head or trunk.

    Attributes:
        head: Force of a hit by a thing at the head that is too much, in body weights.
        trunk: The same at the trunk.
        lasts: How long it takes, per body weight of force, and after a blow that just fells [s].
        tone: How stiff the body is meanwhile.
        fells: What a person's blow has to give at the head, and at the trunk, to fell [N·s].
    """

    name = "reel"
    priority = REFLEX - 1
    interrupts = True
    longest = 3.0
    fresh = 0.15

    def __init__(
        self,
        name: str = "",
        *,
        head: float = 1.0,
        trunk: float = 2.0,
        lasts: float = 0.5,
        tone: float = 0.02,
        head_blow: float = FELLS["head"],
        trunk_blow: float = FELLS["trunk"],
    ) -> None:
        """Say how much is too much [body weights; N·s], and for how long [s, each of these]."""
        super().__init__(name)
        self.head, self.trunk, self.lasts, self.tone = head, trunk, lasts, tone
        self.fells = {"head": head_blow, "trunk": trunk_blow}
        self._until, self._stiff = 0.0, tone

    def bid(self, now: Situation) -> Bid | None:
        """Offer right after a blow that was too much."""
        blow = max(now.blows, key=self._worth, default=None)
        if blow is not None and self._worth(blow) >= STAGGERS and self.feel(now).height >= 0.7:
            worth, size = self._worth(blow), f"{blow.size:.0f} N·s"
            why, hurts = f"struck on the {blow.body} by '{blow.by}' with {size}", REFLEX + 1 if worth >= 1.0 else None
            return Bid(min(1.0, 0.5 * worth), why, worth, priority=hurts)  # who is knocked out takes no step
        if (hit := self.heard(now)) is None or hit.by in now.stage.built.characters:
            return None
        felt = self.feel(now)
        weights = hit.force / (self.anatomy.mass * 9.81)
        if weights < (self.head if hit.body in HEAD else self.trunk) or felt.height < 0.7:
            return None
        why = f"hit on the {hit.body} by '{hit.by}', {weights:.1f} body weights"
        return Bid(min(1.0, 0.3 * weights), why, max(weights, 1.0), priority=self.priority)

    def _worth(self, blow: Struck) -> float:
        return blow.worth(self.fells)

    def minds(self, body: str) -> bool:
        """Whether a hit on a body may be too much."""
        return body in (*HEAD, *TRUNK)

    def prepare(self, now: Situation, felt: Felt, bid: Bid) -> None:
        """Forget the blow: it stuns once."""
        self._heard, worth = None, float(bid.plan or 1.0)
        longest = LONGEST if bid.priority == self.priority else DAZED
        self._until = now.time + min(longest, self.lasts * worth)
        self._stiff = max(self.tone, STEADY * (1.0 - worth) / (1.0 - STAGGERS))

    def want(self, now: Situation, felt: Felt) -> Aim:
        """Let limbs and knees give."""
        return Aim(self.lifted(at_rest(), felt.turn), self._stiff, 0.0, 0.3)

    def judge(self, now: Situation, felt: Felt) -> Status:
        """It wears off; whoever can must catch it then."""
        return RUNNING if now.time < self._until else failed("came to itself")
