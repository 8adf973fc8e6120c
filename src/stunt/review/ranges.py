"""The ranges captured people keep to: one table for everything that is reviewed.

`tools/make_ranges.py` makes it from captures; `docs/review.md` says how. No scene has its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from stunt.review.figures import FIGURES, PAIRS

TABLE: Final = "ranges.json"
_EXACT: Final = 1e-9  # differences of times are no rounder than that


@dataclass(frozen=True)
class Range:
    """What is believable of a figure.

    Attributes:
        low: Least; None where any less will do.
        high: Most; None likewise.
        captures: Of how many captures the figure could be measured.
        source: Whose values stand at the ends, or why the range is told rather than measured.
    """

    low: float | None
    high: float | None
    captures: int = 0
    source: str = ""

    def holds(self, value: float) -> bool:
        """Whether a value is inside."""
        low = self.low is None or value >= self.low - _EXACT
        return bool(low and (self.high is None or value <= self.high + _EXACT))

    def told(self, digits: int = 3) -> str:
        """Say it in a few words."""
        if self.low is None:
            return "any" if self.high is None else f"at most {self.high:.{digits}g}"
        return (
            f"at least {self.low:.{digits}g}"
            if self.high is None
            else f"{self.low:.{digits}g} to {self.high:.{digits}g}"
        )


@cache
def ranges() -> Mapping[str, Range]:
    """Return the range of every figure, by name."""
    table = json.loads(files("stunt.review").joinpath(TABLE).read_text(encoding="utf-8"))
    known = {name: Range(**entry) for name, entry in table["ranges"].items()}
    return {name: known[PAIRS.get(name, name)] for name in FIGURES if PAIRS.get(name, name) in known}
