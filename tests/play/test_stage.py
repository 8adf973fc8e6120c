"""A stage as a program plays it: one vocabulary, any body, a take from every stage."""

import dataclasses

import numpy as np
import pytest

import stunt
from stunt.drive.body.reactions import Thresholds

SALUTE = stunt.Pose.degrees("salute", r_shoulder_flexion=75, r_elbow_flexion=110)


def same(one: stunt.Take, other: stunt.Take) -> bool:
    return np.array_equal(one.qpos, other.qpos) and np.array_equal(one.torque, other.torque)


def test_a_pose_can_be_asked_for_by_its_name():
    stage = stunt.Stage({"ada": "human39"}, poses={"salute": SALUTE})
    ada = stage.actor("ada")
    ada.key("salute", at=0.6)
    take = stage.run(0.8)
    assert ada.results[0].error_deg < 0.3 and stage.actor("ada") is ada
    assert take.report()["characters"]["ada"]["beats"][0]["pose"] == "salute"


def test_a_program_and_a_script_make_the_same_take():
    data = {
        "seconds": 0.8, "characters": {"ada": "human39"}, "poses": {"salute": {"r_shoulder_flexion": 75}},
        "performance": {"ada": {"beats": [{"pose": "salute", "at": 0.6}]}},
        "events": [{"push": "ada/thorax", "at": 0.3, "impulse": [5, 0, 0]}],
    }  # fmt: skip
    script = stunt.script_from_data(data)
    stage = stunt.Stage(dataclasses.replace(script.scene, events=()), poses=script.poses)
    stage.actor("ada").key("salute", at=0.6)
    stage.happen(script.scene.events[0])
    assert same(stunt.perform(script), stage.run(0.8))


def test_stepping_by_hand_makes_the_take_that_running_makes():
    def stage():
        made = stunt.Stage({"ada": stunt.Body("walk", root="free", at=(1.0, 2.0), facing=1.0)}, hz=120)
        made.actor("ada").follow("walk")
        made.push("ada/thorax", at=0.2, impulse=(10, 0, 0))
        return made

    by_hand = stage()
    while by_hand.time < 0.5 - 1e-9:
        by_hand.step(1 / 60)
    assert same(by_hand.take(), stage().run(0.5))


def test_every_driver_honours_where_its_body_stands_and_faces():
    spots = {"a": (0.0, 0.0, 0.0), "b": (0.0, 2.0, 0.0), "c": (3.0, 0.0, 0.0)}
    people = {name: stunt.Body("walk", root="free", at=at, facing=0.5) for name, at in spots.items()}
    stage = stunt.Stage(people, hz=120)
    stage.actor("a").follow("walk")
    stage.actor("b").play("walk")
    stage.actor("c").supervise({"walk": "walk"})
    stage.step(1 / 60)
    for name, at in spots.items():
        here = stage.actor(name).state
        assert np.allclose(here.position[:2], at[:2], atol=0.05), name
        assert abs(here.heading - 0.5) < 0.2, name


def test_another_clip_takes_over_from_the_one_before():
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free")}, hz=120)
    ada = stage.actor("ada")
    ada.follow("walk")
    ada.follow("idle", at=0.4)
    stage.run(0.6)
    assert ada.state.doing == "follow" and ada.state.detail == "idle"


def test_a_push_is_felt_as_a_hit_is():
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free", strength=1.5)}, hz=120)
    stage.actor("ada").follow("walk", react=Thresholds(stun=0.5, limp=4.0))
    stage.actor("ada").hit("thorax", impulse=(0.0, 30.0, 0.0), at=0.3)
    take = stage.run(0.6)
    (hit,) = [event for event in take.events if event["kind"] == "hit"]
    assert hit["by"] == "push" and hit["body"] == "thorax" and hit["force"] == pytest.approx(30.0 / (2 / 120))
    assert any(event["kind"] == "reaction" and event["state"] == "stunned" for event in take.events)


def test_a_supervisor_hears_of_a_push():
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free")}, hz=120)
    supervisor = stage.actor("ada").supervise({"walk": "walk"})
    heard = []
    stage.hit_listeners.append(heard.append)
    stage.push("ada/thorax", at=0.2, impulse=(20, 0, 0))
    stage.run(0.4)
    assert [hit.by for hit in heard] == ["push"] and supervisor.running
    assert stage.actor("ada").state.doing == "supervise"


def test_a_saved_stage_goes_on_bit_for_bit():
    stage = stunt.Stage({"ada": stunt.Body("human39")}, poses={"salute": SALUTE})
    ada = stage.actor("ada")
    ada.key("salute", at=0.5)
    stage.at(0.4, lambda: ada.key("salute", at=0.9))
    stage.push("ada/thorax", at=0.3, impulse=(5, 0, 0))
    stage.step(0.2)
    saved = stage.save()
    first = stage.run(0.8)
    stage.restore(saved)
    assert same(stage.run(0.8), first)


def test_joints_and_strings_and_tension_share_a_body():
    stage = stunt.Stage({"ada": "human39"})
    ada = stage.actor("ada")
    ada.key(stunt.Pose.degrees("nod", neck_flexion=10), at=0.4)
    ada.tense(stunt.Pose.degrees("bent", l_elbow_flexion=40), tension="firm", lasts=0.4)
    ada.path("r_elbow_flexion", stunt.Trajectory.through([0.0, 0.5], [0.0, 0.5]))
    take = stage.run(0.6)
    kinds = {event["kind"] for event in take.events}
    assert "beat" in kinds and "trajectory" in kinds
    assert ada.state.angles["r_elbow_flexion"] == pytest.approx(0.5, abs=0.05)


def test_a_take_reports_and_exports_itself(tmp_path):
    stage = stunt.Stage({"ada": "human39"}, record=60.0)
    stage.actor("ada").key(SALUTE, at=0.3)
    take = stage.run(0.4)
    assert take.report() == stunt.make_report(take) and np.diff(take.time) == pytest.approx(1 / 60)
    (written,) = take.export(tmp_path / "salute.glb")
    assert written.stat().st_size > 10_000
    assert stunt.Take.load(take.save(tmp_path / "take.npz")).cast.names == ["ada"]
