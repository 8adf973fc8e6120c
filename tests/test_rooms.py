"""Imports run one way, rooms are no cupboards, and nothing depends on the machine it was written on."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def rooms():
    loader = importlib.machinery.SourceFileLoader("rooms", str(ROOT / "tools" / "rooms"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rooms", loader))
    sys.modules["rooms"] = module
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def house(rooms):
    return rooms.House.read()


def test_imports_run_one_way_between_rooms(house):
    assert house.upward() == []


def test_imports_run_one_way_between_the_folders_of_a_room(house):
    assert house.mutual() == []


def test_every_module_stands_in_a_room_the_plan_knows(rooms, house):
    assert {rooms.room_of(name) for name in house.files} <= {*rooms.ROOMS, "examples"}


def test_no_two_classes_have_one_name(house):
    assert house.classes_twice() == {}


def test_the_house_keeps_its_measures(house):
    assert len(house.imported_by_one(sibling=True)) <= 40
    assert house.fullest()[1] <= 20
    assert house.imports_per_module() <= 5.32
    assert house.lines(newer=False) <= 63_600


def test_no_file_names_a_folder_of_one_machine():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    words = "|".join(("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"))
    found = subprocess.run(["git", "grep", "-nIE", words, "--", "."], cwd=ROOT, capture_output=True, text=True)
    assert not found.stdout
