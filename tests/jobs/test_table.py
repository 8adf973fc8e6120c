"""Tables: every value comes back as it was, columns stand in the order of the rows."""

import csv
import sys

import pytest

from stunt.errors import StuntError
from stunt.jobs.table import check_formats, column_kinds, write_table

ROWS = [
    {"clip": 'a|b, "c"', "failure": "", "n": 1, "share": 0.1 + 0.2, "fell": True, "late": None},
    {"clip": "d\ne", "failure": "broken", "n": None, "share": 3, "fell": False, "late": 2.5, "more": "x"},
]


def test_a_csv_table_holds_floats_to_the_last_bit(tmp_path):
    (path,) = write_table(tmp_path, "table", lambda: ROWS, ["csv"])
    with open(path, newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == ["clip", "failure", "n", "share", "fell", "late", "more"]
    assert float(first["share"]) == 0.1 + 0.2 and first["clip"] == ROWS[0]["clip"]
    assert (first["fell"], second["fell"], second["n"], first["late"]) == ("true", "false", "", "")


def test_a_markdown_table_has_one_line_per_row(tmp_path):
    (path,) = write_table(tmp_path, "table", lambda: ROWS, ["md"])
    lines = path.read_text().splitlines()
    assert len(lines) == 4 and lines[2].startswith("| a\\|b, ") and "| 0.3 |" in lines[2]
    assert lines[1] == "| --- | --- | ---: | ---: | --- | ---: | --- |"


def test_a_parquet_table_holds_values_with_their_types(tmp_path):
    arrow = pytest.importorskip("pyarrow.parquet")
    (path,) = write_table(tmp_path, "table", lambda: ROWS, ["parquet"])
    table = arrow.read_table(path)
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "string",
        "int64",
        "double",
        "bool",
        "double",
        "string",
    ]
    assert table.to_pylist()[0] == {**ROWS[0], "more": None}


def test_only_the_columns_that_are_wanted_stand_there_in_their_order(tmp_path):
    (path,) = write_table(tmp_path, "table", lambda: ROWS, ["csv"], ["share", "clip"])
    assert path.read_text().splitlines()[0] == "share,clip"


def test_a_column_takes_the_narrowest_type_that_holds_all_its_values():
    rows = [{"a": 1, "b": None, "c": True, "d": None}, {"a": 2.5, "b": 3, "c": "x", "d": None}]
    assert column_kinds(rows) == {"a": float, "b": int, "c": str, "d": float}


def test_parquet_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StuntError, match=r"pip install 'stunt\[scale\]'"):
        check_formats(["csv", "parquet"])
    check_formats(["csv", "md"])


def test_a_table_that_cannot_be_written_leaves_the_old_one(tmp_path):
    write_table(tmp_path, "table", lambda: ROWS[:1], ["csv"])
    before = (tmp_path / "table.csv").read_bytes()

    def broken():
        yield ROWS[0]
        raise OSError(28, "No space left on device")

    calls = iter([iter(ROWS), broken()])
    with pytest.raises(StuntError, match="No space left on device.*kept in the journal"):
        write_table(tmp_path, "table", lambda: next(calls), ["csv"])
    assert (tmp_path / "table.csv").read_bytes() == before and len(list(tmp_path.iterdir())) == 1
