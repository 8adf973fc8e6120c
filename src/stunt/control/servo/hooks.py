"""The world-space servo and root spring as the kernel calls them."""

from __future__ import annotations

from stunt.control.core.programs import EACH_STEP, STEPPED
from stunt.control.core.views import views_at
from stunt.control.servo.kernel import worldspace_between, worldspace_stepped


def each_step(table: int, program: int, time: float, model: int, data: int) -> None:
    """Drive all actors."""
    worldspace_between(views_at(table), program, time, model, data)


def stepped(table: int, program: int, time: float, model: int, data: int) -> None:
    """See what came of the step."""
    worldspace_stepped(views_at(table), program, time, model, data)


HOOKS = {EACH_STEP: each_step, STEPPED: stepped}
