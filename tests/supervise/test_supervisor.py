"""Who is in charge, and why: bids, requests, interrupts, hits, bad controllers, saving."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import Stand, make_stage, player, walker

from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.stage.event_specs import Throw
from stunt.stage.events import EventCrew
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.supervise.contract import RUNNING, Bid, Status, failed, succeeded
from stunt.supervise.hit_rules import Relation
from stunt.supervise.rag_doll import RagDoll
from stunt.supervise.supervisor import Supervisor
from stunt.supervise.twin import Twin


def switches(supervisor):
    return [entry for entry in supervisor.log if entry["event"] == "switch"]


def test_an_empty_pool_is_refused():
    with pytest.raises(StuntError, match="'ada' has no controllers"):
        Supervisor(make_stage(), "ada", [])


def test_two_of_one_name_are_refused():
    with pytest.raises(InvalidValueError, match="2 called 'stand'"):
        Supervisor(make_stage(), "ada", [Stand(), Stand()])


def test_what_is_no_controller_is_refused_with_what_it_lacks():
    with pytest.raises(InvalidValueError, match="has no method 'bid'"):
        Supervisor(make_stage(), "ada", [object()])


def test_the_highest_priority_then_score_then_place_wins():
    class Bidder(Stand):
        score = 0.5

        def bid(self, now):
            return self.score

    stage = make_stage()
    pool = [Bidder("a"), Bidder("b", score=0.9), Bidder("c", score=0.9), Bidder("d", priority=20, score=0.1)]
    assert Supervisor(stage, "ada", pool).running == "d"
    assert Supervisor(make_stage(), "ada", pool[:3]).running == "b"


def test_when_nobody_bids_the_last_resort_takes_over_and_stays():
    class Never(Stand):
        def bid(self, now):
            return None

    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Never()])
    stage.step(4.0)
    assert supervisor.running == "rag doll" and len(switches(supervisor)) == 1
    assert stage.data.qpos[2] < 0.5


def test_who_ends_is_followed_by_another_and_the_log_says_why():
    class Short(Stand):
        def step(self, now, actor):
            return succeeded("done with it") if now.elapsed > 0.3 else RUNNING

    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Short("first"), Short("second")])
    stage.step(0.5)
    entry = switches(supervisor)[-1]
    assert supervisor.running == "second" and supervisor.last.name == "first"
    assert (entry["before"], entry["ended"], entry["reason"]) == ("first", "succeeded", "done with it")
    assert [bid["controller"] for bid in entry["bids"]] == ["second"]


def test_a_request_is_served_and_one_that_cannot_be_is_refused():
    class Shy(Stand):
        def bid(self, now):
            return None if now.request != self.name else (0.5 if now.time > 1.0 else None)

    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Stand(), Shy("shy")])
    stage.step(0.2)
    supervisor.request("shy", patience=0.3)
    stage.step(0.8)
    assert supervisor.running == "stand" and supervisor.log[-1]["event"] == "refused"
    supervisor.request("shy", patience=0.3)
    stage.step(0.2)
    assert supervisor.running == "shy" and supervisor.log[-1]["cause"] == "request"
    with pytest.raises(UnknownNameError, match="unknown controller 'nobody' of 'ada'"):
        supervisor.request("nobody")


def test_only_a_higher_priority_interrupts():
    class Alarm(Stand):
        interrupts = True

        def bid(self, now):
            return Bid(0.9, "time is up") if now.time > 0.5 else None

    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Stand(), Alarm("equal"), Alarm("higher", priority=30)])
    stage.step(0.4)
    assert supervisor.running == "stand"
    stage.step(0.2)
    entry = switches(supervisor)[-1]
    assert supervisor.running == "higher" and entry["cause"] == "interrupt" and entry["why"] == "time is up"
    assert [bid["controller"] for bid in entry["bids"]] == ["higher"]


class Raises(Stand):
    def step(self, now, actor):
        raise ZeroDivisionError("of course")


class Nonsense(Stand):
    def step(self, now, actor):
        return "fine"


class Endless(Stand):
    longest = 0.5


class NotANumber(Stand):
    def step(self, now, actor):
        actor.aim(np.full(len(now.qpos), np.nan))
        return RUNNING


class Liar(Stand):
    kinematic = True


class BadBid(Stand):
    def bid(self, now):
        return 7.0 if now.time > 0.2 else (0.6 if now.last is None and now.elapsed == 0.0 else None)


class BadState(Stand):
    def step(self, now, actor):
        return Status("sleeping", "")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Raises, "ZeroDivisionError"), (Nonsense, "returned 'fine'"), (Endless, "did not end within 0.5 s"),
        (NotANumber, "NaN or infinite"), (Liar, "left the body dynamic in start"), (BadState, "sleeping"),
    ],
)  # fmt: skip
def test_a_bad_controller_is_taken_out_with_its_reason_and_a_safe_one_takes_over(bad, reason):
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [bad("bad", priority=15), Stand("stand")], safe=Stand("safe"))
    stage.step(1.0)
    assert "bad" not in supervisor.pool and reason in supervisor.removed["bad"]
    assert supervisor.running in ("safe", "stand")
    entry = next(entry for entry in supervisor.log if entry["event"] == "removed")
    assert entry["controller"] == "bad" and reason in entry["reason"]
    assert "safe" in [entry["controller"] for entry in switches(supervisor)]


def test_a_bad_bid_takes_the_bidder_out_even_when_it_is_not_in_charge():
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Stand("stand"), BadBid("bad", interrupts=True, priority=20)])
    supervisor.request("stand")
    stage.step(0.1)
    assert supervisor.running == "stand"
    stage.step(0.4)
    assert "score of 7.0" in supervisor.removed["bad"]
    assert supervisor.running == "stand"


def test_even_a_bad_last_resort_leaves_somebody_in_charge():
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Raises("one"), Raises("two")], safe=Raises("three"))
    stage.step(1.0)
    assert supervisor.running == "rag doll" and {"one", "three"} <= set(supervisor.removed)


def test_a_light_touch_does_not_stop_data_and_a_blow_does():
    for mass, expected in ((0.1, ["idle"]), (5.0, ["idle", "idle (tracking)"])):
        stage, supervisor = walker(mass)
        stage.step(1.4)
        assert [entry["controller"] for entry in switches(supervisor)] == expected
        assert supervisor.blows.alert > 0.0  # it was noticed


def test_a_high_threshold_keeps_data_in_charge_while_it_pushes():
    spec = PropSpec(shape="box", size=(0.5, 0.8, 1.0), mass=20.0, at=(0.9, 0.0, 0.5))
    stage = make_stage(props={"crate": spec})
    supervisor = Supervisor(stage, "ada", [player(stage, "walk", hit_threshold=1e3)])
    stage.step(2.5)
    crate = stage.prop("crate")
    moved = stage.data.qpos[crate.qpos] - 0.9
    print(f"\na walk pushed a 20 kg crate {moved:.2f} m")
    assert [entry["controller"] for entry in switches(supervisor)] == ["walk"]
    assert moved > 0.8
    assert stage.data.qpos[0] == pytest.approx(2.7, abs=0.3)  # as if nothing had been there


def test_what_is_passive_changes_nothing():
    for relation, count in ((Relation(passive=frozenset({"ball"})), 1), (Relation(), 2)):
        props = {"ball": PropSpec(shape="sphere", radius=0.11, mass=5.0, at=(3.0, 0.5, 1.2))}
        stage = make_stage(props=props)
        stage.crew.append(EventCrew(stage, [Throw(prop="ball", target="ada/thorax", at=0.8, hits_at=1.2)]))
        supervisor = Supervisor(stage, "ada", [player(stage, "idle")], relation=relation)
        stage.step(1.4)
        assert len(switches(supervisor)) == count


def test_active_and_passive_change_with_who_is_in_charge():
    stage, supervisor = walker(5.0)
    assert supervisor.look().active == frozenset({"ball"})
    supervisor.request("rag doll")
    stage.step(0.1)
    assert supervisor.look().active is None  # under forces, everything counts
    assert supervisor.look().things()["ball"].active


def test_two_characters_on_data_notice_each_other_and_neither_goes_through_the_other():
    scene = make_stage(("ada", "bob")).scene
    characters = {
        "ada": scene.characters["ada"], "bob": replace(scene.characters["bob"], at=(0.72, 0.4, 0.0), facing=np.pi)
    }  # fmt: skip
    stage = StageLoop(replace(scene, characters=characters))
    ada = Supervisor(stage, "ada", [player(stage, "kick", hit_threshold=1e3), player(stage, "idle", hit_threshold=1e3)])
    bob = Supervisor(stage, "bob", [player(stage, "idle", "bob")])
    stage.step(1.5)
    for one, other in ((ada, "bob"), (bob, "ada")):
        assert switches(one)[1]["cause"] == "hit" and other in switches(one)[1]["why"]


def test_the_same_seed_gives_the_same_take_and_log():
    def run():
        stage, supervisor = walker(5.0, walk=True)
        stage.step(2.5)
        return stage.data.qpos.copy(), [str(entry) for entry in supervisor.log]

    (one, log), (two, again) = run(), run()
    assert (one == two).all() and log == again


@pytest.mark.parametrize("moment", [0.9, 1.25, 1.7, 2.3])
def test_a_saved_performance_goes_on_bit_for_bit(moment):
    stage, supervisor = walker(5.0, walk=True)
    stage.step(moment)
    kept = stage.save()
    stage.step(1.5)
    once, log, running = stage.data.qpos.copy(), [str(e) for e in supervisor.log], supervisor.running
    stage.restore(kept)
    stage.step(1.5)
    assert (stage.data.qpos == once).all()
    assert [str(e) for e in supervisor.log] == log and supervisor.running == running


def test_exactly_one_is_in_charge_at_every_step():
    stage, supervisor = walker(8.0, walk=True)
    seen = []
    for _ in range(300):
        stage.advance(1)
        assert supervisor.current.name in supervisor.pool
        assert supervisor.actor.kinematic == supervisor.current.kinematic
        seen.append(supervisor.running)
    assert {"walk", Twin.name_for("walk")} <= set(seen)


def test_the_rag_doll_lies_in_the_end():
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [RagDoll()])
    stage.step(4.0)
    assert supervisor.running == "rag doll" and stage.data.qpos[2] < 0.5


def test_failing_leads_to_whoever_can():
    class Falls(Stand):
        def step(self, now, actor):
            return failed("no strength left") if now.elapsed > 0.2 else RUNNING

    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Falls("falls", priority=20), Stand()])
    stage.step(0.4)
    assert supervisor.running == "stand" and supervisor.last.status == failed("no strength left")


class Breaks(Stand):
    """Takes over at half a second, and breaks the contract as told."""

    interrupts, priority = True, 50

    def __init__(self, way, name="breaks"):
        super().__init__(name)
        self.way = way

    def bid(self, now):
        return 0.9 if now.time > 0.5 else None

    def start(self, now, actor, bid):
        if self.way != "does nothing":
            super().start(now, actor, bid)

    def step(self, now, actor):
        if self.way == "exits":
            raise SystemExit(3)
        raise RuntimeError("boom")

    def stop(self, now, actor):
        raise RuntimeError("boom again")


@pytest.mark.parametrize("way", ["raises", "does nothing", "exits"])
def test_who_else_can_takes_over_from_a_broken_one_before_the_body_goes_limp(way):
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [player(stage, "idle"), Breaks(way)])
    stage.step(2.0)
    names = [entry["controller"] for entry in switches(supervisor)]
    assert names == ["idle", "breaks", "idle"] and supervisor.running == "idle"
    entry = switches(supervisor)[-1]
    assert entry["cause"] == "removed" and "'breaks' was taken out" in entry["why"]
    assert len([entry for entry in supervisor.log if entry["event"] == "removed"]) == 1
    assert supervisor.look().tilt < 0.2


def test_data_is_asked_for_before_a_body_that_stands_goes_limp():
    stage = make_stage()
    far = player(stage, "idle")
    plain = far.bid
    far.bid = lambda now: plain(now) if now.time < 0.3 or now.request == "idle" else None
    supervisor = Supervisor(stage, "ada", [far, player(stage, "walk", only_asked=True), Breaks("raises")])
    stage.step(0.8)
    assert supervisor.running == "idle" and supervisor.removed


def test_hundreds_that_break_at_one_moment_leave_the_last_resort_in_charge():
    stage = make_stage()
    supervisor = Supervisor(stage, "ada", [Liar(f"liar {k}") for k in range(400)])
    assert supervisor.running == "rag doll" and len(supervisor.removed) == 4
    stage.step(0.2)
    assert supervisor.running == "rag doll"


def test_the_users_interrupt_is_not_swallowed():
    class Stops(Stand):
        def step(self, now, actor):
            raise KeyboardInterrupt

    stage = make_stage()
    Supervisor(stage, "ada", [Stops()])
    with pytest.raises(KeyboardInterrupt):
        stage.step(0.2)
