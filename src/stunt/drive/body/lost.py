"""Whether a body still follows its clip: one that lies where it should stand, or looks elsewhere, has lost it."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.reactions import DOWN, FOLLOWING, RISING
from stunt.maths import rotations
from stunt.maths.rotations import Floats

LOST: Final = "lost"
TOO_LOW: Final = 0.4
"""A root lower than the clip's by more than this share of its height has lost the clip."""
ASIDE: Final = math.radians(30.0)
"""And one that is turned about the vertical from the clip's by more than this [rad]."""
BACK: Final = 0.6
"""It follows again once it is off by less than this share of both."""
LEAST: Final = 0.25
"""Heights count as at least this share of the clip's highest: who lies may lie a little lower."""
PATIENCE: Final = 0.25
"""How long it has to be so before it counts [s]."""
LOOK_HZ: Final = 8.0
_UPRIGHT = 0.5  # cosine of a root's tilt beyond which it has no heading


def off_clip(own: Floats, wanted: Floats, highest: float) -> Floats:
    """Return how far roots are off their clip's, in parts of what is too far, (...): 1 and more is lost.

    Args:
        own: Places and turns of roots, (..., 7), heights above the floor they stand on.
        wanted: Those of the clip, likewise.
        highest: How high the clip's root is at most [m].
    """
    low = (wanted[..., 2] - own[..., 2]) / np.maximum(wanted[..., 2], LEAST * highest)
    ups = [rotations.rotate(some[..., 3:7], np.array([0.0, 0.0, 1.0]))[..., 2] for some in (own, wanted)]
    aside = np.abs(rotations.heading(rotations.multiply(own[..., 3:7], rotations.conjugate(wanted[..., 3:7]))))
    aside = np.where((ups[0] > _UPRIGHT) & (ups[1] > _UPRIGHT), aside, 0.0)
    return np.asarray(np.maximum(low / TOO_LOW, aside / ASIDE))


class Watch:
    """Crew that notes when a character that follows a clip has lost it, and when it has found it again."""

    def __init__(self, actor: BodyActor) -> None:
        """Watch a character; one that is down, gets up or follows nothing is left alone."""
        self.actor, self.lost = actor, False
        self._since: float | None = None
        self._due = actor.stage.tick
        actor.attend(self)

    def due(self) -> int | None:
        """Return when to look next; never while it follows nothing."""
        return self._due if self.actor.follows else None

    def act(self) -> None:
        """Look at the root."""
        actor, stage = self.actor, self.actor.stage
        self._due = stage.tick + max(1, round(1.0 / (LOOK_HZ * stage.step_time)))
        wanted, rows = actor.wanted_at(stage.time), actor.rows
        if wanted is None or rows is None:
            return
        if actor.said in (DOWN, RISING):  # it says itself that it does not follow
            self.lost, self._since = False, None
            return
        floor = np.array([0.0, 0.0, actor.floor, 0.0, 0.0, 0.0, 0.0])
        off = float(off_clip(actor.here[:7] - floor, wanted[:7] - floor, float(rows.path[:, 2].max()) - actor.floor))
        if off < BACK if self.lost else off > 1.0:
            self._since = stage.time if self._since is None else self._since
            if stage.time - self._since >= PATIENCE:
                self.lost, self._since = not self.lost, None
                actor.note(LOST if self.lost else FOLLOWING, off=off)
        else:
            self._since = None

    def move(self, by: Renumbered) -> bool:
        """Go on, if whom it watches does."""
        return self.actor.character.name in self.actor.stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self.lost, self._since, self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        self.lost, self._since, self._due = state
