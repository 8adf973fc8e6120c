"""What a benchmark found."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """One number.

    Attributes:
        name: What was measured.
        value: The number.
        unit: Its unit; empty for a plain ratio or exponent.
        bar: What it may be at most; None where there is no bar.
        note: What it was measured on, or is to be compared with.
    """

    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the bar is met; None where there is none."""
        return None if self.bar is None else bool(math.isfinite(self.value) and self.value <= self.bar)
