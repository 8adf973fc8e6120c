"""A striker shoots, played from data; the ball flies; the goalkeeper dives to where it will be. Of `goalkeeper`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_character, with_events, with_prop, with_seed
from stunt.drive.beats.spec import Script
from stunt.stage.event_specs import Throw
from stunt.supervise.reflexes.dive import Goal

EXAMPLE, STRIKER, KEEPER, BALL = "goalkeeper", "striker", "keeper", "ball"
GOAL = Goal()
"""A futsal goal: 3 m wide, 2 m high. Its mouth is what counts as within the keeper's reach."""
RANGES: Final[Ranges] = {
    "far": (8.0, 10.0), "aside": (-1.0, 1.0), "pace": (11.0, 14.0), "left": (-GOAL.half, GOAL.half),
    "high": (0.15, 1.95),
}  # fmt: skip
"""What is random."""
PELVIS = (0.0, 0.0, 0.82)
"""Where the keeper's pelvis is when the ball leaves, about [m]: what a script's aim is seen from."""
STEP_BEHIND, FOOT_ASIDE = 0.95, 0.12
"""Where the striker begins: behind the ball, and beside its line by its kicking foot [m]."""


@dataclass(frozen=True)
class Shot:
    """One shot.

    Attributes:
        far: From how far [m].
        aside: How far beside the middle the ball lies [m].
        pace: How fast [m/s], about.
        left: Where in the goal it is aimed, to the left seen from the keeper [m].
        high: And how high [m].
    """

    far: float
    aside: float
    pace: float
    left: float
    high: float

    @property
    def seconds(self) -> float:
        """How long the ball flies [s]."""
        return math.hypot(self.far, self.aside - self.left) / self.pace


@dataclass(frozen=True)
class SaveOutcome:
    """How it went: whether the keeper touched the ball, with what, where it came [m], whether it stands again."""

    touched: bool
    by: str
    left: float
    high: float
    up: bool


def shot(seed: int) -> Shot:
    """Return a random shot that ends anywhere in the goal."""
    return Shot(**drawn(np.random.default_rng(seed), RANGES))


def shot_of(script: Script) -> Shot:
    """Return the shot of a script."""
    ball, throw = script.scene.props[BALL], _throw(script)
    left, high = PELVIS[1] + throw.lead[1], PELVIS[2] + throw.lead[2]
    pace = math.hypot(ball.at[0], ball.at[1] - left) / (throw.hits_at - throw.at)
    return Shot(ball.at[0], ball.at[1], pace, left, high)


def _throw(script: Script) -> Throw:
    (throw,) = script.scene.events
    assert isinstance(throw, Throw)
    return throw


def varied(script: Script, aimed: Shot) -> Script:
    """Return a script with another shot: ball and striker elsewhere, and where the ball is sent."""
    throw, ball = _throw(script), np.array([aimed.far, aimed.aside])
    facing = math.atan2(aimed.left - aimed.aside, -aimed.far)
    back, across = np.array([[math.cos(facing), math.sin(facing)], [-math.sin(facing), math.cos(facing)]])
    stands = ball - STEP_BEHIND * back + FOOT_ASIDE * across
    script = with_prop(script, BALL, at=(aimed.far, aimed.aside, script.scene.props[BALL].at[2]))
    script = with_character(script, STRIKER, at=(float(stands[0]), float(stands[1]), 0.0), facing=facing)
    lead = (0.0, aimed.left - PELVIS[1], aimed.high - PELVIS[2])
    return with_events(script, replace(throw, lead=lead, hits_at=throw.at + aimed.seconds))


def goalie(aimed: Shot, *, seed: int = 0) -> Show:
    """Set the scene: keeper at the origin facing +x, striker behind the ball."""
    return Show.of(with_seed(varied(shipped(EXAMPLE), aimed), seed))


def outcome(show: Show, aimed: Shot, *, seconds: float = 8.0) -> SaveOutcome:
    """Shoot and see."""
    show.until(_throw(show.performance.script).at + aimed.seconds + 0.3)
    by = next((hit.body for hit in show.hits if hit.character == KEEPER and hit.by == BALL), "")
    if seconds > show.stage.time:
        show.until(seconds)
    felt = show.felt(KEEPER)
    return SaveOutcome(bool(by), by, aimed.left, aimed.high, felt.height > 0.75 and felt.tilt < 0.6)
