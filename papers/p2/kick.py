"""A martial artist's kick, played from data, floors a partner who is under forces; the partner gets up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from papers.p2.experiment import Show, person, player, put_on, supervise, survival
from stunt.supervise.reflexes.fall import FEET

KICKER, PARTNER, KICK, STAND = "kicker", "partner", "kick", "idle"
AGILE = 0.1
"""Help for the partner's root while it catches itself, share of m·g·h."""
FIRM = 20.0
"""The kicker's leg is held by its muscles and driven by the whole body: it weighs more than a leg that hangs."""
STRONG = 130.0
"""A kick that gives its partner at least this much momentum is strong [kg·m/s]: more than a stumble catches."""
LIMIT = 20.0
"""Seconds after the kick within which the partner must stand again."""


@dataclass(frozen=True)
class KickOutcome:
    """How it went.

    Attributes:
        connected: Whether the kicking leg hit the partner.
        momentum: Most the partner's momentum became within 0.2 s of the hit [kg·m/s].
        fell: Whether the partner went down.
        head_first: Whether its head was the first part but feet to touch the ground.
        up: Whether it stood again in time; True where it never fell.
    """

    connected: bool
    momentum: float
    fell: bool
    head_first: bool
    up: bool

    @property
    def strong(self) -> bool:
        """Whether the kick was strong."""
        return self.momentum >= STRONG


def kick(seed: int) -> Show:
    """Set the scene: a partner at a random distance, offset and heading before a kick of random speed."""
    rng = np.random.default_rng(seed)
    distance, aside = rng.uniform(0.7, 1.05), rng.uniform(-0.08, 0.08)
    turned = rng.uniform(-0.8, 0.8)
    return kick_from(distance, aside, turned, rng.uniform(1.0, 1.8), seed)


def kick_from(distance: float, aside: float, turned: float, pace: float, seed: int = 0) -> Show:
    """Set the scene.

    Args:
        distance: Between the two [m].
        aside: How far the partner stands to the kicker's left [m].
        turned: How far it is turned from facing the kicker [rad].
        pace: How many times as fast as the clip the kick is.
        seed: Of the performance.
    """
    turned += math.pi
    people = {KICKER: person(), PARTNER: person((distance, aside), turned)}
    show = put_on("Kick", people, {}, seed=seed, seconds=LIMIT)
    stage = show.stage
    blow = player(stage, KICKER, KICK, hit_threshold=1e9, passive=frozenset((PARTNER,)), pace=pace, firm=FIRM)
    supervise(show, KICKER, [blow, player(stage, KICKER, STAND, loop=True, hit_threshold=1e9)])
    supervise(show, PARTNER, [player(stage, PARTNER, STAND, loop=True), *survival(stage, PARTNER, agile=AGILE)])
    return show


def outcome(show: Show) -> KickOutcome:
    """Play until the partner stands again, or time is up."""
    momentum, first, hit_at = 0.0, "", -1.0
    fell = False
    while show.stage.time < LIMIT:
        show.until(show.stage.time + 1.0 / 60.0)
        felt = show.felt(PARTNER)
        if hit_at < 0.0 and any(hit.character == PARTNER and hit.by == KICKER for hit in show.hits):
            hit_at = show.stage.time
        if hit_at >= 0.0 and show.stage.time - hit_at < 0.2:
            momentum = max(momentum, show.stage.character(PARTNER).mass * float(np.linalg.norm(felt.velocity)))
        fell = fell or felt.height < 0.55
        first = first or next(iter(sorted(grounded(show, PARTNER))), "")
        if hit_at < 0.0 and show.stage.time > 3.0:
            return KickOutcome(False, 0.0, False, False, True)
        if hit_at >= 0.0 and show.stage.time > hit_at + 3.0 and stands(show, PARTNER):
            break
    return KickOutcome(hit_at >= 0.0, momentum, fell, first in ("head", "neck"), stands(show, PARTNER))


def grounded(show: Show, name: str) -> frozenset[str]:
    """Return which parts but the feet touch the ground."""
    data, model = show.stage.data, show.stage.model
    own = {body: part for part, body in show.stage.character(name).bodies.items()}
    found = set()
    for k in range(data.ncon):
        bodies = [int(model.geom_bodyid[g]) for g in data.contact.geom[k]]
        if 0 in bodies and data.contact.dist[k] < 0.0:
            found |= {own[body] for body in bodies if body in own}
    return frozenset(found) - FEET


def stands(show: Show, name: str) -> bool:
    """Whether a person stands upright and still, and is meant to."""
    felt = show.felt(name)
    calm = float(np.linalg.norm(felt.velocity)) < 0.3
    return felt.height > 0.88 and felt.tilt < 0.35 and calm and show.switches(name)[-1][1].startswith(STAND)
