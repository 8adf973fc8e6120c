"""Clips that other people's libraries read (FBX, USD): in a child process, which hands back plain arrays."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from stunt import children
from stunt.archives import ArchiveError, read_arrays
from stunt.errors import NONSENSE, Place, StuntError, UnknownNameError
from stunt.motion.clips.raw import ClipFileError, RawClip, read_bytes

SECONDS: Final = 120
"""Of processor at most: an hour of capture takes half of that."""
_PLAIN: Final = ("format", "names", "parents", "fps", "scale", "up", "notes")
_ARRAYS: Final = ("offsets", "root", "rotations", "shifts")


def guarded(package: str, extra: str, reader: str) -> Callable[..., RawClip]:
    """Return a reader that lets a child read.

    Args:
        package: Which package does the reading.
        extra: By which extra of Stunt's it is installed.
        reader: Who calls it there, as `module:function`.
    """

    def read(path: str | Path, animation: str | None = None) -> RawClip:
        place = Place(str(path))
        if not _installed(package):
            raise ClipFileError(f"such files need the package '{package}': pip install 'stunt[{extra}]'.", place)
        read_bytes(path)  # a file that is too large, or none, is refused before anything is opened
        words = (reader, str(Path(path).resolve()), json.dumps(animation))
        try:
            data = children.apart(f"{__name__}:packed", *words, seconds=SECONDS)
        except (children.Refused, children.Died) as error:
            raise ClipFileError(f"'{package}' {error}: the file is damaged.", place) from None
        return _unpacked(data, animation, place)

    return read


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # it was taken out of this process on purpose
        return False


def _unpacked(data: bytes, animation: str | None, place: Place) -> RawClip:
    """Return what a child said, or raise what it refused."""
    try:
        arrays = read_arrays(data, children.MEMORY)
        told = json.loads(str(arrays["told"]))
    except (ArchiveError, *NONSENSE):
        raise ClipFileError("is damaged: nothing came of reading it.", place) from None
    if "unknown" in told:
        raise UnknownNameError("animation", str(animation), told["unknown"], place)
    if "refused" in told:
        raise ClipFileError(told["refused"], place)
    for name in ("names", "parents"):
        told[name] = tuple(told[name])
    found: dict[str, Any] = {name: arrays[name] for name in _ARRAYS if name in arrays}
    return RawClip(file=place.file, end_sites=(), **told, **found)


def packed(data: bytes, reader: str, path: str, animation: str) -> bytes:
    """Return what there is to say of a file (the child's side)."""
    module, _, name = reader.partition(":")
    arrays: dict[str, Any] = {}
    options = {} if animation == "null" else {"animation": json.loads(animation)}
    read = getattr(importlib.import_module(module), name)
    children.allow(children.SPARE + children.UNPACKED * Path(path).stat().st_size)
    try:
        raw = read(path, **options)
        told: dict[str, Any] = {name: getattr(raw, name) for name in _PLAIN}
        arrays = {name: value for name in _ARRAYS if (value := getattr(raw, name)) is not None}
    except UnknownNameError as error:
        told = {"unknown": error.available}
    except StuntError as error:
        told = {"refused": error.reason}
    except (*NONSENSE, MemoryError) as error:
        told = {"refused": f"is damaged: {type(error).__name__}."}
    out = io.BytesIO()
    np.savez(out, told=np.array(json.dumps(told)), **arrays)
    return out.getvalue()
