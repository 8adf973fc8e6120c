"""C3D files: as an independent reader reads them, and refused where they are cut or contradict themselves."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import stunt
from stunt.errors import StuntError
from stunt.motion.formats.c3d import read_points
from stunt.motion.markers import read_c3d

REACH = Path(stunt.__file__).parent / "examples" / "reach.c3d"


def made(points, *, processor=84, whole=False, labels=("A", "B"), analog=0, trial=False):
    """Write a C3D file by the book: points (frames, count, 4) with residuals."""
    order = ">" if processor == 86 else "<"
    frames, count = points.shape[:2]

    def real(value):
        if processor == 85:
            high, low = struct.unpack("<HH", struct.pack("<f", 4.0 * value))[::-1]
            return struct.pack("<HH", high, low)
        return struct.pack(f"{order}f", value)

    def entry(number, name, content):
        return struct.pack("bb", len(name), number) + name + struct.pack(f"{order}h", 2 + len(content)) + content

    def texts(number, name, words):
        width = max(map(len, words))
        packed = b"".join(word.encode().ljust(width) for word in words)
        return entry(number, name, struct.pack("bBBB", -1, 2, width, len(words)) + packed + b"\0")

    parameters = entry(-1, b"POINT", b"\0") + entry(-2, b"TRIAL", b"\0")
    parameters += texts(1, b"LABELS", labels) + texts(1, b"UNITS", ["cm"])
    parameters += entry(1, b"RATE", struct.pack("bB", 4, 0) + real(50.0) + b"\0")
    if trial:
        for name, value in ((b"ACTUAL_START_FIELD", 1), (b"ACTUAL_END_FIELD", frames)):
            words = struct.pack(f"{order}HH", value % 65536, value // 65536)
            parameters += entry(2, name, struct.pack("bBB", 2, 1, 2) + words + b"\0")
    parameters = bytes([1, 0x50, 2, processor]) + parameters + b"\0"
    scale = 0.25 if whole else -1.0
    head = bytes([2, 0x50]) + struct.pack(f"{order}HHHHH", count, analog, 1, min(frames, 65535), 0) + real(scale)
    head += struct.pack(f"{order}HH", 4, 0) + real(50.0)
    rows = points.copy()
    if whole:
        rows[..., :3] /= scale
    flat = np.concatenate([rows.reshape(frames, -1), np.full((frames, analog), 7.0)], axis=1).ravel()
    body = b"".join(struct.pack(f"{order}h", round(v)) if whole else real(v) for v in flat.tolist())
    return head.ljust(512, b"\0") + parameters.ljust(1024, b"\0") + body


@pytest.fixture()
def points():
    rng = np.random.default_rng(0)
    found = np.round(rng.uniform(-100.0, 100.0, (12, 2, 4)) * 4) / 4
    found[..., 3] = 0.0
    found[3, 1, 3] = -1.0
    return found


@pytest.mark.parametrize("processor", [84, 85, 86])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("analog", [0, 3])
def test_every_processor_and_kind_of_number_gives_the_same_points(points, processor, whole, analog):
    read = read_points(made(points, processor=processor, whole=whole, analog=analog))
    want = np.where(points[..., 3:] < 0, np.nan, points[..., :3])
    np.testing.assert_array_equal(read.points, want)
    assert (read.labels, read.unit, read.hz) == (("A", "B"), "cm", 50.0)


def test_an_independent_reader_agrees(tmp_path, points):
    ezc3d = pytest.importorskip("ezc3d", reason="ezc3d is not installed")
    written = ezc3d.c3d()
    written["parameters"]["POINT"]["RATE"]["value"] = [50]
    written["parameters"]["POINT"]["LABELS"]["value"] = ["A", "B"]
    written["parameters"]["POINT"]["UNITS"]["value"] = ["cm"]
    written["data"]["points"] = np.moveaxis(points, (0, 1, 2), (2, 1, 0))
    written["data"]["points"][:3, 0, 5] = np.nan
    written.write(str(tmp_path / "a.c3d"))
    for file, scale in ((REACH, 0.001), (tmp_path / "a.c3d", 0.01)):
        other, own = ezc3d.c3d(str(file)), read_c3d(file)
        theirs = np.moveaxis(np.asarray(other["data"]["points"], float)[:3], (0, 1, 2), (2, 1, 0)) * scale
        np.testing.assert_array_equal(own.positions, theirs)
        assert list(own.names) == other["parameters"]["POINT"]["LABELS"]["value"]
        assert own.hz == other["parameters"]["POINT"]["RATE"]["value"][0]


def test_more_frames_than_the_header_can_count_are_in_the_parameters():
    many = np.zeros((70_000, 1, 4))
    assert len(read_points(made(many, labels=("A",), trial=True, whole=True)).points) == 70_000


def test_points_without_names_are_numbered(points):
    assert read_points(made(points, labels=("A",))).labels == ("A", "point2")


def test_a_cut_file_says_how_many_frames_it_announces_and_has(tmp_path):
    data = REACH.read_bytes()
    for size in range(0, 1536 + 301 * 32, 97):
        (tmp_path / "cut.c3d").write_bytes(data[:size])
        with pytest.raises(StuntError) as caught:
            read_c3d(tmp_path / "cut.c3d")
        if size > 1536:
            assert f"announces 301 frames and has {(size - 1536) // 32}: it is cut short" in str(caught.value)


def test_changed_bytes_are_read_or_refused(tmp_path):
    data, rng = REACH.read_bytes(), np.random.default_rng(2)
    refused = 0
    for _ in range(2000):
        broken = bytearray(data)
        for _ in range(rng.integers(1, 5)):
            broken[rng.integers(0, 2048)] = rng.integers(0, 256)
        try:
            read = read_points(bytes(broken))
        except ValueError as error:
            refused, _ = refused + 1, len(str(error)) < 400 or pytest.fail(str(error))
        else:
            assert read.points.shape[1:] == (len(read.labels), 3)
    assert 100 < refused < 1900
