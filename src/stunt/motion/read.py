"""One door to every motion file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stunt.errors import InvalidValueError, Place, UnknownNameError
from stunt.motion.clip import Clip
from stunt.motion.door import Overrides, settle
from stunt.motion.formats.asf import read_amc
from stunt.motion.formats.bvh import read_bvh
from stunt.motion.formats.deepmimic import read_deepmimic
from stunt.motion.formats.gltf_clip import read_gltf
from stunt.motion.formats.npz import read_npz
from stunt.motion.formats.raw import ClipFileError, RawClip

READERS: dict[str, Callable[[str | Path], RawClip]] = {
    ".bvh": read_bvh,
    ".amc": read_amc,
    ".json": read_deepmimic,
    ".txt": read_deepmimic,
    ".npz": read_npz,
    ".glb": read_gltf,
    ".gltf": read_gltf,
}


_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def split_reference(reference: str | Path) -> tuple[str, Overrides]:
    """Split `walk.bvh?fps=60&up=z` into the file (or name) and what is known better than the door's guesses.

    Raises:
        StuntError: An override that does not exist, or has no such value.
    """
    text = str(reference)
    head, mark, tail = text.partition("?")
    if not mark or Path(text).exists():
        return text, Overrides()
    given: dict[str, Any] = {}
    kinds: dict[str, Callable[[str], Any]] = {
        "up": str, "scale": float, "fps": float, "skip_frames": int, "loop": _truth, "skeleton": str,
        "animation": str, "mapping": str,
    }  # fmt: skip
    for entry in filter(None, tail.split("&")):
        key, _, value = entry.partition("=")
        if key not in kinds:
            raise UnknownNameError("clip option", key, kinds, Place(head))
        try:
            given[key] = kinds[key](value)
        except (ValueError, KeyError):
            raise InvalidValueError(f"clip option '{key}'", value, "a value of its kind", Place(head)) from None
    return head, Overrides(**given)


def _truth(text: str) -> bool:
    return _YES[text.lower()]


def read_clip(path: str | Path, overrides: Overrides | None = None) -> Clip:
    """Read a clip from a file.

    Args:
        path: The file; its suffix says the format. Options may follow it: `walk.bvh?fps=60&up=z`.
        overrides: What is known better than the door's guesses, and than the options behind the path.

    Raises:
        ClipFileError: It cannot be read, with the line where that is known.
        InvalidValueError: An override is impossible.
    """
    file, known = split_reference(path)
    wanted = replace(known, **(overrides.given() if overrides else {}))
    return settle(read_raw(file, wanted), wanted)


def read_raw(path: str | Path, overrides: Overrides | None = None) -> RawClip:
    """Read what a motion file says, before anything is assumed about it."""
    suffix = Path(path).suffix.lower()
    if suffix == ".amc":
        return read_amc(path, overrides.skeleton if overrides else None)
    if suffix in (".glb", ".gltf"):
        return read_gltf(path, overrides.animation if overrides else None)
    if suffix not in READERS:
        raise ClipFileError(f"is no motion file Stunt reads. Available: {', '.join(READERS)}.", Place(str(path)))
    return READERS[suffix](path)
