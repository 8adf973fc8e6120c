"""An hour of motion to search in, made of a few clips: for measuring, where no such library is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from stunt.motion.clip import Clip
from stunt.motion.clip_edit import mirrored, sped_up
from stunt.rotations import from_rotation_vector, multiply


def variations(clips: Sequence[Clip], seconds: float, rng: np.random.Generator) -> Iterator[Clip]:
    """Yield variations of clips until they last so long: other speeds, sides, postures, and slow drifts of every joint.

    Args:
        clips: What to vary, in turn.
        seconds: How much motion is wanted [s].
        rng: Randomness.
    """
    made, number = 0.0, 0
    while made < seconds:
        clip = sped_up(clips[number % len(clips)], rng.uniform(0.7, 1.4))
        clip = mirrored(clip) if rng.random() < 0.5 else clip
        shape = (1, len(clip.skeleton), 3)
        phase = 2.0 * np.pi * rng.uniform(0.1, 0.6, shape) * clip.times[:, None, None] + rng.uniform(0.0, 6.28, shape)
        off = rng.normal(0.0, 0.06, shape) + 0.04 * np.sin(phase)  # [rad]
        off[:, 0] *= 0.3
        turned = multiply(clip.rotations, from_rotation_vector(off))
        yield replace(clip.with_motion(clip.root, turned), name=f"{clip.name} {number}")
        made += clip.duration
        number += 1
