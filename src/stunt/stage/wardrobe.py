"""Shirts: on a stage with several people each wears another colour, so that pictures tell them apart."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.shapes import SHIRT, Color

SHIRTS: Final[tuple[Color, ...]] = (
    SHIRT,
    (0.70, 0.34, 0.30, 1.0),
    (0.42, 0.56, 0.40, 1.0),
    (0.78, 0.62, 0.34, 1.0),
    (0.52, 0.42, 0.62, 1.0),
    (0.55, 0.55, 0.57, 1.0),
)
"""Blue, red, green, ochre, violet, grey; then again from the first."""


def dress(body: mujoco.MjSpec, number: int) -> None:
    """Give a body, before it is attached to a scene, the shirt of the number-th person on stage, counted from 0.

    Bodies that came in colours of their own keep them.
    """
    shirt = SHIRTS[number % len(SHIRTS)]
    for geom in body.geoms:
        if np.allclose(geom.rgba, SHIRT):
            geom.rgba = shirt
