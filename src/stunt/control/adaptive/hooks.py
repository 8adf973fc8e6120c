"""The adaptive controllers as the kernel calls them."""

from __future__ import annotations

from stunt.control.adaptive.kernel import adaptive_at, adaptive_before, adaptive_between
from stunt.control.core.programs import BEFORE, BETWEEN
from stunt.control.core.views import views_at


def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs of driven joints."""
    adaptive_before(views_at(table), adaptive_at(program), time)


def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Pull driven sites."""
    adaptive_between(views_at(table), adaptive_at(program), time, model, data)


HOOKS = {BEFORE: before, BETWEEN: between}
