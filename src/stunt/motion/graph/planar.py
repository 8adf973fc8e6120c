"""Moving things over the ground: a turn about the vertical, then a shift."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stunt.maths.rotations import Floats, from_rotation_vector, multiply
from stunt.motion.clips.clip_parts import ClipPose


@dataclass(frozen=True)
class Planar:
    """A place on the ground."""

    x: float = 0.0  #: [m]
    y: float = 0.0  #: [m]
    turn: float = 0.0  #: About the vertical, to the left [rad]

    def then(self, inner: Planar) -> Planar:
        """Return the move that does `inner` first and this one after it."""
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        x = self.x + cosine * inner.x - sine * inner.y
        y = self.y + sine * inner.x + cosine * inner.y
        return Planar(x, y, math.remainder(self.turn + inner.turn, math.tau))

    def inverse(self) -> Planar:
        """Return the move that undoes this one."""
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        return Planar(-cosine * self.x - sine * self.y, sine * self.x - cosine * self.y, -self.turn)

    def points(self, places: Floats) -> Floats:
        """Move points (..., 3) or (..., 2); heights stay."""
        cosine, sine = math.cos(self.turn), math.sin(self.turn)
        moved = places.copy()
        moved[..., 0] = self.x + cosine * places[..., 0] - sine * places[..., 1]
        moved[..., 1] = self.y + sine * places[..., 0] + cosine * places[..., 1]
        return moved

    def pose(self, pose: ClipPose) -> ClipPose:
        """Move a pose (or poses along leading axes)."""
        rotations = pose.rotations.copy()
        rotations[..., 0, :] = multiply(from_rotation_vector(np.array([0.0, 0.0, self.turn])), rotations[..., 0, :])
        return ClipPose(self.points(pose.root), rotations)


def eased(share: Floats) -> Floats:
    """Return 0…1 eased in and out, with no velocity at its ends (Kovar et al. 2002, the C¹ blend weight)."""
    x = np.clip(share, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)
