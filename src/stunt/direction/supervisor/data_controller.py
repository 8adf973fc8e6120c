"""What kinematic controllers share: entered where data is most like the character's state, kept on while it is."""

from __future__ import annotations

from typing import Final

from stunt.direction.supervisor.contract import ORDINARY, BaseController
from stunt.direction.supervisor.similarity import Match, Similarity
from stunt.direction.supervisor.situation import Situation

THRESHOLD: Final = 0.06
"""Distance up to which a frame is alike enough to go on from [rad, see `similarity`]. Standing and walking are 0.05
apart, standing and lying 0.25; a body that tracks a walk is within 0.013 of it."""
HIT_THRESHOLD: Final = 0.012
"""The same for the state a blow would leave: about what 7 kg·m/s at the chest do."""
BLEND: Final = 0.5
"""How long going over to data takes [s] (the paper's 15 frames at 30 Hz)."""
WANTED: Final = 3.0
"""What the user asks for may begin this much further away."""


class DataController(BaseController):
    """Plays data, entered at the frame most like the character's state.

    Attributes:
        threshold: Up to which distance it bids.
        hit_threshold: Up to which distance of the state a blow would leave it goes on. High: hits do not stop it, and
            it pushes what is in the way.
        blend: How long going over takes [s].
        only_asked: Whether it bids only when the user asks for it (or while it plays).
    """

    kinematic = True
    longest = 3600.0

    def __init__(
        self,
        name: str,
        similarity: Similarity,
        *,
        threshold: float = THRESHOLD,
        hit_threshold: float = HIT_THRESHOLD,
        blend: float = BLEND,
        priority: int = ORDINARY,
        only_asked: bool = False,
    ) -> None:
        """Prepare data.

        Args:
            name: What it is called.
            similarity: Finds the frame most like a state.
            threshold: Up to which distance it bids.
            hit_threshold: Up to which distance of the state a blow would leave.
            blend: How long going over takes [s].
            priority: Of its bids.
            only_asked: Whether it bids only when the user asks for it (or while it plays).
        """
        super().__init__(name)
        self._similarity = similarity
        self.threshold, self.hit_threshold, self.blend = threshold, hit_threshold, blend
        self.priority, self.only_asked = priority, only_asked

    @property
    def playing(self) -> bool:
        """Whether it is in charge."""
        raise NotImplementedError

    def may_bid(self, now: Situation) -> bool:
        """Whether it is its turn at all: it plays, is asked for, or need not be."""
        return self.playing or now.request == self.name or not self.only_asked

    def opens(self, now: Situation) -> bool:
        """Whether the performance begins now, and nothing went before."""
        return now.last is None and now.elapsed == 0.0 and not self.playing

    def limit(self, now: Situation) -> float:
        """Return how far data may be from the state it is asked about [rad]."""
        if now.struck:
            return self.hit_threshold
        return self.threshold * (WANTED if now.request == self.name else 1.0)

    def nearest(self, now: Situation) -> Match | None:
        """Return the frame to go on from; None where none is alike enough."""
        return self._similarity.best(now.qpos, now.qvel, self.limit(now))
