"""Which columns of a body's own coordinates are what, and its states' differences over many frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.direction.motion_rows import Motion
from stunt.direction.supervisor.state_kernel import dense_rows, difference_rows, move_rows, velocity_rows
from stunt.rotations import Floats

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Columns of a free character's own positions (nq) and velocities (nv): scalars, and quaternions with their spins.

    Attributes:
        nq: Number of position coordinates.
        nv: Number of velocities.
        scalar_q: Columns of plain numbers in positions: the root's place, hinges, slides.
        scalar_v: Their velocities' columns.
        turn_q: First columns of quaternions: the root's, then balls.
        turn_v: First columns of their angular velocities.
    """

    nq: int
    nv: int
    scalar_q: Indices
    scalar_v: Indices
    turn_q: Indices
    turn_v: Indices

    @staticmethod
    def of(character: Character) -> Layout:
        """Return the layout of a character with a free root."""
        root = character.root
        assert root is not None  # supervised characters have free roots
        joints = list(character.joints.values())
        flat = [j for j in joints if j.nq == 1]
        balls = [j for j in joints if j.nq == 4]
        last = joints[-1]
        return Layout(
            last.qpos + last.nq - root.qpos, last.dof + last.nv - root.dof,
            np.array([0, 1, 2, *(j.qpos - root.qpos for j in flat)]),
            np.array([0, 1, 2, *(j.dof - root.dof for j in flat)]),
            np.array([3, *(j.qpos - root.qpos for j in balls)]), np.array([3, *(j.dof - root.dof for j in balls)]),
        )  # fmt: skip

    def turns(self, qpos: Floats) -> Floats:
        """Return the quaternions in positions (..., nq), as (..., turns, 4)."""
        return qpos[..., self.turn_q[:, None] + np.arange(4)]

    def spins(self, qvel: Floats) -> Floats:
        """Return the angular velocities in velocities (..., nv), as (..., turns, 3)."""
        return qvel[..., self.turn_v[:, None] + np.arange(3)]

    def put_turns(self, qpos: Floats, turns: Floats) -> None:
        """Write quaternions into positions."""
        qpos[..., self.turn_q[:, None] + np.arange(4)] = turns

    def put_spins(self, qvel: Floats, spins: Floats) -> None:
        """Write angular velocities into velocities."""
        qvel[..., self.turn_v[:, None] + np.arange(3)] = spins

    @property
    def columns(self) -> tuple[Indices, Indices, Indices, Indices]:
        """All columns, in the order compiled functions take them."""
        return self.scalar_q, self.scalar_v, self.turn_q, self.turn_v

    def difference(self, later: Floats, earlier: Floats) -> Floats:
        """Return the change from one state to another, in the earlier one's tangent space, (..., nv).

        Args:
            later: States, (nq,) or (F, nq).
            earlier: As many, or one.
        """
        many, one = np.atleast_2d(later), np.atleast_2d(earlier)
        out = np.zeros((len(many), self.nv))
        difference_rows(many, one, *self.columns, out)
        return out[0] if later.ndim == 1 else out

    def moved(self, qpos: Floats, change: Floats) -> Floats:
        """Return states moved by tangent vectors: the reverse of `difference`, (..., nq).

        Args:
            qpos: States, as many as changes, or one.
            change: Tangent vectors, (nv,) or (F, nv).
        """
        many, by = np.atleast_2d(qpos), np.atleast_2d(change)
        out = np.zeros((len(by), self.nq))
        move_rows(many, by, *self.columns, out)
        return out[0] if change.ndim == 1 else out

    def velocities(self, qpos: Floats, fps: float) -> Floats:
        """Return central differences of frames, one-sided at the ends, (F, nv)."""
        if len(qpos) < 2:
            return np.zeros((len(qpos), self.nv))
        out, steps = np.empty((len(qpos), self.nv)), np.empty((len(qpos) - 1, self.nv))
        velocity_rows(qpos, fps, *self.columns, steps, out)
        return out

    def dense(self, frames: Floats, fps: float, factor: int) -> Floats:
        """Return frames with others between them, along the curves data is played along, (factor·(F−1)+1, nq+nv)."""
        if len(frames) < 2:
            return frames
        out = np.empty((factor * (len(frames) - 1) + 1, self.nq + self.nv))
        dense_rows(frames, self.nq, 1.0 / fps, factor, *self.columns, out)
        return out

    def frames(self, motion: Motion) -> Floats:
        """Return positions and velocities side by side, (F, nq + nv)."""
        return np.concatenate([motion.qpos, self.velocities(motion.qpos, motion.fps)], axis=1)


def interpolated(layout: Layout, motion: Motion, time: float) -> Floats:
    """Return a motion's pose at a time [s], held outside, (nq,)."""
    frame = min(max(time * motion.fps, 0.0), len(motion.qpos) - 1.0)
    low = min(int(frame), max(len(motion.qpos) - 2, 0))
    one, two = motion.qpos[low], motion.qpos[min(low + 1, len(motion.qpos) - 1)]
    return layout.moved(one, (frame - low) * layout.difference(two, one))
