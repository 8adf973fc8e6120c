"""How a controller is tried to learn its pre-condition: from which states, with which parameters, to what end."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Sequence
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

    def feature_names(self) -> list[str]:
        """Return what the parameters are called where something is learned over them."""
        return [name for entry in self.sampled for name in _names(entry)]

    def features(self, told: Sequence[float]) -> list[float]:
        """Return the parameters as numbers to learn over: of a direction all around, cosine and sine."""
        pairs = zip(self.sampled, told, strict=True)
        rows = [(math.cos(value), math.sin(value)) if _round(entry) else (value,) for entry, value in pairs]
        return [number for row in rows for number in row]


def _round(entry: tuple[str, float, float]) -> bool:
    """Whether a parameter goes all around, so that its least and its most are the same."""
    return abs(entry[2] - entry[1] - 2.0 * math.pi) < 1e-6


def _names(entry: tuple[str, float, float]) -> tuple[str, ...]:
    return (f"{entry[0]}_cos", f"{entry[0]}_sin") if _round(entry) else (entry[0],)


def practice_of(maker: Callable[..., Any]) -> Practice:
    """Return what a class, or what a function that makes one, declares; being pushed, where it declares nothing."""
    found = getattr(maker, "practice", None)
    if found is None and not inspect.isclass(maker):
        try:
            found = getattr(typing.get_type_hints(maker).get("return"), "practice", None)
        except (NameError, TypeError):
            found = None
    return found if isinstance(found, Practice) else Practice()
