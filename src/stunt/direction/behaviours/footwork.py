"""Legs of a standing body: feet where they should be, the pelvis where it should be, knees forward."""

from __future__ import annotations

import numpy as np

from stunt import rotations
from stunt.direction.behaviours.anatomy import Anatomy
from stunt.direction.behaviours.posture import SIDES, sign_of, turn
from stunt.direction.behaviours.reach import limb, with_limb
from stunt.direction.behaviours.sense import Felt
from stunt.rotations import Floats

SOLE = 0.085
"""Height of an ankle over the ground [m]."""


def feet(anatomy: Anatomy, felt: Felt) -> dict[str, Floats]:
    """Return where the ankles are [m], by side."""
    return {side: felt.places[anatomy.number(f"{side}_foot")].copy() for side in SIDES}


def spots_for(anatomy: Anatomy, felt: Felt) -> dict[str, Floats]:
    """Return where feet should stand: those on the ground where they are, one in the air below its hip [m]."""
    spots = feet(anatomy, felt)
    for side in SIDES:
        if not felt.touching & {f"{side}_foot", f"{side}_toe"}:
            hip = felt.places[anatomy.number(f"{side}_thigh")]
            out = 0.03 * sign_of(side) * np.array([-np.sin(felt.facing), np.cos(felt.facing)])
            spots[side][:2] = hip[:2] + out
        spots[side][2] = SOLE
    return spots


def apart(anatomy: Anatomy, felt: Felt) -> float:
    """Return how far the feet are from each other over the ground [m]."""
    left, right = feet(anatomy, felt).values()
    return float(np.linalg.norm((left - right)[:2]))


def middle(anatomy: Anatomy, felt: Felt) -> Floats:
    """Return the point on the ground between the feet, under the middle of their soles [m], (2,)."""
    ankles = list(feet(anatomy, felt).values())
    ahead = np.array([np.cos(felt.facing), np.sin(felt.facing)])
    return np.asarray(0.5 * (ankles[0] + ankles[1])[:2] + 0.045 * ahead)


def past_feet(anatomy: Anatomy, felt: Felt) -> float:
    """Return how far the capture point is outside the feet [m]; below 0 it is inside."""
    ankles = [ankle[:2] for ankle in feet(anatomy, felt).values()]
    ahead = np.array([np.cos(felt.facing), np.sin(felt.facing)])
    one, other = (ankle + 0.045 * ahead for ankle in ankles)
    along = other - one
    share = float(np.clip((felt.capture - one) @ along / max(float(along @ along), 1e-9), 0.0, 1.0))
    return float(np.linalg.norm(felt.capture - one - share * along)) - 0.11


def standing_on(
    anatomy: Anatomy, lifted: Floats, spots: dict[str, Floats], root: Floats, place: Floats, facing: float
) -> Floats:
    """Return bodies with legs that stand on spots.

    Args:
        anatomy: Whose.
        lifted: How bodies are turned, the root's own in the world, (B, 4).
        spots: Where the ankles should be [m], by side.
        root: How the root is (or should be) turned from neutral, (4,).
        place: Where the root is (or should be) [m], (3,).
        facing: Where feet point [rad].
    """
    back = rotations.conjugate(root)
    for side in SIDES:
        spot = rotations.rotate(back, spots[side] - place)
        foot = rotations.multiply(
            rotations.from_rotation_vector(np.array([0.0, 0.0, facing])), turn(0.0, 0.0, 8.0 * sign_of(side))
        )
        knee = rotations.rotate(back, np.array([np.cos(facing), np.sin(facing), 0.0]))
        turned, _ = limb(anatomy, side, "leg", lifted, spot, knee)
        lifted = with_limb(anatomy, lifted, turned, rotations.multiply(back, foot))
    return lifted
