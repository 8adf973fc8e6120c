"""References to clips, such as `walk.bvh?fps=60` and `dances.glb#Run`, and reading what they name, once.

A file is parsed once and settled once per set of options, however often and by whomever it is asked for; a file that
has changed since is read anew. Clips that were read are shared, so their arrays cannot be written to.

What was made of files, kept while they stay as they are: read once, shared by whoever asks.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError
from stunt.library.mend import mended
from stunt.motion.clips.assume import Overrides, settle
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.edit import mirrored
from stunt.motion.clips.file_stamps import FileStamp, files_in_use, note_stamp
from stunt.motion.clips.raw import RawClip
from stunt.motion.formats import registry

Value = TypeVar("Value")


@dataclass(frozen=True)
class _Remembered(Generic[Value]):
    value: Value
    stamps: tuple[FileStamp, ...]
    size: int


class FileMemory(Generic[Value]):
    """Values by key, each good for as long as none of the files it was made of has changed.

    What was asked for longest ago goes first when there is too much. Threads may ask at the same time: the second waits
    for what the first is making.
    """

    def __init__(self, most: int, most_bytes: int, size: Callable[[Value], int]) -> None:
        """Make an empty memory.

        Args:
            most: How many values it keeps.
            most_bytes: How large they may be together; the last one is kept however large it is.
            size: How large a value is [bytes].
        """
        self._most, self._most_bytes, self._size = most, most_bytes, size
        self._entries: OrderedDict[Hashable, _Remembered[Value]] = OrderedDict()
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._entries)

    def recall(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key; made now where there is none, or where a file of it has changed."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not all(stamp.holds for stamp in entry.stamps):
                with files_in_use() as used:
                    value = make()
                entry = _Remembered(value, tuple(dict.fromkeys(used)), self._size(value))
                self._entries[key] = entry
            else:
                for stamp in entry.stamps:
                    note_stamp(stamp)
            self._entries.move_to_end(key)
            self._forget()
            return entry.value

    def forget_all(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def _forget(self) -> None:
        whole = sum(entry.size for entry in self._entries.values())
        while len(self._entries) > 1 and (len(self._entries) > self._most or whole > self._most_bytes):
            _, entry = self._entries.popitem(last=False)
            whole -= entry.size


_YES = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


FILE_OPTIONS = ("skeleton", "mapping")
"""Options of a clip that name files."""


def cut_reference(reference: str | Path) -> tuple[str, str]:
    """Cut a reference into its file (or name) and what follows it: `#animation`, `?options`, or nothing."""
    text = str(reference)
    end = min((at for mark in "?#" if (at := text.find(mark)) > 0), default=len(text))
    return (text, "") if end < len(text) and os.path.exists(text) else (text[:end], text[end:])


def split_reference(reference: str | Path, place: Place = NOWHERE) -> tuple[str, Overrides]:
    """Split `walk.bvh?fps=60&up=z` or `dances.glb#Run` into the file (or name) and what is said of it.

    Args:
        reference: A file or name; behind `#` the animation wanted of a file that has several, behind `?` options.
        place: Where it was written, for error messages.

    Raises:
        StuntError: An override that does not exist, or has no such value.
    """
    head, rest = cut_reference(reference)
    before, _, tail = rest.partition("?")
    where = place if str(place) else Place(head)
    given: dict[str, Any] = {"animation": before[1:]} if before else {}
    kinds: dict[str, Callable[[str], Any]] = {
        "up": str, "scale": float, "fps": float, "skip_frames": int, "loop": _truth, "skeleton": str,
        "animation": str, "mapping": str, "mirror": _truth, "travel": _truth,
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
    head, rest = cut_reference(reference)
    before, mark, tail = rest.partition("?")
    options = []
    for entry in tail.split("&") if mark else ():
        key, equals, value = entry.partition("=")
        options.append(f"{key}={change(value)}" if equals and key in FILE_OPTIONS and there(value) else entry)
    return change(head) + before + mark + "&".join(options)


def with_option(reference: str, key: str, value: str) -> str:
    """Return a reference with one option more; what it says itself goes before."""
    if getattr(split_reference(reference)[1], key) is not None:
        return reference
    return f"{reference}{'&' if '?' in reference else '?'}{key}={value}"


def read_clip(path: str | Path, overrides: Overrides | None = None, place: Place = NOWHERE) -> Clip:
    """Read a clip from a file; the same clip again for whoever asks the same.

    Args:
        path: The file; its suffix says the format. An animation and options may follow it.
        overrides: What is known better than guesses, and than the options behind the path.
        place: Where the clip was asked for, for errors in its options.

    Raises:
        ClipFileError: It cannot be read, with the line where that is known.
        InvalidValueError: An override is impossible.
    """
    file, wanted = _wanted(path, overrides, place)
    key = (os.path.abspath(file), file, wanted)
    return _CLIPS.recall(key, lambda: _settled(_raw(file, wanted), wanted))


def read_raw(path: str | Path, overrides: Overrides | None = None, place: Place = NOWHERE) -> RawClip:
    """Read what a motion file says, before anything is assumed about it; parsed once, as clips are.

    Raises:
        ClipFileError: It cannot be read, with the line where that is known.
        InvalidValueError: An override is impossible.
    """
    return _raw(*_wanted(path, overrides, place))


def _wanted(path: str | Path, overrides: Overrides | None, place: Place) -> tuple[str, Overrides]:
    file, known = split_reference(path, place)
    return file, replace(known, **(overrides.given() if overrides else {}))


def _raw(file: str, wanted: Overrides) -> RawClip:
    key = (os.path.abspath(file), wanted.skeleton, wanted.animation)
    raw = _RAWS.recall(key, lambda: _sealed(registry.read_raw(file, wanted)))
    return raw if raw.file == file else replace(raw, file=file)


def _settled(raw: RawClip, wanted: Overrides) -> Clip:
    clip = mended(settle(raw, wanted), wanted)
    return _sealed(mirrored(clip) if wanted.mirror else clip)


def _sealed(value: Any) -> Any:
    """Make the arrays of something that is shared read-only."""
    for array in _arrays(value):
        array.setflags(write=False)
    return value


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for item in value for array in _arrays(item)]
    if is_dataclass(value):
        return [array for field in fields(value) for array in _arrays(getattr(value, field.name))]
    return []


def _bytes(value: Any) -> int:
    return sum(array.nbytes for array in _arrays(value))


_RAWS: FileMemory[RawClip] = FileMemory(128, 256 * 2**20, _bytes)
_CLIPS: FileMemory[Clip] = FileMemory(128, 256 * 2**20, _bytes)


def forget_clips() -> None:
    """Forget all clips that were read; they are read again when somebody asks."""
    _RAWS.forget_all()
    _CLIPS.forget_all()
