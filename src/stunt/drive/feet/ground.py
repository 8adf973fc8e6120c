"""Data on uneven ground: clips know a flat floor; feet go up and down with the ground, and the hips with the feet.

What is under a point: the height of ground and scenery, felt by rays from above.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
import scipy

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.drive.feet.leg_kernel import bend_leg, leg_chains_of
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop


class Ground:
    """The heights of everything that never moves."""

    def __init__(self, stage: StageLoop) -> None:
        """Look at a stage's scenery."""
        self._model = stage.model
        static = stage.model.body_weldid[stage.model.geom_bodyid] == 0
        people = [geom for character in stage.characters.values() for geom in character.geoms]
        static[people] = False  # nobody walks over somebody's fixed hips
        self._geoms = np.flatnonzero(static & (stage.model.geom_contype > 0))
        self._flat = self._is_flat(stage.model)
        self._place = mujoco.MjData(stage.model)
        mujoco.mj_kinematics(stage.model, self._place)
        self._top = self._highest() + 1.0
        self._boxes = self._bounds()

    def _is_flat(self, model: mujoco.MjModel) -> bool:
        return all(model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE for geom in self._geoms)

    def _highest(self) -> float:
        model, data = self._model, self._place
        tops = [data.geom_xpos[g][2] + model.geom_rbound[g] for g in self._geoms if model.geom_rbound[g] > 0.0]
        return float(max(tops, default=0.0))

    def _bounds(self) -> Floats:
        model, data = self._model, self._place
        return np.array([
            [data.geom_xpos[g][0], data.geom_xpos[g][1], model.geom_rbound[g] or np.inf] for g in self._geoms
        ]).reshape(-1, 3)  # fmt: skip

    @property
    def flat(self) -> bool:
        """Whether there is nothing but endless planes."""
        return self._flat

    def height(self, x: float, y: float, below: float | None = None) -> float:
        """Return how high the ground is at a point [m]; −inf where there is none.

        Args:
            x: Where [m].
            y: Where [m].
            below: Only what is below this height counts [m]: a ledge overhead is no ground.
        """
        start = np.array([x, y, self._top if below is None else below])
        down = np.array([0.0, 0.0, -1.0])
        best = np.inf
        normal = np.zeros(3)
        gx, gy, reach = self._boxes.T
        for geom in self._geoms[(gx - x) ** 2 + (gy - y) ** 2 <= reach * reach]:
            distance = self._ray(int(geom), start, down, normal)
            if 0.0 <= distance < best:
                best = distance
        return float(start[2] - best)

    def _ray(self, geom: int, start: Floats, along: Floats, normal: Floats) -> float:
        model, data = self._model, self._place
        kind = model.geom_type[geom]
        if kind == mujoco.mjtGeom.mjGEOM_HFIELD:
            return float(mujoco.mj_rayHfield(model, data, geom, start, along, normal))
        if kind == mujoco.mjtGeom.mjGEOM_MESH:
            return float(mujoco.mj_rayMesh(model, data, geom, start, along, normal))
        return float(mujoco.mju_rayGeom(
            data.geom_xpos[geom], data.geom_xmat[geom], model.geom_size[geom], start, along, kind, normal
        ))  # fmt: skip


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
    legs, qpos = leg_chains_of(model, character), np.ascontiguousarray(frames).copy()
    bodies, columns, _, own = legs.chains
    places, turns = pose_frames(model, character, qpos, legs.some)
    feet = [places[:, chain[3]] for chain in bodies] or [frames[:, :3]]
    heights = [heights_under(ground, path) for path in feet]
    # Hips go with the feet, rather with the lower one: that leg must reach the ground.
    hips = 0.5 * np.mean(heights, axis=0) + 0.5 * np.min(heights, axis=0)
    qpos[:, 2] += scipy.ndimage.gaussian_filter1d(hips, _SMOOTH_HIPS * fps, mode="nearest")
    moved, turned = pose_frames(model, character, qpos, legs.some)
    for number, chain in enumerate(bodies):
        target = feet[number].copy()
        target[:, 2] += scipy.ndimage.gaussian_filter1d(heights[number], _SMOOTH_FOOT * fps, mode="nearest")
        foot = np.ascontiguousarray(turns[:, chain[3]])
        bend_leg(moved, turned, chain, target, foot, own[number], columns[number], qpos)
    return qpos


def heights_under(ground: Ground, path: Floats) -> Floats:
    """Return how high the ground is under points (F, 3), felt every few of them [m], (F,)."""
    felt = np.arange(0, len(path) + EVERY - 1, EVERY).clip(max=len(path) - 1)
    found = [ground.height(float(x), float(y), TALLEST) for x, y in path[felt, :2]]
    known = np.where(np.isfinite(found), found, 0.0)
    return np.interp(np.arange(len(path)), felt, known)
