"""What lies still sleeps, wakes when it is touched, and is saved asleep."""

import numpy as np
import pytest

import stunt
from stunt.errors import InvalidValueError

BOXES = 4


def boxes(sleep=True, speed=3.0):
    """Return a stage with boxes at rest, a ball that rolls at them, and a rag doll that drops beside them."""
    props = {f"box{k}": stunt.PropSpec("box", mass=2.0, at=(1.0 + 0.5 * k, 0.0, 0.151)) for k in range(BOXES)}
    props["ball"] = stunt.PropSpec("sphere", radius=0.15, mass=6.0, at=(-4.0, 0.02, 0.15), velocity=(speed, 0.0, 0.0))
    doll = stunt.Body("human39", root="free", at=(0.0, 3.0, 0.0))
    stage = stunt.Stage({"doll": doll}, props=props, hz=120, record=False, sleep=sleep)
    stage.actor("doll").go_limp()
    return stage


def state_of(stage):
    data = stage.data
    return np.concatenate([[stage.tick], data.qpos, data.qvel, data.tree_asleep, data.tree_awake])


def asleep(stage, name):
    built = stage.built
    dof = built.props[name].dof if name in built.props else built.characters[name].root.dof
    return bool(stage.sleep.asleep[stage.model.dof_treeid[dof]])


@pytest.fixture(scope="module")
def way():
    """Return every state of a run that nobody saves, and the stage at its end."""
    stage, found = boxes(), []
    for _ in range(480):
        stage.step(1 / 120)
        found.append(state_of(stage))
    return found, stage


def test_what_lies_still_sleeps_until_it_is_touched(way):
    states, _ = way
    stage = boxes()
    stage.step(0.8)
    resting = stage.data.qpos.copy()
    assert all(asleep(stage, f"box{k}") for k in range(BOXES)) and not asleep(stage, "ball")
    before = stage.data.qpos[stage.built.props["box0"].qpos]
    stage.step(2.0)
    assert stage.data.qpos[stage.built.props["box0"].qpos] > before + 0.05, "the ball has moved the first one"
    last = stage.built.props[f"box{BOXES - 1}"].qpos
    if asleep(stage, f"box{BOXES - 1}"):
        assert np.array_equal(stage.data.qpos[last : last + 7], resting[last : last + 7])


def test_asleep_and_awake_a_box_is_struck_alike():
    ends = []
    for sleep in (True, False):
        stage = boxes(sleep)
        stage.step(3.5)
        ends.append([stage.data.qpos[stage.built.props[f"box{k}"].qpos] for k in range(BOXES)])
    assert ends[0] == pytest.approx(ends[1], abs=0.03)
    assert ends[0][0] > 1.1


def test_a_rag_doll_at_rest_sleeps_and_is_awake_as_soon_as_it_is_told_something():
    stage = boxes()
    while not asleep(stage, "doll") and stage.time < 9.0:
        stage.step(0.5)
    assert asleep(stage, "doll")
    doll = stage.actor("doll")
    doll.aim({"r_elbow_flexion": 1.2}, over=0.3)
    stage.step(1 / 120)
    assert not asleep(stage, "doll")
    joint = stage.character("doll").joints["r_elbow_flexion"].qpos
    before = stage.data.qpos[joint]
    stage.step(0.4)
    assert abs(stage.data.qpos[joint] - before) > 0.1


def test_a_push_wakes():
    stage = boxes()
    stage.step(1.0)
    stage.push("box3", impulse=(0.0, 4.0, 0.0))
    stage.step(0.2)
    assert stage.data.qpos[stage.built.props["box3"].qpos + 1] > 0.1


def test_who_holds_a_pose_never_sleeps_and_hits_the_next_beat():
    stage = stunt.Stage({"ada": stunt.Body("human39")}, hz=120, record=False, sleep=True)
    ada = stage.actor("ada")
    ada.beats(coupling="composite", gravity_compensation=False)  # springs, of which the engine takes no notice
    ada.key(stunt.Pose("rest", dict.fromkeys(ada.character.joints, 0.0)), at=0.3)
    ada.key(stunt.Pose.degrees("bend", r_elbow_flexion=60), at=3.0, duration=0.5)
    stage.step(2.0)
    stage.step(1.1)
    assert ada.results[-1].error_deg < 1.0


def test_saving_never_changes_the_run(way):
    states, _ = way
    stage, rng = boxes(), np.random.default_rng(3)
    for state in states:
        stage.step(1 / 120)
        if rng.uniform() < 0.2:
            stage.save()
        assert np.array_equal(state_of(stage), state)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_restored_run_goes_on_bit_for_bit_with_sleepers(way, fresh):
    states, end = way
    stage, saved = boxes(), {}
    moments = [5, 40, 90, 97, 140, 170, 171, 172, 173, 174, 175, 176, 180, 240, 400]
    for number in range(1, 480):
        stage.step(1 / 120)
        if number in moments:
            saved[number] = stage.save()
    assert any((s["sleep"][0] >= 0).any() for s in saved.values()), "somebody slept when it was saved"
    for number in reversed(moments):
        stage = boxes() if fresh else end
        stage.restore(saved[number])
        for state in states[number : number + 120]:
            stage.step(1 / 120)
            assert np.array_equal(state_of(stage), state), f"saved at {number}, other at {stage.tick}"


def test_sleep_is_yes_or_no():
    with pytest.raises(InvalidValueError, match="sleep"):
        stunt.Stage({"ada": "human39"}, sleep=0.5)
