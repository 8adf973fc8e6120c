"""A ball flies at somebody's head, or just past it. Variations of a throw of `duck`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_events, with_only_props, with_prop, with_section, with_seed
from stunt.drive.beats.spec import Script
from stunt.stage.event_specs import Throw
from stunt.supervise.reflexes.duck import HEAD as HEAD_RADIUS

EXAMPLE, WHO, REFLEX = "duck", "ada", "duck"
HEAD = (0.0, 0.0, 1.65)
"""Where the head of who stands there is, about [m]; what a pace is reckoned to."""
RANGES: Final[Ranges] = {
    "radius": (0.06, 0.12), "far": (4.0, 8.0), "bearing": (-0.5, 0.5), "high": (1.0, 1.9), "pace": (8.0, 14.0),
    "at": (0.2, 2.0),
}  # fmt: skip
"""What is random, beside where it is aimed: size [m], from where (distance [m], bearing [rad], height [m]), how fast
[m/s] and when [s]."""
AT_HEAD, PAST = (0.0, 0.08), (0.2, 0.8)
"""How far from the head's middle it is aimed, at the head and past it [m]."""


@dataclass(frozen=True)
class Pitch:
    """One throw.

    Attributes:
        radius: Of the ball [m].
        start: From where [m].
        pace: [m/s], about.
        at: When it leaves [s].
        beside: Where it is aimed, seen from the middle of the head [m].
    """

    radius: float
    start: tuple[float, float, float]
    pace: float
    at: float
    beside: tuple[float, float, float]


@dataclass(frozen=True)
class DuckOutcome:
    """How it went: whether it ducked, whether the head or anything else was hit, and whether it fell."""

    ducked: bool
    head_hit: bool
    hit: bool
    fell: bool


def pitch(seed: int, *, at_head: bool) -> Pitch:
    """Return a random throw from the front: at the head, or past it by up to 0.8 m."""
    rng = np.random.default_rng(seed)
    how = drawn(rng, RANGES)
    least, most = AT_HEAD if at_head else PAST
    off, around = math.sqrt(rng.uniform(least**2, most**2)), rng.uniform(0.0, 2.0 * math.pi)
    start = (how["far"] * math.cos(how["bearing"]), how["far"] * math.sin(how["bearing"]), how["high"])
    beside = (0.0, off * math.cos(around), off * math.sin(around))
    return Pitch(how["radius"], start, how["pace"], how["at"], beside)


def throws_of(script: Script) -> tuple[Throw, ...]:
    """Return the throws of a script."""
    return tuple(event for event in script.scene.events if isinstance(event, Throw))


def pitches_of(script: Script) -> tuple[Pitch, ...]:
    """Return the throws of a script as pitches."""
    found = []
    for event in throws_of(script):
        ball = script.scene.props[event.prop]
        pace = math.dist(_aim(event.lead), ball.at) / (event.hits_at - event.at)
        found.append(Pitch(ball.radius, ball.at, pace, event.at, event.lead))
    return tuple(found)


def values_of(thrown: Pitch) -> dict[str, float]:
    """Return a pitch by the names of `RANGES`."""
    x, y, z = thrown.start
    return {
        "radius": thrown.radius, "far": math.hypot(x, y), "bearing": math.atan2(y, x), "high": z, "pace": thrown.pace,
        "at": thrown.at,
    }  # fmt: skip


def _aim(beside: tuple[float, float, float]) -> tuple[float, float, float]:
    return HEAD[0] + beside[0], HEAD[1] + beside[1], HEAD[2] + beside[2]


def varied(script: Script, thrown: Pitch) -> Script:
    """Return a script with its first throw alone, made otherwise."""
    throw = throws_of(script)[0]
    seconds = math.dist(_aim(thrown.beside), thrown.start) / thrown.pace
    script = with_prop(with_only_props(script, throw.prop), throw.prop, radius=thrown.radius, at=thrown.start)
    # Held until it is thrown: what lies in the air without anybody would have fallen by then.
    event = replace(throw, at=thrown.at, hits_at=thrown.at + seconds, lead=thrown.beside, origin=thrown.start)
    return with_events(script, event)


def without_reflex(script: Script) -> Script:
    """Return a script in which nobody ducks: what would have happened."""
    pool = script.parts[WHO].sections["supervisor"].controllers
    return with_section(script, WHO, "supervisor", controllers=tuple(one for one in pool if one.name != REFLEX))


def duck(thrown: Pitch, *, seed: int = 0, reflex: bool = True) -> Show:
    """Set the scene; without the reflex one sees what would have happened."""
    script = with_seed(varied(shipped(EXAMPLE), thrown), seed)
    return Show.of(script if reflex else without_reflex(script))


def outcome(show: Show, thrown: Pitch, *, seconds: float = 3.0) -> DuckOutcome:
    """Let the ball fly and see."""
    show.until(thrown.at)
    show.hits.clear()
    show.until(thrown.at + seconds)
    bodies = [hit.body for hit in show.hits if hit.character == WHO]
    return DuckOutcome(show.ran(WHO, REFLEX), "head" in bodies, bool(bodies), show.ran(WHO, "fall"))


@dataclass(frozen=True)
class Passed:
    """How a ball passed: which bodies it touched, and how far the head's top went below it at most [m]."""

    touched: tuple[str, ...]
    below: float


def passed(show: Show, thrown: Pitch, *, seconds: float = 2.5) -> Passed:
    """Let the ball fly, and see how far the head was below its lower side as it passed."""
    stage = show.stage
    head, root = (stage.character(WHO).bodies[name] for name in ("head", "pelvis"))
    ball, lowest, nearest, under = stage.prop(throws_of(shipped(EXAMPLE))[0].prop).qpos, math.inf, math.inf, 0.0
    show.until(thrown.at)
    show.hits.clear()
    while stage.time < thrown.at + seconds:
        stage.advance(1)
        lowest = min(lowest, float(stage.data.xipos[head][2]) + HEAD_RADIUS)
        away = float(np.linalg.norm(stage.data.qpos[ball : ball + 2] - stage.data.xpos[root][:2]))
        if away < nearest:
            nearest, under = away, float(stage.data.qpos[ball + 2]) - thrown.radius
    return Passed(tuple(hit.body for hit in show.hits if hit.character == WHO), under - lowest)
