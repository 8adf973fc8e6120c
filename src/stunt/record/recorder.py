"""The recorder: crew that notes, frame by frame, what becomes the take."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt import __version__
from stunt.control.core.board import PASSIVE
from stunt.record.cast import cast_of
from stunt.record.departure import machine
from stunt.record.take import Take
from stunt.stage.loop import StageLoop
from stunt.stage.stored_model import trust

CONTACT_HZ: Final = 60.0
_ROWS: Final = ("time", "qpos", "qvel", "target", "target_velocity", "torque", "stiffness", "damping", "saturated")


class Recorder:
    """Notes the stage at a steady rate. Must be the first of the crew, to see each moment before it is changed."""

    def __init__(self, stage: StageLoop, *, record_hz: float = 120.0) -> None:
        """Start recording.

        Args:
            stage: What to record.
            record_hz: Frames per second; at most one per control step.
        """
        self._stage = stage
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / record_hz))
        frame_hz = stage.scene.physics_hz / self._stride
        self._contact_stride = max(1, round(frame_hz / CONTACT_HZ))
        self._rows: dict[str, list[Any]] = {name: [] for name in _ROWS}
        self._assistance: list[NDArray[np.float64]] = []
        self._contacts: list[tuple[int, NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]] = []
        self._due = 0
        stage.crew.insert(0, self)

    def due(self) -> int:
        """Return the tick of the next frame."""
        return self._due

    def act(self) -> None:
        """Note a frame."""
        stage, board, rows = self._stage, self._stage.board, self._rows
        self._due = stage.tick + self._stride
        rows["time"].append(stage.time)
        rows["qpos"].append(stage.data.qpos.copy())
        rows["qvel"].append(stage.data.qvel.copy())
        rows["target"].append(np.where(self._passive_positions(), np.nan, board.goal))
        rows["target_velocity"].append(board.goal_velocity.copy())
        rows["torque"].append(board.torque.copy())
        rows["stiffness"].append(board.stiffness.copy())
        rows["damping"].append(board.damping.copy())
        rows["saturated"].append(board.saturated.astype(bool))
        self._assistance.append(self._held_roots())
        if (len(rows["time"]) - 1) % self._contact_stride == 0 and stage.data.ncon:
            self._note_contacts(len(rows["time"]) - 1)

    def _passive_positions(self) -> NDArray[np.bool_]:
        model, law = self._stage.model, self._stage.board.law
        ends = np.append(model.jnt_qposadr[1:], model.nq)
        return np.repeat(law == PASSIVE, ends - model.jnt_qposadr)

    def _held_roots(self) -> NDArray[np.float64]:
        """Return what holds each fixed root, from the engine's internal forces, (characters, 6)."""
        stage = self._stage
        held = np.zeros((len(stage.built.characters), 6))
        fixed = [(n, c) for n, c in enumerate(stage.built.characters.values()) if c.root is None]
        if fixed and stage.tick:
            mujoco.mj_rnePostConstraint(stage.model, stage.data)
        for number, character in fixed:
            if not stage.tick:
                continue
            body = character.root_body
            torque, force = stage.data.cfrc_int[body, :3], stage.data.cfrc_int[body, 3:]
            # The engine refers it to the tree's centre of mass; moved to the root.
            reference = stage.data.subtree_com[stage.model.body_rootid[body]]
            held[number, :3] = force
            held[number, 3:] = torque + np.cross(reference - stage.data.xpos[body], force)
        self._add_strings(held)
        return held

    def _add_strings(self, held: NDArray[np.float64]) -> None:
        """Add what pulls free characters; a fixed root's holding force is already the sum of all there is."""
        names = list(self._stage.built.characters)
        for string in self._stage.strings:
            name, pull = string()
            if self._stage.built.characters[name].root is not None:
                held[names.index(name)] += pull

    def _note_contacts(self, frame: int) -> None:
        stage = self._stage
        contact, count = stage.data.contact, stage.data.ncon
        forces = np.zeros((count, 3))
        wrench = np.zeros(6)
        for index in range(count):
            mujoco.mj_contactForce(stage.model, stage.data, index, wrench)
            forces[index] = contact.frame[index].reshape(3, 3).T @ wrench[:3]
        self._contacts.append((frame, contact.geom.copy(), contact.pos.copy(), forces))

    @property
    def count(self) -> int:
        """Number of frames so far."""
        return len(self._rows["time"])

    @property
    def frame_time(self) -> float:
        """Time from one frame to the next [s]."""
        return self._stride * self._stage.step_time

    def column(self, name: str) -> list[Any]:
        """Return what was noted under a name (`qpos`, `torque`, …, `assistance`), a row per frame; not a copy."""
        return self._assistance if name == "assistance" else self._rows[name]

    def contacts_at(self, frame: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return points [m] and forces [N] of the contacts noted at a frame, or at the last one before it, (k, 3)."""
        index = bisect.bisect_right(self._contacts, frame, key=lambda entry: entry[0]) - 1
        if index < 0 or frame - self._contacts[index][0] >= self._contact_stride:
            return np.zeros((0, 3)), np.zeros((0, 3))
        return self._contacts[index][2], self._contacts[index][3]

    def since(self, frames: int, contacts: int, until: int) -> tuple[list[bytes], dict[str, np.ndarray], int]:
        """Return what was noted after so many frames, and after contacts so often, until a frame.

        Returns:
            The columns of frames as bytes, in the order of a take, the columns of contacts by name, and how often
            contacts were noted until then.
        """
        # Joined as bytes: cheaper than stacking arrays, and a journal asks twice a second.
        columns: list[list[Any]] = [*(rows for name, rows in self._rows.items() if name != "time"), self._assistance]
        times = np.array(self._rows["time"][frames:until], float).tobytes()
        end = bisect.bisect_left(self._contacts, until, key=lambda entry: entry[0])
        return [times, *(b"".join(rows[frames:until]) for rows in columns)], _joined(self._contacts[contacts:end]), end

    def about(self) -> dict[str, Any]:
        """Return what is to be known of any stage that is recorded."""
        return _about(self._stage)

    def mark(self) -> tuple[int, int, int]:
        """Return a bookmark: how much is recorded, and when the next frame is due."""
        return self.count, len(self._contacts), self._due

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Forget what was recorded after a bookmark."""
        frames, contacts, self._due = mark
        for rows in (*self._rows.values(), self._assistance):
            del rows[frames:]
        del self._contacts[contacts:]

    def take(self, events: Sequence[Mapping[str, Any]] = (), meta: Mapping[str, Any] | None = None) -> Take:
        """Return what has been recorded so far.

        Args:
            events: What happened, in order; dicts with `time`, `kind` and what belongs to it.
            meta: More to be known of the performance, as JSON-able data: title, source, warnings, …
        """
        stage = self._stage
        model_bytes = np.zeros(mujoco.mj_sizeModel(stage.model), np.uint8)
        mujoco.mj_saveModel(stage.model, None, model_bytes)
        trust(model_bytes.tobytes())
        # An interrupt may have come in the middle of a frame: only whole ones count.
        whole = min(len(self._assistance), *(len(rows) for rows in self._rows.values()))
        columns = {name: np.array(rows[:whole]) for name, rows in self._rows.items()}
        return Take(
            **columns,
            assistance=np.array(self._assistance[:whole]),
            **_joined(self._contacts),
            model_bytes=model_bytes,
            cast=cast_of(stage.built, stage.placements),
            events=[dict(event) for event in events],
            meta=_about(stage) if meta is None else {**_about(stage), **meta},
        )

    def save(self) -> Any:
        """Return what is recorded so far; frames are never changed, so they are shared."""
        return {n: list(r) for n, r in self._rows.items()}, list(self._assistance), list(self._contacts), self._due

    def restore(self, state: Any) -> None:
        """Put a recording back."""
        rows, assistance, contacts, self._due = state
        self._rows = {name: list(values) for name, values in rows.items()}
        self._assistance, self._contacts = list(assistance), list(contacts)


def _joined(contacts: Sequence[tuple[int, Any, Any, Any]]) -> dict[str, np.ndarray]:
    """Return contacts noted one frame after the other as a take's columns."""
    counts = [len(geoms) for _, geoms, _, _ in contacts]
    return {
        "contact_frame": np.repeat(np.array([c[0] for c in contacts], np.int32), counts),
        "contact_geoms": np.concatenate([c[1] for c in contacts]) if counts else np.zeros((0, 2), np.int32),
        "contact_position": np.concatenate([c[2] for c in contacts]) if counts else np.zeros((0, 3)),
        "contact_force": np.concatenate([c[3] for c in contacts]) if counts else np.zeros((0, 3)),
    }


def _about(stage: StageLoop) -> dict[str, Any]:
    """Return what is to be known of any stage."""
    scene = stage.scene
    return {
        "stunt": __version__, "mujoco": mujoco.__version__, "seed": scene.seed, "physics_hz": scene.physics_hz,
        "control_hz": scene.control_hz, "machine": dict(machine()),
    }  # fmt: skip
