"""Which files something was read from, and whether they are still as they were then."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SETTLED: Final = 2_000_000_000
"""A file last written longer ago than this [ns] cannot be written again with the same time stamp."""
_USED: ContextVar[list[FileStamp] | None] = ContextVar("files in use", default=None)


@dataclass(frozen=True)
class FileStamp:
    """A file, or a folder that was searched, as it was when it was used."""

    path: str  #: Absolute
    #: Time of the last change [ns], size and number on its disk; None: there was nothing.
    state: tuple[int, int, int] | None
    #: Of the content, for files that were changed so shortly before that their time stamp says little.
    digest: bytes | None = None

    @staticmethod
    def of(path: str | Path) -> FileStamp:
        """Return the stamp of a file as it is now."""
        where = os.path.abspath(path)
        state = _state(where)
        fresh = state is not None and time.time_ns() - state[0] < _SETTLED
        return FileStamp(where, state, _digest(where) if fresh else None)

    @property
    def holds(self) -> bool:
        """Whether it is still the same."""
        return _state(self.path) == self.state and (self.digest is None or _digest(self.path) == self.digest)


def _state(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:  # a folder, or gone
        return None


@contextmanager
def files_in_use() -> Iterator[list[FileStamp]]:
    """Collect the stamps of all files that are read inside."""
    used: list[FileStamp] = []
    before = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(before)
        for stamp in used:
            note_stamp(stamp)  # what is inside is also inside what is around


def note_stamp(stamp: FileStamp) -> None:
    """Say that what is being made depends on a file as it was."""
    used = _USED.get()
    if used is not None:
        used.append(stamp)


def note_use(path: str | Path) -> None:
    """Say that a file is about to be read, or a folder to be searched."""
    if _USED.get() is not None:
        note_stamp(FileStamp.of(path))
