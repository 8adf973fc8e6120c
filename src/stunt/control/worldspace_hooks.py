"""The world-space servo and root spring as the kernel calls them."""

from __future__ import annotations

from stunt.control.programs import BEFORE, EACH_STEP, STEPPED
from stunt.control.views import longs, unpack
from stunt.control.worldspace_goals import worldspace_before
from stunt.control.worldspace_kernel import worldspace_between, worldspace_stepped


def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Give the board its goals."""
    worldspace_before(unpack(longs(table)), program, time)


def each_step(table: int, program: int, time: float, model: int, data: int) -> None:
    """Drive all actors."""
    worldspace_between(unpack(longs(table)), program, time, model, data)


def stepped(table: int, program: int, time: float, model: int, data: int) -> None:
    """See what came of the step."""
    worldspace_stepped(unpack(longs(table)), program, time, model, data)


HOOKS = {BEFORE: before, EACH_STEP: each_step, STEPPED: stepped}
