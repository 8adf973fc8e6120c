"""Where the picture is taken from, and how far away one must stand to see everything."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stunt.errors import InvalidValueError

Floats = NDArray[np.float64]
Vector = tuple[float, float, float]

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_NEARBY = 0.8  # How far beyond the characters [m] a prop still counts as part of the action.
_SCENERY = 4.0  # Static things this many times larger than what moves [-] are scenery.


@dataclass(frozen=True)
class Camera:
    """A pinhole camera."""

    eye: Vector  #: Where it stands [m]
    target: Vector  #: What it looks at [m]
    fov_y: float = math.radians(28.0)  #: Vertical angle of view [rad]
    up: Vector = (0.0, 0.0, 1.0)  #: What is up in the picture

    @property
    def axes(self) -> Floats:
        """Right, up and forward unit vectors of the picture, (3, 3)."""
        forward = np.subtract(self.target, self.eye)
        if not np.linalg.norm(forward) > 0.0:
            raise InvalidValueError("camera target", self.target, "apart from the camera's eye")
        return _axes(forward, np.asarray(self.up, dtype=np.float64))

    @staticmethod
    def frame_on(
        points: ArrayLike,
        azimuth: float,
        elevation: float,
        *,
        aspect: float = 4 / 3,
        margin: float = 0.08,
        fov_y: float = math.radians(28.0),
    ) -> Camera:
        """Stand as close as possible with every point in the picture, looking along a given direction.

        Args:
            points: What must be seen [m], (n, 3).
            azimuth: Direction from the target to the camera about the vertical [rad]; 0 stands on +x.
            elevation: Height of the camera above the horizon [rad].
            aspect: Width over height of the picture.
            margin: Share of the picture left free on each side.
            fov_y: Vertical angle of view [rad].
        """
        cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        if not len(cloud) or not np.isfinite(cloud).all():
            raise InvalidValueError("points", f"{len(cloud)} points", "at least one finite point")
        back = np.array(
            [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
        )
        axes = _axes(-back, np.array([0.0, 0.0, 1.0]))
        seen = cloud @ axes.T  # (n, 3): right, up, depth
        reach = math.tan(fov_y / 2) * (1.0 - 2.0 * margin)
        across, depth_x = _fit(seen[:, 0], seen[:, 2], reach * aspect)
        upward, depth_y = _fit(seen[:, 1], seen[:, 2], reach)
        depth = min(depth_x, depth_y, seen[:, 2].min() - 0.2)
        eye = axes.T @ np.array([across, upward, depth])
        target = axes.T @ np.array([across, upward, np.median(seen[:, 2])])
        return Camera(_vector(eye), _vector(target), fov_y)


def _axes(forward: Floats, up: Floats) -> Floats:
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, up)
    if np.linalg.norm(right) < 1e-9:  # Looking straight along `up`: any right will do.
        right = np.cross(forward, np.array([0.0, 1.0, 0.0]))
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, forward), forward])


def _fit(side: Floats, depth: Floats, slope: float) -> tuple[float, float]:
    """Return the sideways and depth position from which every point is within `slope` of the axis."""
    low, high = np.max(side - slope * depth), np.min(side + slope * depth)
    return float(low + high) / 2, float(high - low) / (2 * slope)


def _vector(values: Floats) -> Vector:
    return float(values[0]), float(values[1]), float(values[2])


def geom_corners(model: mujoco.MjModel, geom_xpos: Floats, geom_xmat: Floats) -> Floats:
    """Return the corners of each geom's bounding box in the world [m], (ngeom, 8, 3)."""
    box = model.geom_aabb.reshape(-1, 2, 3)
    local = box[:, None, 0] + _CORNERS[None] * box[:, None, 1]  # (ngeom, 8, 3)
    return np.asarray(geom_xpos[:, None] + np.einsum("gij,gkj->gki", geom_xmat.reshape(-1, 3, 3), local))


def points_of_performance(
    model: mujoco.MjModel, qpos: Floats, characters: Collection[str] = (), frames: int = 48
) -> Floats:
    """Return points around everything that matters in a performance, for `Camera.frame_on`.

    Characters count whole; props count while they are near one; endless planes, terrain and static scenery do not.
    Without characters everything that can move counts, and large static things do not.

    Args:
        model: The model that performed.
        qpos: Positions over time, (T, nq).
        characters: Names of the characters; their things are called `name/…`.
        frames: How many frames, evenly spread, are looked at.
    """
    corners = _corners_over_time(model, qpos, frames)  # (F, ngeom, 8, 3)
    cast, props, scenery = _roles(model, characters)
    main = cast if cast.any() else (props if props.any() else scenery)
    points = corners[:, main].reshape(-1, 3)
    if not len(points):
        return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    low, high = points.min(axis=0) - _NEARBY, points.max(axis=0) + _NEARBY
    extra = [points]
    for geom in np.flatnonzero((props | scenery) & ~main):
        cloud = corners[:, geom]  # (F, 8, 3)
        small = np.ptp(cloud[0], axis=0).max() * (_SCENERY if scenery[geom] else 1.0) < (high - low).max()
        near = ((cloud > low) & (cloud < high)).all(axis=(1, 2))
        if small and near.any():
            extra.append(cloud[near].reshape(-1, 3))
    return np.concatenate(extra)


def _corners_over_time(model: mujoco.MjModel, qpos: Floats, frames: int) -> Floats:
    data = mujoco.MjData(model)
    chosen = np.unique(np.linspace(0, len(qpos) - 1, min(frames, len(qpos))).astype(int))
    clouds = []
    for frame in chosen:
        data.qpos[:] = qpos[frame]
        mujoco.mj_kinematics(model, data)
        clouds.append(geom_corners(model, data.geom_xpos, data.geom_xmat))
    return np.array(clouds)


def _roles(model: mujoco.MjModel, characters: Collection[str]) -> tuple[NDArray[np.bool_], ...]:
    """Tell which geoms belong to characters, which to movable props, and which to solid static scenery."""
    prefixes = tuple(f"{name}/" for name in characters)
    bodies = model.geom_bodyid
    named = np.array([bool(prefixes) and model.body(b).name.startswith(prefixes) for b in range(model.nbody)])
    endless = np.isin(model.geom_type, [mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD])
    cast = named[bodies] & ~endless
    moving = (model.body_weldid[bodies] != 0) & ~cast & ~endless
    return cast, moving, ~(cast | moving | endless)


def aim(view: mujoco.MjvCamera, camera: Camera) -> None:
    """Point MuJoCo's free camera where ours looks."""
    mujoco.mjv_defaultCamera(view)
    back = [e - t for e, t in zip(camera.eye, camera.target, strict=True)]
    distance = sum(b * b for b in back) ** 0.5
    view.lookat[:] = camera.target
    view.distance = distance
    view.azimuth = _degrees(back[1], back[0]) + 180.0
    view.elevation = -_degrees(back[2], (back[0] ** 2 + back[1] ** 2) ** 0.5)


def _degrees(y: float, x: float) -> float:
    return math.degrees(math.atan2(y, x))
