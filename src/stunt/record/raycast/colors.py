"""Which geoms of a model are drawn, and in what colour."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.record.raycast.scene import Floats

_UNPAINTED = np.array([0.5, 0.5, 0.5, 1.0])  # What MuJoCo gives a geom that names no colour.
_INVISIBLE = 0.02  # Opacity below which a geom is not drawn.
_NEXT_TO_NOTHING = 0.15  # Share of a tree's bounding volume below which it counts as hidden.


def visible_geoms(
    model: mujoco.MjModel, groups: Collection[int], plain: tuple[float, float, float]
) -> tuple[NDArray[np.int64], Floats]:
    """Return the geoms to draw, (n,), and their linear RGB and opacity, (n, 4).

    A body whose shapes are nearly all in groups that are not drawn (because a skin covers them, say) is drawn whole:
    better its collision shapes than nothing.
    """
    colors = np.array([_color(model, geom, plain) for geom in range(model.ngeom)]).reshape(-1, 4)
    opaque = colors[:, 3] > _INVISIBLE
    shown = opaque & np.isin(model.geom_group, list(groups))
    geoms = np.flatnonzero(shown | (opaque & _hidden_trees(model, shown, opaque)))
    linear = np.column_stack([np.clip(colors[:, :3], 0.0, 1.0) ** 2, np.clip(colors[:, 3], 0.0, 1.0)])
    return geoms, linear[geoms]


def _hidden_trees(model: mujoco.MjModel, shown: NDArray[np.bool_], opaque: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mark the geoms of kinematic trees of which next to nothing would be shown, (ngeom,)."""
    tree = model.body_rootid[model.geom_bodyid]
    volume = model.geom_rbound**3
    whole = np.bincount(tree, volume * opaque, model.nbody)
    seen = np.bincount(tree, volume * shown, model.nbody)
    return np.asarray((seen < _NEXT_TO_NOTHING * whole)[tree] & (tree > 0))


def _color(model: mujoco.MjModel, geom: int, plain: tuple[float, float, float]) -> Floats:
    """Return a geom's display colour and opacity: its own, else its material's, else the plain one."""
    own: Floats = model.geom_rgba[geom].astype(np.float64)
    if not np.allclose(own, _UNPAINTED, atol=1e-4):
        return own
    material = int(model.geom_matid[geom])
    if material < 0:
        return np.array([*plain, 1.0])
    color: Floats = model.mat_rgba[material].astype(np.float64)
    color[:3] *= _mean_texture(model, material)
    return color


def _mean_texture(model: mujoco.MjModel, material: int) -> Floats:
    """Return the mean colour of a material's texture; textures themselves are not drawn."""
    used = [int(t) for t in model.mat_texid[material] if t >= 0]
    if not used:
        return np.ones(3)
    texture = used[0]
    channels = int(model.tex_nchannel[texture])
    size = int(model.tex_height[texture]) * int(model.tex_width[texture]) * channels
    first = int(model.tex_adr[texture])
    pixels = model.tex_data[first : first + size].reshape(-1, channels)
    mean = pixels[:: max(1, len(pixels) // 4096)].mean(axis=0) / 255.0
    return np.asarray(mean[:3]) if channels >= 3 else np.full(3, mean[0])
