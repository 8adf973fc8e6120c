"""A crowd: who of many is under forces, and who only on data.

Data costs a body a fraction of what forces do, and far away nobody sees the difference. So the nearest to a point (a
camera, a hero) are kept under forces, as many as one can afford; the others are where their data has them. Whoever is
pushed or touched is under forces in the very step, wherever it is, and goes back to data once it is calm and data is in
its reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from stunt.errors import NO_NUMBERS, InvalidValueError, StuntError, UnknownNameError, must_be
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.supervisor import Supervisor

LOOK_HZ: Final = 5.0
"""How often it is looked at who is near."""
HOLD: Final = 1.0
"""How long who was touched is kept to forces at least [s]."""
MARGIN: Final = 1.0
"""How much nearer than one under forces somebody must be to take its turn [m]: else two who walk side by side would
take turns all the time."""

Spot = Sequence[float] | str


class Crowd:
    """Crew that keeps the nearest of many supervised people under forces, and whoever is touched.

    Attributes:
        stage: Where they are.
        people: Who belongs to it, by name.
        least: So many are under forces at all times.
    """

    def __init__(
        self,
        stage: StageLoop,
        least: int,
        *,
        near: Spot = (0.0, 0.0, 0.0),
        people: Sequence[str] | None = None,
        margin: float = MARGIN,
        hold: float = HOLD,
    ) -> None:
        """Look after people who have a pool of controllers with data in it (`Actor.supervise`).

        Args:
            stage: Where they are.
            least: How many are under forces at all times: the nearest ones.
            near: To what: a point [m], `(x, y)` or `(x, y, z)`, or somebody's name; may be changed at any time.
            people: Who; None: everybody with such a pool.
            margin: How much nearer somebody must be to take another's turn [m].
            hold: How long who was touched is kept to forces at least [s].

        Raises:
            StuntError: There is nobody of that name, one has no data, or there are fewer than `least`.
        """
        must_be("the stage", stage, StageLoop)
        self.stage = stage
        self.people = tuple(_with_data(stage) if people is None else people)
        self._supervisors = [_supervisor(stage, name) for name in self.people]
        if isinstance(least, bool) or not isinstance(least, int) or not 0 <= least <= len(self.people):
            raise InvalidValueError("least", least, f"a whole number from 0 to {len(self.people)}, all there are")
        self.least, self._margin, self._hold = least, _amount("margin", margin), _amount("hold", hold)
        self._number = {name: k for k, name in enumerate(self.people)}
        self._roots = np.array([s.actor.slices[0].start for s in self._supervisors], int)[:, None] + np.arange(3)
        self._kept = np.zeros(len(self.people), bool)
        self._until = np.full(len(self.people), -math.inf)
        self._stride = max(1, round(1.0 / (LOOK_HZ * stage.step_time)))
        self._due = stage.tick
        self._near: Spot = ()
        self.near = near
        stage.hit_listeners.append(self._hit)
        stage.crew.append(self)
        self.act()

    @property
    def near(self) -> Spot:
        """To what they are near: a point [m], or somebody's name."""
        return self._near

    @near.setter
    def near(self, near: Spot) -> None:
        if isinstance(near, str):
            self.stage.character(near)
            self._near = near
            return
        try:
            point = tuple(float(x) for x in near)
        except NO_NUMBERS:
            point = ()
        if len(point) not in (2, 3) or not all(math.isfinite(x) for x in point):
            raise InvalidValueError("near", near, "two or three finite numbers of metres, or somebody's name")
        self._near = point if len(point) == 3 else (*point, 0.0)

    @property
    def under_forces(self) -> tuple[str, ...]:
        """Who is under forces now."""
        return tuple(s.name for s in self._supervisors if not s.actor.kinematic)

    @property
    def on_data(self) -> tuple[str, ...]:
        """Who is where data has it now."""
        return tuple(s.name for s in self._supervisors if s.actor.kinematic)

    def _spot(self) -> Any:
        """Return where they are to be near [m], (3,)."""
        if isinstance(self._near, str):
            return self.stage.data.xpos[self.stage.character(self._near).root_body]
        return np.asarray(self._near)

    def _hit(self, hit: Hit) -> None:
        """Hear that somebody was touched."""
        number = self._number.get(hit.character)
        if number is None:
            return
        who = self._supervisors[number]
        if who.relation.counts(self.stage, who.character, who.current, hit.by):
            self._until[number] = self.stage.time + self._hold
            if not self._kept[number]:
                self._due = self.stage.tick
                self.stage.crew.announce(self)

    # ---- crew

    def due(self) -> int:
        """Return when to look next."""
        return self._due

    def act(self) -> None:
        """Decide who is under forces."""
        self._due = self.stage.tick + self._stride
        far = np.linalg.norm(self.stage.data.qpos[self._roots] - self._spot(), axis=1)
        far[self._kept] -= self._margin
        chosen = np.zeros(len(self.people), bool)
        chosen[np.argsort(far, kind="stable")[: self.least]] = True
        wanted = chosen | (self._until > self.stage.time)
        for number in np.flatnonzero(wanted & ~self._kept):
            why = f"one of the {self.least} nearest" if chosen[number] else "touched"
            self._supervisors[number].keep_to_forces(why=why)
        for number in np.flatnonzero(self._kept & ~wanted):
            self._supervisors[number].keep_to_forces(False)
        self._kept = wanted

    def save(self) -> Any:
        """Return what must survive a restore."""
        return self._near, self._kept.copy(), self._until.copy(), self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._near, kept, until, self._due = state
        self._kept, self._until = kept.copy(), until.copy()


def _with_data(stage: StageLoop) -> list[str]:
    """Return who has data in its pool, in the order of the stage."""
    return [name for name in stage.characters if _has_data(stage, name)]


def _has_data(stage: StageLoop, name: str) -> bool:
    body = stage.actors.get(name)
    driver = None if body is None else body.driver
    return driver is not None and any(controller.kinematic for controller in driver.pool.values())


def _supervisor(stage: StageLoop, name: object) -> Supervisor:
    if not isinstance(name, str) or name not in stage.characters:
        raise UnknownNameError("character", str(name), stage.characters)
    if not _has_data(stage, name):
        raise StuntError(f"'{name}' cannot be on data: first give it a pool with clips in it, by `supervise`.")
    supervisor: Supervisor = stage.actors[name].driver
    return supervisor


def _amount(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (math.isfinite(value) and value >= 0.0):
        raise InvalidValueError(what, value, "a number of at least 0")
    return float(value)
