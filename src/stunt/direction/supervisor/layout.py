"""Which columns of a body's own coordinates are what, and its states' differences over many frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stunt import rotations
from stunt.character.character import Character
from stunt.direction.motion_rows import Motion
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

    def difference(self, later: Floats, earlier: Floats) -> Floats:
        """Return the change from one state to another, in the earlier one's tangent space, (..., nv)."""
        out = np.zeros((*np.broadcast_shapes(later.shape[:-1], earlier.shape[:-1]), self.nv))
        out[..., self.scalar_v] = later[..., self.scalar_q] - earlier[..., self.scalar_q]
        self.put_spins(out, rotations.difference(self.turns(later), self.turns(earlier)))
        return out

    def moved(self, qpos: Floats, change: Floats) -> Floats:
        """Return states moved by tangent vectors: the reverse of `difference`."""
        out = np.broadcast_to(qpos, (*np.broadcast_shapes(qpos.shape[:-1], change.shape[:-1]), self.nq)).copy()
        out[..., self.scalar_q] += change[..., self.scalar_v]
        turned = rotations.multiply(self.turns(out), rotations.from_rotation_vector(self.spins(change)))
        self.put_turns(out, turned)
        return out

    def velocities(self, qpos: Floats, fps: float) -> Floats:
        """Return central differences of frames, one-sided at the ends, (F, nv)."""
        if len(qpos) < 2:
            return np.zeros((len(qpos), self.nv))
        steps = self.difference(qpos[1:], qpos[:-1]) * fps
        # Both steps around a frame are in frames half a step apart: their mean is good to second order.
        return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])

    def dense(self, frames: Floats, fps: float, factor: int) -> Floats:
        """Return frames with others between them, along the curves data is played along, (factor·(F−1)+1, nq+nv)."""
        if len(frames) < 2:
            return frames
        one, two = frames[:-1], frames[1:]
        way = self.difference(two[:, : self.nq], one[:, : self.nq])
        v0, v1 = one[:, self.nq :] / fps, two[:, self.nq :] / fps
        pieces = []
        for k in range(factor):
            s = k / factor
            change = s * (1 - s) ** 2 * v0 + s * s * (3 - 2 * s) * way + s * s * (s - 1) * v1
            pace = 6 * s * (1 - s) * way + (1 - 4 * s + 3 * s * s) * v0 + (3 * s * s - 2 * s) * v1
            pieces.append(np.concatenate([self.moved(one[:, : self.nq], change), pace * fps], axis=1))
        return np.concatenate([np.stack(pieces, axis=1).reshape(-1, frames.shape[1]), frames[-1:]])

    def frames(self, motion: Motion) -> Floats:
        """Return positions and velocities side by side, (F, nq + nv)."""
        return np.concatenate([motion.qpos, self.velocities(motion.qpos, motion.fps)], axis=1)


def interpolated(layout: Layout, motion: Motion, time: float) -> Floats:
    """Return a motion's pose at a time [s], held outside, (nq,)."""
    frame = min(max(time * motion.fps, 0.0), len(motion.qpos) - 1.0)
    low = min(int(frame), max(len(motion.qpos) - 2, 0))
    one, two = motion.qpos[low], motion.qpos[min(low + 1, len(motion.qpos) - 1)]
    return layout.moved(one, (frame - low) * layout.difference(two, one))
