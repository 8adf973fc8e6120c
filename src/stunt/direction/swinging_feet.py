"""Swinging feet that clear the floor: where a clip carries a foot over it by less than a body wavers, it is lifted.

A captured foot passes the floor by a finger's breadth, on legs that hold. Simulated ones give way by as much,
and the foot scuffs. What is added goes with the speed of the swing: nothing while the foot stands, lands or pushes off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from stunt import rotations
from stunt.control.worldspace_program import Rows
from stunt.direction.legs import Leg
from stunt.direction.sole_hold import SWING_SPEED
from stunt.rotations import Floats

CLEARANCE: Final = 0.02
"""How far above the floor a foot swings at least [m]."""


def with_clear_feet(rows: Rows, legs: list[Leg]) -> Rows:
    """Return rows whose swinging feet clear the floor.

    Args:
        rows: A motion, orientations seen from the root.
        legs: The legs.
    """
    turns = rows.turns
    if len(turns) < 3:
        return rows
    matrices = rotations.to_matrix(rows.turns)
    for leg in legs:
        lift = missing(rows, leg, matrices)
        if lift.max() > 1e-3:
            turns = leg.lifted(turns, lift[:, None] * matrices[:, 0, 2])  # the root's third row: up, seen from it
    asked = rows.turns if rows.asked is None else rows.asked
    return rows if turns is rows.turns else replace(rows, turns=turns, asked=asked)


def missing(rows: Rows, leg: Leg, matrices: Floats) -> Floats:
    """Return how much a foot is to be lifted in each row [m], (F,)."""
    seen = leg.sole(matrices, leg.joints(matrices)[:, -1])
    sole = rows.path[:, None] + seen @ matrices[:, 0].transpose(0, 2, 1)
    pace = np.linalg.norm(np.gradient(sole.mean(axis=1)[:, :2], 1.0 / rows.fps, axis=0), axis=1)
    swing = np.clip(pace / SWING_SPEED - 1.0, 0.0, 1.0)
    swing = swing * swing * (3.0 - 2.0 * swing)
    return np.asarray(swing * np.clip(CLEARANCE - sole[..., 2].min(axis=1), 0.0, CLEARANCE))
