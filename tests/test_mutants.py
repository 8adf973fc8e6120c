"""The mutants of `make mutants` still fit the sources they change."""

import ast

import pytest

from tests.campaigns.physics import ROOT
from tests.campaigns.physics_table import mutants

MUTANTS = mutants()


def test_every_mutant_changes_one_place_of_a_file_that_is_still_python():
    for mutant in MUTANTS:
        text = mutant.path(ROOT).read_text("utf-8")
        changed = mutant.applied(text)  # raises where the snippet is not there exactly once
        assert changed != text and ast.parse(changed), mutant.name


def test_there_are_enough_of_them_and_each_is_there_once():
    assert len(MUTANTS) >= 60
    assert len({(mutant.file, mutant.name) for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("test", sorted({test for mutant in MUTANTS for test in (*mutant.tests, mutant.room)}))
def test_the_tests_that_are_tried_first_are_there(test):
    path, _, name = test.partition("::")
    assert (ROOT / path).exists() and (not name or f"def {name.partition('[')[0]}(" in (ROOT / path).read_text("utf-8"))
