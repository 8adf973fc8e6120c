"""How alike a state is to the frames of motions (P2): where data could go on from.

A weighted mean over degrees of freedom of absolute differences in position and, times a time constant, in velocity.
Where the body is on the ground and which way it faces is left out. A joint weighs as much as what it moves.

The paper prints signed differences, which would cancel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.layout import Layout
from stunt.errors import StuntError, UnknownNameError
from stunt.maths.compiled import compiled
from stunt.maths.flat import logarithm, product
from stunt.maths.rotations import Floats
from stunt.motion.frame_index import FEW, FrameIndex, nearest_row

VELOCITY: Final = 0.1
"""Seconds a difference in velocity counts for: 1 rad/s as much as this many radians."""


@compiled
def write_features(qpos: Any, qvel: Any, sq: Any, sv: Any, tq: Any, tv: Any, out: Any) -> None:
    """Write states without place and heading: rotation vectors, then velocities."""
    nv = qvel.shape[1]
    for f in range(qpos.shape[0]):
        q, v = qpos[f], qvel[f]
        for k in range(sq.shape[0]):
            out[f, sv[k]] = q[sq[k]]
        size = math.sqrt(q[3] * q[3] + q[6] * q[6])
        c, s = (q[3] / size, -q[6] / size) if size > 1e-9 else (1.0, 0.0)
        for k in range(tq.shape[0]):
            p, d = tq[k], tv[k]
            w, x, y, z = q[p], q[p + 1], q[p + 2], q[p + 3]
            if k == 0:  # the root: its heading taken out, from the left
                w, x, y, z = product(c, 0.0, 0.0, s, w, x, y, z)
            out[f, d], out[f, d + 1], out[f, d + 2] = logarithm(w, x, y, z)
        for k in range(nv):
            out[f, nv + k] = v[k]
        cos, sin = c * c - s * s, 2.0 * c * s
        out[f, nv], out[f, nv + 1] = cos * v[0] - sin * v[1], sin * v[0] + cos * v[1]


@compiled
def nearest_frame(
    features: Any, everything: Any, weights: Any, order: Any, qpos: Any, qvel: Any, columns: Any, within: float
) -> tuple[int, float]:  # fmt: skip
    """Return the frame nearest to a state (see `nearest_row`).

    Args:
        features: Of the frames, weighted, in a given order, (F, 2·nv).
        everything: The numbers of all frames, (F,).
        weights: Of the features, (2·nv,).
        order: Which feature comes first, (2·nv,).
        qpos: The state, (nq,).
        qvel: Its velocity, (nv,).
        columns: Of the coordinates, see `Layout.columns`.
        within: How far it may be.
    """
    sq, sv, tq, tv = columns
    raw, here = np.zeros((1, weights.shape[0])), np.empty(weights.shape[0])
    write_features(qpos.reshape(1, -1), qvel.reshape(1, -1), sq, sv, tq, tv, raw)
    for k in range(here.shape[0]):
        here[k] = raw[0, order[k]] * weights[order[k]]
    return nearest_row(features, everything, here, within)


@dataclass(frozen=True)
class SimilarState:
    """The frame most like a state.

    Attributes:
        frame: Which.
        distance: How far off [rad], a mean over the body.
    """

    frame: int
    distance: float


def dof_weights(model: mujoco.MjModel, character: Character, overrides: Mapping[str, float] | None = None) -> Floats:
    """Return what each degree of freedom weighs: the share of the body it moves, (nv,); the root's six weigh 1.

    Args:
        model: The scene.
        character: Who.
        overrides: Other weights, by joint name (`root` for the root).

    Raises:
        UnknownNameError: There is no such joint.
    """
    overrides = overrides or {}
    for name in overrides:
        if name != "root" and name not in character.joints:
            raise UnknownNameError(f"joint of '{character.name}'", name, ("root", *character.joints))
    weights = [np.full(6, overrides.get("root", 1.0))]
    for joint in character.joints.values():
        share = float(model.body_subtreemass[model.jnt_bodyid[joint.id]]) / character.mass
        weights.append(np.full(joint.nv, overrides.get(joint.name, share)))
    return np.concatenate(weights)


class Similarity:
    """Compares states with the frames of one motion.

    Attributes:
        frames: How many frames it knows.
    """

    def __init__(self, layout: Layout, weights: Floats, frames: Floats) -> None:
        """Prepare frames.

        Args:
            layout: Of the body.
            weights: Of its degrees of freedom, (nv,).
            frames: Positions and velocities, (F, nq + nv).
        """
        self._layout = layout
        self._weights = np.concatenate([weights, VELOCITY * weights]) / weights.sum()
        self._weights[0:2] = 0.0  # where on the ground
        features = self.features(frames[:, : layout.nq], frames[:, layout.nq :]) * self._weights
        # What frames differ by most is looked at first: most of them are soon out of the question.
        self._order = np.argsort(-features.std(axis=0), kind="stable")
        self._features = np.ascontiguousarray(features[:, self._order])
        self.frames = len(frames)
        self._everything = np.arange(self.frames)
        # A clip is soon compared frame by frame; a long recording is searched by its principal components.
        self._index = FrameIndex(features) if len(frames) > FEW else None

    @staticmethod
    def to_motions(
        model: mujoco.MjModel, character: Character, motions: Sequence[BodyMotion],
        weights: Mapping[str, float] | None = None,
    ) -> Similarity:  # fmt: skip
        """Return what compares states with the frames of several motions of one body, counted through.

        Args:
            model: The scene.
            character: Who.
            motions: In its coordinates.
            weights: Other weights of joints than by mass (see `dof_weights`).

        Raises:
            StuntError: There are no motions.
        """
        if not motions:
            raise StuntError("there are no motions to compare a state with.")
        layout = Layout.of(character)
        frames = np.concatenate([layout.frames(motion) for motion in motions])
        return Similarity(layout, dof_weights(model, character, weights), frames)

    def features(self, qpos: Floats, qvel: Floats) -> Floats:
        """Return states without place and heading, as rotation vectors and velocities, (..., 2·nv)."""
        layout = self._layout
        one, two = np.atleast_2d(np.ascontiguousarray(qpos)), np.atleast_2d(np.ascontiguousarray(qvel))
        out = np.zeros((len(one), 2 * layout.nv))
        write_features(one, two, layout.scalar_q, layout.scalar_v, layout.turn_q, layout.turn_v, out)
        return out[0] if qpos.ndim == 1 else out

    def distance(self, qpos: Floats, qvel: Floats, frame: int) -> float:
        """Return how far a state is from one frame."""
        here = self.features(qpos, qvel) * self._weights
        return float(np.abs(self._features[frame] - here[self._order]).sum())

    def best(
        self, qpos: Floats, qvel: Floats, within: float = math.inf, *, exact: bool = False
    ) -> SimilarState | None:  # fmt: skip
        """Return the frame most like a state; None where all are further away than `within`.

        Args:
            qpos: The state, (nq,).
            qvel: Its velocity, (nv,).
            within: How far a frame may be.
            exact: Whether to compare with every frame of a long recording, which takes some twenty times as long.
        """
        if self._index is not None and not exact:
            found = self._index.nearest(self.features(qpos, qvel) * self._weights, within)
            return None if found is None else SimilarState(found.row, found.distance)
        frame, distance = nearest_frame(
            self._features, self._everything, self._weights, self._order, qpos, qvel, self._layout.columns, within
        )
        return SimilarState(frame, distance) if frame >= 0 else None
