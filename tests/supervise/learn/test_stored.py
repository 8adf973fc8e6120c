"""The pre-conditions that come with the package: for which body, how good, and whether they keep a body up."""

from __future__ import annotations

import pytest

from papers.p2.comparison import compare
from stunt.library.names import find_clip
from stunt.stage.loop import StageLoop
from stunt.stage.scene import CharacterSpec, Scene
from stunt.supervise.learn.bids import learned_balance, learned_stumble, stored_machine
from stunt.supervise.learn.features import FEATURES, body_digest, features
from stunt.supervise.learn.svm import WrongBodyError
from stunt.supervise.situation import Situation


def stage_of(strength):
    body = CharacterSpec(str(find_clip("idle")), root="free", strength=strength)
    return StageLoop(Scene(characters={"ada": body}))


@pytest.mark.parametrize("name", ["balance", "stumble"])
def test_a_stored_pre_condition_is_right_on_nine_of_ten_held_out_tries(name):
    assert stored_machine(name).about["held_out"]["accuracy"] >= 0.90


@pytest.mark.parametrize("name", ["balance", "stumble"])
def test_a_stored_pre_condition_says_what_it_is_worth_and_belongs_to_the_idle_body(name):
    machine, stage = stored_machine(name), stage_of(1.5)
    judged = machine.about["held_out"]
    print(f"\n{name}: {100 * judged['accuracy']:.1f} % of {judged['count']} held-out tries right, "
          f"{100 * judged['guess']:.1f} % by guessing, {100 * judged['balanced']:.1f} % balanced")  # fmt: skip
    assert judged["accuracy"] > judged["guess"] and judged["balanced"] > 0.8
    assert machine.about["features"] == list(FEATURES)
    assert machine.about["body"] == body_digest(stage.model, stage.character("ada"))
    assert machine.chance(features(stage, stage.character("ada"))) > 0.5  # whoever stands can be kept standing


@pytest.mark.parametrize("make", [learned_balance, learned_stumble])
def test_a_weaker_body_is_refused(make):
    with pytest.raises(WrongBodyError):
        make(stage_of(1.0), "ada")


def test_whoever_stands_still_is_left_alone():
    stage = stage_of(1.5)
    now = Situation(stage, stage.character("ada"))
    assert learned_balance(stage, "ada").bid(now) is None
    assert learned_stumble(stage, "ada").bid(now) is None


@pytest.mark.long
@pytest.mark.parametrize("seed", [4711, 4712, 4713])
def test_with_learned_pre_conditions_it_falls_less_often_than_by_hand_written_ones(seed):
    learned = {name: stored_machine(name) for name in ("balance", "stumble")}
    by_hand, by_learning = compare(learned, 100, seed=seed)
    falls = sum(o.fell for o in by_hand), sum(o.fell for o in by_learning)
    print(f"\nseed {seed}, falls of 100: {falls[0]} with hand-written pre-conditions, {falls[1]} with learned ones")
    assert falls[1] < falls[0]
