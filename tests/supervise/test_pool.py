"""Controllers join and leave a running supervisor: served within one look, logged, and restored exactly."""

import numpy as np
import pytest

import stunt
from stunt.supervise.contract import EMERGENCY, RUNNING, Bid, Status

WALKER = stunt.Body("walk", root="free", strength=1.5)
LOOK = 1.0 / 30.0


class Grab(stunt.BaseController):
    """Takes over at once, and holds the pose."""

    priority, interrupts = EMERGENCY, True

    def bid(self, now):
        return Bid(1.0, "now")

    def start(self, now, actor, bid):
        actor.aim({})

    def step(self, now, actor) -> Status:
        return RUNNING


def supervised() -> tuple[stunt.Stage, stunt.Actor]:
    stage = stunt.Stage({"ada": WALKER}, hz=240)
    ada = stage.actor("ada")
    ada.supervise({"walk": "walk"})
    stage.step(0.3)
    return stage, ada


def told(ada: stunt.Actor, event: str) -> list[str]:
    return [entry["controller"] for entry in ada.supervisor.log if entry["event"] == event]


def test_one_that_joins_is_asked_within_one_look():
    stage, ada = supervised()
    ada.add(Grab(), "grab")
    stage.step(LOOK)
    assert ada.state.detail == "grab" and told(ada, "joined") == ["grab"]


@pytest.mark.parametrize(("entry", "name"), [("idle", "stand"), ("balance", ""), (stunt.load_clip("idle"), "")])
def test_clips_and_registered_ones_join_and_can_be_asked_for(entry, name):
    stage, ada = supervised()
    ada.add(entry, name)
    called = name or ("balance" if entry == "balance" else "idle")
    assert called in ada.supervisor.pool
    ada.request(called)
    stage.step(LOOK)
    if called != "balance":  # which offers nothing to somebody who stands
        assert ada.state.detail == called and f"{called} (tracking)" in ada.supervisor.pool


def test_one_that_leaves_while_it_is_in_charge_hands_over():
    stage, ada = supervised()
    ada.add(Grab(), "grab")
    stage.step(LOOK)
    ada.remove("grab")
    assert ada.state.detail != "grab" and told(ada, "left") == ["grab"] and "grab" not in ada.supervisor.pool
    assert ada.supervisor.log[-1]["cause"] == "left"
    stage.step(LOOK)
    assert np.isfinite(stage.run(0.3).qpos).all()


def test_a_tracking_twin_leaves_with_its_brother():
    stage, ada = supervised()
    ada.add("idle", "stand")
    ada.remove("walk")
    assert not any("walk" in name for name in ada.supervisor.pool) and ada.state.detail in ("stand", "rag doll")


def test_a_request_for_one_that_leaves_is_refused_in_the_log():
    stage, ada = supervised()
    ada.add("idle", "stand")
    ada.request("stand")
    ada.remove("stand")
    stage.step(LOOK)
    assert told(ada, "refused") == ["stand"]
    ada.request("walk", at=stage.time + 0.1)
    ada.add("idle", "stand")
    ada.remove("walk")
    stage.step(0.2)
    assert told(ada, "refused") == ["stand", "walk"]


@pytest.mark.parametrize("saved_at", ["before", "joined", "served", "left"])
def test_joining_and_leaving_are_restored_bit_for_bit(saved_at):
    stage, ada = supervised()
    grab = Grab()
    acts = {
        "before": lambda: None, "joined": lambda: ada.add(grab, "grab"), "served": lambda: stage.step(0.1),
        "left": lambda: ada.remove("grab"),
    }  # fmt: skip
    saved, one = None, []
    for name, act in acts.items():
        act()
        if name == saved_at:
            saved = stage.save()
        stage.step(0.05)
        one.append(stage.data.qpos.copy())
    pool = list(ada.supervisor.pool)
    stage.restore(saved)
    after = list(acts).index(saved_at)
    for number, (_, act) in enumerate(acts.items()):
        if number > after:
            act()
        if number >= after:
            stage.step(0.05)
            assert np.array_equal(stage.data.qpos, one[number]), number
    assert list(ada.supervisor.pool) == pool


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda a: a.add("wlak", "walk2"), "wlak"), (lambda a: a.add("wlak"), "wlak"), (lambda a: a.add(3), "pool"),
        (lambda a: a.add("idle", "walk"), "walk"), (lambda a: a.remove("wlak"), "wlak"),
        (lambda a: a.remove("rag doll"), "last resort"), (lambda a: a.request("wlak"), "wlak"),
        (lambda a: a.request("wlak", at=9.0), "wlak"), (lambda a: a.request("walk", at=0.0), "at"),
        (lambda a: a.request("walk", patience=-1.0), "patience"), (lambda a: a.supervisor.add(None), "controller"),
        (lambda a: a.supervisor.add(stunt.BaseController("walk")), "walk"), (lambda a: a.remove(None), "None"),
    ],
)  # fmt: skip
def test_what_cannot_join_or_leave_is_refused_in_words(wrong, named):
    _, ada = supervised()
    pool = list(ada.supervisor.pool)
    with pytest.raises(stunt.StuntError, match=named):
        wrong(ada)
    assert list(ada.supervisor.pool) == pool


@pytest.mark.parametrize("verb", ["add", "remove", "request"])
def test_who_has_no_supervisor_is_told_how_to_get_one(verb):
    ada = stunt.Stage({"ada": WALKER}).actor("ada")
    with pytest.raises(stunt.StuntError, match="supervise"):
        getattr(ada, verb)("walk")


def test_clips_that_are_followed_can_be_joined_by_reflexes():
    stage = stunt.Stage({"ada": WALKER}, hz=240)
    ada = stage.actor("ada")
    ada.follow("walk")
    stage.step(0.2)
    ada.add(Grab(), "grab")
    stage.step(LOOK)
    assert ada.supervisor.running == "grab"
    ada.remove("grab")
    stage.step(0.3)
    assert ada.supervisor.running in ("clips", "stumble", "rag doll")
