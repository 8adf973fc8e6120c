"""The impact stage as the kernel calls it."""

from __future__ import annotations

from stunt.control.core.programs import CONTACTS
from stunt.control.core.views import views_at
from stunt.control.impact.kernel import impact_at, strike


def contacts(table: int, program: int, time: float, model: int, data: int) -> None:
    """Solve the impacts of this step, if there are any."""
    strike(views_at(table), impact_at(program), model, data)


HOOKS = {CONTACTS: contacts}
