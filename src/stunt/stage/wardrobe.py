"""Shirts: on a stage with several people each wears another colour, so that pictures tell them apart."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.shapes import SHIRT, Color

SHIRTS: Final[dict[str, Color]] = {
    "blue": SHIRT,
    "red": (0.70, 0.34, 0.30, 1.0),
    "green": (0.42, 0.56, 0.40, 1.0),
    "yellow": (0.78, 0.62, 0.34, 1.0),
    "violet": (0.52, 0.42, 0.62, 1.0),
    "grey": (0.55, 0.55, 0.57, 1.0),
}
"""In the order in which they are worn; then again from the first."""


def dress(body: mujoco.MjSpec, name: str, number: int) -> None:
    """Give a body, before it is attached to a scene, the shirt of the number-th person on stage, counted from 0.

    Somebody whose name is a colour wears that one. Bodies that came in colours of their own keep them.
    """
    shirt = SHIRTS.get(name, list(SHIRTS.values())[number % len(SHIRTS)])
    for geom in body.geoms:
        if np.allclose(geom.rgba, SHIRT):
            geom.rgba = shirt
