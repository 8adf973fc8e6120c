"""A striker shoots, played from data; the ball flies; the goalkeeper is where it will be. Of `goalkeeper`.

Two experiments: the striker's own kick, with the ball lying elsewhere; and shots of any kind, without a striker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_character, with_events, with_prop, with_section, with_seed
from stunt.drive.beats.spec import Script
from stunt.maths.rotations import Floats
from stunt.stage.event_specs import Throw
from stunt.supervise.reflexes.dive import Goal

EXAMPLE, STRIKER, KEEPER, BALL = "goalkeeper", "striker", "keeper", "ball"
LINE = -0.35
"""Where the goal line is [m]."""
GOAL = Goal()
"""A futsal goal: 3 m wide, 2 m high. Its mouth is what counts as within the keeper's reach."""
SPOT = (8.0, 0.0)
"""Where the ball lies in the example [m]."""
RANGES: Final[Ranges] = {"ahead": (-0.15, 0.15), "aside": (-0.15, 0.15)}
"""How far from there it may lie [m]."""
SHOTS: Final[Ranges] = {
    "far": (8.0, 10.0), "aside": (-1.0, 1.0), "pace": (11.0, 14.0), "left": (-GOAL.half, GOAL.half),
    "high": (0.15, 1.95),
}  # fmt: skip
"""What is random in a shot."""
AT = 0.95
"""When a shot leaves [s]."""
PELVIS = (0.0, 0.0, 0.82)
"""Where the keeper's pelvis is when the ball leaves, about [m]: what a script's aim is seen from."""
TOWARD_GOAL = 5.0
"""A ball that comes to the keeper faster than this was shot [m/s]."""


@dataclass(frozen=True)
class BallPlace:
    """Where the ball lies, seen from the example's place [m]: farther from the goal, and to the keeper's left."""

    ahead: float
    aside: float


@dataclass(frozen=True)
class KickedShot:
    """How the striker's kick went.

    Attributes:
        by: Which of its parts touched the ball first.
        foot: How fast that was then [m/s].
        ball: How fast the ball was 0.06 s later [m/s].
        lowest: Lowest point of the striker up to then [m].
        saved_by: What of the keeper touched the ball first; empty: nothing.
        goal: Whether the ball went in.
    """

    by: str
    foot: float
    ball: float
    lowest: float
    saved_by: str
    goal: bool

    @property
    def shot(self) -> bool:
        """Whether it was a shot by the foot."""
        return self.by in ("r_foot", "r_toe", "r_shank") and self.ball > TOWARD_GOAL


def ball_place(seed: int) -> BallPlace:
    """Return a random place."""
    return BallPlace(**drawn(np.random.default_rng(seed), RANGES))


def place_of(script: Script) -> BallPlace:
    """Return where the ball of a script lies."""
    x, y, _ = script.scene.props[BALL].at
    return BallPlace(x - SPOT[0], y - SPOT[1])


def varied(script: Script, place: BallPlace) -> Script:
    """Return a script with the ball elsewhere."""
    at = (SPOT[0] + place.ahead, SPOT[1] + place.aside, script.scene.props[BALL].at[2])
    return with_prop(script, BALL, at=at)


def kicked(script: Script, *, seconds: float = 3.5) -> KickedShot:
    """Let the striker kick, and see."""
    show = Show.of(script)
    stage, model, data = show.stage, show.stage.model, show.stage.data
    ball, striker = stage.prop(BALL), stage.character(STRIKER)
    ground = model.geom("ground").id
    by, foot, speed, lowest, goal, kicked_at, before = "", 0.0, 0.0, 0.0, False, np.inf, np.zeros(3)
    while stage.time < seconds:
        stage.advance(1)
        mujoco.mj_kinematics(model, data)
        here = data.xipos[striker.body("r_foot")].copy()
        touched = next((hit.body for hit in show.hits if hit.character == STRIKER and hit.by == BALL), "")
        if touched and not by:
            by, foot, kicked_at = touched, float(np.linalg.norm(here - before)) / stage.step_time, stage.time
        before = here
        if stage.time < kicked_at + 0.06:
            speed = float(np.linalg.norm(data.qvel[ball.dof : ball.dof + 3]))
            near = (mujoco.mj_geomDistance(model, data, ground, own, 0.1, None) for own in striker.geoms)
            lowest = min(lowest, *near)
        goal = goal or _in_goal(data.qpos[ball.qpos : ball.qpos + 3])
    saved = next((hit.body for hit in show.hits if hit.character == KEEPER and hit.by == BALL), "")
    return KickedShot(by, foot, speed, lowest, saved, goal)


def _in_goal(place: Floats) -> bool:
    """Whether a ball there is over the line, between the posts and under the bar."""
    x, y, z = place
    return bool(x < LINE and abs(y) < GOAL.half and z < GOAL.height)


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
    """How it went.

    Attributes:
        touched: Whether the keeper touched the ball before it was past.
        saved: Whether it did not go in.
        by: What touched it first.
        left: Where in the goal it was aimed, to the left seen from the keeper [m].
        high: And how high [m].
        up: Whether the keeper stands again.
    """

    touched: bool
    saved: bool
    by: str
    left: float
    high: float
    up: bool


def shot(seed: int) -> Shot:
    """Return a random shot that ends anywhere in the goal."""
    return Shot(**drawn(np.random.default_rng(seed), SHOTS))


def aimed_at(script: Script, aimed: Shot) -> Script:
    """Return a script with a shot of any kind: the ball sent where it is to go, and nobody to kick it."""
    script = with_prop(script, BALL, at=(aimed.far, aimed.aside, script.scene.props[BALL].at[2]))
    waits = tuple(one for one in script.parts[STRIKER].sections["supervisor"].clips if one.strike is None)
    script = with_section(script, STRIKER, "supervisor", clips=waits)
    script = with_character(script, STRIKER, at=(aimed.far + 2.0, aimed.aside, 0.0))
    lead = (0.0, aimed.left - PELVIS[1], aimed.high - PELVIS[2])
    return with_events(script, Throw(BALL, f"{KEEPER}/pelvis", AT + aimed.seconds, AT, lead=lead))


def goalie(aimed: Shot, *, seed: int = 0) -> Show:
    """Set the scene: keeper at the origin facing +x, striker behind the ball."""
    return Show.of(with_seed(aimed_at(shipped(EXAMPLE), aimed), seed))


def outcome(show: Show, aimed: Shot, *, seconds: float = 8.0) -> SaveOutcome:
    """Shoot and see."""
    stage, saved = show.stage, True
    ball = stage.prop(BALL)
    while stage.time < AT + aimed.seconds + 0.3:
        stage.advance(1)
        saved = saved and not _in_goal(stage.data.qpos[ball.qpos : ball.qpos + 3])
    by = next((hit.body for hit in show.hits if hit.character == KEEPER and hit.by == BALL), "")
    if seconds > show.stage.time:
        show.until(seconds)
    felt = show.felt(KEEPER)
    return SaveOutcome(bool(by), saved, by, aimed.left, aimed.high, felt.height > 0.75 and felt.tilt < 0.6)
