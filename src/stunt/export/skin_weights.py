"""How much of each point of a skin hangs on which bone: soft where bones meet, and never across a gap."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from stunt.export.flesh import Lump, nearest
from stunt.export.rig import Rig
from stunt.export.surface import Ints
from stunt.maths.rotations import Floats

_SOFTNESS = 0.011  # A bone this much further away has 1/e of the weight [m].
_BEHIND = 0.7  # How much further a bone counts as for points behind its joint, per metre behind it.
_ROUNDS = 10  # Of evening out along the skin.
_FAR = 10.0


def weigh(lumps: list[Lump], rig: Rig, points: Floats, mean: sparse.csr_array) -> tuple[Ints, Floats]:
    """Return the four bones of each point and their shares, (V, 4) each.

    Args:
        lumps: The flesh on the bones.
        rig: The bones.
        points: The skin, (V, 3).
        mean: Averages over neighbours on the skin, (V, V).
    """
    away = _distances(lumps, rig, points)
    closest = away.argmin(axis=1)
    away = np.where(_related(rig)[closest], away, _FAR)
    weights = np.exp(-(away - away.min(axis=1, keepdims=True)) / _SOFTNESS)
    for _ in range(_ROUNDS):
        weights = 0.5 * (weights + mean @ weights)
        weights /= weights.sum(axis=1, keepdims=True)
    return strongest(weights)


def strongest(weights: Floats) -> tuple[Ints, Floats]:
    """Return the four largest of many weights, (V, B) → (V, 4) bones and shares that add up to 1."""
    count = min(4, weights.shape[1])
    bones = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    shares = np.take_along_axis(weights, bones, axis=1)
    shares[shares < 0.01] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)
    bones = np.where(shares > 0.0, bones, 0)
    spare = ((0, 0), (0, 4 - count))
    return np.pad(bones, spare).astype(np.int64), np.pad(shares, spare)


def _distances(lumps: list[Lump], rig: Rig, points: Floats) -> Floats:
    """Return how far each point is from each bone's flesh [m], (V, B); more behind the bone's joint."""
    away = np.full((len(points), len(rig.names)), _FAR)
    for bone in range(len(rig.names)):
        own = [lump for lump in lumps if lump.bone == bone and lump.solid]
        if not own:
            continue
        along = np.mean([lump.center for lump in own], axis=0) - rig.rest[bone]
        length = float(np.linalg.norm(along))
        away[:, bone] = nearest(own, points)
        if rig.parents[bone] >= 0 and length > 1e-6:
            ahead = (points - rig.rest[bone]) @ (along / length)
            away[:, bone] += _BEHIND * np.maximum(-ahead, 0.0)
    return away


def _related(rig: Rig) -> np.ndarray:
    """Return which bones may share a point with which: up to two steps apart in the tree, (B, B)."""
    count = len(rig.names)
    near = np.eye(count, dtype=bool)
    for bone, parent in enumerate(rig.parents):
        if parent >= 0:
            near[bone, parent] = near[parent, bone] = True
    return np.asarray((near.astype(int) @ near.astype(int)) > 0)
