"""Data on uneven ground: clips know a flat floor; feet go up and down with the ground, and the hips with the feet."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from scipy.ndimage import gaussian_filter1d

from stunt.character.character import Character
from stunt.direction.ground import Ground
from stunt.direction.supervisor.legs import legs_of
from stunt.direction.supervisor.legs_kernel import bend_leg
from stunt.direction.supervisor.posing import body_count, bones_of
from stunt.direction.supervisor.posing_kernel import pose_bodies
from stunt.rotations import Floats

EVERY: Final = 3
"""Of the frames one in so many is felt for."""
TALLEST: Final = 0.3
"""What is higher than this over the floor is no ground to box on [m]."""
_SMOOTH_FOOT, _SMOOTH_HIPS = 0.04, 0.15  # standard deviations of the smoothing [s]


def on_ground(model: mujoco.MjModel, character: Character, ground: Ground, frames: Floats, fps: float) -> Floats:
    """Return frames of a motion made for a floor at height 0, with their feet on the ground there is.

    Args:
        model: The scene.
        character: Who; its legs must hang on ball joints, or only the hips go up and down.
        ground: What is under it.
        frames: Its coordinates, (F, nq).
        fps: Frames per second.
    """
    if ground.flat:
        return frames
    legs, qpos = legs_of(model, character), np.ascontiguousarray(frames).copy()
    bodies, columns, lengths, own = legs.chains
    places, turns = _posed(model, character, qpos)
    feet = [places[:, chain[3]] for chain in bodies] or [frames[:, :3]]
    heights = [heights_under(ground, path) for path in feet]
    # Hips go with the feet, rather with the lower one: that leg must reach the ground.
    hips = 0.5 * np.mean(heights, axis=0) + 0.5 * np.min(heights, axis=0)
    qpos[:, 2] += gaussian_filter1d(hips, _SMOOTH_HIPS * fps, mode="nearest")
    moved, turned = _posed(model, character, qpos)
    for number, chain in enumerate(bodies):
        target = feet[number].copy()
        target[:, 2] += gaussian_filter1d(heights[number], _SMOOTH_FOOT * fps, mode="nearest")
        bend_leg(
            moved, turned, chain, lengths[number, 0], lengths[number, 1], target,
            np.ascontiguousarray(turns[:, chain[3]]), own[number], columns[number], qpos,
        )  # fmt: skip
    return qpos


def _posed(model: mujoco.MjModel, character: Character, qpos: Floats) -> tuple[Floats, Floats]:
    """Return where the bodies of the legs are [m], (F, bodies, 3), and how they are turned, (F, bodies, 4)."""
    count = body_count(character)
    places, turns = np.zeros((len(qpos), count, 3)), np.zeros((len(qpos), count, 4))
    pose_bodies(qpos, legs_of(model, character).some, bones_of(model, character), places, turns)
    return places, turns


def heights_under(ground: Ground, path: Floats) -> Floats:
    """Return how high the ground is under points (F, 3), felt every few of them [m], (F,)."""
    felt = np.arange(0, len(path) + EVERY - 1, EVERY).clip(max=len(path) - 1)
    found = [ground.height(float(x), float(y), TALLEST) for x, y in path[felt, :2]]
    known = np.where(np.isfinite(found), found, 0.0)
    return np.interp(np.arange(len(path)), felt, known)
