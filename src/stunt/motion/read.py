"""One door to every motion file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stunt.errors import Place
from stunt.motion.clip import Clip
from stunt.motion.door import Overrides, settle
from stunt.motion.formats.asf import read_amc
from stunt.motion.formats.bvh import read_bvh
from stunt.motion.formats.deepmimic import read_deepmimic
from stunt.motion.formats.npz import read_npz
from stunt.motion.formats.raw import ClipFileError, RawClip

READERS: dict[str, Callable[[str | Path], RawClip]] = {
    ".bvh": read_bvh,
    ".amc": read_amc,
    ".json": read_deepmimic,
    ".txt": read_deepmimic,
    ".npz": read_npz,
}


def read_clip(path: str | Path, overrides: Overrides | None = None) -> Clip:
    """Read a clip from a file.

    Args:
        path: The file; its suffix says the format.
        overrides: What is known better than the door's guesses.

    Raises:
        ClipFileError: It cannot be read, with the line where that is known.
        InvalidValueError: An override is impossible.
    """
    return settle(read_raw(path, overrides), overrides)


def read_raw(path: str | Path, overrides: Overrides | None = None) -> RawClip:
    """Read what a motion file says, before anything is assumed about it."""
    skeleton = overrides.skeleton if overrides else None
    if Path(path).suffix.lower() == ".amc":
        return read_amc(path, skeleton)
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise ClipFileError(f"is no motion file Stunt reads. Available: {', '.join(READERS)}.", Place(str(path)))
    return reader(path)
