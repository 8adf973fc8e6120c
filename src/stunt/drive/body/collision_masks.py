"""Who can push whom: collision masks of kinematic characters.

A kinematic body goes where its data goes; the ground cannot push it, and forces between it and the ground would only be
noise. So each character has a sign of its own: kinematic, it collides with whoever carries that sign — all movable
props, all other characters, and walls and furniture but those it stands on — and with nothing else. Two kinematic
characters still notice each other's blows.

A sign is a set of bits, a single one while there are enough. No sign contains another, so each has a bit that another
one lacks: whoever collides with all bits but its own collides with everybody else, and never with itself.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations, islice
from math import comb
from operator import or_
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.errors import StuntError
from stunt.stage.loop import StageLoop

_FIELDS: Final = ("geom_contype", "geom_conaffinity", "body_contype", "body_conaffinity")
_BITS: Final = tuple(1 << n for n in range(8, 31))  # below: whatever a model uses itself


_CARRIED: Final = 0.03  # [m] what is nearer below a body carries it
_UPRIGHT: Final = 0.7


def signs(count: int) -> list[int]:
    """Return so many sets of bits, as masks, none of which contains another.

    Raises:
        StuntError: There are not so many.
    """
    size = next((size for size in range(1, len(_BITS) // 2 + 1) if comb(len(_BITS), size) >= count), 0)
    if not size:
        raise StuntError(f"{count} characters are more than can be told apart on one stage.")
    return [sum(bits) for bits in islice(combinations(_BITS, size), count)]


class Pushes:
    """The masks of one character."""

    def __init__(self, stage: StageLoop, character: Character) -> None:
        """Give everyone who can be pushed by this character its bit."""
        self._stage, self._character, model = stage, character, stage.model
        self._walls = {name: prop.body for name, prop in stage.built.props.items() if prop.spec.stops}
        known = dict(zip(stage.built.characters, signs(len(stage.built.characters)), strict=True))
        self.sign = known[character.name]
        self._others = reduce(or_, known.values()) & ~self.sign
        own = np.array(sorted(character.geoms))
        self._geoms = own[(model.geom_contype[own] != 0) | (model.geom_conaffinity[own] != 0)]
        self._solid = np.unique(model.geom_bodyid[self._geoms])
        self._sums: tuple[Any, Any] | None = None  # what its bodies have in all while it is dynamic
        self._was = model.geom_contype[self._geoms].copy(), model.geom_conaffinity[self._geoms].copy()
        movable = [prop.body for prop in stage.built.props.values() if prop.dof >= 0 or prop.spec.counts_as_hit]
        movable += [
            b for other in stage.built.characters.values() if other is not character for b in other.bodies.values()
        ]
        self.let_push(movable)

    def let_push(self, bodies: list[int]) -> None:
        """Let the character push bodies while it is kinematic."""
        model = self._stage.model
        geoms = np.flatnonzero(np.isin(model.geom_bodyid, bodies) & (model.geom_contype != 0))
        # Somebody kinematic must not come to collide with itself by bits that two signs share.
        model.geom_conaffinity[geoms] |= self.sign & ~model.geom_contype[geoms]
        self._sum_up(np.asarray(bodies, int))

    def set_kinematic(self, kinematic: bool) -> None:
        """Change the character's own masks."""
        model = self._stage.model
        if self._walls:
            self._mind_walls(kinematic)
        if kinematic:
            model.geom_contype[self._geoms] = self.sign
            model.geom_conaffinity[self._geoms] = self._others
            model.body_contype[self._solid] = self.sign
            model.body_conaffinity[self._solid] = self._others
            return
        model.geom_contype[self._geoms] = self._was[0]
        model.geom_conaffinity[self._geoms] = self._was[1] | self._others
        if self._sums is None:
            self._sum_up(self._solid)
            self._sums = model.body_contype[self._solid].copy(), model.body_conaffinity[self._solid].copy()
        model.body_contype[self._solid], model.body_conaffinity[self._solid] = self._sums

    def _mind_walls(self, kinematic: bool) -> None:
        """Let walls and furniture stop it, but for what it stands on."""
        below = {name for name, body in self._walls.items() if kinematic and self._stands_on(body)}
        for name, body in self._walls.items():
            if name not in below:
                self.let_push([body])
                continue
            geoms = np.flatnonzero(self._stage.model.geom_bodyid == body)
            self._stage.model.geom_conaffinity[geoms] &= ~self.sign
        self._stage.watch.mind(self._character.name, kinematic, below)

    def _stands_on(self, body: int) -> bool:
        model, data = self._stage.model, self._stage.data
        mujoco.mj_kinematics(model, data)
        ends = np.zeros(6)
        for wall in np.flatnonzero(model.geom_bodyid == body):
            for own in self._geoms:
                if mujoco.mj_geomDistance(model, data, wall, own, _CARRIED, ends) < _CARRIED:
                    way = ends[3:] - ends[:3]
                    if way[2] > _UPRIGHT * float(np.linalg.norm(way)):
                        return True
        return False

    def _sum_up(self, bodies: Any) -> None:
        """The engine looks at bodies first, by what their geoms have in all."""
        model = self._stage.model
        for body in bodies:
            geoms = slice(int(model.body_geomadr[body]), int(model.body_geomadr[body] + model.body_geomnum[body]))
            model.body_contype[body] = np.bitwise_or.reduce(model.geom_contype[geoms], initial=0)
            model.body_conaffinity[body] = np.bitwise_or.reduce(model.geom_conaffinity[geoms], initial=0)

    def save(self) -> Any:
        """Return what must survive a restore."""
        return {name: getattr(self._stage.model, name).copy() for name in _FIELDS}

    def restore(self, state: Any) -> None:
        """Put it back."""
        for name, values in state.items():
            getattr(self._stage.model, name)[...] = values
