"""One way from a motion to what a servo follows: spikes bridged, feet planted and clear, steering, torques fed forward.

Everything here is worked out on the motion alone, wherever it is placed: what comes of it can be moved over the ground
(`moved_rows`), and is worked out once for a body and a motion.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.servo.memory import ServoSettings, ServoTargets
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.plant import with_clear_feet, with_planted_feet
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated_rounds
from stunt.drive.motion.playing import NOWHERE, after_round, chained, cut_rows, moved_rows, round_of
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.drive.prepare.spikes import bridge_spikes
from stunt.maths import rotations
from stunt.maths.rotations import Floats

UNROLL: Final = 60.0
"""Seconds a looping motion is laid out for that is followed."""
AROUND: Final = 1.0
"""Seconds of other rounds before and after one that tell what becomes of it."""


def prepare(
    model: mujoco.MjModel, character: Character, motion: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    """Return a motion as a body's servo follows it; of a looping one `UNROLL` seconds.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        soles: Geoms it stands on.
        settings: What is done to the motion: `plant`, `clear`, `steer`, `foresee`.
    """
    around = rounds_around(motion)
    rows = _prepare(model, character, repeated_rounds(motion, 2 * around + 1), soles, settings)
    if around == 0:
        return rows
    cycle, step = len(motion.qpos) - 1, round_of(motion)
    first, middle = cut_rows(rows, 0, around * cycle), cut_rows(rows, around * cycle, cycle)
    laid, at, left = [first], NOWHERE, UNROLL * motion.fps + 1 - around * cycle
    while left > 0:
        laid.append(moved_rows(middle, at))
        at, left = after_round(at, step), left - cycle
    return chained(laid)


def _prepare(
    model: mujoco.MjModel, character: Character, long: BodyMotion, soles: list[int], settings: ServoSettings
) -> ServoTargets:
    whole = bridge_spikes(model, character, long) if settings.plant else long
    rows = make_rows(model, character, whole, soles)
    if settings.plant:
        rows = with_planted_feet(model, character, rows, soles)
    if settings.clear:
        rows = with_clear_feet(rows, legs_of(model, character, soles))
    if not settings.steer:
        rows = replace(rows, swing=None)
    if whole is not long:
        rows = replace(rows, asked=make_rows(model, character, long, soles).turns)
    if settings.foresee and not settings.external:
        rows = replace(rows, torque=foreseen_torques(model, character, whole))
    return rows


def rounds_around(motion: BodyMotion) -> int:
    """Return how many rounds before and after one tell what becomes of it; 0 of a motion that does not loop."""
    return math.ceil(AROUND / motion.duration) if motion.loop and motion.duration > 0.0 else 0


def as_prepared(rows: ServoTargets, prepared: ServoTargets, at: Floats, share: Floats) -> ServoTargets:
    """Return rows between a motion's frames with what its preparation changed, and adds.

    Args:
        rows: As data has them, however densely, (R, …).
        prepared: The motion's own, prepared.
        at: Which of these goes with each row, in frames, (R,).
        share: How much of the change of orientations each row gets, (R,).
    """
    at = np.clip(at, 0.0, len(prepared.turns) - 1.0)
    low = np.minimum(at.astype(int), max(len(prepared.turns) - 2, 0))
    high, part = np.minimum(low + 1, len(prepared.turns) - 1), at - low

    def between(values: Floats | None) -> Floats | None:
        return None if values is None else values[low] + part[:, None] * (values[high] - values[low])

    turns = rows.turns
    if prepared.asked is not None:
        bones = np.flatnonzero((prepared.turns != prepared.asked).any(axis=(0, 2)))
        undone = rotations.conjugate(prepared.asked[:, bones])
        before, after = (rotations.multiply(prepared.turns[k][:, bones], undone[k]) for k in (low, high))
        change = rotations.slerp(before, after, np.broadcast_to(part[:, None], before.shape[:2]))
        none = np.broadcast_to([1.0, 0.0, 0.0, 0.0], change.shape)
        change = rotations.slerp(none, change, np.broadcast_to(share[:, None], change.shape[:2]))
        turns = turns.copy()
        turns[:, bones] = rotations.multiply(change, turns[:, bones])
    return replace(
        rows, turns=turns, asked=rows.turns, friction=prepared.friction[low], torque=between(prepared.torque),
        swing=between(prepared.swing), legs=prepared.legs, twist=between(prepared.twist),
    )  # fmt: skip
