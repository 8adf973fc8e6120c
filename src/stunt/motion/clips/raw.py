"""What a motion file says, in its own units and axes, before anything is assumed about it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from stunt.errors import Place, StuntError
from stunt.maths.rotations import Floats
from stunt.motion.clips.file_stamps import note_use

MAX_BYTES = 128 * 2**20
MAX_JSON_BYTES = 24 * 2**20  # parsed JSON takes 20 times the room of its text and more
MAX_LINE_BYTES = 2**20
MAX_VALUES = 8_000_000  # 11 minutes of 96 channels at 120 frames per second
MAX_FRAMES = 1_000_000
MAX_JOINTS = 2000


class ClipFileError(StuntError):
    """A motion file that cannot be read or written, with the line where that is known."""


@dataclass(frozen=True, eq=False)
class RawClip:
    """A motion file's content in its own units and axes."""

    format: str  #: Which reader it came through
    file: str  #: The file as the user named it
    names: tuple[str, ...]  #: Joint names, parents before children
    parents: tuple[int, ...]  #: Index of each joint's parent; −1 for the root
    offsets: Floats  #: Where each joint is in its parent's frame [file units], (J, 3)
    end_sites: tuple[tuple[int, Floats, str], ...]  #: (parent, offset, name) of each tip
    fps: float  #: Frames per second
    root: Floats  #: Root positions [file units], (F, 3)
    rotations: Floats  #: Orientations in the parent's frame, (F, J, 4)
    shifts: Floats | None = None  #: Displacements of inner joints [file units], (F, J, 3), or None
    channels: tuple[tuple[str, ...], ...] = ()  #: Channel names of each joint
    values: Floats | None = None  #: The channel values as written, (F, C), or None
    scale: float | None = None  #: Metres per unit, where the format fixes it
    up: str | None = None  #: `y` or `z`, where the format fixes it
    loop: bool = False  #: Whether the file calls itself a loop
    added: tuple[int, ...] = ()  #: Joints whose position channels are added to their OFFSET
    notes: Mapping[str, str] = field(default_factory=dict)  #: What the reader had to assume, by what it is about
    parts: Mapping[str, int] = field(default_factory=dict)  #: Which joint is which part, where the file says so itself
    wrong: Mapping[str, str] = field(default_factory=dict)  #: What is wrong with the file, though it was read, likewise


@dataclass(frozen=True)
class ClipFormat:
    """A format of motion files. Whoever brings one more adds one of these to `formats.registry.FORMATS`."""

    name: str  #: What `RawClip.format` says
    suffixes: tuple[str, ...]  #: How its files' names end, in lower case, dots included
    read: Callable[..., RawClip]  #: Reads a file: its path, and the options it heeds by their names
    heeds: tuple[str, ...] = ()  #: Which of the options `skeleton` and `animation` make sense for it
    #: Patterns of the names by which files are known for clips where nobody names them: in a folder.
    listed: tuple[str, ...] = ()


def read_bytes(path: str | Path) -> bytes:
    """Read a motion file, or say why it cannot be read."""
    file = Path(path)
    place = Place(str(path))
    try:
        if not file.is_file():
            raise ClipFileError("there is no such file." if not file.exists() else "is no file.", place)
        if file.stat().st_size > MAX_BYTES:
            raise ClipFileError(f"is larger than {MAX_BYTES // 2**20} MB; cut it into shorter clips.", place)
        note_use(file)
        return file.read_bytes()
    except OSError as error:
        raise ClipFileError(f"cannot be read: {error.strerror or error}.", place) from None


def read_lines(path: str | Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the words of each line that has any, with its number; the text is never split as a whole."""
    data = read_bytes(path)
    if b"\0" in data[:4096]:
        raise ClipFileError("is not text; this format is.", Place(str(path)))
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    number = 0
    for line in io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise ClipFileError(f"a line of {len(line)} bytes is too long.", Place(str(path), number))
        words = line.decode("utf-8", errors="replace").split()
        if words:
            yield number, words


def read_text(path: str | Path, most: int = MAX_BYTES) -> str:
    """Read a motion file as text of at most so many bytes."""
    data = read_bytes(path)
    if len(data) > most:
        raise ClipFileError(f"is larger than {most // 2**20} MB; cut it into shorter clips.", Place(str(path)))
    if b"\0" in data[:4096]:
        raise ClipFileError("is not text; this format is.", Place(str(path)))
    return data.decode("utf-8-sig", errors="replace")


def check_size(frames: int, width: int, place: Place) -> None:
    """Refuse motion that would not fit in memory, before any of it is allocated."""
    if frames * max(width, 1) > MAX_VALUES or frames > MAX_FRAMES:
        raise ClipFileError(
            f"has {frames} frames of {width} values, more than {MAX_VALUES} values or {MAX_FRAMES} frames; "
            "cut it into shorter clips.",
            place,
        )


def snapped(fps: float) -> float:
    """Return a frame rate without the rounding of a printed frame time (0.0083333 s is 120 per second)."""
    whole = round(fps)
    return float(whole) if whole > 0 and abs(fps - whole) < 5e-5 * whole else fps


def as_numbers(words: list[str], what: str, place: Place) -> Floats:
    """Return words as finite numbers, or say which is none."""
    try:
        values = np.array(words, dtype=float)
    except ValueError:
        values = np.array([_number(word) for word in words])
        bad = words[int(np.flatnonzero(np.isnan(values))[0])] if np.isnan(values).any() else words[0]
        raise ClipFileError(f"{what}: '{bad[:40]}' is no number.", place) from None
    if not np.isfinite(values).all() or (np.abs(values) > 1e9).any():
        bad = words[int(np.flatnonzero(~(np.abs(values) <= 1e9))[0])]
        raise ClipFileError(f"{what}: '{bad[:40]}' is no usable number.", place)
    return values


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")
