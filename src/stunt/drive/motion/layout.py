"""Which columns of a body's own coordinates are what; differences and changes of states over many frames at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.errors import InvalidValueError, must_be
from stunt.maths.compiled import compiled
from stunt.maths.flat import exponential, logarithm, product, rotated
from stunt.maths.rotations import Floats


@compiled
def difference_rows(later: Any, earlier: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write the tangent vectors from earlier to later states, row by row; one row of `earlier` serves all."""
    for f in range(out.shape[0]):
        a, b = later[f], earlier[min(f, earlier.shape[0] - 1)]
        for k in range(sq.shape[0]):
            out[f, sv[k]] = a[sq[k]] - b[sq[k]]
        for k in range(tq.shape[0]):
            q, d = tq[k], tv[k]
            w, x, y, z = product(b[q], -b[q + 1], -b[q + 2], -b[q + 3], a[q], a[q + 1], a[q + 2], a[q + 3])
            out[f, d], out[f, d + 1], out[f, d + 2] = logarithm(w, x, y, z)


@compiled
def move_rows(qpos: Any, change: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write states moved by tangent vectors, row by row; one row of `qpos` serves all."""
    for f in range(out.shape[0]):
        a, c = qpos[min(f, qpos.shape[0] - 1)], change[f]
        for k in range(sq.shape[0]):
            out[f, sq[k]] = a[sq[k]] + c[sv[k]]
        for k in range(tq.shape[0]):
            q, d = tq[k], tv[k]
            w, x, y, z = exponential(c[d], c[d + 1], c[d + 2])
            out[f, q], out[f, q + 1], out[f, q + 2], out[f, q + 3] = product(
                a[q], a[q + 1], a[q + 2], a[q + 3], w, x, y, z
            )


@compiled
def dense_rows(frames: Any, nq: int, seconds: float, factor: int, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write frames with others between them, along cubic curves through positions and velocities."""
    nv = frames.shape[1] - nq
    way, change = np.empty((1, nv)), np.empty((1, nv))
    for f in range(frames.shape[0] - 1):
        difference_rows(frames[f + 1 : f + 2], frames[f : f + 1], sq, sv, tq, tv, way)
        for k in range(factor):
            s, row = k / factor, f * factor + k
            rest, s2 = 1.0 - s, s * s
            for d in range(nv):
                v0, v1, x1 = frames[f, nq + d], frames[f + 1, nq + d], way[0, d]
                early, late = s * rest * rest * seconds * v0, s2 * (s - 1.0) * seconds * v1
                change[0, d] = early + s2 * (3.0 - 2.0 * s) * x1 + late
                out[row, nq + d] = (
                    6.0 * s * rest * x1 / seconds + (1.0 - 4.0 * s + 3.0 * s2) * v0 + (3.0 * s2 - 2.0 * s) * v1
                )
            move_rows(frames[f : f + 1], change, sq, sv, tq, tv, out[row : row + 1])
    for k in range(out.shape[1]):
        out[out.shape[0] - 1, k] = frames[frames.shape[0] - 1, k]


@compiled
def velocity_rows(qpos: Any, fps: float, sq: Any, sv: Any, tq: Any, tv: Any, steps: Any, out: Any) -> None:
    """Write central differences of frames, one-sided at the ends, (F, nv); `steps` is scratch of (F − 1, nv)."""
    count, nv = qpos.shape[0], steps.shape[1]
    difference_rows(qpos[1:], qpos[:-1], sq, sv, tq, tv, steps)
    for f in range(min(out.shape[0], count)):
        # Both steps around a frame are in frames half a step apart: their mean is good to second order.
        low, high = max(f - 1, 0), min(f, count - 2)
        for d in range(nv):
            out[f, d] = 0.5 * fps * (steps[low, d] + steps[high, d])


@compiled
def start_offsets(
    qpos: Any, qvel: Any, data: Any, pace: Any, sq: Any, sv: Any, tq: Any, tv: Any, off: Any, rate: Any
) -> None:
    """Write by how much a state differs from data and how fast that changes, in the data's tangent space."""
    difference_rows(qpos, data, sq, sv, tq, tv, off)
    for d in range(rate.shape[1]):
        rate[0, d] = qvel[0, d] - pace[0, d]
    for k in range(tv.shape[0]):
        d = tv[k]
        x, y, z = off[0, d], off[0, d + 1], off[0, d + 2]
        # q = c·exp(x) turns at ω_q = exp(x)⁻¹ω_c + J_r(x)·ẋ.
        angle = math.sqrt(x * x + y * y + z * z)
        w, a, b, c = exponential(x, y, z)
        p, q, r = rotated(w, -a, -b, -c, pace[0, d], pace[0, d + 1], pace[0, d + 2])
        u, v, s = qvel[0, d] - p, qvel[0, d + 1] - q, qvel[0, d + 2] - r
        half = 0.5 * max(angle, 1e-3)
        third = (1.0 - half / math.tan(half)) / (4.0 * half * half)
        i, j, m = y * s - z * v, z * u - x * s, x * v - y * u
        rate[0, d] = u + 0.5 * i + third * (y * m - z * j)
        rate[0, d + 1] = v + 0.5 * j + third * (z * i - x * m)
        rate[0, d + 2] = s + 0.5 * m + third * (x * j - y * i)


@compiled
def fade_rows(off: Any, rate: Any, fps: float, seconds: float, out: Any) -> None:
    """Write an offset that begins at a rate, without acceleration, and ends at rest at zero, (F, n).

    The quintic with value, slope and curvature given at the beginning and all zero at the end.
    """
    for f in range(out.shape[0]):
        s = min(f / (fps * seconds), 1.0)
        s3 = s * s * s
        value = 1.0 - s3 * (10.0 - 15.0 * s + 6.0 * s * s)
        slope = (s - s3 * (6.0 - 8.0 * s + 3.0 * s * s)) * seconds
        for d in range(out.shape[1]):
            out[f, d] = value * off[0, d] + slope * rate[0, d]


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

    def frames(self, motion: BodyMotion) -> Floats:
        """Return positions and velocities side by side, (F, nq + nv)."""
        return np.concatenate([motion.qpos, self.velocities(motion.qpos, motion.fps)], axis=1)


def own_slices(character: Character) -> tuple[slice, slice]:
    """Return where a character's own coordinates are in `qpos`, and its own velocities in `qvel`."""
    joints = list(character.joints.values())
    first, last = character.root or joints[0], joints[-1]
    return slice(first.qpos, last.qpos + last.nq), slice(first.dof, last.dof + last.nv)


def check_motion(qpos: Floats, layout: Layout) -> None:
    """Refuse what would break the simulation, so that whoever said it hears of it.

    Raises:
        InvalidValueError: These are no finite frames of the body.
    """
    must_be("a motion's qpos", qpos, np.ndarray)
    if qpos.ndim != 2 or qpos.shape[1] != layout.nq or len(qpos) < 1:
        raise InvalidValueError("a motion", qpos.shape, f"frames of {layout.nq} coordinates")
    if not np.isfinite(qpos).all():
        raise InvalidValueError("a motion", "NaN or infinite", "finite coordinates")
