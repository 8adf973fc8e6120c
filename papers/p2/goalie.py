"""A striker shoots, played from data; the ball flies; the goalkeeper dives to where it will be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from papers.p2.experiment import Show, person, player, put_on, supervise, survival, throw
from stunt.stage.scene import PropSpec
from stunt.supervise.contract import ORDINARY
from stunt.supervise.reflexes.dive import Dive, Goal

STRIKER, KEEPER, BALL, STRIKE = "striker", "keeper", "ball", "strike"
GOAL = Goal()
"""A futsal goal: 3 m wide, 2 m high. Its mouth is what counts as within the keeper's reach."""
RADIUS = 0.105
CONTACT = 0.95
"""When the striker's foot meets the ball [s]."""


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
    rng = np.random.default_rng(seed)
    left = rng.uniform(-GOAL.half, GOAL.half)
    return Shot(rng.uniform(8.0, 10.0), rng.uniform(-1.0, 1.0), rng.uniform(11.0, 14.0), left, rng.uniform(0.15, 1.95))


def goalie(aimed: Shot, *, seed: int = 0) -> Show:
    """Set the scene: keeper at the origin facing +x, striker behind the ball."""
    ball_at = np.array([aimed.far, aimed.aside, RADIUS])
    way = np.array([0.0, aimed.left]) - ball_at[:2]
    facing = math.atan2(way[1], way[0])
    back = np.array([math.cos(facing), math.sin(facing)])
    across = np.array([-back[1], back[0]])
    stands = ball_at[:2] - STEP_BEHIND * back + FOOT_ASIDE * across
    ball = PropSpec("sphere", at=tuple(ball_at), radius=RADIUS, mass=0.43, color=(0.95, 0.95, 0.92, 1.0))
    posts = {
        f"{name}_post": PropSpec("capsule", at=(-0.35, sign * (GOAL.half + 0.04), 0.5 * GOAL.height), radius=0.04,
                                 length=GOAL.height - 0.08, color=(0.9, 0.9, 0.9, 1.0))
        for name, sign in (("left", 1.0), ("right", -1.0))
    }  # fmt: skip
    people = {KEEPER: person(), STRIKER: person((float(stands[0]), float(stands[1])), facing)}
    show = put_on("Goalkeeper", people, {BALL: ball, **posts}, seed=seed, seconds=10.0)
    stage = show.stage
    keeper = [player(stage, KEEPER, "keeper", loop=True), *survival(stage, KEEPER), Dive(BALL, goal=GOAL)]
    keeper.append(player(stage, KEEPER, "idle", loop=True, priority=ORDINARY - 1))
    supervise(show, KEEPER, keeper)
    striker = [player(stage, STRIKER, STRIKE, hit_threshold=1e9, passive=frozenset((BALL,)))]
    supervise(show, STRIKER, [*striker, player(stage, STRIKER, "idle", loop=True)])
    return show


STEP_BEHIND, FOOT_ASIDE = 0.95, 0.12
"""Where the striker begins: behind the ball, and beside its line by its kicking foot [m]."""


def outcome(show: Show, aimed: Shot, *, seconds: float = 8.0) -> SaveOutcome:
    """Shoot and see."""
    show.until(CONTACT)
    show.stage.data.qpos[show.stage.prop(BALL).qpos + 2] = RADIUS + 0.01
    throw(show.stage, BALL, np.array([0.0, aimed.left, aimed.high]), aimed.seconds)
    show.until(CONTACT + aimed.seconds + 0.3)
    by = next((hit.body for hit in show.hits if hit.character == KEEPER and hit.by == BALL), "")
    if seconds > show.stage.time:
        show.until(seconds)
    felt = show.felt(KEEPER)
    return SaveOutcome(bool(by), by, aimed.left, aimed.high, felt.height > 0.75 and felt.tilt < 0.6)
