"""The antagonistic actuators as the kernel calls them."""

from __future__ import annotations

from stunt.control.core.programs import AFTER, BEFORE, BETWEEN
from stunt.control.core.views import views_at
from stunt.control.tension.kernel import antagonist_after, antagonist_before, antagonist_between


def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs."""
    antagonist_before(views_at(table), program, time)


def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Feel the external torques."""
    antagonist_between(views_at(table), program)


def after(table: int, program: int, time: float, model: int, data: int) -> None:
    """Fade hand-overs."""
    antagonist_after(views_at(table), program, time)


HOOKS = {BEFORE: before, BETWEEN: between, AFTER: after}
