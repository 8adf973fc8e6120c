"""Crew that hands a tracker its clips: one after another, waiting while the character is down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from stunt.drive.body.reactions import DOWN, RISING, Reactions
from stunt.drive.body.tracker import Tracker
from stunt.drive.motion.body_motion import BodyMotion
from stunt.stage.loop import StageLoop

_LOOK = 1.0 / 15.0  # how often a character that may fall is looked at [s]


@dataclass(frozen=True, eq=False)
class Turn:
    """One clip and when it is its turn.

    Attributes:
        motion: What.
        at: When [s]; None: when the one before it ends.
        blend: How long going over to it takes [s].
        facing: How the hips are turned in its first frame, from where it is said to face [rad].
    """

    motion: BodyMotion
    at: float | None = None
    blend: float = 0.3
    facing: float = 0.0


class ClipQueue:
    """Hands a tracker its clips at their times."""

    def __init__(
        self,
        stage: StageLoop,
        tracker: Tracker,
        turns: list[Turn],
        *,
        repeat: bool = False,
        toward: str | None = None,
        reactions: Reactions | None = None,
    ) -> None:
        """Queue clips; the first one is being followed already.

        Args:
            stage: Where.
            tracker: Who follows them.
            turns: The clips.
            repeat: Whether they begin again.
            toward: The character to turn to with every clip.
            reactions: Says when the character is down; it waits until it stands again.
        """
        self._stage, self.tracker = stage, tracker
        self._turns, self._repeat, self._reactions = turns, repeat, reactions
        self._other = stage.character(toward) if toward is not None else None
        self._next, self._round = 1, 0
        self._at = self._time_of_next(0.0)
        self._was_down, self._look_at = False, stage.time + _LOOK
        stage.crew.append(self)

    def _time_of_next(self, now: float) -> float:
        """Return when the next clip is due [s]; infinity: never."""
        if self._next >= len(self._turns):
            if not self._repeat:
                return math.inf
            self._next, self._round = 0, self._round + 1
        at = self._turns[self._next].at
        before = self._turns[self._next - 1].motion
        return now + before.duration if at is None or self._round else at

    @property
    def _may_fall(self) -> bool:
        return self._reactions is not None and bool(self._reactions.get_up)

    def due(self) -> int | None:
        """Return the tick of the next change or look."""
        if self._may_fall:
            return self._stage.tick_of(min(self._at, self._look_at))
        return self._stage.tick_of(self._at) if math.isfinite(self._at) else None

    def act(self) -> None:
        """Go over to the next clip, unless the character is down."""
        now, down = self._stage.time, self._reactions is not None and self._reactions.state in (DOWN, RISING)
        self._look_at = now + _LOOK
        if down:
            self._was_down = True
            self._at = max(self._at, self._look_at)
            return
        stands_again, self._was_down = self._was_down, False
        if now >= self._at - 1e-9 or stands_again:
            self._play(now)

    def _play(self, now: float) -> None:
        if self._next >= len(self._turns):  # it was the last one when the character fell: go on with it
            self._next = len(self._turns) - 1
        turn = self._turns[self._next]
        self._next += 1
        self._at = self._time_of_next(now)
        if self._other is None:
            self.tracker.play(turn.motion, blend=turn.blend)
        else:
            self.tracker.play(self._aimed(turn), blend=turn.blend, place=False)

    def _aimed(self, turn: Turn) -> BodyMotion:
        """Return a motion where the character is, facing the other one."""
        roots = [who.root for who in (self.tracker.character, self._other) if who is not None]
        data = self._stage.data
        mine, theirs = (data.qpos[root.qpos : root.qpos + 7] for root in roots if root is not None)
        facing = math.atan2(theirs[1] - mine[1], theirs[0] - mine[0]) + turn.facing
        return turn.motion.placed((float(mine[0]), float(mine[1])), facing)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._next, self._round, self._at, self._was_down, self._look_at

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._next, self._round, self._at, self._was_down, self._look_at = state
