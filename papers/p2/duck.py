"""A ball flies at somebody's head, or just past it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from papers.p2.experiment import Show, person, player, put_on, supervise, survival, throw
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.scene import PropSpec
from stunt.supervise.reflexes.duck import Duck

WHO, BALL, STAND = "ada", "ball", "idle"


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
    far, aside = rng.uniform(4.0, 8.0), rng.uniform(-0.5, 0.5)
    start = (far * np.cos(aside), far * np.sin(aside), rng.uniform(1.0, 1.9))
    around = rng.uniform(0.0, 2.0 * np.pi)
    off = 0.08 * np.sqrt(rng.uniform()) if at_head else np.sqrt(rng.uniform(0.2**2, 0.8**2))
    beside = (0.0, off * np.cos(around), off * np.sin(around))
    return Pitch(rng.uniform(0.06, 0.12), start, rng.uniform(8.0, 14.0), rng.uniform(0.2, 2.0), beside)


def duck(thrown: Pitch, *, seed: int = 0, reflex: bool = True) -> Show:
    """Set the scene; without the reflex one sees what would have happened."""
    ball = PropSpec("sphere", at=thrown.start, radius=thrown.radius, mass=0.4)
    show = put_on("Duck", {WHO: person()}, {BALL: ball}, seed=seed, seconds=6.0)
    pool = [player(show.stage, WHO, STAND, loop=True), *survival(show.stage, WHO)]
    supervise(show, WHO, [*pool, Duck()] if reflex else pool)
    return show


def outcome(show: Show, thrown: Pitch, *, seconds: float = 3.0) -> DuckOutcome:
    """Throw the ball and see."""
    show.until(thrown.at)
    target = head_of(show) + np.array(thrown.beside)
    start = np.array(thrown.start)
    throw(show.stage, BALL, target, float(np.linalg.norm(target - start)) / thrown.pace, start)
    show.hits.clear()
    show.until(thrown.at + seconds)
    bodies = [hit.body for hit in show.hits if hit.character == WHO]
    return DuckOutcome(show.ran(WHO, "duck"), "head" in bodies, bool(bodies), show.ran(WHO, "fall"))


def head_of(show: Show) -> Floats:
    """Return the middle of the head [m]."""
    felt, k = show.felt(WHO), show.stage.character(WHO).bodies["head"] - show.stage.character(WHO).root_body
    return np.asarray(felt.places[k] + rotations.rotate(felt.turns[k], np.array([0.015, 0.0, 0.075])))
