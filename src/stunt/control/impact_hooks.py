"""The impact stage as the kernel calls it."""

from __future__ import annotations

from stunt.control.impact_kernel import impact_at, strike
from stunt.control.programs import CONTACTS
from stunt.control.views import views_at


def contacts(table: int, program: int, time: float, model: int, data: int) -> None:
    """Solve the impacts of this step, if there are any."""
    strike(views_at(table), impact_at(program), model, data)


HOOKS = {CONTACTS: contacts}
