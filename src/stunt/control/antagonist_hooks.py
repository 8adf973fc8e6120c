"""The antagonistic actuators as the kernel calls them."""

from __future__ import annotations

from stunt.control.antagonist_program import antagonist_after, antagonist_before
from stunt.control.programs import AFTER, BEFORE
from stunt.control.views import longs, unpack


def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs."""
    antagonist_before(unpack(longs(table)), program, time)


def after(table: int, program: int, time: float, model: int, data: int) -> None:
    """Fade hand-overs."""
    antagonist_after(unpack(longs(table)), program, time)


HOOKS = {BEFORE: before, AFTER: after}
