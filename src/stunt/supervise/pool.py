"""Who may be in charge of one character: the pool, what its members bid, and who of them is best.

Whoever breaks the contract while it is asked is told of at once (`Pool.broke`) and taken as not bidding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from stunt.supervise.calls import MISTAKES, BrokenContract, as_broken, ask_bid, checked_bid
from stunt.supervise.contract import Bid, Controller
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.situation import Situation
from stunt.supervise.twin import Twin, with_twins

STANDS: Final = 0.3
"""A root that leans less than this [rad] still stands."""


class Pool(dict[str, Controller]):
    """Controllers by name, tracking twins and the last resort included, in the order that decides between equals.

    Attributes:
        safe: The last resort, which takes any state.
        removed: Controllers that were taken out, with the reason.
        broke: Told of whoever breaks the contract.
    """

    def __init__(
        self, members: Sequence[Controller], safe: Controller | None, broke: Callable[[Situation, BrokenContract], None]
    ) -> None:
        """Take members in, with twins of those on data and a last resort.

        Args:
            members: Who may be in charge.
            safe: Last resort; None: a rag doll, the pool's own if it has one.
            broke: Told of whoever breaks the contract.
        """
        self.safe: Controller = safe or next((c for c in members if isinstance(c, RagDoll)), None) or RagDoll()
        self.removed: dict[str, str] = {}
        self.broke = broke
        everyone = with_twins([*members, *([] if self.safe in members else [self.safe])])
        super().__init__({controller.name: controller for controller in everyone})

    def twin_of(self, controller: Controller) -> Controller:
        """Return who goes on by forces with what a controller plays; the last resort where nobody does."""
        return self.get(Twin.name_for(controller.name)) or self.safe

    def take_out(self, broken: BrokenContract) -> None:
        """Take out who broke the contract, and its twin; a last resort is followed by another."""
        bad = broken.controller
        if bad is self.safe:
            self.safe = RagDoll("rag doll" if bad.name != "rag doll" else "last resort")
            self[self.safe.name] = self.safe
        self.removed[bad.name] = broken.reason
        self.pop(bad.name, None)
        self.pop(Twin.name_for(bad.name), None)

    # ---- bidding

    def bids(self, now: Situation, controllers: Sequence[Controller]) -> dict[str, Bid]:
        """Return what controllers bid; those who cannot take over bid nothing."""
        found = {c.name: self.bid_of(c, now) for c in controllers}
        return {name: bid for name, bid in found.items() if bid is not None and name in self}

    def bid_of(self, controller: Controller, now: Situation) -> Bid | None:
        """Return what a controller bids."""
        try:
            return ask_bid(controller, now)
        except BrokenContract as broken:
            self.broke(now, broken)
            return None

    def bids_above(self, level: int, now: Situation, asked: Iterable[Controller]) -> dict[str, Bid]:
        """Return what those bid who count for more than a priority."""
        bids: dict[str, Bid] = {}
        for controller in asked:
            try:
                answer = controller.bid(now)
                if answer is None:
                    continue
                bid = checked_bid(controller, answer)
            except MISTAKES as error:  # whatever it is, the character goes on
                self.broke(now, as_broken(controller, "bid", error))
                continue
            if priority(controller, bid) > level:
                bids[controller.name] = bid
        return bids

    def data_if_asked(self, look: Callable[[], Situation]) -> dict[str, Bid]:
        """Return what data would bid for a body that stands, were it asked for; what waits to be asked stays out."""
        bids: dict[str, Bid] = {}
        for controller in [c for c in self.values() if c.kinematic and not getattr(c, "only_asked", False)]:
            now = look()
            now.request = controller.name
            bids |= self.bids(now, [controller]) if now.tilt < STANDS else {}
        return bids

    def best(self, bids: dict[str, Bid]) -> Controller:
        """Return the winner: priority, then score, then place in the pool."""
        names = list(self)
        return max(
            (self[name] for name in bids),
            key=lambda c: (priority(c, bids[c.name]), bids[c.name].score, -names.index(c.name)),
        )

    # ---- saving

    def save(self) -> Any:
        """Return everything that must survive a restore."""
        return {name: (controller, controller.save()) for name, controller in self.items()}, self.safe, {**self.removed}

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        states, self.safe, removed = state
        self.clear()
        self.update({name: controller for name, (controller, _) in states.items()})
        self.removed = {**removed}
        for controller, saved in states.values():
            controller.restore(saved)


def priority(controller: Controller, bid: Bid) -> int:
    """Return how much a bid counts for: its own priority, else its controller's."""
    return controller.priority if bid.priority is None else bid.priority
