"""Versions against each other: the ratio's interval, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import against
from benchmarks.main import run
from stunt.errors import InvalidValueError, StuntError, UnknownNameError


def test_the_interval_holds_the_ratio_of_means_whatever_slows_whole_pairs() -> None:
    rng = np.random.default_rng(0)
    machine = rng.choice([1.0, 2.0, 5.0], 60)
    theirs = machine * (1.0 + 0.02 * rng.random(60))
    ours = 0.9 * machine * (1.0 + 0.02 * rng.random(60))
    ratio, low, high = against.interval(ours, theirs)
    assert low < ratio < high < 1.0 and ratio == pytest.approx(0.9, rel=0.01) and high - low < 0.02


def test_a_version_is_called_slower_only_where_the_whole_interval_is() -> None:
    row = against.Compared("loop", 1.1, 1.0, 1.1, 0.95, 1.2, 20)
    assert not row.worse and against.Compared("loop", 1.1, 1.0, 1.1, 1.05, 1.2, 20).worse


def test_what_cannot_be_compared_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(StuntError, match="no checkout of Stunt"):
        against.Worker(tmp_path)
    with pytest.raises(UnknownNameError, match="control"):
        against.compare(tmp_path, ["contrl"])
    with pytest.raises(InvalidValueError, match="at least 20"):
        run(["--against", str(tmp_path), "--pairs", "3"])
