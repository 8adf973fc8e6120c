"""People come and go: whoever stays goes on as in a stage built with the new cast from its state."""

import numpy as np
import pytest

import stunt
from stunt.play.recast import joint_states, put_joints

SALUTE = stunt.Pose.degrees("salute", r_shoulder_flexion=75, r_elbow_flexion=110)
ADA = stunt.Body("human39")
BOB = stunt.Body("walk", root="free", strength=1.5, at=(0.0, 2.0))
EVE = stunt.Body("walk", root="free", strength=1.5, at=(3.0, 0.0), facing=1.0)


def playing(*others: str) -> stunt.Stage:
    """A stage on which ada hits beats, bob walks, and others stand, at 0.4 s."""
    people = {"ada": ADA, "bob": BOB} | {name: EVE for name in others}
    stage = stunt.Stage(people, hz=240)
    stage.actor("ada").key(SALUTE, at=0.9)
    stage.actor("bob").follow("walk")
    stage.step(0.4)
    return stage


def afresh(before: stunt.Stage, people: dict[str, stunt.Body]) -> stunt.Stage:
    """A stage built with a cast, and told anew what those who were on another one are doing."""
    stage = stunt.Stage(people, hz=240)
    stage.tick, stage.data.time = before.tick, before.tick * before.step_time
    put_joints(stage, joint_states(before))
    for name in ("ada", "bob"):
        stage.actor(name).go_on(before.actor(name).doing_now())
    return stage


def test_who_stays_goes_on_exactly_as_on_a_stage_built_with_the_new_cast():
    stage, other = playing(), playing()
    fresh = afresh(other, {"ada": ADA, "bob": BOB, "eve": EVE})
    stage.add("eve", EVE)
    assert np.array_equal(stage.data.qpos, fresh.data.qpos) and stage.time == fresh.time
    one, two = stage.run(0.6), fresh.run(0.6)
    assert np.array_equal(one.qpos, two.qpos) and np.array_equal(one.torque, two.torque)
    assert stage.actor("ada").results[0].error_deg < 0.5


def test_who_stays_goes_on_when_somebody_leaves():
    stage, other = playing("eve"), playing("eve")
    fresh = afresh(other, {"ada": ADA, "bob": BOB})
    stage.remove("eve")
    one, two = stage.run(0.6), fresh.run(0.6)
    assert np.array_equal(one.qpos, two.qpos) and one.cast.names == ["ada", "bob"]
    told = one.report()["characters"]
    assert told["ada"]["beats"] and not told["bob"]["fell"]


def test_pushes_cues_and_handles_survive_a_change_of_cast():
    stage, said = playing(), []
    ada = stage.actor("ada")
    stage.push("bob/thorax", at=0.6, impulse=(0, 20, 0))
    stage.at(0.7, lambda: said.append(stage.time))
    stage.add("eve", EVE).follow("walk")
    take = stage.run(0.5)
    assert stage.actor("ada") is ada and said == [pytest.approx(0.7, abs=0.01)]
    assert any(event["kind"] == "push" for event in take.events)
    assert np.isfinite(take.qpos).all() and len(take.cast.names) == 3


def test_restoring_across_a_change_of_cast_is_refused_in_words():
    stage = playing()
    saved = stage.save()
    stage.add("eve", EVE)
    with pytest.raises(stunt.StuntError, match="another cast"):
        stage.restore(saved)
    stage.remove("eve")
    with pytest.raises(stunt.StuntError, match="another cast"):
        stage.restore(saved)


def test_restoring_a_state_from_before_somebody_was_given_something_to_do_is_refused_in_words():
    stage = stunt.Stage({"ada": ADA})
    saved = stage.save()
    stage.actor("ada").key(SALUTE, at=0.5)
    with pytest.raises(stunt.StuntError, match="something new to do"):
        stage.restore(saved)


@pytest.mark.parametrize(
    ("name", "body", "named"), [("ada", BOB, "ada"), ("eve", None, "eve"), ("eve", "human93", "human93")]
)
def test_nobody_joins_who_cannot(name, body, named):
    stage = playing()
    before = stage.data.qpos.copy()
    with pytest.raises(stunt.StuntError, match=named):
        stage.add(name, body)
    assert np.array_equal(stage.data.qpos, before)  # and nothing has changed


def test_who_cannot_go_on_is_named():
    stage = stunt.Stage({"ada": ADA})
    stage.actor("ada").tense(SALUTE, tension="firm")
    with pytest.raises(stunt.StuntError, match="'ada' moves by tension"):
        stage.add("bob", BOB)
    with pytest.raises(stunt.StuntError, match="nobody|unknown"):
        stage.remove("bob")
