"""People come and go: whoever stays goes on as in a stage built with the new cast from its state, however it moves."""

import dataclasses

import numpy as np
import pytest

import stunt
from stunt.examples import example

SALUTE = stunt.Pose.degrees("salute", r_shoulder_flexion=75, r_elbow_flexion=110)
DOWN = stunt.Pose.degrees("down", r_elbow_flexion=10)
ADA = stunt.Body("human39")
BOB = stunt.Body("walk", root="free", strength=1.5, at=(0.0, 2.0))
EVE = stunt.Body("walk", root="free", strength=1.5, at=(3.0, 0.0), facing=1.0)
FAR = stunt.Body("human39", at=(30.0, 30.0, 0.0))


def hits_beats(ada: stunt.Actor) -> None:
    ada.key(SALUTE, at=0.45)
    ada.key(DOWN, at=0.8, duration=0.2)


def machine(ada: stunt.Actor) -> None:
    states = {
        "up": stunt.StateSpec(SALUTE, 0.3, (stunt.Exit("down", after=0.35),)),
        "down": stunt.StateSpec(DOWN, 0.2, (stunt.Exit("up", after=0.3),)),
    }
    ada.run_machine(stunt.MachineSpec("up", states))


def tenses(ada: stunt.Actor) -> None:
    ada.tense(SALUTE, tension="firm", lasts=0.6)
    ada.tense(DOWN, tension=0.2, lasts=0.3, at=0.55)
    ada.key(stunt.Pose.degrees("left", l_elbow_flexion=60), at=0.7)


def on_paths(ada: stunt.Actor) -> None:
    ada.path("r_elbow_flexion", stunt.Trajectory.through([0, 0.5, 1.0], [0.0, 1.0, 0.2]))
    ada.path("l_palm", stunt.Trajectory.through([0, 1.0], [[0.3, 0.3, 1.2], [0.4, 0.3, 1.4]]))


def follows(ada: stunt.Actor) -> None:
    ada.follow(["walk", "idle"], get_up={"back": "stand_up"})
    ada.stun(0.4, hold=0.2, up=0.4)


def falls(ada: stunt.Actor) -> None:
    ada.supervise([stunt.load_clip("walk"), "fall", "balance", "stumble"])
    ada.hit("thorax", impulse=(0.0, 90.0, 0.0), at=0.1)


WAYS = {
    "beats": (ADA, hits_beats), "machine": (ADA, machine), "tension": (ADA, tenses), "paths": (ADA, on_paths),
    "follow": (EVE, follows), "absolute": (EVE, lambda ada: ada.follow("walk", targets="absolute")),
    "follow, beat servo": (EVE, lambda ada: (ada.follow("walk", servo="beat"), ada.follow("idle", at=0.5))),
    "play": (EVE, lambda ada: ada.play("walk", loop=True)), "aim": (EVE, lambda ada: ada.aim({})),
    "pool": (EVE, lambda ada: ada.supervise([stunt.load_clip("walk"), "balance", "reel"])),
    "hit": (EVE, falls),
}  # fmt: skip


def own(stage: stunt.Stage, name: str) -> list[int]:
    """Where somebody's coordinates are."""
    who = stage.character(name)
    joints = [*([who.root] if who.root is not None else ()), *who.joints.values()]
    return [joint.qpos + k for joint in joints for k in range(joint.nq)]


def on_with(way: str, change: str) -> tuple[np.ndarray, stunt.Stage]:
    """Play ada's way of moving for 0.9 s; somebody far away joins or leaves at 0.4 s, or is there all the time."""
    body, drive = WAYS[way]
    first = {"first": FAR} if change != "joins" else {}
    later = {"later": FAR} if change == "there" else {}
    stage = stunt.Stage({**first, "ada": body, **later}, hz=240)
    ada = stage.actor("ada")
    drive(ada)
    stage.push("ada/thorax", at=0.3, impulse=(0.0, 6.0, 0.0), duration=0.2)
    stage.step(0.4)
    if change == "joins":
        assert stage.add("later", FAR) and stage.actor("ada") is ada
    elif change == "leaves":
        stage.remove("first")
    path = []
    for _ in range(10):
        stage.step(0.05)
        path.append(stage.data.qpos[own(stage, "ada")].copy())
    return np.array(path), stage


@pytest.mark.parametrize("way", WAYS)
def test_who_stays_goes_on_as_if_the_cast_had_been_the_new_one_all_the_time(way):
    there, _ = on_with(way, "there")
    for change in ("joins", "leaves"):
        path, _ = on_with(way, change)
        # The engine adds up in another order where others are; that is all there may be.
        assert np.abs(path - there).max() < 1e-5, change


@pytest.mark.parametrize("way", WAYS)
def test_a_state_saved_after_a_change_of_cast_is_gone_on_from_bit_for_bit(way):
    _, stage = on_with(way, "joins")
    saved = stage.save()
    stage.step(0.3)
    one = stage.data.qpos.copy()
    stage.restore(saved)
    stage.step(0.3)
    assert np.array_equal(one, stage.data.qpos)


SHOWS = ("path_walk", "boxing_match", "trip", "crouch", "marionette", "desk", "supervised_walk")
"""Walks through a graph, fights, reflexes, tension with balance, strings, trajectories, a supervised pool."""


@pytest.mark.parametrize("name", SHOWS)
def test_a_show_goes_on_when_a_stranger_joins_far_away_and_leaves_again(name):
    script = stunt.load_script(example(name).path)
    stranger = dataclasses.replace(FAR, start=None)
    more = dataclasses.replace(script.scene, characters={**script.scene.characters, "stranger": stranger})

    def played(joins: bool) -> list[np.ndarray]:
        show = stunt.Performance(script if joins else dataclasses.replace(script, scene=more), foretell=False)
        stage, path = show.stage, []
        stage.step(0.5)
        if joins:
            stage.add("stranger", stranger)
        for part in range(3):
            if part == 1:
                stage.remove("stranger")
            stage.step(0.1)
            path.append(np.concatenate([stage.data.qpos[own(stage, who)] for who in script.scene.characters]))
        assert show.take().cast.names == list(script.scene.characters)
        return path

    assert np.abs(np.array(played(True)) - np.array(played(False))).max() < 1e-6


def test_a_boxer_whose_opponent_leaves_stops_boxing_and_says_why():
    show = stunt.Performance(stunt.load_script(example("boxing_match").path), foretell=False)
    show.stage.step(0.5)
    red, blue = show.script.scene.characters
    show.stage.remove(blue)
    supervisor = show.stage.actor(red).supervisor
    assert not any("box" in controller for controller in supervisor.pool) and blue in str(supervisor.removed)
    assert np.isfinite(show.stage.run(0.5).qpos).all()


def test_what_is_held_stays_held_as_it_is_and_falls_where_who_held_it_has_left():
    props = {"ball": stunt.PropSpec("sphere", mass=0.5, radius=0.05, at=(0.1, -0.6, 1.0))}
    stage = stunt.Stage({"bob": FAR, "ada": ADA}, props=props, hz=240)
    stage.actor("ada").key(SALUTE, at=0.6)
    stage.attach("ball", "ada/r_hand")
    stage.step(0.3)
    grip = stage.prop("ball").grip
    before = stage.model.eq_data[grip].copy()
    stage.remove("bob")
    grip = stage.prop("ball").grip
    assert stage.data.eq_active[grip] and np.array_equal(stage.model.eq_data[grip], before)
    stage.add("bob", FAR)
    stage.remove("ada")
    assert not stage.data.eq_active[stage.prop("ball").grip]
    stage.step(0.8)
    assert stage.data.qpos[stage.prop("ball").qpos + 2] < 0.3


def playing(*others: str) -> stunt.Stage:
    """A stage on which ada hits beats, bob walks, and others stand, at 0.4 s."""
    people = {"ada": ADA, "bob": BOB} | {name: EVE for name in others}
    stage = stunt.Stage(people, hz=240)
    stage.actor("ada").key(SALUTE, at=0.9)
    stage.actor("bob").follow("walk")
    stage.step(0.4)
    return stage


def test_a_new_take_of_the_new_cast_begins():
    stage = playing("eve")
    stage.remove("eve")
    take = stage.run(0.6)
    assert take.cast.names == ["ada", "bob"] and take.time[0] == pytest.approx(0.4, abs=0.01)
    told = take.report()["characters"]
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


def test_nobody_leaves_who_is_not_there_and_who_left_is_told_nothing():
    stage = playing()
    bob = stage.actor("bob")
    stage.remove("bob")
    with pytest.raises(stunt.StuntError, match="bob"):
        stage.remove("bob")
    with pytest.raises(stunt.StuntError, match="bob"):
        bob.follow("idle")
