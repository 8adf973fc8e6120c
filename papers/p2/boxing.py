"""A boxing match run by two supervisors: guard, footwork and blows from one motion graph, everything else by forces."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from papers.p2.experiment import Show, person, put_on, supervise, survival
from stunt.script.sections.fights import FightSpec, fight_controllers
from stunt.stage.scene import PropSpec
from stunt.supervise.contract import REFLEX, Controller
from stunt.supervise.data.boxer import Ring
from stunt.supervise.reflexes.reel import Reel

RED, BLUE, BOX = "red", "blue", "box"
PEOPLE = RED, BLUE
RING = Ring()
ROPES = RING.radius + 1.5
"""Who is knocked about may go so far from the middle [m]: where the ropes would be."""
AGILE = 0.1
"""Help for a boxer's root while it catches itself, share of m·g·h."""
HILLS = 0.05
"""How high the ground goes up and down [m]."""
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


def boxing(seed: int, *, seconds: float = 30.0) -> Show:
    """Set the scene: two boxers on uneven ground, face to face, at random distance and heading."""
    rng = np.random.default_rng(seed)
    half, turn = rng.uniform(0.7, 1.1), rng.uniform(-math.pi, math.pi)
    x, y = half * math.cos(turn), half * math.sin(turn)
    people = {
        RED: person((-x, -y), turn + rng.uniform(-0.4, 0.4), "guard"),
        BLUE: person((x, y), turn + math.pi + rng.uniform(-0.4, 0.4), "guard"),
    }
    heights = tuple(tuple(float(high) for high in row) for row in rng.uniform(0.0, 1.0, (11, 11)))
    hills = PropSpec("heightfield", size=(8.0, 8.0, HILLS), heights=heights, color=(0.72, 0.68, 0.6, 1.0))
    show = put_on("Boxing match", people, {"hills": hills}, seed=seed, seconds=seconds)
    for name, other in ((RED, BLUE), (BLUE, RED)):
        supervise(show, name, corner(show, name, other))
    return show


def corner(show: Show, name: str, other: str) -> list[Controller]:
    """Return what a boxer can do."""
    fighting = fight_controllers(show.stage, name, FightSpec(BOX, other, ring=RING), "")
    rest = [one for one in survival(show.stage, name, agile=AGILE) if one.name != "roll"]
    for one in rest:
        if one.name == "get up":
            one.priority = REFLEX  # rising leans as far as stumbling does: nobody interrupts it
        elif one.name == "lie":
            one.priority = REFLEX + 1  # whoever is down stays down for a moment
    return [*fighting, Reel(), *rest]


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
