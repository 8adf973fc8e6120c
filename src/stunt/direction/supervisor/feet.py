"""Feet that stay where they stand while the rest of the body goes over to other data.

In a blend the data's feet come to lie elsewhere than the body's. A foot that stands, in the body and in the data, is
kept where it is until the data lifts it; one that the data never lifts makes a small step to its place. One that has
yet to come down comes down in its place. Legs follow by two-bone inverse kinematics. What the rest of the body is off
by fades along a quintic.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.direction.supervisor.going_over_kernel import SETTLED, STEP, go_over
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.legs import legs_of
from stunt.direction.supervisor.posing import bones_of
from stunt.rotations import Floats


def window(blend: float, fps: float) -> int:
    """Return how many frames a blend changes at most, and one more."""
    return round((blend + 3.0 * STEP + SETTLED) * fps) + 2


def gone_over(
    model: mujoco.MjModel, character: Character, layout: Layout, qpos: Floats, qvel: Floats, frames: Floats, fps: float,
    blend: float, *, shift: bool = False,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return frames that begin in a given state and are the data's own after some time, feet kept where they stand.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        qpos: The state it comes from, (nq,).
        qvel: Its velocity, (nv,).
        frames: The data from now on, `window` frames of it or what there is, (F, nq + nv), written.
        fps: Its frame rate.
        blend: How long the rest of the body takes [s].
        shift: Whether the data may be moved over the ground, so that feet that stand in both stand in one place.

    Returns:
        The frames up to where all is as in the data, and how far the data was moved [m], (2,).
    """
    legs, moved = legs_of(model, character), np.zeros(2)
    if len(frames) < 3:
        return frames, moved
    count = go_over(
        frames, qpos[None], qvel[None], fps, blend, shift, layout.columns, bones_of(model, character), legs.some,
        legs.chains, legs.soles, moved,
    )  # fmt: skip
    return frames[:count], moved
