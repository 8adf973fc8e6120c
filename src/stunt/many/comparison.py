"""Settings compared like for like: the same clips, bodies, pushes and seeds for all of them.

Rows come from a batch, or from jobs of one's own: whatever stands in a row before `failure` says what was run. One of
these columns, `setting` unless told, names the sides; rows that agree in all others are one pair. Pairs that one side
could not run are left out for all, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np

from stunt.errors import StuntError, UnknownNameError, announced, see
from stunt.jobs.job import FAILURE, Row
from stunt.many.columns import COLUMNS
from stunt.many.statistics import RESAMPLES, Interval, difference_of, mean_of, resampled_weights
from stunt.maths.rotations import Floats

SIDES: Final = "setting"
"""The column that names the sides."""
SHOWN: Final[tuple[str, ...]] = (
    "error_deg_mean", "error_deg_max", "fell", "drift_m", "slide_m", "effort", "work_j", "help_torque_mean",
    "help_force_mean", "strength_peak", "strength_over",
)  # fmt: skip
"""What is compared of rows that follow clips, unless told."""


@dataclass(frozen=True)
class MeasureCompared:
    """One measure of all sides.

    Attributes:
        name: Its column.
        unit: Empty for shares and ratios.
        means: Of each side.
        differences: Of each side but the first: it minus the first, over pairs.
    """

    name: str
    unit: str
    means: dict[str, Interval]
    differences: dict[str, Interval]


@dataclass(frozen=True)
class Comparison:
    """How sides compare.

    Attributes:
        sides: Their names; all are compared with the first.
        pairs: How many pairs of runs there are, and each side has a row of.
        dropped: How many pairs were left out, because one side has no row, or failed; by that side.
        measures: What was measured.
        seed: Of the resampling.
    """

    sides: tuple[str, ...]
    pairs: int
    dropped: dict[str, int]
    measures: tuple[MeasureCompared, ...]
    seed: int
    failures: tuple[str, ...] = field(default=())

    def to_data(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return asdict(self)


@announced
def compare(
    rows: Iterable[Row],
    *,
    sides: Sequence[str] = (),
    by: str = SIDES,
    measures: Sequence[str] = (),
    standing: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare rows in pairs.

    Args:
        rows: Of all sides, in any order.
        sides: Which sides, the one that others are compared with first; none: all, as they come up.
        by: The column that names them.
        measures: Which columns; none: `SHOWN`, or all numbers where rows have none of these.
        standing: Whether only pairs count in which nobody fell.
        resamples: How often the bootstrap draws.
        seed: Of what it draws.

    Raises:
        StuntError: No such column, fewer than two sides, or no pair that all sides ran.
    """
    table = _Table.of(rows, by, sides)
    whole = [pair for pair in table.pairs if all(table.ran(pair, side) for side in table.sides)]
    kept = [pair for pair in whole if not (standing and any(table.cell(pair, s, "fell") for s in table.sides))]
    if not kept:
        why = "in every pair somebody fell" if whole else "no pair was run by all sides"
        raise StuntError(f"nothing can be compared: {why}{_told(table.failures)}.")
    rng = np.random.default_rng(seed)
    found = []
    for measure in _chosen(table, measures):
        pairs = [pair for pair in kept if all(_is_number(table.cell(pair, side, measure)) for side in table.sides)]
        if pairs:
            weights = resampled_weights([pair[0] for pair in pairs], resamples, rng)
            values = {s: np.array([float(table.cell(pair, s, measure)) for pair in pairs]) for s in table.sides}
            share = all(isinstance(table.cell(pairs[0], side, measure), bool) for side in table.sides)
            found.append(_compared(measure, values, weights, share))
    dropped = {side: sum(not table.ran(pair, side) for pair in table.pairs) for side in table.sides}
    return Comparison(table.sides, len(kept), dropped, tuple(found), seed, table.failures)


def _compared(measure: str, values: Mapping[str, Floats], weights: Floats, share: bool) -> MeasureCompared:
    first, *others = values
    return MeasureCompared(
        measure,
        COLUMNS[measure][0] if measure in COLUMNS else "",
        {side: mean_of(column, weights, share=share) for side, column in values.items()},
        {side: difference_of(values[side], values[first], weights, share=share) for side in others},
    )


@dataclass(frozen=True)
class _Table:
    """Rows by pair and side."""

    sides: tuple[str, ...]
    cells: dict[tuple[Any, ...], dict[str, Row]]
    columns: dict[str, None]
    failures: tuple[str, ...]

    @staticmethod
    def of(rows: Iterable[Row], by: str, sides: Sequence[str]) -> _Table:
        cells: dict[tuple[Any, ...], dict[str, Row]] = {}
        there, columns, failures = dict[str, None](), dict[str, None](), dict[str, None]()
        for row in rows:
            see("rows", row, [Mapping])
            said = list(row)[: list(row).index(FAILURE)] if FAILURE in row else list(row)
            if by not in said:
                raise UnknownNameError("column that tells rows apart", by, said)
            side = str(row[by])
            there[side] = None
            if sides and side not in sides:
                continue
            cells.setdefault(tuple(row[name] for name in said if name != by), {})[side] = row
            columns |= dict.fromkeys(name for name in row if name not in said and name != FAILURE)
            if row.get(FAILURE):
                failures[f"{side}: {row[FAILURE]}"] = None
        for side in sides:
            if side not in there:
                raise UnknownNameError(by, side, list(there))
        chosen = tuple(sides) or tuple(there)
        if len(chosen) < 2:
            raise StuntError(f"a comparison needs two sides; there is {', '.join(chosen) or 'none'}.")
        return _Table(chosen, cells, columns, tuple(failures))

    @property
    def pairs(self) -> list[tuple[Any, ...]]:
        """What was run, whoever ran it."""
        return list(self.cells)

    def ran(self, pair: tuple[Any, ...], side: str) -> bool:
        """Whether a side ran a pair to its end."""
        return side in self.cells[pair] and not self.cells[pair][side].get(FAILURE)

    def cell(self, pair: tuple[Any, ...], side: str, column: str) -> Any:
        """Return one value; None where there is none."""
        return self.cells[pair][side].get(column)


def _chosen(table: _Table, measures: Sequence[str]) -> list[str]:
    """Return which columns are compared.

    Raises:
        UnknownNameError: No row has such a column.
    """
    for name in measures:
        if name not in table.columns:
            raise UnknownNameError("measure", name, list(table.columns))
    own: list[str] = [name for name in SHOWN if name in table.columns]
    return list(measures) or own or list(table.columns)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _told(failures: Sequence[str]) -> str:
    """Return the first failure, for a message."""
    return f" ({failures[0]})" if failures else ""
