"""Reels of a recording: frames in blocks of contiguous memory, which may be put away on a disk and are fetched back.

A block that is full is never changed again, so recordings that were saved share it.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

BLOCK: Final = 256
"""Frames of a block; those of one body are less than what a processor keeps at hand."""
CONTACTS: Final[dict[str, tuple[int, ...]]] = {
    "contact_frame": (), "contact_geoms": (2,), "contact_position": (3,), "contact_force": (3,),
}  # fmt: skip
"""Shapes of what is noted of each contact, in the order of a take."""
TYPES: Final[dict[str, type]] = {"saturated": np.bool_, "contact_frame": np.int32, "contact_geoms": np.int32}
"""What is no float64."""
Arrays = dict[str, np.ndarray]
ContactNote = tuple[int, np.ndarray, np.ndarray, np.ndarray]


@dataclass(eq=False)
class Block:
    """Some frames one after the other.

    Attributes:
        first: Number of the first.
        count: How many there are so far.
        rows: What was noted of each, by name; longer than `count` where there is room for more. Empty where they are
            put away.
        contacts: Frame, geoms, places and forces of contacts, of each frame that was looked at and had any.
        away: Fetches frames and contacts from where they were put; None where they are at hand.
    """

    first: int
    count: int
    rows: Arrays
    contacts: list[ContactNote]
    away: Callable[[], tuple[Arrays, Arrays]] | None = None
    _joined: tuple[int, Arrays] | None = None  # how many notes of contacts, and these as columns

    def columns(self) -> Arrays:
        """Return what was noted of its frames, by name."""
        rows = self.rows if self.away is None else self.away()[0]
        return {name: values[: self.count] for name, values in rows.items()}

    def touching(self) -> Arrays:
        """Return its contacts as columns of a take."""
        if self.away is not None:
            return self.away()[1]
        if self._joined is None or self._joined[0] != len(self.contacts):  # a journal asks, and the take once more
            self._joined = len(self.contacts), joined(self.contacts)
        return self._joined[1]

    def put_away(self, fetch: Callable[[], tuple[Arrays, Arrays]]) -> None:
        """Let go of the frames: they can be fetched."""
        self.away, self.rows, self.contacts, self._joined = fetch, {}, [], None

    def bring_back(self) -> None:
        """Have frames that were put away at hand again."""
        if self.away is not None:
            self.rows, touching = self.away()
            self.contacts, self.away = apart(touching), None

    def touching_at(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Return points [m] and forces [N] of the contacts noted at a frame, (k, 3)."""
        notes = self.contacts if self.away is None else apart(self.touching())
        index = bisect.bisect_left(notes, frame, key=lambda note: note[0])
        if index < len(notes) and notes[index][0] == frame:
            return notes[index][2], notes[index][3]
        return np.zeros((0, 3)), np.zeros((0, 3))

    def until(self, count: int, *, room: int = 0) -> Block:
        """Return a copy of its first frames, with room for so many in all."""
        rows = {}
        for name, some in self.columns().items():
            rows[name] = np.empty((max(room, count), *some.shape[1:]), some.dtype)
            rows[name][:count] = some[:count]
        notes = self.contacts if self.away is None else apart(self.touching())
        return Block(self.first, count, rows, [note for note in notes if note[0] < self.first + count])


class FrameReel:
    """All blocks of a recording, the last of which is being written.

    Attributes:
        now: The block that is written.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Begin with nothing.

        Args:
            shapes: What is noted of every frame, by name.
        """
        self._shapes = dict(shapes)
        self._full: list[Block] = []
        self.now = self._empty(0)

    def _empty(self, first: int) -> Block:
        return Block(first, 0, self._room(BLOCK), [])

    def _room(self, count: int) -> Arrays:
        return {name: np.empty((count, *shape), TYPES.get(name, np.float64)) for name, shape in self._shapes.items()}

    def room(self) -> Block:
        """Return the block that is written, with room for a frame."""
        return self.now if self.now.count < BLOCK else self.cut()

    def cut(self) -> Block:
        """Begin another block, if the present one has frames; return the one to write."""
        if self.now.count:
            if not (self._full and self._full[-1] is self.now):  # where it was interrupted between these lines
                self._full.append(self.now)
            self.now = self._empty(self.now.first + self.now.count)
        return self.now

    @property
    def count(self) -> int:
        """How many frames there are."""
        return self.now.first + self.now.count

    @property
    def full(self) -> Sequence[Block]:
        """Blocks that are not changed any more."""
        return self._full

    def __iter__(self) -> Iterator[Block]:
        """Go through all blocks that have frames."""
        yield from self._full
        if self.now.count and not (self._full and self._full[-1] is self.now):
            yield self.now

    def arrays(self) -> Arrays:
        """Return all frames, by name, (frames, …)."""
        found = self._room(self.count)
        for block in self:
            for name, rows in block.columns().items():
                found[name][block.first : block.first + block.count] = rows
        return found

    def touching(self) -> Arrays:
        """Return all contacts, as columns of a take."""
        parts = [joined([]), *(block.touching() for block in self)]
        return {name: np.concatenate([part[name] for part in parts]) for name in CONTACTS}

    def touching_at(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Return points [m] and forces [N] of the contacts noted at a frame, (k, 3)."""
        return self._of(frame).touching_at(frame)

    def row(self, name: str, frame: int) -> Any:
        """Return what was noted of a frame under a name."""
        block = self._of(frame)
        rows = block.rows if block.away is None else block.columns()
        return rows[name][frame - block.first]

    def _of(self, frame: int) -> Block:
        if frame >= self.now.first or not self._full:
            return self.now
        return self._full[bisect.bisect_right(self._full, frame, key=lambda block: block.first) - 1]

    def some(self, name: str, frames: range) -> np.ndarray:
        """Return what was noted of frames with steady steps between them, in order, (k, …)."""
        found: np.ndarray = np.empty((len(frames), *self._shapes[name]), TYPES.get(name, np.float64))
        for block in self:
            # Where a range of frames meets the block's: numbers of the range, and rows of the block.
            start = max(0, -((frames.start - block.first) // frames.step))
            stop = min(len(frames), -((frames.start - block.first - block.count) // frames.step))
            if start < stop:
                first = frames[start] - block.first
                found[start:stop] = block.columns()[name][first : frames[stop - 1] - block.first + 1 : frames.step]
        return found

    def rewind(self, count: int) -> None:
        """Forget all frames but the first so many."""
        if count >= self.count:
            return
        kept = [block for block in self if block.first < count]
        last = kept[-1] if kept and kept[-1].first + kept[-1].count > count else None
        self._full = kept if last is None else kept[:-1]
        # What is written from now on is written into a copy: a saved recording may share the block.
        self.now = self._empty(count) if last is None else last.until(count - last.first, room=BLOCK)

    def save(self) -> tuple[list[Block], Block]:
        """Return the recording; blocks that are full are shared."""
        full = [block for block in self if block is not self.now]
        return full, self.now.until(self.now.count)

    def restore(self, state: tuple[list[Block], Block]) -> None:
        """Put a recording back."""
        full, now = state
        self._full, self.now = list(full), now.until(now.count, room=BLOCK)


class Column(Sequence[Any]):
    """What was noted under one name, a row per frame."""

    def __init__(self, reel: FrameReel, name: str) -> None:
        """Show a reel's column."""
        self._reel, self._name = reel, name

    def __len__(self) -> int:
        """Return how many frames there are."""
        return self._reel.count

    def __getitem__(self, index: Any) -> Any:
        """Return the row of a frame, or those of a slice as an array."""
        if isinstance(index, slice):
            frames = range(*index.indices(len(self)))
            found = self._reel.some(self._name, frames if frames.step > 0 else frames[::-1])
            return found if frames.step > 0 else found[::-1]
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"frame {index} of {count}")
        return self._reel.row(self._name, index % count)


def joined(contacts: Sequence[ContactNote]) -> Arrays:
    """Return contacts noted one frame after the other as columns of a take."""
    counts = [len(geoms) for _, geoms, _, _ in contacts]
    return {
        "contact_frame": np.repeat(np.array([c[0] for c in contacts], np.int32), counts),
        "contact_geoms": np.concatenate([c[1] for c in contacts]) if counts else np.zeros((0, 2), np.int32),
        "contact_position": np.concatenate([c[2] for c in contacts]) if counts else np.zeros((0, 3)),
        "contact_force": np.concatenate([c[3] for c in contacts]) if counts else np.zeros((0, 3)),
    }


def apart(touching: Mapping[str, np.ndarray]) -> list[ContactNote]:
    """Return columns of contacts as notes, frame by frame: the inverse of `joined`."""
    frame, *others = (touching[name] for name in CONTACTS)
    starts = [0, *(np.flatnonzero(np.diff(frame)) + 1).tolist(), len(frame)]
    return [
        (int(frame[a]), others[0][a:b], others[1][a:b], others[2][a:b])
        for a, b in zip(starts, starts[1:], strict=False)
        if b > a
    ]
