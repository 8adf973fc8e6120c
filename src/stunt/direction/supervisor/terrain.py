"""Data on uneven ground: clips know a flat floor; feet go up and down with the ground, and the hips with the feet."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from scipy.ndimage import gaussian_filter1d

from stunt.character.character import Character
from stunt.direction.ground import Ground
from stunt.direction.supervisor.legs import legs_and_bodies, reach
from stunt.direction.supervisor.posing import posed
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
    legs, some = legs_and_bodies(model, character)
    flat, qpos = posed(model, character, frames, some), frames.copy()
    feet = [flat.positions[:, leg.foot] for leg in legs] or [frames[:, :3]]
    heights = [heights_under(ground, path) for path in feet]
    # Hips go with the feet, rather with the lower one: that leg must reach the ground.
    hips = 0.5 * np.mean(heights, axis=0) + 0.5 * np.min(heights, axis=0)
    qpos[:, 2] += gaussian_filter1d(hips, _SMOOTH_HIPS * fps, mode="nearest")
    where = posed(model, character, qpos, some)
    for leg, path, high in zip(legs, feet, heights, strict=False):
        target = path.copy()
        target[:, 2] += gaussian_filter1d(high, _SMOOTH_FOOT * fps, mode="nearest")
        reach(model, character, qpos, leg, where, target, flat.turns[:, leg.foot])
    return qpos


def heights_under(ground: Ground, path: Floats) -> Floats:
    """Return how high the ground is under points (F, 3), felt every few of them [m], (F,)."""
    felt = np.arange(0, len(path) + EVERY - 1, EVERY).clip(max=len(path) - 1)
    found = [ground.height(float(x), float(y), TALLEST) for x, y in path[felt, :2]]
    known = np.where(np.isfinite(found), found, 0.0)
    return np.interp(np.arange(len(path)), felt, known)
