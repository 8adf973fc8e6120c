"""The figures of P2 are drawn from fresh runs."""

from pathlib import Path

import pytest
from PIL import Image

from papers.p2 import figures as p2
from stunt.examples import example_names


def test_every_strip_is_of_an_example() -> None:
    assert set(p2.STRIPS) <= set(example_names())


def test_a_strip_shows_the_moments_and_who_was_in_charge(tmp_path: Path) -> None:
    path = p2.draw("duck", p2.STRIPS["duck"][:8], tmp_path)
    with Image.open(path) as picture:
        assert picture.width > 1000 and picture.height > 300


def test_a_drawn_path_is_drawn_from_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "cache"))
    path = p2.draw_path("wave", tmp_path)
    assert path.name == "p2-path-wave.png"
    with Image.open(path) as picture:
        assert picture.width > 600
