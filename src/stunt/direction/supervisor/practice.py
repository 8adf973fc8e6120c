"""How a controller is tried to learn its pre-condition: from which states, with which parameters, to what end."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

STARTS: Final = ("pushed", "falling", "lying")
"""States to begin in: just pushed while standing or walking; tipping over already; lying on any side."""
SUCCESSES: Final = ("stands", "says")
"""What counts: it says that it succeeded, and the body stands a second later; or it says so, no more."""


@dataclass(frozen=True)
class Practice:
    """What a controller declares, as its class attribute `practice`.

    Attributes:
        starts: States it is tried from, one by chance.
        success: What counts as success.
        sampled: Its parameters to vary: name, least and most, in its own units.
    """

    starts: tuple[str, ...] = ("pushed",)
    success: Literal["stands", "says"] = "stands"
    sampled: tuple[tuple[str, float, float], ...] = ()


def practice_of(maker: Callable[..., Any]) -> Practice:
    """Return what a class, or what a function that makes one, declares; being pushed, where it declares nothing."""
    found = getattr(maker, "practice", None)
    if found is None and not inspect.isclass(maker):
        try:
            found = getattr(typing.get_type_hints(maker).get("return"), "practice", None)
        except (NameError, TypeError):
            found = None
    return found if isinstance(found, Practice) else Practice()
