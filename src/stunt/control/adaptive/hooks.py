"""The adaptive controllers as the kernel calls them."""

from __future__ import annotations

from stunt.control.adaptive.kernel import adaptive_before, adaptive_between
from stunt.control.core.programs import BEFORE, BETWEEN
from stunt.control.core.views import longs, unpack


def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs of driven joints."""
    adaptive_before(unpack(longs(table)), program, time)


def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Pull driven sites."""
    adaptive_between(unpack(longs(table)), program, time, model, data)


HOOKS = {BEFORE: before, BETWEEN: between}
