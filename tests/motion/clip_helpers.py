"""Clips for tests: captured ones that are there, and small ones made on the spot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captured import MOCAP, PYBULLET
from stunt.maths.rotations import from_rotation_vector
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import EndSite, Skeleton

needs_mocap = pytest.mark.skipif(not MOCAP.is_dir(), reason="the shared motion capture (../shared/mocap) is not here")
needs_deepmimic = pytest.mark.skipif(
    not MOCAP.is_dir() and not PYBULLET.is_dir(), reason="neither the shared motion capture nor pybullet's is here"
)


def captures(*suffixes: str) -> list[Path]:
    """All captured motion files with these suffixes; DeepMimic's character file is none."""
    if not MOCAP.is_dir():
        return [p for p in sorted(PYBULLET.glob("humanoid3d_*")) if p.suffix in suffixes]
    return [p for p in sorted(MOCAP.rglob("*")) if p.suffix in suffixes and "character" not in p.name]


def random_clip(frames: int = 40, joints: int = 12, fps: float = 60.0, seed: int = 0) -> Clip:
    """A smooth motion of a random tree."""
    rng = np.random.default_rng(seed)
    parents = (-1, *(int(rng.integers(max(0, n - 3), n)) for n in range(1, joints)))
    skeleton = Skeleton(
        tuple(f"j{n}" for n in range(joints)),
        parents,
        rng.normal(size=(joints, 3)) * 0.2,
        tuple(EndSite(n, rng.normal(size=3)) for n in range(joints) if n not in parents),
    )
    t = np.arange(frames)[:, None, None] / fps
    turns = rng.normal(size=(joints, 3)) + 0.5 * np.sin(3 * t + rng.normal(size=(joints, 3)))
    root = np.cumsum(rng.normal(size=(frames, 3)) * 0.01, axis=0) + [0, 0, 1]
    return Clip("random", skeleton, fps, root, from_rotation_vector(turns))


SMALL_BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 20 0
    CHANNELS 6 Xposition Yposition Zposition Yrotation Xrotation Zrotation
    JOINT Arm
    {
      OFFSET 15 0 0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 30 0 0
      }
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0333333
0 90 0 1 2 3 0 20 0 4 5 6 7
1e0 9.1E+1 -1.5e-1 2 3 190 0.5 20.1 0 5 90 7 8
2 92 0 3 4 -200 0 20 0.25 6 7 8 9
"""
