"""A motion fitted to a body: what it asks for becomes what that body can do, on the floor. Pure kinematics.

Spikes of the capture are bridged, joints kept inside their limits, limbs kept out of one another, and feet that stand
made to stand. Whoever plays or follows a motion asks here; what was changed is written down. It is worked out once for
a body and a motion, by their content.

Played as data, feet are only kept out of the floor. Standing ones are put down over some hundredths of a second, which
under forces nobody sees; on data it drags clean feet by two or three centimetres as they land.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.plant import clear_feet, lift_soles, plant_feet
from stunt.drive.motion.body_motion import BodyMotion, repeated_rounds
from stunt.drive.prepare.apart import limbs_apart
from stunt.drive.prepare.content import KnownByContent, digest
from stunt.drive.prepare.limits import within_limits
from stunt.drive.prepare.spikes import bridge_spikes
from stunt.motion.rig.other_body import sole_geoms

Feet = Literal["planted", "clear", "out of the floor"]
AROUND: Final = 1.0
"""Seconds of other rounds before and after one that tell what becomes of it."""


@dataclass(frozen=True)
class Changes:
    """What fitting a motion changed.

    Attributes:
        spikes: Share of the frames in which a spike was bridged.
        limits_deg: Largest turn a joint was beyond its limits by [°].
        overlap_cm: Deepest overlap of limbs, beyond what flesh gives [cm].
        left_cm: What is left of it [cm].
        apart_deg: Largest turn of a joint to get out of it [°].
        feet_cm: Farthest a foot was moved [cm].
        feet_mean_cm: On the mean over legs and frames [cm].
        hips_cm: Farthest the hips were raised or lowered [cm].
    """

    spikes: float = 0.0
    limits_deg: float = 0.0
    overlap_cm: float = 0.0
    left_cm: float = 0.0
    apart_deg: float = 0.0
    feet_cm: float = 0.0
    feet_mean_cm: float = 0.0
    hips_cm: float = 0.0


@dataclass(frozen=True, eq=False)
class FittedMotion:
    """A motion a body can do.

    Attributes:
        motion: It.
        free: It before its feet were planted.
        stands: Which leg (see `legs_of`) stands in which frame, (F, legs): the plan of contacts.
        changes: What was changed.
    """

    motion: BodyMotion
    free: BodyMotion
    stands: NDArray[np.bool_]
    changes: Changes


_KNOWN = KnownByContent[FittedMotion](48)


def fit_motion(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet = "planted") -> FittedMotion:
    """Return a motion as a body can do it; of a looping one a round that goes on into itself.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        feet: Whether standing feet are planted, swinging ones are lifted besides where they pass the floor too low, or
            feet are but kept out of the floor, for a motion that is played.
    """
    key = digest(model, character, motion, "fit", feet)
    return _KNOWN.get(key, lambda: _fitted(model, character, motion, feet))


def rounds_around(motion: BodyMotion) -> int:
    """Return how many rounds before and after one tell what becomes of it; 0 of a motion that does not loop."""
    return math.ceil(AROUND / motion.duration) if motion.loop and motion.duration > 0.0 else 0


def _fitted(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet) -> FittedMotion:
    around, cycle = rounds_around(motion), len(motion.qpos) - 1
    if around == 0:
        return _fitted_once(model, character, motion, feet)
    long = _fitted_once(model, character, repeated_rounds(motion, 2 * around + 1), feet)
    one = slice(around * cycle, (around + 1) * cycle + 1)
    at, facing = motion.qpos[0, :2], motion.heading
    laid, free = (
        replace(motion, qpos=some.qpos[one]).placed((float(at[0]), float(at[1])), facing)
        for some in (long.motion, long.free)
    )
    return FittedMotion(laid, free, long.stands[one], long.changes)


def _fitted_once(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: Feet) -> FittedMotion:
    legs = legs_of(model, character, sole_geoms(model, character))
    bridged = bridge_spikes(model, character, motion)
    limited, over = within_limits(character, bridged)
    apart = limbs_apart(model, character, limited)
    planted = plant_feet(model, character, apart.motion, legs)
    if feet == "out of the floor":
        planted = replace(planted, motion=lift_soles(model, character, apart.motion), moved=0.0 * planted.moved)
        planted = replace(planted, raised=0.0 * planted.raised)
    whole = clear_feet(model, character, planted.motion, legs) if feet == "clear" else planted.motion
    changes = Changes(
        float((bridged.qpos != motion.qpos).any(axis=1).mean()), math.degrees(over), 100.0 * apart.deepest,
        100.0 * apart.left, math.degrees(apart.turned), 100.0 * float(planted.moved.max(initial=0.0)),
        100.0 * float(planted.moved.mean()) if legs else 0.0, 100.0 * float(np.abs(planted.raised).max()),
    )  # fmt: skip
    return FittedMotion(whole, apart.motion, planted.stands, changes)
