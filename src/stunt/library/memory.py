"""What was made of files, kept while they stay as they are: read once, shared by whoever asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from stunt.motion.clips.file_stamps import FileStamp, files_in_use, note_stamp

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
