"""Targets shaped while they are followed: crew that looks a moment ahead and hands the servo a changed window of rows.

The clip's own rows stay as they are; what is handed over is a copy of the next fifth of a second. Whoever shapes it
(feet over uneven ground, absolute targets) sees the clip, never an earlier change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Protocol

import numpy as np

from stunt.control.servo.memory import ServoTargets
from stunt.drive.body.tracker import Tracker
from stunt.maths import rotations

WINDOW: Final = 0.2
"""Seconds that are handed over at a time."""
BEHIND: Final = 1.0 / 60.0
"""So much of what is over is handed over too: wanted velocities are measured around the moment."""
SHAPE_HZ: Final = 30.0


@dataclass(frozen=True, eq=False)
class Window:
    """A stretch of a clip's rows.

    Attributes:
        rows: A copy, to be changed.
        start: When its first row is due [s].
    """

    rows: ServoTargets
    start: float

    def times(self) -> rotations.Floats:
        """Return when each row is due [s], (F,)."""
        return self.start + np.arange(len(self.rows.turns)) / self.rows.fps


class TargetShape(Protocol):
    """One way of changing targets."""

    every_step: bool

    def shape(self, window: Window) -> Window:
        """Return a changed window."""

    def save(self) -> Any:
        """Return what must survive a restore."""

    def restore(self, state: Any) -> None:
        """Put it back."""


class Shaper:
    """Crew that shapes one tracker's targets.

    Attributes:
        shapes: What is done to each window, in this order.
    """

    def __init__(self, tracker: Tracker, shapes: Sequence[TargetShape]) -> None:
        """Start shaping.

        Args:
            tracker: Whose targets.
            shapes: What is done to them.
        """
        self.tracker, self.shapes = tracker, list(shapes)
        self._due = tracker.stage.tick
        tracker.stage.crew.append(self)

    @property
    def _stride(self) -> int:
        stage = self.tracker.stage
        if any(shape.every_step for shape in self.shapes):
            return stage.steps_per_control
        return max(1, round(1.0 / (SHAPE_HZ * stage.control_period))) * stage.steps_per_control

    def due(self) -> int:
        """Return when to shape next."""
        return self._due

    def act(self) -> None:
        """Hand the servo the next window."""
        tracker = self.tracker
        self._due = tracker.stage.tick + self._stride
        window = window_of(tracker.rows, tracker.started, tracker.stage.time)
        for shape in self.shapes:
            window = shape.shape(window)
        tracker.program.aim(tracker.number, window.rows, window.start)

    def save(self) -> Any:
        """Return what must survive a restore; the window itself is the program's."""
        return self._due, [shape.save() for shape in self.shapes]

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._due, shapes = state
        for shape, saved in zip(self.shapes, shapes, strict=True):
            shape.restore(saved)


def window_of(rows: ServoTargets, started: float, now: float, seconds: float = WINDOW) -> Window:
    """Return a copy of the rows from now on, and of a moment before."""
    first = int(np.clip(np.floor((now - BEHIND - started) * rows.fps), 0, len(rows.turns) - 1))
    last = min(first + max(2, round(seconds * rows.fps)), len(rows.turns) - 1)
    cut: dict[str, Any] = {}
    for entry in fields(rows):
        value = getattr(rows, entry.name)
        if isinstance(value, np.ndarray) and len(value) == len(rows.turns):
            cut[entry.name] = value[first : last + 1].copy()
    return Window(replace(rows, **cut), started + first / rows.fps)


class AbsoluteTargets:
    """World targets as the clip has them, whichever way the root is turned (the paper's "absolute coordinates").

    The servo lifts targets from the actual root; here the root's own turn and spin are taken out of them beforehand, so
    that what comes out is the clip's orientation in the world. Where nothing holds the root's heading (yaw off) that
    heading is left in: bones that kept the clip's compass directions on a root that turns away would be torn off it.
    """

    every_step = True

    def __init__(self, tracker: Tracker) -> None:
        """Take a tracker's root out of its targets."""
        self._tracker = tracker
        tracker.program.actors[tracker.number]["absolute"] = 1
        self._heads = tracker.root.kind == "hook" or (tracker.root.kind == "weak" and tracker.root.yaw > 0.0)

    def shape(self, window: Window) -> Window:
        """Express the clip's world orientations as seen from where the root is, and will be."""
        data, root = self._tracker.stage.data, self._tracker.character.root
        assert root is not None  # only free characters are taken on
        turn = data.qpos[root.qpos + 3 : root.qpos + 7]
        spin = data.qvel[root.dof + 3 : root.dof + 6]  # in the root's own frame
        ahead = window.times() - self._tracker.stage.time
        later = rotations.multiply(
            np.broadcast_to(turn, (len(ahead), 4)), rotations.from_rotation_vector(ahead[:, None] * spin)
        )
        turns = window.rows.turns.copy()
        held = turns[:, :1]
        if not self._heads:
            aside = np.zeros((len(turns), 1, 3))
            aside[:, 0, 2] = rotations.heading(later) - rotations.heading(turns[:, 0])
            held = rotations.multiply(rotations.from_rotation_vector(aside), held)
        world = rotations.multiply(held, turns[:, 1:])
        turns[:, 1:] = rotations.multiply(rotations.conjugate(later)[:, None], world)
        return replace(window, rows=replace(window.rows, turns=turns))

    def save(self) -> Any:
        """Nothing is remembered."""
        return None

    def restore(self, state: Any) -> None:
        """Nothing is remembered."""
