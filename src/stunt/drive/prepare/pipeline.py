"""One way from a motion to what a servo follows: spikes bridged, feet planted and clear, steering, torques fed forward.

Everything here is worked out on the motion alone, wherever it is placed: what comes of it can be moved over the ground
(`moved_rows`), and is worked out once for a body and a motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import mujoco

from stunt.character.character import Character
from stunt.control.servo.memory import ServoSettings, ServoTargets
from stunt.drive.feet.leg import legs_of
from stunt.drive.feet.plant import with_clear_feet, with_planted_feet
from stunt.drive.motion.body_motion import BodyMotion, make_rows, repeated
from stunt.drive.prepare.feed_forward import foreseen_torques
from stunt.drive.prepare.spikes import bridge_spikes

UNROLL: Final = 60.0
"""Seconds a looping motion is laid out for."""


def prepare(
    model: mujoco.MjModel,
    character: Character,
    motion: BodyMotion,
    soles: list[int],
    settings: ServoSettings,
    *,
    unroll: float = UNROLL,
) -> ServoTargets:
    """Return a motion as a body's servo follows it.

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What.
        soles: Geoms it stands on.
        settings: What is done to the motion: `plant`, `clear`, `steer`, `foresee`.
        unroll: Seconds a looping motion is laid out for.
    """
    long = repeated(motion, unroll)
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
