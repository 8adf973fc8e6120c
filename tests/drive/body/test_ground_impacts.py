"""Who falls hard is shaken or knocked out by the ground, and never the stronger for it."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.drive.body.actor import OUT, SHAKEN, BodyActor
from stunt.drive.body.reactions import AWAKE, Thresholds
from stunt.maths import rotations
from stunt.script.file import script_from_data
from stunt.script.performance import Performance

LIMITS = Thresholds()
ON_BACK = np.array([np.cos(np.pi / 4), 0.0, -np.sin(np.pi / 4), 0.0])


def dropped(height: float, *, lying: bool = True, seconds: float = 3.0) -> BodyActor:
    """Somebody who stood idle is let go so high above the floor [m], lying on the back or standing."""
    ada = {"body": "idle", "root": "free", "strength": 1.5}
    clips = {"play": [{"clip": "idle", "loop": True}], "get_up": {"front": "get_up_front", "back": "stand_up"}}
    script = {
        "stunt": 1,
        "rate": 120,
        "seconds": 20,
        "characters": {"ada": ada},
        "performance": {"ada": {"clips": clips}},
    }
    stage = Performance(script_from_data(script), foretell=False).stage
    actor = stage.actors["ada"]
    stage.advance(2)
    if lying:
        actor.here[3:7] = rotations.multiply(ON_BACK, actor.here[3:7])
        actor.here[2] = 0.15
    actor.here[2] += height
    stage.step(seconds)
    return actor


def said(actor: BodyActor) -> list[str]:
    return [entry["state"] for entry in actor.log if entry["state"] in (SHAKEN, OUT)]


def test_a_drop_of_a_metre_and_a_half_is_felt_and_a_short_one_or_one_onto_the_feet_is_not() -> None:
    assert said(dropped(1.5))[:1] in ([SHAKEN], [OUT])
    assert not said(dropped(0.3)) and not said(dropped(0.3, lying=False))


def test_who_fell_far_lies_unconscious_and_gets_up_later() -> None:
    actor = dropped(3.0, seconds=2.5)
    assert OUT in said(actor) and actor.awake < 0.1
    stage = actor.stage
    rises = None
    while stage.time < 19.0 and rises is None:
        stage.step(0.25)
        rises = next((entry["time"] for entry in actor.log if entry["state"] == "rising"), None)
    landed = next(entry["time"] for entry in actor.log if entry["state"] == OUT)
    assert rises is not None and rises - landed > LIMITS.out_for
    assert actor.awake >= AWAKE


def test_no_impact_gives_strength_back() -> None:
    actor = dropped(0.0, seconds=0.1)
    actor.daze(0.1, down=0.05, hold=1.0, up=1.0)
    hard: list[float] = []
    for again in (False, True):
        state = actor.stage.save()
        if again:
            actor.stage.step(0.2)
            actor.daze(0.7, down=0.05, hold=0.3, up=0.5)
            actor.stage.step(0.3)
            assert actor.awake <= hard[0] + 1e-12
        else:
            actor.stage.step(0.5)
            hard.append(actor.awake)
        actor.stage.restore(state)
    assert actor.awake == pytest.approx(1.0)  # as it was saved: the blow had only begun
