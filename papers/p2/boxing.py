"""A boxing match run by two supervisors: guard, footwork and blows from one motion graph. Of `boxing_match`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_character, with_prop, with_seed
from stunt.drive.beats.spec import Script
from stunt.supervise.data.boxer import Ring

EXAMPLE, RED, BLUE, BOX, HILLS = "boxing_match", "red", "blue", "box", "hills"
PEOPLE = RED, BLUE
RING = Ring()
ROPES = RING.radius + 1.5
"""Who is knocked about may go so far from the middle [m]: where the ropes would be."""
RANGES: Final[Ranges] = {
    "half": (0.7, 1.1), "turn": (-math.pi, math.pi), "red_off": (-0.4, 0.4), "blue_off": (-0.4, 0.4)
}  # fmt: skip
"""What is random, beside the ground."""
LEAST_BLOW = 100.0
"""A hit weaker than this is a touch of guards [N]."""


@dataclass(frozen=True)
class MatchOutcome:
    """How a match went.

    Attributes:
        blows: Hits of a hand or a foot at the other's head or trunk.
        dynamic: How often a hit found no data to go on from.
        downs: How often somebody went down.
        longest_down: Longest time from going down to boxing again [s].
        up: Whether everybody who went down boxed again, or had less than `GRACE` seconds left for it.
        farthest: Farthest anybody's root was from the ring's middle [m].
        deepest: Deepest overlap of the two bodies [m].
        deep: Share of the time in which they overlapped by more than `DEEP`.
        nobody: Moments in which nobody was in charge, or somebody who is not in the pool.
        unexplained: Switches of which the log does not say why.
        removed: Controllers that broke the contract.
    """

    blows: int
    dynamic: int
    downs: int
    longest_down: float
    up: bool
    farthest: float
    deepest: float
    deep: float
    nobody: int
    unexplained: int
    removed: int


DEEP = 0.05
"""An overlap one would see [m]."""
GRACE = 12.0
"""Whoever goes down later than so long before the end need not be up by then [s]."""


@dataclass(frozen=True)
class Corners:
    """How a match begins.

    Attributes:
        half: How far each is from the middle [m].
        turn: Where blue stands, seen from the middle [rad].
        red_off: How far red is turned from facing blue [rad], counter-clockwise.
        blue_off: And blue from facing red.
        ground: Heights of the hills, row by row, 0 to 1.
    """

    half: float
    turn: float
    red_off: float
    blue_off: float
    ground: tuple[tuple[float, ...], ...]


def corners(seed: int, ground: tuple[tuple[float, ...], ...]) -> Corners:
    """Return a random beginning: face to face at some distance and heading; the hills inside the rim change places."""
    rng = np.random.default_rng(seed)
    values, heights = drawn(rng, RANGES), np.array(ground)
    inside = heights[1:-1, 1:-1]
    inside[:] = rng.permutation(inside.ravel()).reshape(inside.shape)
    return Corners(**values, ground=tuple(tuple(row) for row in heights.tolist()))


def corners_of(script: Script) -> Corners:
    """Return how a script's match begins."""
    red, blue = (script.scene.characters[name] for name in PEOPLE)
    turn = math.atan2(blue.at[1], blue.at[0])
    off = [math.remainder(who, 2.0 * math.pi) for who in (red.facing - turn, blue.facing - turn - math.pi)]
    return Corners(math.hypot(*blue.at[:2]), turn, off[0], off[1], script.scene.props[HILLS].heights)


def varied(script: Script, begins: Corners) -> Script:
    """Return a script whose match begins otherwise."""
    for name, way, off in ((RED, begins.turn + math.pi, begins.red_off), (BLUE, begins.turn, begins.blue_off)):
        x, y = begins.half * math.cos(way), begins.half * math.sin(way)
        at = (x, y, script.scene.characters[name].at[2])
        script = with_character(script, name, at=at, facing=way + math.pi + off)
    return with_prop(script, HILLS, heights=begins.ground)


def boxing(seed: int, *, seconds: float = 30.0) -> Show:
    """Set the scene: two boxers on uneven ground, face to face, at random distance and heading."""
    script = shipped(EXAMPLE)
    script = varied(script, corners(seed, corners_of(script).ground))
    return Show.of(replace(with_seed(script, seed), seconds=seconds))


def outcome(show: Show, *, seconds: float = 30.0) -> MatchOutcome:
    """Box, and count."""
    farthest = deepest = 0.0
    deep = moments = nobody = 0
    while show.stage.time < seconds:
        show.until(show.stage.time + 1.0 / 60.0)
        depth = overlap(show)
        deepest, deep, moments = max(deepest, depth), deep + (depth > DEEP), moments + 1
        farthest = max(farthest, *(math.dist(_root(show, who), (RING.x, RING.y)) for who in PEOPLE))
        nobody += sum(one.running not in one.pool for one in show.supervisors.values())
    logs = [[entry for entry in one.log if entry["event"] == "switch"] for one in show.supervisors.values()]
    times = [time for log in logs for time in downs(log, seconds)]
    return MatchOutcome(
        sum(_is_blow(hit.body, hit.force) for hit in show.hits), sum(e["cause"] == "hit" for log in logs for e in log),
        len(times), max([0.0, *(length for _, length in times if length < math.inf)]),
        all(length < math.inf or begin > seconds - GRACE for begin, length in times), farthest, deepest,
        deep / moments, nobody, sum(not (e["why"] or e["reason"]) for log in logs for e in log),
        sum(len(one.removed) for one in show.supervisors.values()),
    )  # fmt: skip


def downs(log: list[dict[str, object]], seconds: float) -> list[tuple[float, float]]:
    """Return when somebody went down, and how long it took until it boxed again [s]; infinite: not in this match."""
    found, since = list[tuple[float, float]](), -1.0
    for entry in log:
        who, time = entry["controller"], float(str(entry["time"]))
        if who in ("fall", "lie") and since < 0.0:
            since = time
        elif who == BOX and since >= 0.0:
            found.append((since, time - since))
            since = -1.0
    return [*found, (since, math.inf)] if since >= 0.0 else found


def overlap(show: Show) -> float:
    """Return how deep the two bodies are in each other [m]."""
    contact, model = show.stage.data.contact, show.stage.model
    owner = model.body_rootid[model.geom_bodyid[contact.geom]] if len(contact) else np.zeros((0, 2), int)
    roots = [show.stage.character(who).root_body for who in PEOPLE]
    between = (owner[:, 0] != owner[:, 1]) & np.isin(owner, roots).all(axis=1)
    return float(max(0.0, -contact.dist[between].min(initial=0.0)))


def _root(show: Show, name: str) -> tuple[float, float]:
    root = show.stage.character(name).root
    assert root is not None
    x, y = show.stage.data.qpos[root.qpos : root.qpos + 2]
    return float(x), float(y)


def _is_blow(body: str, force: float) -> bool:
    return force >= LEAST_BLOW and body in ("head", "neck", "thorax", "spine2", "lumbar", "pelvis")
