"""How a body that follows a clip answers hits, whoever drives it.

A light hit is answered by the δ-response: the target starts from the pose the hit left and is back in the clip δ later.
A stronger one stuns: strength sinks fast and comes back slowly. A very strong one, or a root spring broken for half a
second, lets it fall; that is for who is in charge of the body to decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stunt.drive.body.actor import OUT, SHAKEN, BodyActor
from stunt.keys import TRUTH, Number, key, spec
from stunt.stage.blows import STAGGERS, Struck
from stunt.stage.contacts import Hit
from stunt.stage.shock import Shock

HARDY: Final = ("hand", "forearm", "foot", "toe", "shank")
HARDY_SHARE: Final = 0.2
"""Limbs that people strike and block with, and how much a hit on one of them counts."""
BLOW: Final = 0.01
"""How long a blow lasts, as one that hits [s]."""
OUT_COLD: Final = 0.02
"""Share of its strength that is left to who is unconscious."""
FOLLOWING, STUNNED, DOWN, RISING = "following", "stunned", "down", "rising"
AWAKE: Final = 0.9
"""Who has less of its strength than that after an impact with the ground lies on."""
ON_FEET: Final = 0.7
"""How much an impact counts that only legs and arms take."""
_HIT = Number(0.0, 1e9, unit="m·g")
_SECONDS = Number(0.0, 1e9, unit="s")


@spec("react")
class Thresholds:
    """When what happens."""

    respond: float = key(default=0.3, kind=_HIT, help="force of a hit (body weights) from which it gives way")
    stun: float = key(default=3.0, kind=_HIT, help="from which it is weakened for a second")
    limp: float = key(default=12.0, kind=_HIT, help="from which it falls")
    head: float = key(
        default=0.0, kind=Number(0.0, 1e9, unit="N·s"),
        help="what a hand or foot gives the head in all from which it falls; it is stunned from a third of it, and "
        "people's touches do neither by their force (0: they do)",
    )  # fmt: skip
    trunk: float = key(
        default=30.0, kind=Number(0.0, 1e9, unit="N·s"), help="the same at the trunk, where `head` is said"
    )
    ground: float = key(
        default=2.5, kind=Number(above=0.0, most=1e6, unit="m/s"),
        help="stopped by the ground by so much at once, it is stunned; who lands on the feet feels less of it",
    )  # fmt: skip
    out: float = key(
        default=3.5, kind=Number(above=0.0, most=1e6, unit="m/s"), help="by so much, it lies unconscious for a while"
    )
    out_for: float = key(default=4.0, kind=_SECONDS, help="how long")
    delta: float = key(default=0.3, kind=_SECONDS, help="after which it is back in the clip when it gave way; 0: never")
    down: float = key(default=0.05, kind=_SECONDS, help="within which its strength is gone when it is stunned")
    hold: float = key(default=0.3, kind=_SECONDS, help="it stays so weak")
    up: float = key(default=1.0, kind=_SECONDS, help="over which strength comes back")
    broken: float = key(default=0.5, kind=_SECONDS, help="of a broken root spring after which it falls")
    steps: bool = key(
        default=True, kind=TRUTH, help="whether a body that is pushed off its feet catches itself by steps"
    )
    still: float = key(default=0.3, kind=Number(0.0, 1e9, unit="m/s"), help="slower than which a fallen body lies")
    lying: float = key(default=0.7, kind=_SECONDS, help="it lies before it gets up")


def feel(
    actor: BodyActor, hits: Iterable[Hit], limits: Thresholds, *, frail: bool = False, blows: Iterable[Struck] = ()
) -> bool:
    """Give way to hits and blows; return whether one is too hard to stay up.

    Args:
        actor: Who was hit.
        hits: What hit it.
        limits: When what happens.
        frail: Whether what would stun fells: of a body that is about to get up.
        blows: What people's hands and feet gave it.
    """
    people = actor.stage.built.characters if limits.head > 0.0 else ()
    for blow in blows if people else ():
        worth = blow.worth({"head": limits.head, "trunk": limits.trunk})
        if worth >= (STAGGERS if frail else 1.0):
            return True
        if worth >= STAGGERS:
            actor.note(STUNNED, impulse=blow.size)
            actor.stun(1.0 - 0.8 * worth, down=limits.down, hold=limits.hold * worth, up=limits.up)
    for hit in hits:
        whole = weights = hit.force / actor.weight
        if hit.body.endswith(HARDY):
            weights *= HARDY_SHARE  # whoever strikes feels the blow in the fist, and stands it
        person = hit.by in people
        if weights >= (limits.stun if frail else limits.limp) and not person:
            return True
        if weights >= limits.stun and not person:
            low = 1.0 - 0.8 * (weights - limits.stun) / (limits.limp - limits.stun)
            actor.note(STUNNED, force=weights)
            actor.stun(max(0.1, 0.8 * low), down=limits.down, hold=limits.hold, up=limits.up)
        elif whole >= limits.respond and 0.0 < limits.delta < actor.left and actor.follows and not actor.weakened:
            shock = Shock(hit.time, hit.character, hit.body, hit.by, hit.position, hit.push)
            if weights >= limits.respond or actor.yielding.is_struck(shock):
                actor.respond(limits.delta, shock)
    return False


def feel_ground(actor: BodyActor, limits: Thresholds) -> None:
    """Lose strength, or consciousness, where the ground stopped a body hard since this was last asked.

    Whoever falls, lies or follows has less tension for it, and gets up when it is over. No impact gives strength back.
    """
    speed = actor.stopped()
    if speed < limits.ground or actor.kinematic:
        return
    speed *= 1.0 if actor.lands_on_trunk else ON_FEET
    if speed < limits.ground:
        return
    out = speed >= limits.out
    low = OUT_COLD if out else 0.8 - 0.7 * (speed - limits.ground) / max(limits.out - limits.ground, 1e-9)
    actor.note(OUT if out else SHAKEN, speed=speed)
    actor.daze(low, down=limits.down, hold=limits.out_for if out else limits.hold, up=limits.up)


def feel_push(actor: BodyActor, shock: Shock, limits: Thresholds) -> None:
    """Give way to a push before its first step, if it is one that a body gives way to, and does not stun.

    Its impulse counts as if it took `BLOW`: whoever leans on somebody for a second moves him, too.
    """
    weights = shock.impulse / BLOW / actor.weight
    able = actor.follows and actor.rows is not None and not actor.weakened and 0.0 < limits.delta < actor.left
    if able and limits.respond <= weights < limits.stun:
        actor.respond(limits.delta, shock)
