"""Sensors with a place and an orientation over time, from a table of numbers (CSV).

One column `time` [s], evenly spaced; for each sensor NAME `NAME.x`, `NAME.y`, `NAME.z` [m], z up, and, where it knows
how it is turned, `NAME.qw`, `NAME.qx`, `NAME.qy`, `NAME.qz`. An empty cell: it was not seen then.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, Place, ScriptFileError
from stunt.motion.clips.raw import MAX_FRAMES, MAX_VALUES, read_bytes
from stunt.motion.markers import Markers

_PLACE, _TURN = ("x", "y", "z"), ("qw", "qx", "qy", "qz")
_LARGEST: Final = 1e6
_UNEVEN: Final = 0.05
"""Times may be off an even grid by this share of a step."""


def read_sensors(path: str | Path, place: Place = NOWHERE) -> Markers:
    """Read the sensors of a CSV file.

    Raises:
        ScriptFileError: The file is not there, or something in it is not as it should be.
    """
    if not Path(path).is_file():
        raise ScriptFileError(f"there is no marker file at '{path}'.", place)

    def wrong(what: str) -> ScriptFileError:
        return ScriptFileError(f"'{path}' {what}", place)

    try:
        text = read_bytes(path).decode("utf-8-sig")
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise wrong(f"is not a table Stunt can read: {error}.") from error
    heads = [name.strip() for name in rows[0]] if rows else []
    if not heads or heads[0] != "time" or len(set(heads)) != len(heads):
        raise wrong("needs a first row of different names: `time`, then NAME.x, NAME.y, NAME.z, … of each sensor.")
    if not 3 <= len(rows) <= MAX_FRAMES + 1 or len(rows) * len(heads) > MAX_VALUES:
        raise wrong(f"has {len(rows) - 1} rows of numbers; expected 2 to {MAX_FRAMES}.")
    table = np.full((len(rows) - 1, len(heads)), np.nan)
    for number, row in enumerate(rows[1:]):
        if len(row) != len(heads):
            raise wrong(f"has {len(row)} values in row {number + 2}, but {len(heads)} names.")
        for column, cell in enumerate(row):
            try:
                table[number, column] = float(cell) if cell.strip() else np.nan
            except ValueError:
                raise wrong(f"says '{cell[:40]}' in row {number + 2}, column '{heads[column]}': no number.") from None
    if (np.abs(table) > _LARGEST).any():  # infinite ones, too
        raise wrong(f"has numbers beyond {_LARGEST:g}.")
    return _sensors(heads, table, wrong)


def _sensors(heads: list[str], table: NDArray[np.float64], wrong) -> Markers:  # type: ignore[no-untyped-def]
    names = list(dict.fromkeys(name.rpartition(".")[0] for name in heads[1:]))
    columns = {name: number for number, name in enumerate(heads)}
    known = {"time", *(f"{name}.{axis}" for name in names for axis in (*_PLACE, *_TURN))}
    if unknown := [name for name in heads if name not in known]:
        raise wrong(f"has a column '{unknown[0]}'; expected NAME.x, .y, .z, .qw, .qx, .qy or .qz.")
    seen, turns = np.full((len(table), len(names), 3), np.nan), np.full((len(table), len(names), 4), np.nan)
    for number, name in enumerate(names):
        for axes, found in ((_PLACE, seen), (_TURN, turns)):
            has = [f"{name}.{axis}" in columns for axis in axes]
            if any(has) and not all(has) or (axes is _PLACE and not all(has)):
                raise wrong(f"does not have all of {', '.join(f'{name}.{axis}' for axis in axes)}.")
            if all(has):
                found[:, number] = table[:, [columns[f"{name}.{axis}"] for axis in axes]]
    length = np.linalg.norm(turns, axis=2)
    if (np.abs(length[~np.isnan(length)] - 1.0) > 0.01).any():
        raise wrong(f"has a quaternion of length {length[np.abs(length - 1.0) > 0.01][0]:.4g}; expected 1.")
    steps = np.diff(table[:, 0])
    if not (np.isfinite(steps).all() and (np.abs(steps - steps.mean()) < _UNEVEN * steps.mean()).all()):
        raise wrong("has times that are not evenly spaced; sample it anew.")
    turned = ~np.isnan(length).all(axis=0)
    seen[turned[None] & np.isnan(length)] = np.nan  # a sensor without its orientation was not seen
    seen[np.isnan(seen).any(axis=2)] = np.nan  # nor one of which a single cell is empty
    return Markers(tuple(names), float(1.0 / steps.mean()), seen, turns / length[..., None])
