"""Crew that says later what could be said now."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

from stunt.stage.loop import StageLoop


class Cues:
    """Calls what it was given at its times, in the order in which it was given."""

    def __init__(self, stage: StageLoop) -> None:
        """Join the crew."""
        self._stage = stage
        self._waiting: list[tuple[int, Callable[[], Any]]] = []
        stage.crew.append(self)

    def add(self, time: float, action: Callable[[], Any]) -> None:
        """Call something at a time [s]."""
        entry = (max(self._stage.tick_of(time), self._stage.tick), action)
        bisect.insort_right(self._waiting, entry, key=lambda cue: cue[0])
        self._stage.crew.announce(self)

    def go_on(self, waiting: list[tuple[int, Callable[[], Any]]]) -> None:
        """Go on with what was to come elsewhere."""
        self._waiting = list(waiting)
        self._stage.crew.announce(self)

    def due(self) -> int | None:
        """Return the tick of the next one."""
        return self._waiting[0][0] if self._waiting else None

    def act(self) -> None:
        """Call what is due."""
        while self._waiting and self._waiting[0][0] <= self._stage.tick:
            self._waiting.pop(0)[1]()

    def save(self) -> Any:
        """Return what is still to come."""
        return list(self._waiting)

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._waiting = list(state)
