"""A boxing match run by two supervisors: guard, footwork and blows from one motion graph, everything else by forces."""

from __future__ import annotations

from functools import cache

from stunt.direction.experiments.cast import Show, person, put_on, supervise, survival
from stunt.direction.supervisor.boxer import Boxer, Ring
from stunt.direction.supervisor.fight_part import own_searcher

RED, BLUE, BOX = "red", "blue", "box"


def boxing(seed: int, *, seconds: float = 30.0) -> Show:
    """Set the scene."""
    people = {RED: person((-0.9, 0.0), 0.0, "guard"), BLUE: person((0.9, 0.0), 3.14159, "guard")}
    show = put_on("Boxing", people, {}, seed=seed, seconds=seconds)
    for name, other in ((RED, BLUE), (BLUE, RED)):
        boxer = Boxer(BOX, own_searcher(), other, show.stage, name, ring=Ring())
        supervise(show, name, [boxer, *survival(show.stage, name)])
    return show
