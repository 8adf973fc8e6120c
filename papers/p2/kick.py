"""A martial artist's kick, played from data, floors a partner under forces, who gets up. Of `kick_partner`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np

from papers.p2.experiment import Show
from papers.runs import shipped
from papers.variations import Ranges, drawn, with_character, with_section, with_seed
from stunt.drive.beats.spec import Script
from stunt.supervise.reflexes.fall import FEET

EXAMPLE, KICKER, PARTNER, KICK, STAND = "kick_partner", "kicker", "partner", "kick", "idle"
RANGES: Final[Ranges] = {
    "distance": (0.99, 1.11), "aside": (-0.08, 0.08), "turned": (-0.26, 0.26), "pace": (3.6, 4.6)
}  # fmt: skip
"""What is random."""
STRONG = 60.0
"""A kick that gives its partner this much momentum is strong [kg·m/s]: more than who takes no step can stand."""
MOVED = 0.05
"""A centre of mass that has moved so far shows that somebody was hit [m]."""
LIMIT = 20.0
"""Seconds after the kick within which the partner must stand again."""


@dataclass(frozen=True)
class Encounter:
    """How the two meet; the kick goes along +y.

    Attributes:
        distance: Between the two [m].
        aside: How far the partner stands to the kicker's left [m].
        turned: How far it is turned from facing the kicker [rad].
        pace: How fast the foot is when it meets the trunk [m/s].
    """

    distance: float
    aside: float
    turned: float
    pace: float


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


@dataclass(frozen=True)
class Blow:
    """What the kicker and the partner gave each other.

    Attributes:
        by: Which part of the kicker gave most.
        on: Which part of the partner took it.
        net: Impulse in all [N·s]: the size of the sum.
        peak: Largest force in all in one step [N].
        deep: How deep one was in the other [m].
        reaction: Seconds until the partner's centre of mass has moved by 5 cm; infinite: never.
        fell: Whether it went down.
        up: Whether it was back on data in the end.
        thigh: How far the kicker's thigh pointed above the level at the touch [°].
    """

    by: str
    on: str
    net: float
    peak: float
    deep: float
    reaction: float
    fell: bool
    up: bool
    thigh: float


def blow(script: Script, *, seconds: float = 9.0) -> Blow:
    """Play a kick, and add up the contacts of its first second."""
    show = Show.of(script)
    stage, model, data = show.stage, show.stage.model, show.stage.data
    kicker, partner = stage.character(KICKER), stage.character(PARTNER)
    given: dict[tuple[str, str], float] = {}
    net, peak, deep, began, force = np.zeros(3), 0.0, 0.0, math.inf, np.zeros(6)
    stood, reaction, thigh = data.subtree_com[partner.root_body].copy(), math.inf, math.nan
    while stage.time < min(seconds, began + 1.0):
        stage.advance(1)
        now = np.zeros(3)
        for k in range(data.ncon):
            mine, theirs = (int(geom) for geom in data.contact.geom[k])
            if {mine in kicker.geoms, theirs in kicker.geoms} != {True, False}:
                continue
            mine, theirs, sign = (mine, theirs, 1.0) if mine in kicker.geoms else (theirs, mine, -1.0)
            if theirs not in partner.geoms:
                continue
            mujoco.mj_contactForce(model, data, k, force)
            now += sign * data.contact.frame[k].reshape(3, 3).T @ force[:3]
            parts = tuple(model.body(int(model.geom_bodyid[geom])).name.partition("/")[2] for geom in (mine, theirs))
            given[parts] = given.get(parts, 0.0) + float(np.linalg.norm(force[:3])) * stage.step_time
            if began == math.inf:
                began, thigh = stage.time, math.degrees(math.asin(-data.xmat[kicker.bodies["r_thigh"]][8]))
            deep = max(deep, -float(data.contact.dist[k]))
        here = data.subtree_com[partner.root_body]
        if began == math.inf:
            stood = here.copy()
        elif reaction == math.inf and float(np.linalg.norm(here - stood)) > MOVED:
            reaction = stage.time - began
        net, peak = net + now * stage.step_time, max(peak, float(np.linalg.norm(now)))
    show.until(seconds)
    by, on = max(given, key=lambda pair: given[pair], default=("", ""))
    fell = show.ran(PARTNER, "fall") or show.ran(PARTNER, "lie")
    up = show.switches(PARTNER)[-1][1].startswith(STAND)
    return Blow(by, on, float(np.linalg.norm(net)), peak, deep, reaction, fell, up, thigh)


def encounter(seed: int) -> Encounter:
    """Return a partner at a random distance, offset and heading before a kick of random speed."""
    return Encounter(**drawn(np.random.default_rng(seed), RANGES))


def encounter_of(script: Script) -> Encounter:
    """Return how the two of a script meet."""
    partner = script.scene.characters[PARTNER]
    (strike,) = (clip.strike for clip in script.parts[KICKER].sections["supervisor"].clips if clip.name == KICK)
    return Encounter(partner.at[1], -partner.at[0], partner.facing + 0.5 * math.pi, strike.pace)


def varied(script: Script, how: Encounter) -> Script:
    """Return a script in which the two meet otherwise."""
    script = with_character(
        script, PARTNER, at=(-how.aside, how.distance, 0.0), facing=how.turned - 0.5 * math.pi
    )  # fmt: skip
    clips = script.parts[KICKER].sections["supervisor"].clips
    paced = tuple(replace(one, strike=replace(one.strike, pace=how.pace)) if one.name == KICK else one for one in clips)
    return with_section(script, KICKER, "supervisor", clips=paced)


def kick(seed: int) -> Show:
    """Set the scene."""
    return Show.of(with_seed(varied(shipped(EXAMPLE), encounter(seed)), seed))


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
