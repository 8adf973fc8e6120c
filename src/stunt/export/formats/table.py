"""A table for analysis: one row per frame, columns named `owner.quantity.what [unit]`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stunt.export.measures import Measure, measures
from stunt.export.options import Options, Progress
from stunt.export.sampling import Floats, as_recorded
from stunt.record.take import Take

_CHUNK = 512  # Rows between two calls of progress.


def write(takes: Sequence[Take], path: Path, options: Options, progress: Progress) -> None:
    """Write a take."""
    take = takes[0]
    motion = as_recorded(take, options)
    header, columns = ["time [s]"], [motion.times[:, None]]
    for measure in measures(take, motion, options):
        header += _headings(measure)
        columns.append(measure.values.reshape(len(motion.times), -1))
    rows: Floats = np.concatenate(columns, axis=1)
    progress(0.3)
    with open(path, "w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, lineterminator="\n")
        sheet.writerow(header)
        for first in range(0, len(rows), _CHUNK):
            sheet.writerows([[_number(value) for value in row] for row in rows[first : first + _CHUNK].tolist()])
            progress(0.3 + 0.7 * min(1.0, (first + _CHUNK) / len(rows)))


def _headings(measure: Measure) -> list[str]:
    found = []
    for number, what in enumerate(measure.of):
        for axis in measure.axes or ("",):
            path = ".".join(filter(None, (measure.owner, measure.name, what, axis)))
            found.append(f"{path} [{measure.unit(number)}]")
    return found


def _number(value: float) -> str:
    """Return a number with nine digits; nothing where there is none (a joint that nobody drives has no target)."""
    return "" if value != value else f"{value:.9g}"
