"""What is under a point: the height of ground and scenery, felt by rays from above."""

from __future__ import annotations

import mujoco
import numpy as np

from stunt.rotations import Floats
from stunt.stage.loop import Stage


class Ground:
    """The heights of everything that never moves."""

    def __init__(self, stage: Stage) -> None:
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
        for geom, (gx, gy, reach) in zip(self._geoms, self._boxes, strict=True):
            if (gx - x) ** 2 + (gy - y) ** 2 > reach * reach:
                continue
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
