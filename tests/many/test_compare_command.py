"""`stunt compare`: runs what is typed, compares it in pairs, and says in one line what it cannot do."""

import json

import pytest

from stunt.cli.main import main

SHORT = ("--clips", "walk", "--seconds", "0.6", "--workers", "0")


def compared(capsys, *words):
    assert main(["compare", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return found, {measure["name"]: measure for measure in found["measures"]}


def test_softer_gains_follow_worse_and_the_folder_holds_what_was_found(tmp_path, capsys):
    sides = ("default", "soft:gain=0.1")
    found, measures = compared(capsys, *sides, *SHORT, "--seeds", "3", "--out", str(tmp_path / "out"))
    assert found["sides"] == ["default", "soft"] and found["pairs"] == 3
    assert found["settings"] == {"default": {}, "soft": {"gain": 0.1}}
    assert measures["error_deg_mean"]["differences"]["soft"]["low"] > 0.0
    assert {"comparison.md", "comparison.png", "comparison.json", "table.csv"} <= {
        p.name for p in tmp_path.joinpath("out").iterdir()
    }
    again, _ = compared(capsys, str(tmp_path / "out"), "--measures", "drift_m")
    assert [measure["name"] for measure in again["measures"]] == ["drift_m"]


def test_a_policy_of_ones_own_is_judged_by_the_clip_it_was_given(tmp_path, capsys):
    sides = ("default", "tests.many.policy_helpers:Frozen")
    _, measures = compared(capsys, *sides, *SHORT, "--seeds", "1", "--out", str(tmp_path))
    error = {side: mean["value"] for side, mean in measures["error_deg_mean"]["means"].items()}
    assert error["Frozen"] > 5.0 > error["default"]  # the clip walks on


def test_a_policy_that_never_takes_charge_is_no_row(tmp_path, capsys):
    sides = ("default", "tests.many.policy_helpers:Shy")
    assert main(["compare", *sides, *SHORT, "--seeds", "1", "--out", str(tmp_path)]) == 2
    assert "never in charge" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["world"], "two sides"),
        (["world", "parent"], "--clips"),
        (["world", "parnet", "--clips", "walk"], "parent"),
        (["gain=1", "gian=2", "--clips", "walk"], "gain"),
        (["gain=1", "gain=x", "--clips", "walk"], "gain"),
        (["world", "world", "--clips", "walk"], "two sides are called"),
        (["world", "parent", "--clips", "wlak"], "walk"),
        (["world", "parent", "--clips", "walk", "--seeds", "0"], "--seeds"),
        (["world", "no_module:Policy", "--clips", "walk"], "no_module"),
        (["world", "parent", "--clips", "walk", "--pushes", "hard"], "--pushes"),
        (["world", "parent", "--clips", "walk", "--measures", "grace"], "grace"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(words, says, tmp_path, capsys):
    assert main(["compare", *words, "--workers", "0", "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err.strip()
    assert told.startswith("error: ") and "\n" not in told and says in told
    assert not (tmp_path / "out").exists()


def test_a_folder_without_rows_is_none(tmp_path, capsys):
    assert main(["compare", str(tmp_path)]) == 2
    assert "holds no rows" in capsys.readouterr().err
