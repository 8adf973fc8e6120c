"""The figures of P2 are drawn from fresh runs."""

from pathlib import Path

from PIL import Image

from stunt.examples import example_names
from stunt.figures import p2


def test_every_strip_is_of_an_example() -> None:
    assert set(p2.STRIPS) <= set(example_names())


def test_a_strip_shows_the_moments_and_who_was_in_charge(tmp_path: Path) -> None:
    path = p2.draw("duck", p2.STRIPS["duck"][:8], tmp_path)
    with Image.open(path) as picture:
        assert picture.width > 1000 and picture.height > 300
