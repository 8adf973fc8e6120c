"""The journal of a performance: what it has is what the take would have, and a cut loses the last block alone."""

from __future__ import annotations

import errno
from dataclasses import fields

import numpy as np
import pytest

import stunt
from stunt.errors import TakeError
from stunt.record.journal import Journal, recovered
from stunt.record.take_folder import JOURNAL, claimed
from stunt.script.performance import Performance

SCRIPT = """
stunt: 1
rate: 120
seconds: 1.0
characters: {ada: {body: torso28}}
props: {ball: {shape: sphere, radius: 0.1, mass: 1.0, at: [0.5, 0.5, 0.12]}}
poses: {up: {r_elbow_flexion: 40}}
performance: {ada: {beats: [{pose: up, after: 0.2}, {pose: up, after: 0.2}]}}
"""


class Filling:
    """A file on a disk with room for so many bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        left = self.room - self.file.tell()
        if left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(data[:left])

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.fixture()
def performance(tmp_path):
    (tmp_path / "a.yaml").write_text(SCRIPT)
    return Performance(stunt.load_script(tmp_path / "a.yaml"))


def played(performance, journal, steps=60):
    """Play in three stretches, each followed by a block; return how long the file was after each."""
    journal.follow(performance.stage, performance.recorder, performance.told)
    sizes = []
    for _ in range(3):
        performance.stage.advance(steps)
        journal.append()
        sizes.append(journal._whole)
    return sizes


def same(recovered_take, take, frames):
    others = ("cast", "events", "meta", "model_bytes", "ledger")
    for name in (field.name for field in fields(take) if field.name not in others):
        want = getattr(take, name)
        want = want[take.contact_frame < frames] if name.startswith("contact_") else want[:frames]
        np.testing.assert_array_equal(getattr(recovered_take, name), want)
    assert recovered_take.cast == take.cast


def test_a_journal_holds_the_frames_the_take_has(tmp_path, performance):
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        played(performance, Journal(file))
    found, take = recovered(tmp_path / "j"), performance.take()
    assert take.contact_frame.size
    same(found, take, take.time.size)
    assert (
        found.events == take.events
        and found.meta["interrupted"]
        and "killed after 1.500 s" in found.meta["warnings"][-1]
    )
    assert found.model().nq == performance.stage.model.nq and found.report()["interrupted"]


def test_wherever_it_is_cut_only_what_is_not_whole_is_lost(tmp_path, performance):
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        sizes = played(performance, Journal(file))
    data, take = (tmp_path / "j").read_bytes(), performance.take()
    assert sizes[-1] == len(data)
    rng = np.random.default_rng(0)
    for cut in sorted({*sizes, *(s - 1 for s in sizes), *rng.integers(0, len(data), 40).tolist()}):
        (tmp_path / "cut").write_bytes(data[:cut])
        found = recovered(tmp_path / "cut")
        blocks = sum(size <= cut for size in sizes)
        assert (found is None) == (blocks == 0)
        if found is not None:
            same(found, take, 60 * blocks + 1)


def test_changed_bytes_are_refused_or_read_and_never_anything_else(tmp_path, performance):
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        played(performance, Journal(file), steps=5)
    data, rng = (tmp_path / "j").read_bytes(), np.random.default_rng(1)
    for _ in range(300):
        broken = bytearray(data)
        at = int(rng.integers(0, 60)) if rng.random() < 0.5 else int(rng.integers(0, len(data)))
        broken[at] = int(rng.integers(0, 256))
        (tmp_path / "b").write_bytes(broken)
        try:
            recovered(tmp_path / "b")
        except TakeError as error:
            assert len(str(error)) < 4100


def test_a_full_disk_ends_the_journal_at_its_last_whole_block_and_not_the_performance(tmp_path, performance):
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        sizes = played(performance, Journal(file))
    again = Performance(performance.script)
    with open(tmp_path / "k", "w+b", buffering=0) as file:
        journal = Journal(Filling(file, sizes[1] + 100))
        played(again, journal)
        assert journal.broken == "No space left on device" and journal.blocks == 2
    assert (tmp_path / "k").stat().st_size == sizes[1]
    same(recovered(tmp_path / "k"), again.take(), 121)


def test_a_journal_writes_once_per_period_and_not_at_every_call(tmp_path, performance):
    now = [0.0]
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        journal = Journal(file, period=0.5, now=lambda: now[0])
        journal.follow(performance.stage, performance.recorder, performance.told)
        for _ in range(100):
            performance.stage.advance(1)
            now[0] += 0.0501
            journal.keep_up()
    assert journal.blocks == 10


def test_where_the_journal_fills_the_disk_it_makes_room_for_the_take(tmp_path, performance):
    tries = []

    def write(aside):
        tries.append((tmp_path / JOURNAL).stat().st_size)
        if tries[-1] > 1000:
            raise OSError(errno.ENOSPC, "No space left on device")
        performance.take().save(aside / "take.npz")

    with claimed(tmp_path, str) as claim:
        played(performance, claim.journal)
        claim.replace(write)
    assert len(tries) == 2 and tries[1] == 0
    assert [path.name for path in tmp_path.iterdir() if path.name != "a.yaml"] == ["take.npz"]


def test_a_take_for_which_there_is_no_room_at_all_stays_in_the_journal(tmp_path, performance):
    def full(aside):
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = tmp_path / "out"
    with pytest.raises(TakeError, match="What was performed up to 1.50 s is kept in"), claimed(folder, str) as claim:
        played(performance, claim.journal)
        claim.replace(full)
    with claimed(folder, lambda take: "{}") as claim:
        assert claim.mended == ["a performance that was killed is recovered up to 1.50 s: take.npz."]
    assert {path.name for path in folder.iterdir()} == {"take.npz", "report.json"}
    same(stunt.Take.load(folder), performance.take(), 181)


def test_what_is_recovered_never_replaces_an_older_take(tmp_path, performance):
    (tmp_path / "take.npz").write_bytes(b"older")
    for number in (1, 2):
        with pytest.raises(KeyboardInterrupt), claimed(tmp_path, str) as claim:
            played(Performance(performance.script) if number == 2 else performance, claim.journal)
            raise KeyboardInterrupt
        assert (tmp_path / JOURNAL).exists()
    with claimed(tmp_path, str):
        pass
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a.yaml", "take.npz", "recovered.npz", "recovered-2.npz"}
    assert (tmp_path / "take.npz").read_bytes() == b"older"
