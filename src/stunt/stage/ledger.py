"""The ledger of a stage: the engine's state at the start, and everything written into it in every physics step.

A step of the engine depends on its model, its state and its inputs, and on what is written between its two halves. The
compiled loop notes all of that (`stunt.control.core.ledger`); here only what somebody has *changed* is kept: numbers of
the state that are not what the step before left, forces, springs, friction, the inertia matrix, and any other field of
the model. Whoever has the model, the state at the start and these writes can play the performance again with the
bare engine; nothing that acted can hide from that.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.ledger import PAGES, TABLE, WHOLE_STATE, WRITTEN
from stunt.errors import StuntError
from stunt.maths.pointers import address_of
from stunt.stage.stored_model import model_bytes

ROOM: Final = 256
"""Physics steps that are noted before they are read off."""
MOST_BYTES: Final = 3 * 2**30
"""No ledger grows beyond this: an hour of a person under forces."""
BEFORE, BETWEEN = 0, 1
"""When a number was written: before the engine's first half-step, or between its halves."""
COMPONENTS: Final = (
    "time", "qpos", "qvel", "act", "history", "qacc_warmstart", "ctrl", "qfrc_applied", "xfrc_applied", "eq_active",
    "mocap_pos", "mocap_quat", "userdata", "plugin_state", "plastic",
)  # fmt: skip
"""Parts of the engine's state, in its order."""
MOVES: Final = ("time", "qpos", "qvel", "act", "history", "plugin_state", "plastic")
"""Those of them that a step changes and the next one depends on: what is compared."""
_MATRIX: Final = "M"
_LARGE: Final = 2**16  # bytes: meshes and pictures, which nobody writes while playing
Floats = NDArray[np.float64]
Slots = dict[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Ledger:
    """What was written into the engine, step by step.

    Attributes:
        model_bytes: The model as the scene was built (MJB).
        start: The engine's whole state then (`mjSTATE_INTEGRATION`), (S,).
        states: What each step led to: the parts of the state in `MOVES`, one after the other, (T, n).
        step: The step each write belongs to, from 0, in order, (W,).
        half: Whether it was made before the step (0) or between its halves (1), (W,).
        slot: What was written, (W,).
        value: What was written there, (W,).
        slots: What slots are: first slot and how many, by name: a part of the state, a field of the model (`opt.…` of
            its options), or `M`, the inertia matrix.
    """

    model_bytes: NDArray[np.uint8]
    start: Floats
    states: Floats
    step: NDArray[np.int32]
    half: NDArray[np.int8]
    slot: NDArray[np.int32]
    value: Floats
    slots: Slots

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self.states)

    def written(self, name: str) -> NDArray[np.bool_]:
        """Return which writes are of something, (W,)."""
        first, size = self.slots.get(name, (0, 0))
        return np.asarray((self.slot >= first) & (self.slot < first + size))


def state_slots(model: mujoco.MjModel) -> Slots:
    """Return where each part of the engine's state stands in it: first number and how many, by name."""
    found, first = {}, 0
    for bit, name in enumerate(COMPONENTS):
        size = int(mujoco.mj_stateSize(model, 1 << bit))
        found[name] = (first, size)
        first += size
    return found


def moving(slots: Slots) -> NDArray[np.int64]:
    """Return the numbers of a whole state that a step changes, (n,)."""
    return np.concatenate([np.arange(first, first + size) for first, size in (slots[name] for name in MOVES)])


class StepLedger:
    """Keeps the ledger of a stage that is being played. Kept with the stage: it is saved and restored with it.

    Attributes:
        table: What the compiled loop writes to.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, fresh: mujoco.MjModel) -> None:
        """Be ready to begin with the next step.

        Args:
            model: The scene.
            data: Its data.
            fresh: The scene as it was built: what differs from it already was written too.
        """
        self._model, self._data = model, data
        self._slots = state_slots(model)
        self._size = sum(size for _, size in self._slots.values())
        place = self._size
        for name in WRITTEN:
            self._slots[name] = (place, getattr(model, name).size)
            place += getattr(model, name).size
        self._slots[_MATRIX] = (place, data.M.size)
        self._fields, self._end = place - self._size, place + data.M.size
        self._moving = moving(self._slots)
        self._states: list[Floats] = []
        self._writes: list[tuple[NDArray[np.int64], int, NDArray[np.int64], Floats]] = []
        self._steps = 0
        self._make_room(ROOM)
        self._model_bytes = model_bytes(fresh)
        self._last_fields = np.concatenate([getattr(fresh, name).ravel() for name in WRITTEN])
        self._others = _Watched(model, fresh)
        self._begin()

    def _begin(self) -> None:
        """Take the present state as that at the start: who is put somewhere before the first step starts there."""
        self._start = np.zeros(self._size)
        mujoco.mj_getState(self._model, self._data, self._start, WHOLE_STATE)
        self._last = self._start.copy()

    def _make_room(self, room: int) -> None:
        self._room = room
        self._pages = np.zeros(1, PAGES)
        self._pages["state"], self._pages["fields"], self._pages["inertia"] = (
            self._size,
            self._fields,
            self._data.M.size,
        )
        self._rows: dict[str, Any] = {
            **{name: np.zeros((room, self._size)) for name in ("before", "between", "after")},
            **{name: np.zeros((room, self._fields)) for name in ("fields_before", "fields_between")},
            "patched": np.zeros(room, np.int64), "inertia": np.zeros((room, self._data.M.size)),
        }  # fmt: skip
        self._arrays = {
            "pages": self._pages, "widths": np.array([self._slots[name][1] for name in WRITTEN]),
            **{name: getattr(self._model, name) for name in WRITTEN},
            "matrix": self._data.M, "own": np.zeros(self._data.M.size), "state": np.zeros(self._size), **self._rows,
        }  # fmt: skip
        self._table = TABLE.fill(**self._arrays)
        self.table = address_of(self._table)

    def open(self, steps: int) -> None:
        """Make room for so many steps of the engine, and note what Python has changed of the model since the last."""
        if not self._steps and not self._pages["count"][0]:
            self._begin()
        if int(self._pages["count"][0]) + steps > self._room:
            self._read_off()
            if steps > self._room:
                self._make_room(steps)
        for name, places, values in self._others.changed():
            if name not in self._slots:
                self._slots[name] = (self._end, self._others.size(name))
                self._end += self._others.size(name)
            self._note(np.full(len(places), self._steps + int(self._pages["count"][0])), BEFORE, name, places, values)

    def _note(self, step: Any, half: int, name: str, places: Any, values: Floats) -> None:
        if len(step):
            self._writes.append((np.asarray(step), half, self._slots[name][0] + np.asarray(places), values))

    def _read_off(self) -> None:
        """Keep what is on the pages, and begin again with the first."""
        count = int(self._pages["count"][0])
        self._pages["count"] = 0
        if not count:
            return
        if self._bytes() > MOST_BYTES:
            raise StuntError(
                f"what was written into the engine by {self._data.time:.0f} s takes more than {MOST_BYTES >> 30} GB: "
                "a performance this long cannot be certified in one piece."
            )
        rows = {name: row[:count] for name, row in self._rows.items()}
        left = np.concatenate([self._last[None], rows["after"][:-1]])
        self._note_changes(left, rows["before"], BEFORE, "time")
        self._note_changes(rows["before"], rows["between"], BETWEEN, "time")
        fields = np.concatenate([self._last_fields[None], rows["fields_between"][:-1]])
        self._note_changes(fields, rows["fields_before"], BEFORE, WRITTEN[0])
        self._note_changes(rows["fields_before"], rows["fields_between"], BETWEEN, WRITTEN[0])
        pages = np.flatnonzero(rows["patched"])
        step, place = np.nonzero(~np.isnan(rows["inertia"][pages]))
        self._note(self._steps + pages[step], BETWEEN, _MATRIX, place, rows["inertia"][pages[step], place])
        self._states.append(rows["after"][:, self._moving].copy())
        self._last, self._last_fields = rows["after"][-1].copy(), rows["fields_between"][-1].copy()
        self._steps += count

    def _note_changes(self, old: Floats, new: Floats, half: int, first: str) -> None:
        """Note numbers whose bits have changed; `first` names what the first column is."""
        step, place = np.nonzero(old.view(np.int64) != new.view(np.int64))
        self._note(self._steps + step, half, first, place, new[step, place])

    def _bytes(self) -> int:
        return sum(states.nbytes for states in self._states) + 24 * sum(len(values) for *_, values in self._writes)

    def ledger(self) -> Ledger:
        """Return it, as far as the performance has come."""
        self._read_off()
        writes = self._writes or [(np.zeros(0, int), 0, np.zeros(0, int), np.zeros(0))]
        step = np.concatenate([w[0] for w in writes])
        half = np.concatenate([np.full(len(w[0]), w[1]) for w in writes])
        slot, value = np.concatenate([w[2] for w in writes]), np.concatenate([w[3] for w in writes])
        order = np.lexsort((slot, half, step))
        states = np.concatenate(self._states) if self._states else np.zeros((0, len(self._moving)))
        return Ledger(
            self._model_bytes, self._start, states, step[order].astype(np.int32), half[order].astype(np.int8),
            slot[order].astype(np.int32), value[order], dict(self._slots),
        )  # fmt: skip

    def move(self, by: Any) -> bool:
        """Leave where somebody joins or leaves: with another model another ledger begins."""
        return False

    def save(self) -> Any:
        """Return what must survive a restore; what is written is never changed, so it is shared."""
        self._read_off()
        return (
            list(self._states), list(self._writes), self._steps, self._last, self._last_fields, self._others.save(),
            dict(self._slots), self._end,
        )  # fmt: skip

    def restore(self, state: Any) -> None:
        """Put it back."""
        states, writes, self._steps, self._last, self._last_fields, others, slots, self._end = state
        self._states, self._writes, self._slots = list(states), list(writes), dict(slots)
        self._others.restore(others)
        self._pages["count"] = 0


class _Watched:
    """The model's other fields, which only Python writes: what has changed since somebody last asked.

    Fields lie side by side in the engine's memory, so that many are compared in one go.
    """

    def __init__(self, model: mujoco.MjModel, fresh: mujoco.MjModel) -> None:
        self._options = [name for name in dir(model.opt) if not name.startswith("_")]
        self._option = fresh.opt
        self._option_values = self._read_options()
        self._option = model.opt
        self._arrays = _arrays_of(model)
        self._copies = {name: getattr(fresh, name).copy() for name in self._arrays}
        self._runs = _side_by_side(self._arrays, [getattr(model, name).ctypes.data for name in WRITTEN])
        self._bytes = [b""] * len(self._runs)

    def _read_options(self) -> list[Any]:
        values = (getattr(self._option, name) for name in self._options)
        return [value.tolist() if isinstance(value, np.ndarray) else value for value in values]

    def size(self, name: str) -> int:
        """Return how many numbers a field has."""
        option = name.removeprefix("opt.")
        return int(np.size(getattr(self._option, option)) if option != name else self._arrays[name].size)

    def changed(self) -> list[tuple[str, NDArray[np.int64], Floats]]:
        """Return each field that has changed: its name, which of its numbers, and what they are now."""
        found = []
        for number, (first, size, names) in enumerate(self._runs):
            if (now := ctypes.string_at(first, size)) != self._bytes[number]:
                self._bytes[number] = now
                found += [one for name in names if (one := self._changed(name)) is not None]
        options = self._read_options()
        for name, old, value in zip(self._options, self._option_values, options, strict=True):
            if old != value:
                numbers = np.array(value, float).ravel()
                places = np.flatnonzero(np.array(old, float).ravel() != numbers)
                found.append((f"opt.{name}", places, numbers[places]))
        self._option_values = options
        return found

    def _changed(self, name: str) -> tuple[str, NDArray[np.int64], Floats] | None:
        old, new = self._copies[name].ravel(), self._arrays[name].ravel()
        places = np.flatnonzero(old != new)
        self._copies[name][...] = self._arrays[name]
        return (name, places, new[places].astype(float)) if len(places) else None

    def save(self) -> Any:
        """Return what the fields were when somebody last asked."""
        return {name: copy.copy() for name, copy in self._copies.items()}, list(self._option_values), list(self._bytes)

    def restore(self, state: Any) -> None:
        """Put that back."""
        copies, options, known = state
        self._option_values, self._bytes = list(options), list(known)
        for name, copy in copies.items():
            self._copies[name][...] = copy


def _arrays_of(model: mujoco.MjModel) -> dict[str, NDArray[Any]]:
    """Return the model's fields by name, in the order in which they lie in memory; not what compiled control writes."""
    names = [name for name in dir(model) if not name.startswith("_") and name not in WRITTEN]
    arrays = {name: value for name in names if isinstance(value := getattr(model, name, None), np.ndarray)}
    chosen = [(name, array) for name, array in arrays.items() if 0 < array.nbytes <= _LARGE]
    return dict(sorted(chosen, key=lambda entry: entry[1].ctypes.data))


def _side_by_side(arrays: dict[str, NDArray[Any]], apart: list[int]) -> list[tuple[int, int, list[str]]]:
    """Return stretches of memory that hold these fields: address, bytes, names; none over an address in `apart`."""
    runs: list[tuple[int, int, list[str]]] = []
    for name, array in arrays.items():
        first, end = array.ctypes.data, array.ctypes.data + array.nbytes
        if runs:
            start, size, names = runs[-1]
            gap = first - start - size
            if gap <= 64 and not any(start <= place < end for place in apart):
                runs[-1] = (start, max(size, end - start), [*names, name])
                continue
        runs.append((first, array.nbytes, [name]))
    return runs
