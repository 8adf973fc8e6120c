"""A walker trips over a ball: tracks, stumbles or falls, rolls, gets up, and walks on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from papers.p2.experiment import Show, person, player, put_on, supervise, survival
from stunt.stage.scene import PropSpec

WALKER, BALL, WALK = "walker", "ball", "walk"
AGILE = 0.1
"""A walker that is not helped much when it catches itself."""
LIMIT = 15.0
"""Seconds after the trip within which it must walk again."""


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


def trip(seed: int) -> Show:
    """Set the scene: a ball of random size and place in the way of a walk."""
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.07, 0.16)
    mass = rng.uniform(8.0, 25.0)
    ball = PropSpec("sphere", at=(rng.uniform(1.5, 3.0), rng.uniform(-0.14, 0.14), radius), radius=radius, mass=mass)
    show = put_on("Trip", {WALKER: person(body="walk")}, {BALL: ball}, seed=seed, seconds=20.0)
    stage = show.stage
    pool = [player(stage, WALKER, WALK, loop=True), *survival(stage, WALKER, agile=AGILE)]
    supervise(show, WALKER, pool)
    return show


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
