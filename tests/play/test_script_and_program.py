"""A script is a way to write down what a program says: both make the same take, bit for bit, section by section."""

import numpy as np
import pytest

import stunt
from stunt.supervise.data.clip import clip_player

HUMAN = {"body": "human39"}
WALKER = {"body": "walk", "root": "free", "strength": 1.5, "at": [1.0, 2.0, 0.0], "facing": "30 deg"}
UP = {"r_shoulder_flexion": 75, "r_elbow_flexion": 110}
DOWN = {"r_elbow_flexion": 10, "l_elbow_flexion": 40}
POSES = {"up": stunt.Pose.degrees("up", **UP), "down": stunt.Pose.degrees("down", **DOWN)}


def script(body, part, **more):
    return stunt.script_from_data({
        "seconds": 0.9, "physics_hz": 240, "control_hz": 240, "poses": {"up": UP, "down": DOWN},
        "characters": {"ada": body, **more}, "performance": {"ada": part},
    })  # fmt: skip


def machine_of(made):
    return made.parts["ada"].machine


BEATS = {"beats": [{"at": 0.4, "pose": "up"}, {"at": 0.7, "pose": "down", "duration": 0.2}], "ease": 0.3}
MACHINE = {"machine": {"states": {"a": {"pose": "up", "within": 0.3, "next": {"to": "b", "after": 0.35}},
                                  "b": {"pose": "down", "within": 0.3}}}}  # fmt: skip
TENSION = {"tension_poses": {"tension": {"all": 0.4}, "poses": [
    {"pose": "up", "at": 0.1, "lasts": 0.4, "tension": 0.7}, {"pose": "down", "at": 0.6, "lasts": 0.2}]}}  # fmt: skip
ELBOW = {"r_elbow_flexion": {"times": [0, 0.5, 1], "values": [0, 60, 10]}}
PATHS = {"trajectories": {"settling": 0.15, "joints": ELBOW,
                          "sites": {"l_palm": {"times": [0, 1], "position": [[0, 0, 0], [0, 0, 0.2]],
                                               "relative": True, "strength": 300}}}}  # fmt: skip
CLIPS = {"clips": {"play": [{"clip": "walk", "from": 0.1, "to": 0.5, "blend": 0.2}, {"clip": "idle"}], "yaw": 0.1,
                   "repeat": True, "toward": "bob", "react": {"stun": 0.5}}}  # fmt: skip
POOL = {"supervisor": {"clips": {"walk": {"clip": "walk", "loop": True}, "idle": {"clip": "idle", "asked": True}},
                       "controllers": ["balance"], "requests": [{"at": 0.3, "do": "idle"}], "gain": 1.2, "rate": 60,
                       "passive": ["bob"], "yaw": 0.1}}  # fmt: skip


def by_beats(ada, made):
    ada.beats(ease=0.3)
    ada.key("up", at=0.4)
    ada.key("down", after=0.3, duration=0.2)


def by_tension(ada, made):
    ada.perform(stunt.TensionPart(tension=made.parts["ada"].sections["tension_poses"].tension))
    ada.tense("up", at=0.1, lasts=0.4, tension=0.7)
    ada.tense("down", at=0.6, lasts=0.2)


def by_paths(ada, made):
    ada.path("r_elbow_flexion", stunt.Trajectory.through([0, 0.5, 1], np.radians([0, 60, 10])), settling=0.15)
    way = stunt.Trajectory.through([0, 1], [[0, 0, 0], [0, 0, 0.2]])
    ada.path("l_palm", way, relative=True, strength=300, settling=0.15)


def by_clips(ada, made):
    walk = stunt.motion_of_clip(stunt.load_clip("walk"), ada.character).trimmed(0.1, 0.5)
    walk = stunt.QueuedClip(walk, blend=0.2)
    how = {"root": stunt.RootSpring(yaw=0.1), "react": stunt.Thresholds(stun=0.5)}
    ada.follow([walk, "idle"], loop=False, repeat=True, toward="bob", **how)


def by_pool(ada, made):
    clips = [clip_player(ada.stage, "ada", stunt.load_clip(name), loop=name == "walk", only_asked=name == "idle")
             for name in ("walk", "idle")]  # fmt: skip
    ada.supervise(
        [*clips, "balance"], hz=60, root=stunt.RootSpring(yaw=0.1), settings=stunt.ServoSettings(gain=1.2),
        relation=stunt.Relation(passive=frozenset({"bob"})),
    )  # fmt: skip
    ada.request("idle", at=0.3)


BOB = {"bob": {"body": "human39", "at": [4.0, 3.0, 0.0]}}
WAYS = {
    "beats": (HUMAN, BEATS, by_beats), "machine": (HUMAN, MACHINE, lambda ada, made: ada.run_machine(machine_of(made))),
    "tension": (HUMAN, TENSION, by_tension), "trajectories": (HUMAN, PATHS, by_paths),
    "clips": (WALKER, CLIPS, by_clips), "supervisor": (WALKER, POOL, by_pool),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_program_makes_the_take_of_a_script(way):
    body, part, told = WAYS[way]
    made = script(body, part, **BOB)
    stage = stunt.Stage(made.scene, poses=POSES)
    told(stage.actor("ada"), made)
    one, other = stage.run(0.9), stunt.perform(made)
    for name in ("time", "qpos", "qvel", "torque", "assistance"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert [event["kind"] for event in one.events] == [event["kind"] for event in other.events]
    assert one.meta["tracking"] == other.meta["tracking"]


@pytest.mark.parametrize("way", WAYS)
def test_a_part_can_be_handed_to_an_actor_as_it_is(way):
    body, part, _ = WAYS[way]
    made = script(body, part, **BOB)
    if way in ("clips", "supervisor"):
        pytest.skip("these sections are told to an actor by follow and supervise")
    stage = stunt.Stage(made.scene, poses=POSES)
    ada, whole = stage.actor("ada"), made.parts["ada"]
    if way in ("beats", "machine"):
        ada.perform(whole)
    for section in whole.sections.values():
        ada.perform(section)
    assert np.array_equal(stage.run(0.9).qpos, stunt.perform(made).qpos)


@pytest.mark.parametrize("other", [{"beats": BEATS["beats"]}, MACHINE, TENSION, PATHS, POOL])
def test_a_clip_on_the_weak_spring_shares_its_joints_with_nothing_else(other):
    with pytest.raises(stunt.StuntError, match="cannot be moved by two at once"):
        stunt.Performance(script({"body": "human39", "root": "free"}, {**CLIPS, **other}, **BOB))
