"""The journal of a performance under way: raw frames, appended once a second, so that even a killed one is not lost.

The file begins with a line that names the process that writes it, and holds records, each announced by its size. The
first says who is on stage, and has the model; every further one has a block of frames since the last, and of columns
that do not change the first row only. What a kill cut short is the last record only, and is left out. It holds plain
numbers and JSON, and what it announces is checked before memory is taken. In a long performance the recorder lets go of
the oldest blocks, and fetches them from here: it takes no more memory than a shorter one.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import time as clock
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from stunt.errors import NONSENSE, TakeError
from stunt.record.cast import cast_from_data, cast_of
from stunt.record.recorder import Recorder
from stunt.record.reel import CONTACTS, TYPES, Arrays, Block
from stunt.record.take import LARGEST, Take
from stunt.stage.loop import StageLoop
from stunt.stage.stored_model import model_bytes

PERIOD: Final = 0.5
"""Seconds of wall time from one block to the next; less than the second a kill may cost, by what a chunk may take."""
AT_HAND: Final = 16 * 2**20
"""Bytes of frames that stay in memory although they are written down."""
_EVENTS_SHARE: Final = 0.01  # of the time may go into telling what happened; where that takes longer, it is told rarely
_BEGIN: Final = b"stunt journal 1, process "
_RECORD: Final = struct.Struct("<4sIQ")  # mark, bytes of JSON, bytes of numbers
_MARK: Final = b"STNJ"
_ROWS: Final = {
    "time": (), "qpos": ("nq",), "qvel": ("nv",), "target": ("nq",), "target_velocity": ("nv",), "torque": ("nv",),
    "stiffness": ("nv",), "damping": ("nv",), "saturated": ("nv",), "assistance": ("people", 6),
}  # fmt: skip
Told = Callable[[], tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]]


class Journal:
    """Writes a performance down as it goes on.

    Attributes:
        blocks: How many blocks of frames are on disk.
        seconds: Up to which simulated time [s].
        broken: Why nothing is written any more, if so: a disk that is full.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        period: float = PERIOD,
        now: Callable[[], float] = clock.monotonic,
        at_hand: int = AT_HAND,
    ) -> None:
        """Write into an open, empty file.

        Args:
            file: Unbuffered.
            period: Seconds from one block to the next.
            now: What the time is [s].
            at_hand: How many bytes of frames that are written down stay in memory.
        """
        self.blocks, self.seconds, self.broken = 0, 0.0, ""
        self._file, self._period, self._now = file, period, now
        self._stage: StageLoop | None = None
        self._whole = 0
        self._sizes: dict[str, int] = {}
        self._most_at_hand, self._at_hand = at_hand, 0
        self._written: deque[tuple[Block, int, int, dict[str, Any]]] = deque()  # those at hand, and where they are
        self._last = self._tell_again = -math.inf
        self._events: list[Mapping[str, Any]] = []
        self._put(_BEGIN + b"%d\n" % os.getpid())

    def follow(self, stage: StageLoop, recorder: Recorder, told: Told) -> None:
        """Write down who is on stage; from now on `keep_up` writes what the recorder notes.

        Args:
            stage: What is performed.
            recorder: Notes it.
            told: Returns what happened so far, and what is known of the performance.
        """
        self._stage, self._recorder, self._told = stage, recorder, told
        self._introduce(stage)
        self._last = self._now()

    def _introduce(self, stage: StageLoop) -> None:
        model = model_bytes(stage.model)
        self._sizes = {"nq": stage.model.nq, "nv": stage.model.nv, "people": len(stage.built.characters)}
        cast = cast_of(stage.built, stage.placements).to_data()
        self._record({**self._sizes, "cast": cast, "about": self._recorder.about()}, [model])

    def keep_up(self) -> None:
        """Write what is new, if it is time; full blocks at once, while the processor has them at hand."""
        if self._stage is None:
            return
        if self._now() - self._last >= self._period:
            self.append()
        elif len(self._recorder.reel.full) > self.blocks:
            self._write_full({})

    def append(self) -> None:
        """Write what is new."""
        if self._stage is None or self.broken:
            return
        start, text = self._now(), {}
        if start >= self._tell_again:
            text = self._news()
            self._tell_again = start + (self._now() - start) / _EVENTS_SHARE - self._period
        self._recorder.reel.cut()
        self._write_full(text)
        self._last = self._now()

    def _write_full(self, news: Mapping[str, Any]) -> None:
        """Write those of the recorder's blocks that are full and not yet written, and what happened with the last."""
        waiting = list(self._recorder.reel.full[self.blocks :])
        for block in waiting:
            if self.broken or not self._write(block, news if block is waiting[-1] else {}):
                return
        if not waiting and news:
            self._record({"frames": 0, "contacts": 0, **news}, [])

    def _write(self, block: Block, news: Mapping[str, Any]) -> bool:
        columns, touching = block.columns(), block.touching()
        same = [name for name, rows in columns.items() if _is_constant(rows)]
        text: dict[str, Any] = {"frames": block.count, "contacts": len(touching["contact_frame"]), "same": same}
        numbers = [rows[:1] if name in same else rows for name, rows in columns.items()]
        if not self._record({**text, **news}, [*numbers, *touching.values()]):
            return False
        self.blocks += 1
        self.seconds = float(columns["time"][-1])
        size = sum(some.nbytes for some in (*numbers, *touching.values()))
        self._written.append((block, self._whole - size, size, text))
        self._at_hand += _bytes_of(block)
        while self._at_hand > self._most_at_hand:
            self._put_away(*self._written.popleft())
        return True

    def _put_away(self, block: Block, place: int, size: int, text: dict[str, Any]) -> None:
        self._at_hand -= _bytes_of(block)
        block.put_away(lambda: self._fetch(place, size, text))

    def _fetch(self, place: int, size: int, text: Mapping[str, Any]) -> tuple[Arrays, Arrays]:
        """Return frames and contacts of a record that was written."""
        try:
            numbers = os.pread(self._file.fileno(), size, place)
            columns = _unpacked(numbers, text, self._sizes)
        except (OSError, ValueError) as error:
            raise TakeError(
                f"these frames were handed to the performance's journal, which is gone ({error})."
            ) from error
        return {name: columns[name] for name in _ROWS}, {name: columns[name] for name in CONTACTS}

    def _news(self) -> dict[str, Any]:
        """Return what happened since it was told last, and from which event on that replaces what was told."""
        events, meta = self._told()
        same = 0
        for old, new in zip(self._events, events, strict=False):
            if old != new:
                break
            same += 1
        self._events = list(events)
        return {"since": same, "events": self._events[same:], "meta": dict(meta)}

    def _record(self, text: Mapping[str, Any], numbers: Sequence[np.ndarray]) -> bool:
        told = json.dumps(text).encode()
        parts = [memoryview(some.data).cast("B") for some in numbers if some.size]
        return self._put(_RECORD.pack(_MARK, len(told), sum(map(len, parts))), told, *parts)

    def _put(self, *parts: bytes | memoryview) -> bool:
        """Write bytes whole, or give up writing and leave the file as it was."""
        if self.broken:
            return False
        try:
            waiting = [memoryview(part) for part in parts]
            while waiting:
                done = _written(self._file, waiting)
                while waiting and done >= len(waiting[0]):
                    done -= len(waiting.pop(0))
                if done:
                    waiting[0] = waiting[0][done:]
            self._whole = self._file.tell()
        except OSError as error:
            self.broken = error.strerror or str(error)
            self._file.seek(self._whole)
            self._file.truncate()
            return False
        return True

    def forget(self) -> None:
        """Empty the file for good: what it held is kept elsewhere."""
        self._empty()
        self._stage = None

    def make_room(self) -> None:
        """Empty the file; what it held is in the recorder again."""
        if self._stage is not None:
            for block in self._recorder.reel:
                block.bring_back()
        self._empty()

    def _empty(self) -> None:
        self.blocks = self._whole = self._at_hand = 0
        self._written.clear()
        self._file.seek(0)
        self._file.truncate()

    def write_again(self) -> None:
        """Write everything down from the beginning, as much as there is room for."""
        if self._stage is None:
            return
        self.make_room()
        self.broken, self._events, self._tell_again = "", [], -math.inf
        self._put(_BEGIN + b"%d\n" % os.getpid())
        self._introduce(self._stage)
        self.append()


def _written(file: BinaryIO, parts: Sequence[memoryview]) -> int:
    """Write some of the parts, with one call to the system where that can be; return how many bytes."""
    if isinstance(file, io.FileIO) and hasattr(os, "writev"):
        return os.writev(file.fileno(), parts)
    return file.write(parts[0])


def _bytes_of(block: Block) -> int:
    return sum(rows.nbytes for rows in block.rows.values())


def _is_constant(rows: np.ndarray) -> bool:
    """Whether all rows hold the same bits, as goals and gains often do for long; looked at only where it is likely."""
    if len(rows) < 2:
        return False
    bits = rows.reshape(-1).view(np.uint8 if rows.dtype == np.bool_ else np.uint64)
    wide = bits.size // len(rows)
    # First against last, and only then each against the next: what changes mostly shows at once.
    return bool((bits[:wide] == bits[bits.size - wide :]).all() and (bits[wide:] == bits[: bits.size - wide]).all())


def writer_of(path: Path) -> str:
    """Return which process writes a journal, as text; empty where it does not say."""
    try:
        with open(path, "rb") as file:
            first = file.readline(80)
    except OSError:
        return ""
    number = first.removeprefix(_BEGIN).strip()
    return number.decode() if first.startswith(_BEGIN) and number.isdigit() else ""


def recovered(path: Path) -> Take | None:
    """Return the take that a journal holds; None where not one frame got into it.

    Raises:
        TakeError: It is none.
        OSError: It cannot be read now.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST // 2**30} GB")
        with open(path, "rb") as file:
            return _read(file, path.stat().st_size)
    except NONSENSE as error:
        raise TakeError(f"'{path}' is not a journal Stunt can read ({error}).") from error


def _read(file: BinaryIO, size: int) -> Take | None:
    if not file.readline(80).startswith(_BEGIN):
        return None
    head = _next(file, size)
    if head is None:
        return None
    about, model = head
    sizes = {name: _whole(about[name], 100_000) for name in ("nq", "nv", "people")}
    columns: dict[str, list[np.ndarray]] = {name: [] for name in (*_ROWS, *CONTACTS)}
    events: list[dict[str, Any]] = []
    meta: dict[str, Any] = {}
    unpacked = 0
    while (block := _next(file, size)) is not None:
        text, numbers = block
        for name, rows in _unpacked(numbers, text, sizes).items():
            columns[name].append(rows)
            unpacked += rows.nbytes
        if unpacked > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 2**30} GB")
        if "events" in text:
            events[_whole(text["since"], len(events)) :] = [dict(event) for event in text["events"]]
            meta = dict(text["meta"])
    if not columns["time"]:
        return None
    whole: dict[str, Any] = {name: np.concatenate(parts) for name, parts in columns.items()}
    reached = float(whole["time"][-1]) if whole["time"].size else 0.0
    sentence = f"killed after {reached:.3f} s; this is what it had written down until then."
    told = {**about["about"], **meta, "interrupted": True, "warnings": [*meta.get("warnings", ()), sentence]}
    cast = cast_from_data(about["cast"])
    return Take(**whole, model_bytes=np.frombuffer(model, np.uint8), cast=cast, events=events, meta=told)


def _next(file: BinaryIO, size: int) -> tuple[dict[str, Any], bytes] | None:
    """Return the next record's JSON and numbers; None where there is no whole one."""
    head = file.read(_RECORD.size)
    if len(head) < _RECORD.size:
        return None
    mark, text, numbers = _RECORD.unpack(head)
    if mark != _MARK or text + numbers > size - file.tell():
        return None
    told = json.loads(file.read(text))
    if not isinstance(told, dict):
        raise ValueError("a record's JSON is no mapping")
    return told, file.read(numbers)


def _unpacked(numbers: bytes, text: Mapping[str, Any], sizes: Mapping[str, int]) -> Arrays:
    """Return the columns of a record; what it announces is compared with what it has before memory is taken."""
    position, found, same = 0, {}, text.get("same", ())
    for kinds, count in ((_ROWS, _whole(text["frames"], 10**9)), (CONTACTS, _whole(text["contacts"], 10**9))):
        for name, shape in kinds.items():
            dtype = np.dtype(TYPES.get(name, np.float64))
            row = [sizes[width] if isinstance(width, str) else int(width) for width in shape]
            stored = min(count, 1) if name in same else count
            values = stored * math.prod(row)
            if position + values * dtype.itemsize > len(numbers):
                raise ValueError("a record announces more than it has")
            rows = np.frombuffer(numbers, dtype, values, position) if values else np.zeros(0, dtype)
            found[name] = np.broadcast_to(rows.reshape(stored, *row), (count, *row))
            position += values * dtype.itemsize
    if position != len(numbers):
        raise ValueError("a record has more than it announces")
    return found


def _whole(value: object, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no number of things")
    return value
