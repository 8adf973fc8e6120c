"""Pictures of a MuJoCo scene without OpenGL: a ray-caster on the CPU.

    image = render(model, data.geom_xpos, data.geom_xmat, Camera((4, 1, 1.5), (0, 0, 1)), 640, 480)

Every geom type of MJCF is drawn: planes, spheres, capsules, ellipsoids, cylinders and boxes exactly, meshes and height
fields by their triangles. Two lights, a soft shadow, ambient occlusion, and a floor that fades into the backdrop.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import InvalidValueError
from stunt.record.raycast.camera import Camera, geom_corners
from stunt.record.raycast.colors import visible_geoms
from stunt.record.raycast.kernels import TILE, trace_rows
from stunt.record.raycast.scene import Floats, Ints, RaycastScene, sort_into_cells
from stunt.record.raycast.trees import plant_trees, surface_of

Color = tuple[float, float, float]

_BAND = 16  # Rows one thread takes at a time.
_DIMS = 10.0  # How far a body dims others, in its radii; the kernel's own bound.
_CELLS = 48  # Cells along each side of the shadow grid.


@dataclass(frozen=True)
class Style:
    """How a picture looks. Colours are display values in 0–1."""

    horizon: Color = (0.925, 0.935, 0.95)  #: Backdrop at and below eye level
    zenith: Color = (0.985, 0.988, 0.992)  #: Backdrop above
    floor: Color = (0.845, 0.855, 0.87)  #: Colour of planes
    checker: float = 0.045  #: Contrast of the floor's squares; 0 for none
    square: float = 0.5  #: Their edge [m]
    #: How far around the target the floor has faded into the backdrop, in distances of the camera.
    floor_radius: float = 0.75
    plain: Color = (0.63, 0.68, 0.75)  #: Colour of geoms whose model names none
    key: Color = (0.96, 0.93, 0.88)  #: Colour of the key light times its strength; likewise the others
    fill: Color = (0.17, 0.19, 0.22)  #: Weaker light from the other side, without shadow
    sky: Color = (0.44, 0.46, 0.49)  #: Ambient light from above
    bounce: Color = (0.22, 0.215, 0.21)  #: Ambient light from below
    rim: Color = (0.10, 0.11, 0.12)  #: Light on edges seen at a grazing angle
    #: Where the key light stands, about the vertical, from the camera's direction [rad].
    key_azimuth: float = math.radians(-35.0)
    key_elevation: float = math.radians(50.0)  #: Its height above the horizon [rad]
    softness: float = math.radians(1.7)  #: Radius of the key light's disc [rad]; 0 gives hard shadows
    shadow_rays: int = 24  #: How many points of that disc are looked at on the edge of a shadow
    groups: tuple[int, ...] = (0, 1, 2)  #: Geom groups that are drawn


@dataclass(frozen=True)
class Ghost:
    """The same bodies once more, translucent: where they were, or where they should be."""

    geom_xpos: Floats  #: Geom centres [m], (ngeom, 3)
    geom_xmat: Floats  #: Geom rotations, (ngeom, 9)
    #: One colour for all of them; the last number is the opacity.
    rgba: tuple[float, float, float, float] = (0.25, 0.55, 0.95, 0.35)
    geoms: Sequence[int] | None = None  #: Which geoms; None is all but planes


class Raycaster:
    """Renders one model many times; what does not change is prepared once."""

    def __init__(self, model: mujoco.MjModel, style: Style | None = None) -> None:
        self.model = model
        self.style = Style() if style is None else style
        self._trees = plant_trees(model)
        self._geoms, self._colors = visible_geoms(model, self.style.groups, self.style.plain)
        spans = [self._trees.span.get(surface_of(model, g) or ("", 0), (0, 0)) for g in range(model.ngeom)]
        self._spans = np.array(spans, dtype=np.int32).reshape(-1, 2)

    def render(
        self,
        geom_xpos: Floats,
        geom_xmat: Floats,
        camera: Camera,
        width: int,
        height: int,
        *,
        samples: int = 2,
        ghosts: Sequence[Ghost] = (),
        threads: int | None = None,
    ) -> NDArray[np.uint8]:
        """Take a picture; see `render`. `threads` share the work; None is one for each core."""
        if not (0 < width <= 16384 and 0 < height <= 16384 and 0 < samples <= 8):
            raise InvalidValueError("picture size and samples", (width, height, samples), "positive and reasonable")
        scene = self._scene(np.asarray(geom_xpos), np.asarray(geom_xmat), camera, width, height, ghosts)
        image = np.empty((height, width, 3), dtype=np.float32)
        _in_bands(scene, image, image, 0, threads)
        if samples > 1:
            _in_bands(scene, image, image.copy(), samples, threads)
        return np.asarray(np.sqrt(image) * 255.0 + 0.5).astype(np.uint8)

    def _scene(
        self, xpos: Floats, xmat: Floats, camera: Camera, width: int, height: int, ghosts: Sequence[Ghost]
    ) -> RaycastScene:
        model = self.model
        cast = [_Cast(self._geoms, xpos, xmat, self._colors, np.where(self._colors[:, 3] < 0.99, 1, 0))]
        cast += [self._ghost(ghost, layer) for layer, ghost in enumerate(ghosts, start=2)]
        which = np.concatenate([c.geoms for c in cast])
        layer = np.concatenate([c.layer for c in cast]).astype(np.int32)
        pos = np.concatenate([c.xpos[c.geoms] for c in cast])
        mat = np.concatenate([c.xmat.reshape(-1, 9)[c.geoms] for c in cast])
        corners = np.concatenate([geom_corners(model, c.xpos, c.xmat)[c.geoms] for c in cast])
        kind = np.minimum(model.geom_type[which], int(mujoco.mjtGeom.mjGEOM_MESH)).astype(np.int32)
        body = model.geom_bodyid[which]
        owner = np.where(body > 0, body, -1 - np.arange(len(which))).astype(np.int32)
        solid = layer == 0
        lens = _lens(camera, width / height)
        grid, cell_start, cell_items = _shadow_grid(self.style, camera, corners, solid & (kind != 0))
        tile_start, tile_items = _tiles(corners, kind, lens, width, height)
        return RaycastScene(
            kind=kind,
            layer=layer,
            pos=pos,
            mat=mat,
            size=model.geom_size[which],
            color=np.concatenate([c.colors for c in cast]),
            owner=owner,
            core=_cores(model, which[solid], pos[solid], mat[solid], owner[solid]),
            tree=self._spans[which],
            node_box=self._trees.box,
            node_link=self._trees.link,
            triangle=self._trees.triangle,
            normal=self._trees.normal,
            tile_start=tile_start,
            tile_items=tile_items,
            cell_start=cell_start,
            cell_items=cell_items,
            grid=grid,
            disc=_disc(grid, self.style.softness, self.style.shadow_rays),
            lens=lens,
            look=_look(self.style, camera, height),
            layers=int(layer.max(initial=0)),
        )

    def _ghost(self, ghost: Ghost, layer: int) -> _Cast:
        shown = self._geoms[self.model.geom_type[self._geoms] != mujoco.mjtGeom.mjGEOM_PLANE]
        geoms = shown if ghost.geoms is None else np.array(ghost.geoms, dtype=np.int64)
        red, green, blue, alpha = ghost.rgba
        color = np.tile([red**2, green**2, blue**2, alpha], (len(geoms), 1))
        return _Cast(geoms, np.asarray(ghost.geom_xpos), np.asarray(ghost.geom_xmat), color, np.full(len(geoms), layer))


@dataclass(frozen=True)
class _Cast:
    """Geoms, where they are, and how they are painted."""

    geoms: NDArray[np.int64]
    xpos: Floats
    xmat: Floats
    colors: Floats
    layer: NDArray[np.int64]


def render(
    model: mujoco.MjModel,
    geom_xpos: Floats,
    geom_xmat: Floats,
    camera: Camera,
    width: int,
    height: int,
    *,
    samples: int = 2,
    style: Style | None = None,
    ghosts: Sequence[Ghost] = (),
) -> NDArray[np.uint8]:
    """Take one picture of a scene. For many pictures of one model keep a `Raycaster`.

    Args:
        model: The model.
        geom_xpos: Geom centres [m], (ngeom, 3), as in `MjData` after `mj_kinematics`.
        geom_xmat: Geom rotations, (ngeom, 9).
        camera: Where from.
        width: Picture width [px].
        height: Picture height [px].
        samples: Anti-aliasing: so many times so many samples in every pixel on an edge.
        style: How it looks.
        ghosts: Translucent copies of the bodies.

    Returns:
        The picture, (height, width, 3).
    """
    return Raycaster(model, style).render(geom_xpos, geom_xmat, camera, width, height, samples=samples, ghosts=ghosts)


def _in_bands(
    scene: RaycastScene, image: NDArray[np.float32], coarse: NDArray[np.float32], samples: int, threads: int | None
) -> None:
    """Trace all rows, bands of them side by side."""

    def trace(first: int) -> None:
        last = min(first + _BAND, image.shape[0])
        near, seen, hits = np.empty(layers), np.empty(layers, np.int64), np.empty(layers, np.int64)
        trace_rows(scene, image, coarse, first, last, samples, near, seen, hits)

    layers = scene.layers + 1
    bands = range(0, image.shape[0], _BAND)
    if threads == 1:
        for first in bands:
            trace(first)
        return
    with ThreadPoolExecutor(threads or core_count()) as pool:
        for done in pool.map(trace, bands):
            del done  # Only waits, and raises what went wrong.


def core_count() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _lens(camera: Camera, aspect: float) -> Floats:
    right, up, forward = camera.axes
    reach = math.tan(camera.fov_y / 2)
    return np.stack([np.asarray(camera.eye, dtype=np.float64), right * reach * aspect, up * reach, forward])


def _tiles(corners: Floats, kind: Ints, lens: Floats, width: int, height: int) -> tuple[Ints, Ints]:
    """List, for each screen tile, the geoms that may be seen in it."""
    rel = corners - lens[0]  # (n, 8, 3)
    depth = rel @ lens[3]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = (1.0 + rel @ lens[1] / (lens[1] @ lens[1]) / depth) * width / 2
        y = (1.0 - rel @ lens[2] / (lens[2] @ lens[2]) / depth) * height / 2
    columns, rows = -(-width // TILE), -(-height // TILE)
    rects = np.stack([x.min(axis=1), x.max(axis=1), y.min(axis=1), y.max(axis=1)], axis=1) // TILE
    rects[(depth.min(axis=1) < 1e-3) | (kind == 0)] = 0, columns - 1, 0, rows - 1
    rects[(depth.max(axis=1) < 0.0) & (kind != 0)] = 0, -1, 0, -1
    limited = np.clip(rects, -1, max(columns, rows)).astype(np.int64)
    start, items = sort_into_cells(limited, columns, rows)
    return start, items


def _shadow_grid(style: Style, camera: Camera, corners: Floats, casts: NDArray[np.bool_]) -> tuple[Floats, Ints, Ints]:
    """Lay a grid perpendicular to the key light and list what casts a shadow through each cell."""
    light = _light(camera, style.key_azimuth, style.key_elevation)
    u = np.cross(light, [0.0, 0.0, 1.0])
    u /= np.linalg.norm(u)
    v = np.cross(light, u)
    index = np.flatnonzero(casts)
    cloud = corners[index] @ np.stack([u, v, light]).T  # (n, 8, 3)
    if not len(index):
        cloud = np.zeros((1, 8, 3))
    # A soft light reaches around a caster by its angle times the way the shadow falls.
    drop = max(float(np.ptp(cloud[..., 2])), float(np.abs(corners[index, :, 2]).max(initial=0.0)) / light[2])
    pad = math.tan(style.softness) * min(drop, 20.0) + 1e-6
    low, high = cloud[..., :2].min(axis=(0, 1)) - pad, cloud[..., :2].max(axis=(0, 1)) + pad
    cell = (high - low) / _CELLS
    near = np.floor((cloud[..., :2].min(axis=1) - pad - low) / cell)
    far = np.floor((cloud[..., :2].max(axis=1) + pad - low) / cell)
    rects = np.stack([near[:, 0], far[:, 0], near[:, 1], far[:, 1]], axis=1).astype(np.int64)
    start, items = sort_into_cells(rects if len(index) else np.empty((0, 4), np.int64), _CELLS, _CELLS)
    numbers = np.array([[low[0], low[1], _CELLS], [cell[0], cell[1], 0.0]])
    return np.concatenate([np.stack([u, v, light]), numbers]), start, index[items].astype(np.int32)


def _disc(grid: Floats, softness: float, rays: int) -> Floats:
    """Spread directions over the key light's disc, any four in a row well apart, (rays, 3); one if it has no size."""
    index = np.arange(rays if softness > 0.0 else 1)
    reach = math.tan(softness) * np.sqrt(((7 * index) % rays + 0.5) / rays)[:, None]
    angle = (2.39996 * index)[:, None]  # The golden angle: never twice the same.
    return np.asarray(grid[2] + reach * (np.cos(angle) * grid[0] + np.sin(angle) * grid[1]))


def _light(camera: Camera, azimuth: float, elevation: float) -> Floats:
    back = np.subtract(camera.eye, camera.target)
    angle = math.atan2(back[1], back[0]) + azimuth
    flat = math.cos(elevation)
    return np.array([flat * math.cos(angle), flat * math.sin(angle), math.sin(elevation)])


def _cores(model: mujoco.MjModel, which: NDArray[np.int64], pos: Floats, mat: Floats, owner: Ints) -> Floats:
    """Fill the main geoms of each body with a capsule along their longest axis, (n, 12).

    Columns: the two ends, radius, owner, centre, and the square of the distance from it beyond which it dims nothing.
    """
    box = model.geom_aabb[which]
    extent = box[:, 3:]
    longest = extent.argmax(axis=1)
    others = np.sort(extent, axis=1)[:, :2]
    radius = np.minimum(np.sqrt(others.prod(axis=1)), 3.0 * others[:, 0])
    half = np.maximum(extent.max(axis=1) - radius, 0.0)
    rotation = mat.reshape(-1, 3, 3)
    axis = rotation[np.arange(len(which)), :, longest] * half[:, None]
    centre = pos + np.einsum("nij,nj->ni", rotation, box[:, :3])
    largest = np.array([radius[owner == mine].max() for mine in owner])
    kept = (radius > 0.85 * largest) & (model.geom_type[which] > int(mujoco.mjtGeom.mjGEOM_HFIELD))
    reach = (half + _DIMS * radius) ** 2
    return np.asarray(np.column_stack([centre - axis, centre + axis, radius, owner, centre, reach])[kept])


def _look(style: Style, camera: Camera, height: int) -> Floats:
    distance = math.dist(camera.eye, camera.target)
    colors = [style.horizon, style.zenith, style.floor]
    linear = [tuple(c**2 for c in color) for color in colors]
    return np.array(
        [
            *linear,
            style.key,
            style.fill,
            style.sky,
            style.bounce,
            style.rim,
            (camera.target[0], camera.target[1], max(style.floor_radius * distance, 1.0)),
            tuple(_light(camera, math.radians(65.0), math.radians(15.0))),
            (0.0, style.checker, style.square),
            (0.0, 2.0 * math.tan(camera.fov_y / 2) / height, 0.0),
        ]
    )
