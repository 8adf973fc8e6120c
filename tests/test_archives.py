"""Arrays that can be made again are found by their key, and those not asked for the longest go."""

import os

import numpy as np

from stunt.archives import ArrayCache


def test_a_full_cache_forgets_what_was_not_asked_for_the_longest(tmp_path):
    cache = ArrayCache(tmp_path, most=3)
    for age, key in enumerate("abc"):
        cache.keep(key, {"x": np.full(3, float(age))})
        os.utime(tmp_path / f"{key}.npz", (age, age))
    assert cache.load("a") is not None  # which makes it the youngest
    cache.keep("d", {"x": np.zeros(1)})
    assert cache.load("b") is None and all(cache.load(key) is not None for key in "acd")
    assert {path.suffix for path in tmp_path.iterdir()} == {".npz"}


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = ArrayCache(tmp_path / "file" / "folder")
    cache.keep("a", {"x": np.zeros(1)})
    assert cache.load("a") is None
