"""Active and passive: what counts as a hit for whom (P2).

A directed relation between things and a character, changing with the controller in charge. Under full simulation
everything is active. While data is in charge, the ground and what it stands on are passive, so is what the character
holds itself, and whatever the controller in charge declares (`passive`); all else is active: what moves, walls and
furniture, pushes and drags. Passive things are still pushed; they only change nothing in who is in charge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.layout import own_slices
from stunt.stage.loop import StageLoop
from stunt.supervise.contract import Controller

INTO: Final = 0.003
"""So deep in a wall a character cannot go on with its data [m]."""
FLESH: Final = 0.01
"""Nor so deep in somebody else [m]: forces between them are what two bodies can give each other."""
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
