"""State machines go on by what happened: hit, missed, reached, fell, or a program's word."""

from __future__ import annotations

from typing import Any

import pytest

import stunt
from stunt.errors import StuntError

_UP, _DOWN = {"r_shoulder_flexion": 60.0, "r_elbow_flexion": 40.0}, {"r_shoulder_flexion": 5.0, "r_elbow_flexion": 5.0}


def machine(way_out: dict[str, Any], events: list[Any] | None = None, **who: Any) -> stunt.Performance:
    """Somebody who raises an arm, and lowers it by a way out."""
    states = {
        "up": {"angles": _UP, "within": 0.4, "next": [{**way_out, "to": "down"}]},
        "down": {"angles": _DOWN, "within": 0.4},
    }
    return stunt.Performance(stunt.script_from_data({
        "seconds": 1.5, "characters": {"ada": {"body": "human39", **who}}, "events": events or [],
        "performance": {"ada": {"machine": {"states": states}}},
    }))  # fmt: skip


def changes(performance: stunt.Performance) -> list[tuple[str, float, str]]:
    """Return states with when and why they were entered."""
    take = performance.run()
    return [(e["state"], round(e["time"], 3), e["why"]) for e in take.events if e["kind"] == "state"]


_PUSH = [{"push": "ada/r_forearm", "impulse": [0, 1, 0], "at": 0.8}]


@pytest.mark.parametrize("body", ["r_forearm", "any"])
def test_a_blow_on_the_body_that_is_named_leads_on(body: str) -> None:
    found = changes(machine({"hit": body}, _PUSH))
    assert found[1][0] == "down" and 0.8 <= found[1][1] < 0.82 and found[1][2] == f"hit on {body}"
    assert len(changes(machine({"hit": "l_hand"}, _PUSH))) == 1


def test_a_pose_that_was_met_leads_on_by_reached_and_one_that_was_not_by_missed() -> None:
    met = changes(machine({"reached": True}))
    assert met[1][0] == "down" and 0.4 <= met[1][1] < 0.42 and len(changes(machine({"missed": True}))) == 1
    weak = changes(machine({"missed": True}, strength=0.02))
    assert weak[1][0] == "down" and 0.4 <= weak[1][1] < 0.42
    assert len(changes(machine({"reached": True}, strength=0.02))) == 1


def test_a_fall_leads_on() -> None:
    over = [{"push": "ada/thorax", "impulse": [150, 0, 0], "at": 0.5}]
    found = changes(machine({"fell": True}, over, root="free"))
    assert found[1][0] == "down" and found[1][1] > 0.5 and len(changes(machine({"fell": True}))) == 1


def test_a_program_s_word_leads_on_once_the_state_is_entered_and_survives_a_restore() -> None:
    performance = machine({"signal": "now"})
    stage = performance.stage
    stage.step(0.5)
    stage.signal("later")
    state = stage.save()
    stage.signal("now")
    stage.step(0.1)
    lowered = stage.board.goal.copy()
    stage.restore(state)
    stage.step(0.1)
    assert (stage.board.goal != lowered).any()  # it was not said in what was restored
    stage.signal("now")
    stage.step(0.1)
    assert (stage.board.goal == lowered).all()


@pytest.mark.parametrize("way_out", [{"missed": False}, {"hit": "any", "after": 1.0}])
def test_a_way_out_that_says_nothing_or_two_things_is_refused(way_out: dict[str, Any]) -> None:
    with pytest.raises(StuntError):
        machine(way_out)


def test_a_section_that_would_drive_nothing_is_refused() -> None:
    with pytest.raises(StuntError, match="would drive nothing"):
        stunt.Performance(stunt.script_from_data({
            "seconds": 1, "characters": {"ada": {"body": "skeleton", "root": "free"}},
            "performance": {"ada": {"trajectories": {"clip": {"file": "punch", "joints": []}}}},
        }))  # fmt: skip
