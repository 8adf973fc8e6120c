"""Two-stage collisions on a stage: the scene's option, turned into springs and an impact stage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import mujoco

from stunt.control.core.board import Board
from stunt.control.impact.law import FRICTIONS
from stunt.control.impact.memory import ImpactProgram
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.stage.scene import Collisions

_FASTEST: Final = 10.0
"""Things that meet at up to this speed [m/s] are seen half a step before they touch."""


def check_collisions(collisions: Collisions) -> None:
    """Check the numbers of a scene's collisions.

    Raises:
        InvalidValueError: A restitution outside 0–1, a softness that is no time.
        UnknownNameError: A kind of friction that does not exist.
    """
    if not 0.0 <= collisions.restitution <= 1.0:
        raise InvalidValueError("restitution", collisions.restitution, "a number from 0 to 1", collisions.place)
    if collisions.friction not in FRICTIONS:
        raise UnknownNameError("friction", collisions.friction, FRICTIONS, collisions.place)
    if not (math.isfinite(collisions.softness) and collisions.softness > 0.0):
        raise InvalidValueError("softness", collisions.softness, "a positive number of seconds", collisions.place)


def soften(model: mujoco.MjModel, collisions: Collisions) -> None:
    """Give all geoms mild contact springs, and let contacts be seen shortly before they touch."""
    check_collisions(collisions)
    step = model.opt.timestep
    model.geom_solref[:, 0] = max(collisions.softness, 2.0 * step)
    model.geom_solref[:, 1] = 1.0
    if collisions.impact:
        model.geom_gap[:] = 0.5 * _FASTEST * step


def start_impacts(
    collisions: Collisions | None, model: mujoco.MjModel, data: mujoco.MjData, board: Board,
    bodies: Mapping[int, float],
) -> ImpactProgram | None:  # fmt: skip
    """Return the impact stage of a scene's collisions; None where there is none. `bodies`: their own restitution."""
    if collisions is None or not collisions.impact:
        return None
    return ImpactProgram(model, data, board, collisions.restitution, FRICTIONS[collisions.friction], bodies)
