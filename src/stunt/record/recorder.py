"""The recorder: crew that notes, frame by frame, what becomes the take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt import __version__
from stunt.control.core.board import PASSIVE
from stunt.errors import InvalidValueError, announced
from stunt.record.cast import cast_of
from stunt.record.departure import machine
from stunt.record.reel import Column, FrameReel
from stunt.record.take import Take
from stunt.stage.loop import StageLoop
from stunt.stage.stored_model import model_bytes

CONTACT_HZ: Final = 60.0


class Recorder:
    """Notes the stage at a steady rate. Must be the first of the crew, to see each moment before it is changed."""

    @announced
    def __init__(self, stage: StageLoop, *, record_hz: float = 120.0) -> None:
        """Start recording.

        Args:
            stage: What to record.
            record_hz: Frames per second; at most one per control step.
        """
        if record_hz <= 0.0:
            raise InvalidValueError("record_hz", record_hz, "a positive number of frames per second")
        self._stage = stage
        self._stride = stage.steps_per_control * max(1, round(stage.scene.control_hz / record_hz))
        frame_hz = stage.scene.physics_hz / self._stride
        self._contact_stride = max(1, round(frame_hz / CONTACT_HZ))
        model, people = stage.model, stage.built.characters
        self.reel = FrameReel(
            {"time": (), "qpos": (model.nq,), "qvel": (model.nv,), "target": (model.nq,)}
            | {name: (model.nv,) for name in ("target_velocity", "torque", "stiffness", "damping", "saturated")}
            | {"assistance": (len(people), 6)}
        )
        self._widths = np.diff(model.jnt_qposadr, append=model.nq)
        self._held = [(number, character) for number, character in enumerate(people.values()) if character.root is None]
        self._due = 0
        stage.crew.insert(0, self)

    def due(self) -> int:
        """Return the tick of the next frame."""
        return self._due

    def act(self) -> None:
        """Note a frame."""
        stage, board, block = self._stage, self._stage.board, self.reel.room()
        rows, row, data = block.rows, block.count, self._stage.data
        self._due = stage.tick + self._stride
        rows["time"][row] = stage.time
        rows["qpos"][row] = data.qpos
        rows["qvel"][row] = data.qvel
        rows["target"][row] = board.goal
        passive = board.law == PASSIVE
        if passive.any():
            rows["target"][row, np.repeat(passive, self._widths)] = np.nan
        rows["target_velocity"][row] = board.goal_velocity
        rows["torque"][row] = board.torque
        rows["stiffness"][row] = board.stiffness
        rows["damping"][row] = board.damping
        rows["saturated"][row] = board.saturated
        self._note_held(rows["assistance"][row])
        block.count += 1  # only now: an interrupt may come in the middle of a frame, and only whole ones count
        frame = block.first + row
        if frame % self._contact_stride == 0 and data.ncon:
            self._note_contacts(frame)

    def _note_held(self, held: NDArray[np.float64]) -> None:
        """Note what holds each fixed root, from the engine's internal forces, (characters, 6)."""
        stage, data = self._stage, self._stage.data
        held[:] = 0.0
        if self._held and stage.tick:
            mujoco.mj_rnePostConstraint(stage.model, data)
            for number, character in self._held:
                body = character.root_body
                internal = data.cfrc_int[body]
                # The engine refers it to the tree's centre of mass; moved to the root.
                x, y, z = data.subtree_com[stage.model.body_rootid[body]] - data.xpos[body]
                u, v, w = internal[3:]
                held[number, :3] = u, v, w
                held[number, 3:] = internal[:3] + (y * w - z * v, z * u - x * w, x * v - y * u)
        self._add_strings(held)

    def _add_strings(self, held: NDArray[np.float64]) -> None:
        """Add what pulls free characters; a fixed root's holding force is already the sum of all there is."""
        if not self._stage.strings:
            return
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
        self.reel.now.contacts.append((frame, contact.geom.copy(), contact.pos.copy(), forces))

    @property
    def count(self) -> int:
        """Number of frames so far."""
        return self.reel.count

    @property
    def frame_time(self) -> float:
        """Time from one frame to the next [s]."""
        return self._stride * self._stage.step_time

    def column(self, name: str) -> Column:
        """Return what was noted under a name (`qpos`, `torque`, …, `assistance`), a row per frame."""
        return Column(self.reel, name)

    def contacts_at(self, frame: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return points [m] and forces [N] of the contacts noted at a frame, or at the last one before it, (k, 3)."""
        return self.reel.touching_at(frame - frame % self._contact_stride)

    def about(self) -> dict[str, Any]:
        """Return what is to be known of any stage that is recorded."""
        return _about(self._stage)

    def mark(self) -> tuple[int, int]:
        """Return a bookmark: how much is recorded, and when the next frame is due."""
        return self.count, self._due

    def rewind(self, mark: tuple[int, int]) -> None:
        """Forget what was recorded after a bookmark."""
        frames, self._due = mark
        self.reel.rewind(frames)

    def take(self, events: Sequence[Mapping[str, Any]] = (), meta: Mapping[str, Any] | None = None) -> Take:
        """Return what has been recorded so far.

        Args:
            events: What happened, in order; dicts with `time`, `kind` and what belongs to it.
            meta: More to be known of the performance, as JSON-able data: title, source, warnings, …
        """
        stage = self._stage
        columns: dict[str, Any] = {**self.reel.arrays(), **self.reel.touching()}
        return Take(
            **columns,
            model_bytes=model_bytes(stage.model),
            cast=cast_of(stage.built, stage.placements),
            events=[dict(event) for event in events],
            meta=_about(stage) if meta is None else {**_about(stage), **meta},
        )

    def save(self) -> Any:
        """Return what is recorded so far; frames are never changed, so most of them are shared."""
        return self.reel.save(), self._due

    def restore(self, state: Any) -> None:
        """Put a recording back."""
        reel, self._due = state
        self.reel.restore(reel)


def _about(stage: StageLoop) -> dict[str, Any]:
    """Return what is to be known of any stage."""
    scene = stage.scene
    return {
        "stunt": __version__, "mujoco": mujoco.__version__, "seed": scene.seed, "physics_hz": scene.physics_hz,
        "control_hz": scene.control_hz, "machine": dict(machine()),
    }  # fmt: skip
