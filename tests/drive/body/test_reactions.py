"""How hard a hit is decides what it does, and a harder one never does less."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.drive.body.reactions import HARDY_SHARE, STUNNED, Thresholds, feel
from stunt.stage.contacts import Hit
from stunt.stage.shock import Shock

LIMITS = Thresholds()


class Struck:
    """Stands for a body of 700 N that follows a clip, and notes what is done to it."""

    weight, left, follows, weakened = 700.0, 5.0, True, False

    def __init__(self) -> None:
        self.lows, self.noted, self.deltas = list[float](), list[str](), list[float]()

    def note(self, state: str, **about: float) -> None:
        self.noted.append(state)

    def stun(self, low: float, **times: float) -> None:
        self.lows.append(low)

    def respond(self, delta: float, shock: Shock) -> None:
        self.deltas.append(delta)


def struck(weights: float, part: str = "thorax", *, frail: bool = False) -> tuple[Struck, bool]:
    actor = Struck()
    hit = Hit(0.0, "ada", part, "ball", (0.0, 0.0, 1.0), weights * actor.weight)
    return actor, feel(actor, [hit], LIMITS, frail=frail)  # type: ignore[arg-type]


def test_a_harder_hit_leaves_less_strength() -> None:
    lows = [struck(weights)[0].lows for weights in np.linspace(LIMITS.stun, LIMITS.limp - 0.01, 7)]
    found = [low for (low,) in lows]
    assert found[0] == pytest.approx(0.8) and found[-1] < 0.2
    assert all(later < earlier for earlier, later in zip(found, found[1:], strict=False))


def test_light_hits_are_answered_middling_ones_stun_and_hard_ones_fell() -> None:
    light, stands = struck(0.5 * (LIMITS.respond + LIMITS.stun))
    assert light.deltas == [LIMITS.delta] and not light.lows and not stands
    stunned, stands = struck(LIMITS.stun)
    assert stunned.noted == [STUNNED] and not stunned.deltas and not stands
    assert struck(LIMITS.limp)[1]
    assert struck(LIMITS.stun, frail=True)[1]  # whoever is about to get up
    untouched, falls = struck(0.9 * LIMITS.respond)
    assert not (untouched.deltas or untouched.lows or falls)


def test_whoever_strikes_stands_the_blow_in_the_fist() -> None:
    assert not struck(0.99 * LIMITS.limp / HARDY_SHARE, "r_hand")[1]
    assert struck(1.01 * LIMITS.limp / HARDY_SHARE, "r_hand")[1]
