"""Whoever is led by the hand goes along, and whoever is lifted hangs.

A servo holds every joint to its clip whatever pulls at it: an arm drawn away stays bent, and legs stand in the air.
What pulls at a limb for longer than a reflex takes is not answered by holding on: the limb is held hardly at all until
it is let go. A body that is held up while neither the ground nor its motion's own flight carries it has nothing to
stand on: all of it is let hang, and is strong again with the first touch, or as it is let down.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stunt.control.core.renumbered import Renumbered
from stunt.drive.body.actor import BodyActor
from stunt.drive.body.stuck import limbs_of

LOOK_HZ: Final = 30.0
LATENCY: Final = 0.15
"""So long something pulls, or nothing carries, before it shows [s]."""
PULLS, LETS_GO = 0.05, 0.01
"""From which share of the weight on a force pulls at a limb, and down to which it still does."""
SLACK: Final = 0.01
"""How firmly a limb that is led is held, beside how it usually is."""
EASE: Final = 0.2
"""Over which it is let go, and taken again [s]."""
HANGS, DOWN, UP = 0.01, 0.15, 0.2
"""What is left of the strength of whoever is held up; within which time [s] it goes, and comes back."""
LOWERED: Final = 0.3
"""Who is let down faster than this gets ready to stand [m/s]."""


class Led:
    """Crew that lets go of what is pulled at, of a character that follows a clip."""

    def __init__(self, actor: BodyActor) -> None:
        """Watch a character; one that plays data is left alone."""
        self._actor = actor
        self._limbs = limbs_of(actor.stage.model, actor.character)
        self._since: dict[str, float] = {}  # limb → since when something pulls at it [s]
        self._share = np.ones(len(actor.character.bodies))
        self._due = actor.stage.tick
        actor.attend(self)

    def due(self) -> int | None:
        """Return when to look next; never while it follows nothing."""
        return self._due if self._actor.follows else None

    def act(self) -> None:
        """Look who pulls."""
        actor, stage = self._actor, self._actor.stage
        self._due = stage.tick + max(1, round(1.0 / (LOOK_HZ * stage.step_time)))
        root = actor.character.root_body
        force = stage.data.xfrc_applied[root : root + len(self._share), :3]
        if not force.any() and not self._since and (self._share >= 1.0).all():
            return
        able = not actor.kinematic
        lowered = float(stage.data.qvel[int(actor._memory["root_dof"]) + 2]) < -LOWERED
        if able and force.any() and not lowered and float(actor._memory["adrift"]) > LATENCY:
            actor.stun(HANGS, down=DOWN, hold=2.0 / LOOK_HZ, up=UP)
        self._lead(force if able else np.zeros_like(force))

    def _lead(self, force: np.ndarray) -> None:
        """Hold limbs that forces pull at less, the others as ever."""
        actor, now = self._actor, self._actor.stage.time
        wanted = np.ones(len(self._share))
        for limb in self._limbs:
            bones = list(limb.bones)
            least = LETS_GO if limb.name in self._since else PULLS
            if float(np.linalg.norm(force[bones].sum(axis=0))) < least * actor.weight:
                self._since.pop(limb.name, None)
            elif now - self._since.setdefault(limb.name, now) >= LATENCY:
                wanted[bones] = SLACK
        step = 1.0 / (LOOK_HZ * EASE)
        share = self._share + np.clip(wanted - self._share, -step, step)
        if not np.array_equal(share, self._share):
            self._share = share
            actor.program.set_tone(actor.number, share)

    def move(self, by: Renumbered) -> bool:
        """Go on, if whom it watches does."""
        return self._actor.character.name in self._actor.stage.built.characters

    def save(self) -> Any:
        """Return what must survive a restore."""
        return dict(self._since), self._share.copy(), self._due

    def restore(self, state: Any) -> None:
        """Put it back."""
        since, share, self._due = state
        self._since, self._share = dict(since), share.copy()
