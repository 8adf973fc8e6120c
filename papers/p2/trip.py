"""A walker trips over a ball: tracks, stumbles or falls, rolls, gets up, and walks on. Variations of `trip`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_prop, with_seed
from stunt.drive.beats.spec import Script

EXAMPLE, WALKER, BALL, WALK = "trip", "walker", "ball", "walk"
LIMIT = 15.0
"""Seconds after the trip within which it must walk again."""
RANGES: Final[Ranges] = {"radius": (0.12, 0.24), "mass": (8.0, 25.0), "ahead": (1.5, 3.0), "aside": (-0.14, 0.14)}
"""What is random: none of these balls is denser than stone."""


@dataclass(frozen=True)
class Obstacle:
    """What lies in the way: radius [m], mass [kg], how far ahead of the start and to the left of the way [m]."""

    radius: float
    mass: float
    ahead: float
    aside: float


@dataclass(frozen=True)
class TripOutcome:
    """How it went.

    Attributes:
        tripped: When the ball ended the data's reign [s]; below 0: never.
        fell: Whether it fell.
        rolled: Whether it rolled.
        again: Seconds from the trip until it walked by data again and stayed up; below 0: it did not in time.
    """

    tripped: float
    fell: bool
    rolled: bool
    again: float


def obstacle(seed: int) -> Obstacle:
    """Return a random ball in the way."""
    return Obstacle(**drawn(np.random.default_rng(seed), RANGES))


def obstacle_of(script: Script) -> Obstacle:
    """Return what lies in the way in a script."""
    ball = script.scene.props[BALL]
    assert ball.mass is not None
    return Obstacle(ball.radius, ball.mass, ball.at[0], ball.at[1])


def varied(script: Script, there: Obstacle) -> Script:
    """Return a script with another ball in the way."""
    return with_prop(
        script, BALL, radius=there.radius, mass=there.mass, at=(there.ahead, there.aside, there.radius)
    )  # fmt: skip


def trip(seed: int) -> Show:
    """Set the scene: a ball of random size and place in the way of a walk."""
    return Show.of(with_seed(varied(shipped(EXAMPLE), obstacle(seed)), seed))


def outcome(show: Show) -> TripOutcome:
    """Play until it walks again, or time is up."""
    tripped = -1.0
    end = 6.0
    while show.stage.time < end:
        show.until(show.stage.time + 0.1)
        left = [time for time, who in show.switches(WALKER) if who != WALK]
        if left and tripped < 0.0:
            tripped, end = left[0], left[0] + LIMIT
        if tripped >= 0.0 and _walks(show):
            break
    again = show.stage.time - tripped if tripped >= 0.0 and _walks(show) else -1.0
    return TripOutcome(tripped, show.ran(WALKER, "fall"), show.ran(WALKER, "roll"), again)


def _walks(show: Show) -> bool:
    """Whether it has walked by data, upright, for a second."""
    since, who = show.switches(WALKER)[-1]
    felt = show.felt(WALKER)
    return who == WALK and show.stage.time - since > 1.0 and felt.height > 0.85 and felt.tilt < 0.4
