"""Arrays that can be made again are found by their key, and those not asked for the longest go."""

import os
import zipfile

import numpy as np
import pytest

from stunt.archives import ArchiveError, ArrayCache, read_archive, read_file, user_cache


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


def test_pipes_devices_and_what_is_too_large_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(2**40)
    for path, said in (
        (tmp_path / "pipe", "no file"),
        ("/dev/zero", "no file"),
        (tmp_path / "huge", "larger than 1 MB"),
    ):
        for read in (read_file, read_archive):
            with pytest.raises(OSError, match=said):
                read(path, 2**20)


def test_a_user_without_a_home_keeps_nothing_and_is_told_nothing(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    cache = ArrayCache(user_cache("maps"))
    cache.keep("a", {"x": np.zeros(1)})
    assert cache.load("a") is None


def test_a_small_archive_that_unpacks_to_gigabytes_is_refused_before_it_does(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("x.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "|u1", "fortran_order": False, "shape": (640 * 2**20,)}
            )
            for _ in range(640):
                file.write(bytes(2**20))
    with pytest.raises(ArchiveError, match="unpacks to more than [56][0-9]{2} MB"):
        read_archive(tmp_path / "a.npz", 2**32)
