"""How tall a skeleton's person is, from the lengths of the bones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stunt.rotations import Floats

ANKLE_TO_HEAD = 0.83  # from the ankle to the head's joint [fraction of the stature]


def stature_of(offsets: Floats, parents: Sequence[int], parts: Mapping[str, int]) -> float | None:
    """Return a standing height in the offsets' unit; None where head or feet are not known.

    Legs, trunk and neck are added up. The hips count by how far below the root their middle is, so that their width
    does not make anybody taller.
    """
    top = next((parts[part] for part in ("head", "neck2", "neck") if part in parts), None)
    feet = [parts[f"{side}foot"] for side in ("l_", "r_") if f"{side}foot" in parts]
    if top is None or not feet:
        return None
    hips = [parts[f"{side}thigh"] for side in ("l_", "r_") if f"{side}thigh" in parts]
    legs = np.mean([_way(offsets, parents, foot, hips) for foot in feet])
    drop = float(np.linalg.norm(np.mean([_together(offsets, parents, hip) for hip in hips], axis=0))) if hips else 0.0
    return float((_way(offsets, parents, top, [0]) + legs + drop) / ANKLE_TO_HEAD)


def _way(offsets: Floats, parents: Sequence[int], joint: int, until: Sequence[int]) -> float:
    total = 0.0
    while joint > 0 and joint not in until:
        total += float(np.linalg.norm(offsets[joint]))
        joint = parents[joint]
    return total


def _together(offsets: Floats, parents: Sequence[int], joint: int) -> Floats:
    total = np.zeros(3)
    while joint > 0:
        total = total + offsets[joint]
        joint = parents[joint]
    return total
