"""Sides are compared in pairs of the same clip, body, push and seed, and a table says how sure that is."""

import json

import numpy as np
import pytest

from stunt.errors import StuntError, UnknownNameError
from stunt.many.compared_files import note_of, shown, table_of, write_comparison
from stunt.many.comparison import compare
from stunt.many.sides import sides_of
from stunt.many.statistics import Interval

CLIPS = ("walk", "run", "idle", "jump", "kick", "wave")


def row(clip, side, seed, error, *, fell=False, failure=""):
    found = {} if failure else {"error_deg_mean": error, "fell": fell, "drift_m": 0.1 * error}
    return {"clip": clip, "body": "skeleton", "setting": side, "push": "", "seed": seed, "failure": failure, **found}


def rows(better=0.3, seeds=6, seed=1):
    """Clips differ much, seeds little; `soft` is worse than `stiff` by `better`."""
    rng = np.random.default_rng(seed)
    found = []
    for clip in CLIPS:
        level = rng.uniform(1.0, 6.0)
        for number in range(seeds):
            luck = rng.normal(0.0, 0.3)
            for side, more in (("stiff", 0.0), ("soft", better)):
                found.append(row(clip, side, number, level + luck + more + rng.normal(0.0, 0.05)))
    return found


def of(found, name):
    return next(measure for measure in found.measures if measure.name == name)


def test_a_small_difference_between_pairs_is_told_from_large_ones_between_clips():
    error = of(compare(rows()), "error_deg_mean")
    assert error.differences["soft"].tells and error.differences["soft"].value == pytest.approx(0.3, abs=0.05)
    assert error.means["stiff"].high > error.means["soft"].low  # clips alone differ far more
    assert error.unit == "°" and error.means["soft"].count == 36


def test_where_there_is_no_difference_none_is_told():
    told = [
        of(compare(rows(better=0.0, seed=n), seed=n), "error_deg_mean").differences["soft"].tells for n in range(20)
    ]
    assert sum(told) <= 4


def test_the_order_of_rows_does_not_matter():
    found = rows()
    shuffled = [found[n] for n in np.random.default_rng(0).permutation(len(found))]
    one, other = compare(found, sides=("stiff", "soft")), compare(shuffled, sides=("stiff", "soft"))
    value = [of(c, "error_deg_mean").differences["soft"].value for c in (one, other)]
    assert value[0] == pytest.approx(value[1], abs=1e-12) and one.pairs == other.pairs


def test_a_pair_that_one_side_could_not_run_is_left_out_for_all_and_counted():
    found = [*rows(), row("new", "stiff", 0, 50.0), row("new", "soft", 0, 0.0, failure="it blew up")]
    compared = compare(found)
    assert compared.pairs == 36 and compared.dropped == {"stiff": 0, "soft": 1}
    assert compared.failures == ("soft: it blew up",)
    assert of(compared, "error_deg_mean").means["stiff"].value < 10.0
    assert "1 of 'soft'" in note_of(compared)


def test_only_pairs_in_which_nobody_fell_count_where_that_is_asked():
    found = rows()
    found[0]["fell"] = True  # stiff, first pair
    whole, standing = compare(found), compare(found, standing=True)
    assert whole.pairs == 36 and standing.pairs == 35
    assert of(whole, "fell").means["stiff"].value == pytest.approx(1 / 36)
    assert of(standing, "fell").means["stiff"].value == 0.0


def test_rows_of_any_job_can_be_compared_by_any_column():
    found = [
        {"law": law, "seed": seed, "failure": "", "distance": seed + (2.0 if law == "b" else 0.0), "note": "text"}
        for law in "ab"
        for seed in range(8)
    ]
    compared = compare(found, by="law")
    assert [m.name for m in compared.measures] == ["distance"]
    assert compared.measures[0].differences["b"].value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "colour"}, "colour"),
        ({"sides": ("stiff", "rubber")}, "rubber"),
        ({"measures": ("grace",)}, "grace"),
        ({"sides": ("stiff",)}, "two sides"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(options, words):
    with pytest.raises(StuntError, match=words):
        compare(rows(), **options)


def test_nothing_to_compare_says_why():
    with pytest.raises(StuntError, match="no pair.*blew up"):
        compare([row("walk", "a", 0, 1.0), row("walk", "b", 0, 1.0, failure="it blew up")])


def test_files_hold_what_was_found(tmp_path):
    compared = compare(rows())
    paths = write_comparison(compared, tmp_path, {"digest": "x"}, "stiff against soft")
    assert [path.name for path in paths] == ["comparison.md", "comparison.json", "comparison.png"]
    data = json.loads((tmp_path / "comparison.json").read_text())
    assert data["digest"] == "x" and data["pairs"] == 36
    assert data["measures"][0]["differences"]["soft"]["value"] == pytest.approx(0.3, abs=0.05)
    text = (tmp_path / "comparison.md").read_text()
    assert text.startswith("| measure | stiff | soft | soft − stiff | pairs |") and "36 pairs" in text
    assert len({len(line) for line in table_of(compared)}) == 1


def test_a_difference_that_tells_is_marked():
    assert shown(Interval(1.0, 0.5, 1.5, 3), signed=True) == "+1 (0.5 … 1.5) *"
    assert not shown(Interval(1.0, -0.5, 1.5, 3), signed=True).endswith("*")


def test_sides_are_typed_as_words_keys_names_and_classes():
    typed = ["default", "parent", "hook", "soft:gain=0.3,steer=false", "servo=beat", "stunt.supervise.rag_doll:RagDoll"]
    assert sides_of(typed) == {
        "default": {}, "parent": {"servo": "parent"}, "hook": {"assist": "hook"}, "soft": {"gain": 0.3, "steer": False},
        "servo=beat": {"servo": "beat"}, "RagDoll": {"controller": "stunt.supervise.rag_doll:RagDoll"},
    }  # fmt: skip


@pytest.mark.parametrize("typed", [["stif"], ["gian=2"], ["gain="], ["soft:gain"], ["parent", "parent"]])
def test_a_side_that_is_none_is_a_clear_word(typed):
    with pytest.raises((StuntError, UnknownNameError)):
        sides_of(typed)
