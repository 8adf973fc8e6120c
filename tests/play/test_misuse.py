"""Wrong use is taken where it can be; where not, a Stunt error names the argument."""

import copy
import math
import pickle
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stunt

ARM = """
<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1">
  <joint name="swing" axis="0 1 0" range="-90 90"/><geom type="capsule" size=".05" fromto="0 0 0 0 0 -.4"/>
</body></worldbody></mujoco>
"""
NAN = math.nan
SALUTE = stunt.Pose.degrees("salute", r_elbow_flexion=80)


@pytest.fixture(scope="module")
def fixed():
    return stunt.Stage({"ada": stunt.Body("human39")}, props={"ball": stunt.PropSpec("sphere", at=(2, 0, 1), mass=1.0)})


@pytest.fixture(scope="module")
def walker():
    stage = stunt.Stage({"ada": stunt.Body("walk", root="free")}, hz=120)
    stage.actor("ada").follow("walk")
    return stage


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: stunt.Stage(None), "scene"),
        (lambda: stunt.Stage("human39"), "scene"),
        (lambda: stunt.Stage(Path("walk.bvh")), "scene"),
        (lambda: stunt.Stage({"ada": None}), "body of 'ada'"),
        (lambda: stunt.Stage({"ada": 39}), "body of 'ada'"),
        (lambda: stunt.Stage({3: stunt.Body("human39")}), "name of a character"),
        (lambda: stunt.Stage({"ada": "human93"}), "human93"),
        (lambda: stunt.Stage({"world": "human39"}), "world"),
        (lambda: stunt.Stage({"ada": "human39"}, hz=0), "hz"),
        (lambda: stunt.Stage({"ada": "human39"}, hz=NAN), "hz"),
        (lambda: stunt.Stage({"ada": "human39"}, hz=1e-9), "rate"),
        (lambda: stunt.Stage({"ada": "human39"}, hz="fast"), "hz"),
        (lambda: stunt.Stage({"ada": "human39"}, record=-1.0), "record"),
        (lambda: stunt.Stage({"ada": "human39"}, seed=-1), "seed"),
        (lambda: stunt.Stage({"ada": "human39"}, gravity=(0, 0, NAN)), "gravity"),
        (lambda: stunt.Stage({"ada": "human39"}, props={"ball": "sphere"}), "prop 'ball'"),
        (lambda: stunt.Stage({"ada": "human39"}, props=["ball"]), "props"),
        (lambda: stunt.Stage({"ada": "human39"}, poses={"up": {"neck_flexion": 1}}), "poses"),
        (lambda: stunt.Body(None), "body"),
        (lambda: stunt.Body(7), "body"),
        (lambda: stunt.Body("human39", at=3.0), "at"),
        (lambda: stunt.Body("human39", at=(0, NAN, 0)), "at"),
        (lambda: stunt.Body("human39", facing="north"), "facing"),
        (lambda: stunt.Body("human39", facing=NAN), "facing"),
        (lambda: stunt.Stage({"ada": stunt.Body("human39", root="loose")}), "root"),
        (lambda: stunt.Stage({"ada": stunt.Body("human39", strength=-1)}), "strength"),
        (lambda: stunt.Stage({"ada": stunt.Body("human39", height=NAN)}), "height"),
        (lambda: stunt.Stage({"ada": stunt.Body(stunt.load_clip("walk"), height=1.8)}), "height"),
        (lambda: stunt.Stage({"ada": "human39"}, record=False).take(), "record=False"),
        (lambda: stunt.Stage({"ada": "human39"}, record=False).run(1.0), "record=False"),
    ],
)  # fmt: skip
def test_a_stage_that_cannot_be(wrong, named):
    with pytest.raises(stunt.StuntError, match=named.replace("(", r"\(")):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda s: s.actor("bob"), "bob"),
        (lambda s: s.actor(None), "name"),
        (lambda s: s.run(0.0), "seconds"),
        (lambda s: s.run(NAN), "seconds"),
        (lambda s: s.step(-1.0), "dt"),
        (lambda s: s.push("ada/thorax"), "impulse and force"),
        (lambda s: s.push("ada/thorax", impulse=(1, 0, 0), force=(1, 0, 0)), "impulse and force"),
        (lambda s: s.push("ada/thorax", impulse=40.0), "impulse"),
        (lambda s: s.push("ada/thorax", impulse=(1, 2)), "impulse"),
        (lambda s: s.push("ada/thorax", impulse={1, 2, 3}), "impulse"),
        (lambda s: s.push("ada/thorax", impulse=("1", "2", "3")), "impulse"),
        (lambda s: s.push("ada/thorax", impulse={1: 0, 2: 0, 3: 0}), "impulse"),
        (copy.copy, "cannot be copied"),
        (copy.deepcopy, "cannot be copied"),
        (pickle.dumps, "cannot be copied or pickled"),
        (lambda s: s.push("ada/thorax", impulse=(NAN, 0, 0)), "impulse"),
        (lambda s: s.push("ada/thorax", at=-1.0, impulse=(1, 0, 0)), "at"),
        (lambda s: s.push("ada/thorax", at=NAN, impulse=(1, 0, 0)), "at"),
        (lambda s: s.push("ada/thorx", impulse=(1, 0, 0)), "thorx"),
        (lambda s: s.push("bob/thorax", impulse=(1, 0, 0)), "bob"),
        (lambda s: s.push(None, impulse=(1, 0, 0)), "target"),
        (lambda s: s.push("ada/thorax", impulse=(1, 0, 0), duration=0.0), "duration"),
        (lambda s: s.happen(stunt.Push("ada/thorax", at=0.5)), "impulse and force"),
        (lambda s: s.happen("push"), "event"),
        (lambda s: s.at(1.0, "later"), "action"),
        (lambda s: s.throw("bal", "ada/thorax", hits_at=1.0), "bal"),
        (lambda s: s.throw("ball", "ada/thorax", hits_at=NAN), "hits_at"),
        (lambda s: s.drag("ada/r_hand", [], until=1.0), "path"),
        (lambda s: s.drag("ada/r_hand", [(1, 0, 0)], until=-1.0), "until"),
        (lambda s: s.actor("ada").key("salute", at=1.0), "salute"),
        (lambda s: s.actor("ada").key(None, at=1.0), "pose"),
        (lambda s: s.actor("ada").key(SALUTE), "at and after"),
        (lambda s: s.actor("ada").key(SALUTE, at=-1.0), "at"),
        (lambda s: s.actor("ada").key(SALUTE, at=NAN), "at"),
        (lambda s: s.actor("ada").key(stunt.Pose.degrees("", r_elbw=8), at=1.0), "r_elbw"),
        (lambda s: s.actor("ada").key(stunt.Pose.degrees("", r_elbow_flexion=800), at=1.0), "r_elbow_flexion"),
        (lambda s: s.actor("ada").beats(couplng="full"), "couplng"),
        (lambda s: s.actor("ada").follow("walk"), "root='free'"),
        (lambda s: s.actor("ada").play("walk"), "root='free'"),
        (lambda s: s.actor("ada").supervise(["rag_doll"]), "root='free'"),
        (lambda s: s.actor("ada").path("r_elbw", stunt.Trajectory.through([0, 1], [0, 1])), "r_elbw"),
        (lambda s: s.actor("ada").path("r_elbow_flexion", [0, 1]), "trajectory"),
        (lambda s: s.actor("ada").path("r_elbow_flexion"), "trajectory"),
        (lambda s: s.actor("ada").tense(), "tense"),
        (lambda s: s.actor("ada").tense(SALUTE, lasts=-1.0), "lasts"),
        (lambda s: s.actor("ada").aim(None), "pose"),
        (lambda s: s.actor("ada").aim({"r_elbw": 1.0}), "r_elbw"),
        (lambda s: s.actor("ada").put(), "put"),
        (lambda s: s.actor("ada").put(root=(0, 0, 1)), "fixed root"),
        (lambda s: s.actor("ada").hit("thorx", impulse=(1, 0, 0)), "thorx"),
        (lambda s: s.actor("ada").hit("thorax"), "impulse and force"),
        (lambda s: s.actor("ada").request("walk"), "supervisor"),
        (lambda s: s.actor("ada").stun(), "stun"),
    ],
)  # fmt: skip
def test_a_word_nobody_understands(fixed, wrong, named):
    with pytest.raises(stunt.StuntError, match=named):
        wrong(fixed)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda a: a.follow("wlak"), "wlak"),
        (lambda a: a.follow(None), "clip"),
        (lambda a: a.follow(SALUTE), "clip"),
        (lambda a: a.follow("walk", servo="wrold"), "wrold"),
        (lambda a: a.follow("walk", settings="world"), "settings"),
        (lambda a: a.follow("walk", root="weak"), "root"),
        (lambda a: a.follow("walk", blend=-1.0), "blend"),
        (lambda a: a.follow("walk", begin=100.0), "begin"),
        (lambda a: a.follow("walk", at=-1.0), "at"),
        (lambda a: a.put(root=(0, 0)), "root"),
        (lambda a: a.put(root=(0, 0, NAN)), "root"),
    ],
)  # fmt: skip
def test_what_somebody_who_walks_cannot_be_told(walker, wrong, named):
    with pytest.raises(stunt.StuntError, match=named):
        wrong(walker.actor("ada"))


def test_what_can_be_taken_for_a_body_is_taken():
    clip, model = stunt.load_clip("walk"), mujoco.MjSpec.from_string(ARM)
    people = {"a": "human39", "b": Path("walk"), "c": clip, "d": model, "e": stunt.Body(model, at=(0, 3))}
    stage = stunt.Stage(people, hz=240)
    assert list(stage.characters) == list(people) and "swing" in stage.character("d").joints
    names = [member.body for member in stage.run(0.02).cast.characters.values()]
    assert names == ["human39", "walk", "walk", "arm", "arm"]
    assert np.allclose(stage.actor("e").state.position[:2], (0, 3), atol=1e-6)
    assert model.joints  # the user's own was copied, not used up


def stage_of() -> stunt.Stage:
    props = {"ball": stunt.PropSpec("sphere", at=(2, 0, 1), mass=1.0), "wall": stunt.PropSpec("box", at=(5, 0, 1))}
    return stunt.Stage({"ada": stunt.Body("human39")}, props=props, poses={"salute": SALUTE})


MORE = {
    "pose": lambda a: a.key(["salute"], at=1),
    "at": lambda a: a.key("salute", at="1"),
    "at ": lambda a: a.key("salute", at=True),
    "at  ": lambda a: a.key("salute", at=math.inf),
    "hold": lambda a: a.key("salute", at=1, hold="long"),
    "part": lambda a: a.perform(stunt.load_clip("walk")),
    "machine": lambda a: a.run_machine({}),
    "coupling": lambda a: a.beats(coupling="ful"),
    "tension": lambda a: a.beats(tension="firm"),
    "ease": lambda a: a.beats(ease=NAN),
    "furious": lambda a: a.tense("salute", tension="furious"),
    "damping": lambda a: a.tense("salute", damping="x"),
    "curve": lambda a: a.tense("salute", curve="eas"),
    "fly": lambda a: a.tense("salute", then="fly"),
    "speed": lambda a: a.tense("salute", speed=2),
    "springs": lambda a: a.tense("salute", springs=3),
    "update": lambda a: a.tense("salute", update="x"),
    "joints": lambda a: a.tense(tension=0.5, joints="elbw"),
    "what": lambda a: a.path(["r_elbow_flexion"], stunt.Trajectory.through([0, 1], [0, 1])),
    "settling": lambda a: a.path("r_elbow_flexion", stunt.Trajectory.through([0, 1], [0, 1]), settling="x"),
    "strength": lambda a: a.path("r_palm", stunt.Trajectory.through([0, 1], [[0, 0, 0], [1, 1, 1]]), strength=0),
    "r_elbw": lambda a: a.let_go("r_elbw"),
    "numbers|angles": lambda a: a.aim(np.zeros(3)),
    "r_elbow_flexion": lambda a: a.aim({"r_elbow_flexion": NAN}),
    "r_elbow_flexion ": lambda a: a.put(pose=stunt.Pose("", {"r_elbow_flexion": NAN})),
    "target": lambda a: a.stage.push(None, impulse=(1, 0, 0)),
    "wall": lambda a: a.stage.push("wall", impulse=(1, 0, 0)),
    "duration": lambda a: a.stage.push("ada/thorax", impulse=(1, 0, 0), duration=0),
    "point": lambda a: a.stage.push("ada/thorax", impulse=(1, 0, 0), point=3),
    "target ": lambda a: a.stage.throw("ball", None, hits_at=1),
    "prop": lambda a: a.stage.throw(None, "ada/thorax", hits_at=1),
    "origin": lambda a: a.stage.throw("ball", "ada/thorax", hits_at=1, origin=(1, 2)),
    "to": lambda a: a.stage.attach("ball", None),
    "until": lambda a: a.stage.attach("ball", "ada/r_hand", at=0.5, until=0.2),
    "path": lambda a: a.stage.drag("ada/r_hand", 3, until=1),
    "target  ": lambda a: a.stage.drag(None, [(1, 2, 3)], until=1),
    "dt": lambda a: a.stage.step("x"),
    "dt ": lambda a: a.stage.step(None),
    "steps": lambda a: a.stage.advance(-1),
    "steps ": lambda a: a.stage.advance(1.5),
    "state": lambda a: a.stage.restore({}),
    "state ": lambda a: a.stage.restore(None),
    "action": lambda a: a.stage.at(1.0, None),
    "event": lambda a: a.stage.happen("push"),
    "name": lambda a: a.stage.actor(None),
    "gravity": lambda a: stunt.Stage({"a": "human39"}, gravity="down"),
    "gravity ": lambda a: stunt.Stage({"a": "human39"}, gravity=-9.81),
    "ground": lambda a: stunt.Stage({"a": "human39"}, ground="yes"),
    "collisions": lambda a: stunt.Stage({"a": "human39"}, collisions="hard"),
    "mass": lambda a: stunt.Stage({"a": "human39"}, props={"b": stunt.PropSpec("sphere", mass="x")}),
    "impulse": lambda a: stunt.Stage(stunt.Scene({"a": stunt.Body("human39")}, events=(stunt.Push("a/thorax", 0.1),))),
    "script": lambda a: stunt.perform("ymca"),
    "at   ": lambda a: a.key("salute", at=10**400),
    "impulse ": lambda a: a.stage.push("ada/thorax", impulse=(10**400, 0, 0)),
    "root|fixed": lambda a: a.put(root=(0, 0, 10**400)),
    "times and values": lambda a: stunt.Trajectory.through([0, 1], [0, 10**400]),
    "at    ": lambda a: stunt.Body("human39", at=(0, 10**400, 0)),
}
WALKING = {
    "repeat": lambda a: a.follow("walk", repeat="x"),
    "loop": lambda a: a.follow("walk", loop="yes"),
    "feet": lambda a: a.follow("walk", feet="yes"),
    "facing": lambda a: a.follow("walk", facing="left"),
    "clip": lambda a: a.follow([]),
    "clip ": lambda a: a.follow([None]),
    "clip  ": lambda a: a.follow({"walk": 1}),
    "bob": lambda a: a.follow("walk", toward="bob"),
    "abs": lambda a: a.follow("walk", targets="abs"),
    "react": lambda a: a.follow("walk", react=3),
    "get_up": lambda a: a.follow("walk", get_up="stand_up"),
    "left": lambda a: a.follow("walk", get_up={"left": "stand_up"}),
    "end": lambda a: a.follow("walk", end=-1),
    "wrold": lambda a: a.follow("walk", settings=stunt.ServoSettings(servo="wrold")),
    "gain": lambda a: a.follow("walk", settings=stunt.ServoSettings(gain=NAN)),
    "strong": lambda a: a.follow("walk", root=stunt.RootSpring(kind="strong")),
    "stun": lambda a: a.follow("walk", react=stunt.Thresholds(stun=-1)),
    "coordinates": lambda a: a.follow(stunt.BodyMotion("x", 30.0, np.zeros((5, 9)))),
    "since": lambda a: a.play("walk", since=-1),
    "clip    ": lambda a: a.play(["walk"]),
    "pool": lambda a: a.supervise(None),
    "pool ": lambda a: a.supervise("walk"),
    "hz": lambda a: a.supervise({"walk": "walk"}, hz=0),
    "safe": lambda a: a.supervise({"w": "walk"}, safe="rag_doll"),
    "balance": lambda a: a.supervise(["balance", "balance"]),
    "controllers": lambda a: a.supervise({}),
    "relation": lambda a: a.supervise({"walk": "walk"}, relation={"ball"}),
    "low": lambda a: a.stun(2.0),
    "up": lambda a: a.stun(0.2, up=-1),
    "over": lambda a: a.aim({}, over=0),
    "r_elbow": lambda a: a.aim({"r_elbow": (1, 2)}),
    "r_elbow ": lambda a: a.aim({"r_elbow": "x"}),
    "quaternion": lambda a: a.put(root=(0, 0, 1, 0, 0, 0, 0)),
}


@pytest.mark.parametrize("named", MORE)
def test_every_argument_is_named_that_cannot_be_taken(named):
    with pytest.raises(stunt.StuntError, match=named.strip()):
        MORE[named](stage_of().actor("ada"))


@pytest.mark.parametrize("named", WALKING)
def test_every_argument_of_the_whole_body_is_named_that_cannot_be_taken(walker, named):
    with pytest.raises(stunt.StuntError, match=named.strip()):
        WALKING[named](walker.actor("ada"))
    assert walker.actor("ada").state.doing == "follow"
