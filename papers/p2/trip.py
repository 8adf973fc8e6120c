"""A walker trips over a stone in the way of its swinging foot, falls, gets up, and walks on. Variations of `trip`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

import stunt
from papers.p2.experiment import Show
from papers.p2.kick import grounded
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_prop, with_seed
from stunt.drive.beats.spec import Script
from stunt.stage.props import PropSpec

EXAMPLE, WALKER, STONE, WALK, START = "trip", "walker", "stone", "walk", "start"
LIMIT = 15.0
"""Seconds after the trip within which it must walk again."""
SEEN = 0.5
"""Cosine of the trunk's tilt at which the way it falls is looked at."""
RANGES: Final[Ranges] = {"height": (0.12, 0.15), "share": (0.67, 0.78)}
"""What is random, beside which step it is: height [m], and at which share of the step the foot meets it: past the other
one's toes."""
STEPS = 4
"""Among so many steps one is met."""


@dataclass(frozen=True)
class Swing:
    """A foot's way from where it stood to where it will: along the walk, and to its left [m]."""

    leaves: float
    lands: float
    aside: float


@dataclass(frozen=True)
class Obstacle:
    """What lies in the way: height [m], at which share of which step."""

    height: float
    share: float
    step: int


@dataclass(frozen=True)
class TripOutcome:
    """How it went.

    Attributes:
        tripped: When the stone ended the data's reign [s]; below 0: never.
        fell: Whether it fell.
        aside: Which way, from straight ahead to the left [°]; nan: it did not.
        reaction: Seconds from the first touch of the stone until somebody takes care of the fall; infinite: nobody did.
        first: The first part but feet that touched the ground.
        rolled: Whether it rolled.
        again: Seconds from the trip until it walked by data again and stayed up; below 0: it did not in time.
    """

    tripped: float
    fell: bool
    aside: float
    reaction: float
    first: str
    rolled: bool
    again: float


@cache
def swings() -> tuple[Swing, ...]:
    """Return the first steps of the walk, as the clip has the feet."""
    clip = stunt.load_clip(f"{WALK}?loop=true")
    places = clip.world_at(np.arange(round(2.0 * clip.duration * clip.fps)) / clip.fps).positions
    found = []
    for side in ("l_foot", "r_foot"):
        path = places[:, clip.parts[side]]
        still = np.flatnonzero(np.linalg.norm(np.diff(path[:, :2], axis=0), axis=1) * clip.fps < 0.1)
        for before, after in zip(still[:-1], still[1:], strict=True):
            if path[after, 0] - path[before, 0] > 0.3:
                found.append(Swing(float(path[before, 0]), float(path[after, 0]), float(path[before, 1])))
    return tuple(sorted(found, key=lambda swing: swing.leaves))[:STEPS]


def obstacle(seed: int) -> Obstacle:
    """Return a random stone in the way."""
    rng = np.random.default_rng(seed)
    return Obstacle(**drawn(rng, RANGES), step=int(rng.integers(STEPS)))


def obstacle_of(script: Script) -> Obstacle:
    """Return what lies in the way in a script, and of which step it does."""
    stone = script.scene.props[STONE]
    edge, (least, most) = stone.at[0] - 0.5 * stone.size[0], RANGES["share"]
    shares = [(edge - way.leaves) / (way.lands - way.leaves) for way in swings()]
    step = next(n for n, share in enumerate(shares) if least <= share <= most)
    return Obstacle(stone.size[2], shares[step], step)


def varied(script: Script, there: Obstacle) -> Script:
    """Return a script with another stone in the way, its near edge where the foot comes."""
    way, (deep, wide, _) = swings()[there.step], script.scene.props[STONE].size
    x = way.leaves + there.share * (way.lands - way.leaves) + 0.5 * deep
    return with_prop(script, STONE, size=(deep, wide, there.height), at=(x, 0.0, 0.5 * there.height))


def with_football(script: Script) -> Script:
    """Return a script in which a football lies where the stone was."""
    way = swings()[obstacle_of(script).step]
    ball = PropSpec(shape="sphere", radius=0.11, mass=0.43, at=(script.scene.props[STONE].at[0], way.aside, 0.11))
    return replace(script, scene=replace(script.scene, props={STONE: ball}))


def trip(seed: int) -> Show:
    """Set the scene: a stone of random height and place in the way of a walk."""
    return Show.of(with_seed(varied(shipped(EXAMPLE), obstacle(seed)), seed))


def outcome(show: Show) -> TripOutcome:
    """Play until it walks again, or time is up."""
    tripped, met, aside, first, end = -1.0, math.inf, math.nan, "", 6.0
    thorax = show.stage.character(WALKER).bodies["thorax"]
    while show.stage.time < end:
        show.until(show.stage.time + 1.0 / 60.0)
        left = [time for time, who in show.switches(WALKER) if who != WALK]
        if left and tripped < 0.0:
            tripped, end = left[0], left[0] + LIMIT
        if tripped < 0.0:
            continue
        met = min(met, show.stage.time if touched(show) else math.inf)
        up = show.stage.data.xmat[thorax].reshape(3, 3)[:, 2]
        if math.isnan(aside) and up[2] < SEEN:
            aside = math.degrees(math.atan2(up[1], up[0]))
        first = first or next(iter(sorted(grounded(show, WALKER))), "")
        if _walks(show):
            break
    caught = next((time for time, who in show.switches(WALKER) if who == "fall" and time >= met), math.inf)
    again = show.stage.time - tripped if tripped >= 0.0 and _walks(show) else -1.0
    fell, rolled = show.ran(WALKER, "fall"), show.ran(WALKER, "roll")
    return TripOutcome(tripped, fell, aside, caught - met, first, rolled, again)


def touched(show: Show) -> bool:
    """Whether the walker touches what lies in the way."""
    data, own = show.stage.data, show.stage.character(WALKER).geoms
    stone = show.stage.model.geom(STONE).id
    pairs = [(int(one), int(other)) for one, other in data.contact.geom[: data.ncon]]
    return any(stone in pair and not own.isdisjoint(pair) for pair in pairs)


def _walks(show: Show) -> bool:
    """Whether it has walked by data, upright, for a second."""
    log = show.switches(WALKER)
    setting_off = len(log) > 1 and log[-1][1] == WALK and log[-2][1] == START
    since = log[-2 if setting_off else -1][0]
    felt = show.felt(WALKER)
    return log[-1][1] in (WALK, START) and show.stage.time - since > 1.0 and felt.height > 0.85 and felt.tilt < 0.4
