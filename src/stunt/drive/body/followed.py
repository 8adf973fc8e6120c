"""What a body followed: the account that reports are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stunt.control.servo.memory import ServoTargets
from stunt.drive.motion.body_motion import BodyMotion


class Followed(NamedTuple):
    """What a body did from a time on.

    Attributes:
        at: From when on [s].
        since: When the motion's first row was, or would have been [s].
        motion: Which; None where it followed no clip.
        rows: As the servo read it, likewise.
    """

    at: float
    since: float
    motion: BodyMotion | None
    rows: ServoTargets | None


def followed_at(history: Sequence[Followed], time: float) -> Followed | None:
    """Return what was followed at a time [s]; None: before anything was."""
    return next((entry for entry in reversed(history) if entry.at <= time + 1e-9), None)
