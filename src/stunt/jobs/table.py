"""Tables of rows: CSV, Markdown and Parquet, each written aside and moved into place.

Rows stand in the order of their jobs and timing has a table of its own, so the files are the same, bit for bit, however
many processes made them. Rows are gone through twice and never held all at once.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from stunt.errors import StuntError, TakeError
from stunt.jobs.job import JobError, Row
from stunt.record.files import written_aside

Rows = Callable[[], Iterable[Row]]
"""Goes through all rows, as often as it is called."""
FORMATS: Final = ("csv", "md", "parquet")
"""What a table can be written as."""
_AT_A_TIME = 10_000  # rows of a Parquet group
_KINDS = (bool, int, float, str)


def write_table(folder: Path, name: str, rows: Rows, formats: Sequence[str], columns: Sequence[str] = ()) -> list[Path]:
    """Write a table.

    Args:
        folder: Where.
        name: The files' name, without suffix.
        rows: The rows, in their order.
        formats: As what; some of `FORMATS`.
        columns: Which columns; none: all, as they come up.

    Returns:
        The files.

    Raises:
        StuntError: A column that no row has, a missing package, or a place that cannot be written to.
    """
    kinds = column_kinds(rows())
    if columns:
        kinds = {column: kinds.get(column, float) for column in columns}
    paths = []
    for form in formats:
        path = folder / f"{name}.{form}"
        try:
            with written_aside(path) as aside:
                _WRITERS[form](aside, kinds, rows())
        except (OSError, TakeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise JobError(f"cannot write '{path}': {reason}. The rows themselves are kept in the journal.") from error
        paths.append(path)
    return paths


def available_formats() -> tuple[str, ...]:
    """Return what tables can be written as here: Parquet where its package is installed."""
    there = importlib.util.find_spec("pyarrow") is not None
    return FORMATS if there else FORMATS[:-1]


def check_formats(formats: Sequence[str]) -> None:
    """Complain before anything is done where a table could not be written.

    Raises:
        StuntError: Parquet needs a package that is not there.
    """
    if "parquet" in formats:
        _pyarrow()


def column_kinds(rows: Iterable[Row]) -> dict[str, type]:
    """Return the columns in the order in which they come up, and the narrowest type that holds all their values."""
    kinds: dict[str, type] = {}
    for row in rows:
        for column, value in row.items():
            if value is None:
                kinds.setdefault(column, type(None))
            elif (before := kinds.get(column)) is not type(value):
                kinds[column] = type(value) if before in (None, type(None)) else _wider(before, type(value))
    return {column: float if kind is type(None) else kind for column, kind in kinds.items()}


def _wider(one: type, other: type) -> type:
    return float if {one, other} == {int, float} else one if one is other else str


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _write_csv(path: Path, kinds: dict[str, type], rows: Iterable[Row]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(kinds)
        writer.writerows([_text(row.get(column)) for column in kinds] for row in rows)


def _write_markdown(path: Path, kinds: dict[str, type], rows: Iterable[Row]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(markdown_line(list(kinds)))
        file.write(markdown_line(["---" if kind in (str, bool) else "---:" for kind in kinds.values()]))
        for row in rows:
            file.write(markdown_line([_shown(row.get(column)) for column in kinds]))


def _shown(value: Any) -> str:
    """Return a value for people: four digits."""
    return f"{value:.4g}" if isinstance(value, float) else _text(value)


def markdown_line(cells: Iterable[str]) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise StuntError(
            "Parquet tables need pyarrow: pip install 'stunt[scale]', or take --format csv and --format md."
        ) from None
    return pyarrow


def _write_parquet(path: Path, kinds: dict[str, type], rows: Iterable[Row]) -> None:
    arrow = _pyarrow()
    types = {bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    schema = arrow.schema([(column, types[kind]) for column, kind in kinds.items()])
    with arrow.parquet.ParquetWriter(path, schema) as writer:
        for some in _groups(rows):
            cells = {column: [_as(row.get(column), kind) for row in some] for column, kind in kinds.items()}
            writer.write_table(arrow.table(cells, schema=schema))


def _as(value: Any, kind: type) -> Any:
    """Return a value as its column's type has it."""
    return value if value is None or isinstance(value, kind) else _text(value) if kind is str else kind(value)


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    some: list[Row] = []
    for row in rows:
        some.append(row)
        if len(some) == _AT_A_TIME:
            yield some
            some = []
    if some:
        yield some


_WRITERS: Final[dict[str, Callable[[Path, dict[str, type], Iterable[Row]], None]]] = {
    "csv": _write_csv, "md": _write_markdown, "parquet": _write_parquet,
}  # fmt: skip
