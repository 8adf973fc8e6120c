"""A batch in a few lines: what came of each setting, over all its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from stunt.jobs.job import FAILURE, Row

SHOWN: Final = {
    "error_deg_mean": "error °", "drift_m": "drift m", "slide_m": "slide m", "effort": "effort",
    "help_torque_mean": "help",
}  # fmt: skip
"""Columns whose means are shown, and what they are called there."""


@dataclass
class SettingSummary:
    """What came of one setting.

    Attributes:
        setting: Its name; of a function of one's own, the function.
        jobs: How many rows it has.
        failed: How many failed.
        fell: How many fell.
        values: The shown columns' values.
    """

    setting: str
    jobs: int = 0
    failed: int = 0
    fell: int = 0
    values: dict[str, list[float]] = field(default_factory=lambda: {column: [] for column in SHOWN})

    @property
    def means(self) -> dict[str, float | None]:
        """Return the mean of each shown column; None where no row has a value."""
        return {column: math.fsum(some) / len(some) if some else None for column, some in self.values.items()}


def summary(rows: Iterable[Row]) -> list[SettingSummary]:
    """Return what came of each setting, in the order in which they come up."""
    found: dict[str, SettingSummary] = {}
    for row in rows:
        name = str(row.get("setting") or row.get("run") or "")
        line = found.setdefault(name, SettingSummary(name))
        line.jobs += 1
        line.failed += bool(row.get(FAILURE))
        line.fell += row.get("fell") is True
        for column, values in line.values.items():
            if isinstance(value := row.get(column), int | float):
                values.append(float(value))
    return list(found.values())
