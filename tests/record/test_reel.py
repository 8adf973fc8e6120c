"""Frames in blocks: the same as a list of them, whatever is forgotten, saved, restored or put away on a disk."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import stunt
from stunt.errors import TakeError
from stunt.record.journal import Journal
from stunt.record.reel import BLOCK, Column, FrameReel


def noted(reel, value):
    block = reel.room()
    block.rows["time"][block.count], block.rows["qpos"][block.count] = value, (value, -value)
    block.count += 1
    if int(value) % 3 == 0:
        points = np.full((2, 3), value)
        block.contacts.append((block.first + block.count - 1, np.zeros((2, 2), np.int32), points, points))


def test_a_reel_is_as_a_list_whatever_is_done_to_it():
    rng, reel, plain, saved = np.random.default_rng(3), FrameReel({"time": (), "qpos": (2,)}), [], []
    for number in range(400):
        kind = rng.integers(8)
        if kind < 5:
            for value in range(int(rng.integers(90))):
                noted(reel, float(number + value))
                plain.append(float(number + value))
        elif kind == 5:
            plain = plain[: int(rng.integers(len(plain) + 1))]
            reel.rewind(len(plain))
        elif kind == 6:
            saved.append((reel.save(), list(plain)))
        elif saved:
            state, plain = saved[int(rng.integers(len(saved)))]
            plain = list(plain)
            reel.restore(state)
        if rng.random() < 0.1:
            reel.cut()
        assert reel.count == len(plain)
        step, start = int(rng.integers(1, 400)), int(rng.integers(len(plain) + 1))
        np.testing.assert_array_equal(Column(reel, "time")[start::step], plain[start::step])
        np.testing.assert_array_equal(Column(reel, "time")[::-step], plain[::-step])
        if plain:
            frame = int(rng.integers(len(plain)))
            assert tuple(Column(reel, "qpos")[frame]) == (plain[frame], -plain[frame])
            assert len(reel.touching_at(frame)[0]) == (2 if int(plain[frame]) % 3 == 0 else 0)
    np.testing.assert_array_equal(reel.arrays()["qpos"][:, 0], plain)
    found = np.repeat([k for k, value in enumerate(plain) if int(value) % 3 == 0], 2)
    np.testing.assert_array_equal(reel.touching()["contact_frame"], found)
    with pytest.raises(IndexError):
        Column(reel, "time")[len(plain)]


def played(tmp_path, steps=3 * BLOCK, **options):
    """Return the take of a fallen body, kept in memory or written down on the way, and what of it was put away."""
    stage = stunt.Stage({"ada": stunt.Body("torso28", root="free")}, hz=240)
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        journal = Journal(file, **options)
        if options:
            journal.follow(stage, stage.recorder, lambda: ([], {}))
        for _ in range(steps // 32):
            stage.advance(64)
            if options:
                journal.keep_up()
        return stage, stage.take(), [block.away is not None for block in stage.recorder.reel]


def test_a_take_is_the_same_with_frames_in_memory_and_on_disk(tmp_path):
    _, want, here = played(tmp_path)
    stage, found, away = played(tmp_path, at_hand=0, period=0.0)
    assert not any(here) and all(away[:-1]) and want.contact_frame.size
    want.save(tmp_path / "want.npz")
    dataclasses.replace(found, meta=want.meta).save(tmp_path / "found.npz")
    assert (tmp_path / "want.npz").read_bytes() == (tmp_path / "found.npz").read_bytes()
    with pytest.raises(TakeError, match="handed to the performance's journal"):
        stage.recorder.take()  # its journal is closed


def test_frames_beyond_what_may_be_at_hand_are_put_away_and_come_back_where_room_is_made(tmp_path):
    stage = stunt.Stage({"ada": stunt.Body("torso28", root="free")}, hz=240)
    with open(tmp_path / "j", "w+b", buffering=0) as file:
        journal = Journal(file, at_hand=1_000_000)
        journal.follow(stage, stage.recorder, lambda: ([], {}))
        for _ in range(40):
            stage.advance(64)
            journal.keep_up()
        blocks = list(stage.recorder.reel)
        held = sum(rows.nbytes for block in blocks for rows in block.rows.values())
        assert blocks[0].away is not None and blocks[-2].away is None and held < 1_700_000
        before = stage.take()
        journal.make_room()
        assert (tmp_path / "j").stat().st_size == 0 and all(block.away is None for block in stage.recorder.reel)
        for name in ("time", "qpos", "torque", "contact_force"):
            np.testing.assert_array_equal(getattr(stage.take(), name), getattr(before, name))
