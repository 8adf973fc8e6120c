"""Those who may interrupt: who of them is asked at which look, so that hundreds cost no more than one.

While data is in charge most of them cannot have anything to say. A controller says when it can (`wakes`): once
something flies near, after a hit, or not before forces are in charge; under forces, some only once the body goes
elsewhere than its motion does. What flies, and who strays, is watched for by the compiled loop; only those who say
nothing of the kind are asked at every look, some at a time where there are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from stunt.character.character import Character
from stunt.control.loop.lookout import Lookouts
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import Controller

STRAYS: Final = 0.3
"""So much faster than its motion's a root may go until those are asked who bring it back [m/s]."""
MOST_ASKED: Final = 8
"""So many are asked at a look whether they interrupt; where there are more, they take turns."""


class Watchers:
    """Those who may interrupt one character's controller.

    Attributes:
        everyone: All of them, in the pool's order.
        restless: Whether someone wants to be asked at every look.
    """

    def __init__(self, stage: StageLoop, character: Character, actor: int, stride: int) -> None:
        """Post a look-out for the character, which looks every `stride` steps while it is wanted.

        Args:
            stage: Where.
            character: Who.
            actor: Its number with the world-space servo.
            stride: Physics steps between two looks.
        """
        self._stage, self._stride, self._watched = stage, stride, False
        self._post(character, actor)
        self.everyone: tuple[Controller, ...] = ()
        self.restless = False
        self._often: tuple[Controller, ...] = ()
        self._twice: tuple[Controller, ...] = ()  # the same, once more: for turns that go past the end
        self._flying: tuple[Controller, ...] = ()
        self._catching: tuple[Controller, ...] = ()
        self._turn = 0

    def _post(self, character: Character, actor: int) -> None:
        root, props = character.root, self._stage.built.props.values()
        assert root is not None  # supervised characters have free roots
        things = [(prop.body, prop.dof) for prop in props if prop.dof >= 0]
        self._lookouts = self._stage.board.companion(
            Lookouts, self._stage.model, self._stage.data, self._stage.board, things
        )
        self._number = self._lookouts.add(root.qpos, actor, self._stride)

    def move(self, character: Character, actor: int) -> None:
        """Look out on, on a stage with another cast."""
        old, before = self._lookouts, self._number
        self._post(character, actor)
        self._lookouts.carry(old, self._number, before)

    def sort(self, pool: Iterable[Controller], current: Controller, level: int) -> None:
        """List who may interrupt the one in charge, which counts for `level`."""
        self.everyone = tuple(c for c in pool if c.interrupts)
        able = [c for c in self.everyone if c is not current and c.priority > level]
        data = current.kinematic
        self._flying = tuple(c for c in able if data and _wakes(c) == "flying")
        self._catching = tuple(c for c in able if not data and _wakes(c) == "strays")
        self._often = tuple(c for c in able if _wakes(c) == "always" or not (data or _wakes(c) == "strays"))
        self._twice, self._turn = self._often + self._often, 0
        self.restless = bool(self._often)
        self._lookouts.for_flying(self._number, self._stage.tick if self._flying else None)
        self.look_after(math.inf, math.inf)

    def look_after(self, tilt: float, broken: float) -> None:
        """Ring once the character tilts further [rad], or its root spring has been broken longer [s]."""
        strays = STRAYS if self._catching else math.inf
        watched = min(tilt, broken, strays) < math.inf
        if self._watched or watched:
            self._lookouts.for_falling(self._number, tilt, broken, strays)
        self._watched = watched

    def group(self) -> Sequence[Controller]:
        """Return who is asked at this look, nothing having hit the character."""
        often, count = self._often, len(self._often)
        if count > MOST_ASKED:
            first, self._turn = self._turn, (self._turn + MOST_ASKED) % count
            often = self._twice[first : first + MOST_ASKED]
        return (*often, *self._flying, *self._catching) if self.rang else often

    @property
    def rang(self) -> bool:
        """Whether the look-out has seen something."""
        return (self._watched or bool(self._flying)) and bool(self._lookouts.rows["rang"][self._number])

    def calm(self) -> None:
        """Look out again."""
        if self._watched or self._flying:
            self._lookouts.rows["rang"][self._number] = 0

    def save(self) -> Any:
        """Return what must survive a restore, beside what `sort` finds again."""
        lookouts, n = self._lookouts, self._number
        return self._turn, self._watched, lookouts.rows[n].copy()

    def restore(self, state: Any) -> None:
        """Put it back."""
        lookouts, n = self._lookouts, self._number
        self._turn, self._watched, lookouts.rows[n] = state


def _wakes(controller: Controller) -> str:
    return getattr(controller, "wakes", "always")
