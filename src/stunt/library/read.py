"""One door to every motion file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError
from stunt.motion.clips.assume import Overrides, settle
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import mirrored
from stunt.motion.clips.raw import ClipFileError, RawClip
from stunt.motion.formats.asf import read_amc, read_asf_pose
from stunt.motion.formats.bvh import read_bvh
from stunt.motion.formats.deepmimic import read_deepmimic
from stunt.motion.formats.gltf_clip import read_gltf
from stunt.motion.formats.npz import read_npz

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


FILE_OPTIONS = ("skeleton", "mapping")
"""Options of a clip that name files."""


def split_reference(reference: str | Path, place: Place = NOWHERE) -> tuple[str, Overrides]:
    """Split `walk.bvh?fps=60&up=z` into the file (or name) and what is known better than the door's guesses.

    Args:
        reference: A file or name, with or without options.
        place: Where it was written, for error messages.

    Raises:
        StuntError: An override that does not exist, or has no such value.
    """
    text = str(reference)
    head, mark, tail = text.partition("?")
    if not mark or Path(text).exists():
        return text, Overrides()
    where = place if str(place) else Place(head)
    given: dict[str, Any] = {}
    kinds: dict[str, Callable[[str], Any]] = {
        "up": str, "scale": float, "fps": float, "skip_frames": int, "loop": _truth, "skeleton": str,
        "animation": str, "mapping": str, "mirror": _truth,
    }  # fmt: skip
    for entry in filter(None, tail.split("&")):
        key, _, value = entry.partition("=")
        if key not in kinds:
            raise UnknownNameError("clip option", key, kinds, where)
        try:
            given[key] = kinds[key](value)
        except (ValueError, KeyError):
            raise InvalidValueError(f"clip option '{key}'", value, _EXPECTED[kinds[key]], where) from None
    overrides = Overrides(**given)
    overrides.check(where)
    return head, overrides


def _truth(text: str) -> bool:
    return _YES[text.lower()]


_EXPECTED: dict[Callable[[str], Any], str] = {float: "a number", int: "a whole number", _truth: "true or false"}


def change_files(reference: str, change: Callable[[str], str], there: Callable[[str], bool]) -> str:
    """Return a reference with other paths: the file's, and those of options that name files which are there.

    Args:
        reference: Such as `walk.bvh?mapping=map.yaml`.
        change: Makes another path of a path.
        there: Whether a path an option names should be changed, judged by the path it has and would have.
    """
    head, mark, tail = reference.partition("?")
    options = []
    for entry in tail.split("&") if mark else ():
        key, equals, value = entry.partition("=")
        options.append(f"{key}={change(value)}" if equals and key in FILE_OPTIONS and there(value) else entry)
    return change(head) + mark + "&".join(options)


def with_option(reference: str, key: str, value: str) -> str:
    """Return a reference with one option more; what it says itself goes before."""
    if getattr(split_reference(reference)[1], key) is not None:
        return reference
    return f"{reference}{'&' if '?' in reference else '?'}{key}={value}"


def read_clip(path: str | Path, overrides: Overrides | None = None, place: Place = NOWHERE) -> Clip:
    """Read a clip from a file.

    Args:
        path: The file; its suffix says the format. Options may follow it: `walk.bvh?fps=60&up=z`.
        overrides: What is known better than the door's guesses, and than the options behind the path.
        place: Where the clip was asked for, for errors in its options.

    Raises:
        ClipFileError: It cannot be read, with the line where that is known.
        InvalidValueError: An override is impossible.
    """
    file, known = split_reference(path, place)
    wanted = replace(known, **(overrides.given() if overrides else {}))
    clip = settle(read_raw(file, wanted), wanted)
    return mirrored(clip) if wanted.mirror else clip


def read_raw(path: str | Path, overrides: Overrides | None = None) -> RawClip:
    """Read what a motion file says, before anything is assumed about it."""
    suffix = Path(path).suffix.lower()
    if suffix == ".amc":
        return read_amc(path, overrides.skeleton if overrides else None)
    if suffix == ".asf":
        return read_asf_pose(path)
    if suffix in (".glb", ".gltf"):
        return read_gltf(path, overrides.animation if overrides else None)
    if suffix not in READERS:
        raise ClipFileError(f"is no motion file Stunt reads. Available: {', '.join(READERS)}.", Place(str(path)))
    return READERS[suffix](path)
