"""Hits: what counts as one for whom, and whether data goes on under it (P2).

A directed relation between things and a character, changing with the controller in charge. Under full simulation
everything is active. While data is in charge, the ground and what it stands on are passive, so is what the character
holds itself, and whatever the controller in charge declares (`passive`); all else is active: what moves, walls and
furniture, pushes and drags. Passive things are still pushed; they only change nothing in who is in charge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.body.actor import BodyActor
from stunt.drive.motion.layout import own_slices
from stunt.stage.contacts import Hit
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import Bid, Controller
from stunt.supervise.pool import Pool
from stunt.supervise.situation import Situation

INTO: Final = 0.003
"""So deep in a wall a character cannot go on with its data [m]."""
FLESH: Final = 0.01
"""Nor so deep in somebody else [m]: forces between them are what two bodies can give each other."""
ALERT: Final = 0.15
"""How long after a touch a kinematic character is looked after more closely [s]."""
MOST_BACK: Final = 6
"""Within at most so many physics steps it was outside."""


@dataclass(frozen=True)
class Relation:
    """What a user says about one character.

    Attributes:
        passive: Props and characters that never count while data is in charge.
        active: Props (scenery included) that always count; so do those that say `active: true` themselves.
    """

    passive: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()

    def counts(self, stage: StageLoop, character: Character, current: Controller, by: str) -> bool:
        """Whether a hit by something counts for a character while a controller is in charge."""
        if not current.kinematic or by in self.active:
            return True
        if by in self.passive or by in getattr(current, "passive", ()):
            return False
        if (prop := stage.built.props.get(by)) is not None:
            return (prop.spec.counts_as_hit or prop.spec.stops) and (
                prop.dof < 0 or not _held(stage, character, prop.grip)
            )
        return True  # another character, or a push from outside

    def of(self, stage: StageLoop, character: Character, current: Controller) -> frozenset[str]:
        """Return everything that counts now."""
        names = [*stage.built.characters, *stage.built.props]
        return frozenset(n for n in names if n != character.name and self.counts(stage, character, current, n))


def in_the_way(stage: StageLoop, character: Character) -> str:
    """Return the wall, the furniture or the person a character on data has come into; none: an empty name."""
    bodies = {prop.body: (name, INTO) for name, prop in stage.built.props.items() if prop.spec.stops}
    for name, other in stage.built.characters.items():
        bodies |= {body: (name, FLESH) for body in other.bodies.values() if other is not character}
    contact, body_of = stage.data.contact, stage.model.geom_bodyid
    for pair, deep in zip(contact.geom, contact.dist, strict=True) if bodies else ():
        for own, other in (pair, pair[::-1]) if deep < -INTO else ():
            name, most = bodies.get(int(body_of[other]), ("", 0.0))
            if name and deep < -most and int(own) in character.geoms:
                return name
    return ""


def stand_back(stage: StageLoop, character: Character) -> None:
    """Put a character that its data took into something back to where it was just before: within a few steps."""
    model, data = stage.model, stage.data
    q, d = own_slices(character)
    speed = np.zeros(model.nv)
    speed[d] = data.qvel[d]
    scratch = mujoco.MjData(model)
    scratch.qpos[:] = data.qpos
    for _ in range(MOST_BACK):
        mujoco.mj_integratePos(model, scratch.qpos, speed, -stage.step_time)
        data.qpos[q] = scratch.qpos[q]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if not in_the_way(stage, character):
            return


def _held(stage: StageLoop, character: Character, grip: int) -> bool:
    """Whether a character holds a prop itself."""
    if not stage.data.eq_active[grip]:
        return False
    return int(stage.model.eq_obj1id[grip]) in character.bodies.values()


@dataclass(frozen=True)
class Turn:
    """Who takes over after a blow.

    Attributes:
        winner: Who.
        bid: What for.
        bids: Of all who bid.
        kick: What the blow had for the body [velocities], (nv,), where forces take over.
    """

    winner: Controller
    bid: Bid
    bids: dict[str, Bid] = field(default_factory=dict)
    kick: Any = None


class Blows:
    """Blows on one character while data has its body.

    Attributes:
        alert: Until when it is looked after more closely [s].
        borne: The blow that data has gone on under [N·s].
        by: Whose it was.
    """

    def __init__(
        self,
        stage: StageLoop,
        actor: BodyActor,
        pool: Pool,
        relation: Relation,
        look: Callable[[], Situation],
        in_charge: Callable[[], Controller],
    ) -> None:
        """Watch over a body, of which `look` tells the situation and `in_charge` who of the pool has it."""
        self._stage, self._actor, self._pool, self._relation = stage, actor, pool, relation
        self._look, self._in_charge = look, in_charge
        self.alert, self.borne, self.by = -1.0, 0.0, ""

    def counts(self, by: str) -> bool:
        """Whether a touch counts as a hit for who is in charge."""
        return self._relation.counts(self._stage, self._actor.character, self._in_charge(), by)

    def hear(self, hit: Hit) -> None:
        """Take note of a hit."""
        if self.counts(hit.by):
            self.alert, self.borne, self.by = self._stage.time + ALERT, 0.0, hit.by

    def is_alert(self) -> bool:
        """Whether the character has to be looked after more closely: data has it, and something has touched it."""
        if self._actor.kinematic and self._look().pushed:
            self.alert = self._stage.time + ALERT
        return self._actor.kinematic and self._stage.time < self.alert

    def blocked(self) -> Turn | None:
        """Return who takes over where data takes the body into a wall or into somebody.

        Nobody goes through anybody, whatever the controller says of blows: what two bodies give each other then is for
        the engine to work out.
        """
        character = self._actor.character
        if not self._actor.kinematic or not (name := in_the_way(self._stage, character)):
            return None
        stand_back(self._stage, character)
        return Turn(self._pool.twin_of(self._in_charge()), Bid(1.0, f"'{name}' is in its way"))

    def struck(self, now: Situation) -> Turn | None:
        """Return who takes over from data after a hit; None where it goes on.

        Data is looked for at the velocity the blow would have given the body. Where no kinematic controller knows a
        frame to go on from, the tracking twin takes over, and the body gets what the blow had for it.
        """
        blow = self._actor.blow
        if blow <= self.borne:
            return None  # no more than data has gone on under already
        kick, pool = self._actor.kick(), self._pool
        blown = self._look()
        blown.struck, blown.qvel = True, now.qvel + kick
        if pool.bid_of(self._in_charge(), blown) is not None:
            self.borne = blow
            return None
        current = self._in_charge()  # somebody else, if that one broke the contract in answering
        bids = pool.bids(blown, [c for c in pool.values() if c.kinematic and c is not current])
        if bids:
            winner = pool.best(bids)
            return Turn(winner, bids[winner.name], bids)
        by = ", ".join(self._hitters(now)) or self.by or "contact"
        return Turn(pool.twin_of(current), Bid(1.0, f"hit by {by}: no data to go on from"), kick=kick)

    def _hitters(self, now: Situation) -> dict[str, None]:
        """Return who hit or still touches the character, each once."""
        names = [hit.by for hit in now.hits] or [touch.other for touch in now.touches if touch.other]
        return dict.fromkeys(name for name in names if self.counts(name))
