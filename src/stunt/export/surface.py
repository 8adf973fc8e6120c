"""Triangle surfaces for scene files: points, normals, bones, and triangles by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stunt.maths.rotations import Floats, rotate

Ints = NDArray[np.int64]
Color = tuple[float, float, float, float]
"""Display (sRGB) red, green and blue, and opacity, in 0–1."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface of V points."""

    points: Floats  #: [m], (V, 3)
    normals: Floats  #: Outward, of length 1, (V, 3)
    parts: tuple[tuple[Color, Ints], ...]  #: Triangles (T, 3) by colour
    bones: Ints | None = None  #: Up to four bones each point hangs on, (V, 4); None where it hangs on none
    weights: Floats | None = None  #: How much on each; they add up to 1, (V, 4)

    def moved(self, place: Floats, turn: Floats) -> Surface:
        """Return it turned and moved."""
        return Surface(rotate(turn, self.points) + place, rotate(turn, self.normals), self.parts)

    def on_bone(self, bone: int) -> Surface:
        """Return it hanging on one bone alone."""
        bones, weights = np.zeros((len(self.points), 4), np.int64), np.zeros((len(self.points), 4))
        bones[:, 0], weights[:, 0] = bone, 1.0
        return Surface(self.points, self.normals, self.parts, bones, weights)


def together(surfaces: Sequence[Surface]) -> Surface:
    """Return several surfaces as one, triangles of one colour together."""
    parts: dict[Color, list[Ints]] = {}
    start = 0
    for surface in surfaces:
        for color, triangles in surface.parts:
            parts.setdefault(color, []).append(triangles + start)
        start += len(surface.points)
    bones = [s.bones for s in surfaces if s.bones is not None]
    weights = [s.weights for s in surfaces if s.weights is not None]
    skinned = len(bones) == len(surfaces) and bool(surfaces)
    return Surface(
        np.concatenate([s.points for s in surfaces] or [np.zeros((0, 3))]),
        np.concatenate([s.normals for s in surfaces] or [np.zeros((0, 3))]),
        tuple((color, np.concatenate(some)) for color, some in parts.items()),
        np.concatenate(bones) if skinned else None,
        np.concatenate(weights) if skinned else None,
    )
