"""Which way is up, in files."""

from __future__ import annotations

import numpy as np

from stunt.export.options import Up
from stunt.maths.rotations import Floats

Y_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Turns y-up axes (x to the left, z forward, as glTF and most BVH files have them) into ours."""


CENTIMETRE = 0.01
"""The usual unit of BVH files [m]."""


def file_axes(up: Up | None) -> Floats:
    """Return the rotation that turns a file's axes into ours, (3, 3)."""
    return Y_UP if up == "y" else np.eye(3)


def vectors_out(vectors: Floats, up: Up | None) -> Floats:
    """Return our vectors (…, 3) in a file's axes."""
    return np.asarray(vectors @ Y_UP) if up == "y" else vectors


def turns_out(turns: Floats, up: Up | None) -> Floats:
    """Return our quaternions (…, 4) in a file's axes."""
    result = np.array(turns)
    result[..., 1:] = vectors_out(result[..., 1:], up)
    return result
