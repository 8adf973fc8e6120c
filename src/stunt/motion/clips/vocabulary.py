"""Whose vocabulary joints are named in: CMU's, Mixamo's, LaFAN1's, DeepMimic's or SMPL's."""

from __future__ import annotations

from collections.abc import Sequence

VOCABULARIES: dict[str, tuple[str, ...]] = {
    "CMU (BVH)": ("LHipJoint", "LeftUpLeg", "LowerBack"),
    "CMU (ASF)": ("lfemur", "lowerback", "ltibia"),
    "Mixamo": ("mixamorig:Hips",),
    "LaFAN1": ("LeftUpLeg", "LeftToe", "Spine2", "LeftShoulder"),
    "DeepMimic": ("left_hip", "right_knee", "chest"),
    "SMPL": ("left_collar", "spine3", "left_wrist"),
}


def vocabulary(names: Sequence[str]) -> str:
    """Say whose vocabulary the names are, or `unknown`."""
    have = set(names)
    return next((who for who, some in VOCABULARIES.items() if set(some) <= have), "unknown")
