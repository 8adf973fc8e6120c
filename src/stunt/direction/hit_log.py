"""The hits of a performance: crew with nothing to do but to remember."""

from __future__ import annotations

from stunt.stage.contacts import Hit
from stunt.stage.loop import Stage


class HitLog:
    """Notes every hit; part of a saved state, so that a restored performance lists each once."""

    def __init__(self, stage: Stage) -> None:
        """Listen to a stage."""
        self.hits: list[Hit] = []
        stage.hit_listeners.append(self.hits.append)
        stage.crew.append(self)

    def due(self) -> int | None:
        """Never: it is called when something is hit."""
        return None

    def act(self) -> None:
        """Do nothing."""

    def save(self) -> list[Hit]:
        """Return the hits so far."""
        return list(self.hits)

    def restore(self, state: list[Hit]) -> None:
        """Go back to the hits of then."""
        self.hits[:] = state
