"""How alike a state is to the frames of motions (P2): where data could go on from.

A weighted mean over degrees of freedom of absolute differences in position and, times a time constant, in velocity.
Where the body is on the ground and which way it faces is left out. A joint weighs as much as what it moves.

The paper prints signed differences, which would cancel.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.layout import Layout, nearest_frame, write_features
from stunt.maths.rotations import Floats
from stunt.motion.frame_index import FEW, FrameIndex

VELOCITY: Final = 0.1
"""Seconds a difference in velocity counts for: 1 rad/s as much as this many radians."""


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
    """
    overrides = overrides or {}
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
        # A clip is soon compared frame by frame; a long recording is searched by its principal components.
        self._index = FrameIndex(features) if len(frames) > FEW else None

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

    def best(self, qpos: Floats, qvel: Floats, within: float = math.inf) -> SimilarState | None:
        """Return the frame most like a state; None where all are further away than `within`."""
        if self._index is not None:
            found = self._index.nearest(self.features(qpos, qvel) * self._weights)
            if found is not None:
                return SimilarState(found.row, found.distance) if found.distance <= within else None
        columns = self._layout.columns
        frame, distance = nearest_frame(self._features, self._weights, self._order, qpos, qvel, columns, within)
        return SimilarState(frame, distance) if frame >= 0 else None
