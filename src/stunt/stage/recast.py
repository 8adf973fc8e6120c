"""Somebody joins a running stage, or leaves it: the scene is built anew, and the others go on from where they are.

Those who stay keep everything: positions and velocities, what every joint is told, what the control laws have learned
and are at, what they hold and what pushes them. Whoever acts on the stage goes on as the object it is, and only looks
up anew (`move`) what it knows by number. A take has one cast, so a new one begins.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import mujoco

from stunt.control.core.programs import connect
from stunt.control.core.renumbered import Numbered, Renumbered
from stunt.control.loop.run import prepare
from stunt.stage.build import Built
from stunt.stage.loop import StageLoop

_OF_MODEL: tuple[tuple[str, Numbered], ...] = (
    ("jnt_stiffness", "joint"), ("qpos_spring", "qpos"), ("dof_damping", "dof"),
    ("geom_friction", "geom"), ("geom_priority", "geom"), ("eq_data", "weld"),
)  # fmt: skip
"""What control and events change in a model."""
_OF_DATA: tuple[tuple[str, Numbered], ...] = (
    ("qfrc_applied", "dof"), ("qacc_warmstart", "dof"), ("qfrc_constraint", "dof"), ("xfrc_applied", "body"),
    ("eq_active", "weld"),
)  # fmt: skip
"""The engine's state beside positions and velocities."""


@runtime_checkable
class Moving(Protocol):
    """Whoever knows something of the scene by number."""

    def move(self, by: Renumbered) -> bool:
        """Look everything up anew, on a stage with another cast; return whether there is anything left to do."""


def change_cast(stage: StageLoop, before: StageLoop, built: Built) -> None:
    """Let a stage go on with another cast.

    Args:
        stage: Which; its scene is replaced.
        before: A shallow copy of it, with the scene it had.
        built: The scene it gets.
    """
    by = Renumbered(before.model, built.model)
    StageLoop.__init__(stage, built)
    stage.tick, stage.rng, stage.generation = before.tick, before.rng, before.generation + 1
    stage.foresight, stage._parts, stage._looked = before.foresight, before._parts, before._looked
    _carry_engine(stage, before, by)
    if before._ready:  # who comes into a running scene is as ready as at its beginning
        connect(stage.board)
        prepare(stage.board.table)
        stage._ready = True
    stage.board.carry(before.board, by)
    stage.watch.carry(before.watch)
    if stage.impacts is not None and before.impacts is not None:
        stage.impacts.carry(before.impacts, by)
    there = stage.built.characters
    stage.placements = {name: place for name, place in before.placements.items() if name in there}
    stage.actors = {name: actor for name, actor in before.actors.items() if name in there}
    gone: list[object] = []
    for member in before.kept:
        stage.keep(member) if _goes_on(member, by) else gone.append(member)
    for member in before.crew:
        stage.crew.append(member) if _goes_on(member, by) else gone.append(member)
    stage.hit_listeners += [ears for ears in before.hit_listeners if getattr(ears, "__self__", None) not in gone]
    stage.shock_listeners += [ears for ears in before.shock_listeners if getattr(ears, "__self__", None) not in gone]
    stage.strings += [string for string in before.strings if getattr(string, "__self__", None) not in gone]


def _goes_on(member: object, by: Renumbered) -> bool:
    return not isinstance(member, Moving) or member.move(by)


def _carry_engine(stage: StageLoop, before: StageLoop, by: Renumbered) -> None:
    """Put everything where it was, moving as it did."""
    model, data = stage.model, stage.data
    data.time = before.data.time
    by.carry("qpos", before.data.qpos, data.qpos)
    by.carry("dof", before.data.qvel, data.qvel)
    for name, kind in _OF_MODEL:
        by.carry(kind, getattr(before.model, name), getattr(model, name))
    for old, new in by.pairs["weld"].T:
        for end in ("eq_obj1id", "eq_obj2id"):
            body = by.number("body", getattr(before.model, end)[old])
            if body >= 0:
                getattr(model, end)[new] = body
            else:
                before.data.eq_active[old] = 0  # who held it has left
    for name, kind in _OF_DATA:
        by.carry(kind, getattr(before.data, name), getattr(data, name))
    mujoco.mj_forward(model, data)
    for name, kind in _OF_DATA:  # working the state out has changed some of it
        by.carry(kind, getattr(before.data, name), getattr(data, name))
