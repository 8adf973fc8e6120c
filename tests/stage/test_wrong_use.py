"""A hundred and fifty wrong uses, found by fuzzing and by hand: each is a Stunt error that names what is wrong."""

from __future__ import annotations

import math
import re
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import stunt
from stunt.script.performance import Performance
from stunt.stage.loop import StageLoop
from stunt.stage.props import PropSpec
from stunt.stage.scene import CharacterSpec, Scene

NAN = math.nan


def prop(**changed):
    """Make a stage with a ball, changed."""
    whole = {"shape": "sphere", "radius": 0.1, "mass": 1.0, "at": (0, 0, 1), **changed}
    return stunt.Stage(Scene(props={"b": PropSpec(**whole)}))


def char(**changed):
    """Make a stage with somebody, changed."""
    return stunt.Stage(Scene(characters={"ada": CharacterSpec(**{"body": "torso28", **changed})}))


def scene(**changed):
    """Make a stage of a scene, changed."""
    return stunt.Stage(Scene(**{"characters": {"ada": CharacterSpec("torso28")}, **changed}))


@cache
def made():
    """Return a stage S, another O, an actor A, a take T, a pose P and a folder tmp."""
    ball = stunt.PropSpec("sphere", radius=0.1, mass=1.0, at=(2, 0, 1))
    stage = stunt.Stage({"ada": stunt.Body("torso28")}, props={"ball": ball})
    take = stage.run(0.05)
    pose = stunt.Pose.degrees("p", r_elbow_flexion=10)
    other, folder = stunt.Stage({"bob": stunt.Body("torso28")}), Path(tempfile.mkdtemp())
    return SimpleNamespace(S=stage, O=other, A=stage.actor("ada"), T=take, P=pose, tmp=folder)


CASES = [
    ("at", lambda: prop(at=(NAN, 0, 1))),
    ("at", lambda: prop(at=(0,))),
    ("at", lambda: prop(at="x")),
    ("at", lambda: prop(at=None)),
    ("velocity", lambda: prop(velocity=(NAN, 0, 0))),
    ("velocity", lambda: prop(velocity=(0,))),
    ("velocity", lambda: prop(velocity="x")),
    ("velocity", lambda: prop(velocity=(1e300, 0, 0))),
    ("velocity", lambda: prop(velocity=3.0)),
    ("velocity", lambda: prop(velocity=None)),
    ("spin", lambda: prop(spin=(NAN, 0, 0))),
    ("spin", lambda: prop(spin="x")),
    ("mass", lambda: prop(mass=NAN)),
    ("mass", lambda: prop(mass=-1)),
    ("mass", lambda: prop(mass="x")),
    ("mass", lambda: prop(mass=math.inf)),
    ("mass", lambda: prop(mass=None, velocity=(1, 0, 0))),
    ("radius", lambda: prop(radius=NAN)),
    ("radius", lambda: prop(radius=-1)),
    ("radius", lambda: prop(radius="x")),
    ("radius", lambda: prop(radius=None)),
    ("shape", lambda: prop(shape="blob")),
    ("shape", lambda: prop(shape=None)),
    ("facing", lambda: prop(facing=NAN)),
    ("facing", lambda: prop(facing="n")),
    ("friction", lambda: prop(friction=-1)),
    ("friction", lambda: prop(friction="x")),
    ("color", lambda: prop(color="x")),
    ("color", lambda: prop(color=(NAN, 0, 0, 1))),
    ("size", lambda: stunt.Stage(Scene(props={"b": PropSpec("box", size="x", mass=1.0)}))),
    ("at", lambda: char(at=None)),
    ("at", lambda: char(at=(NAN, 0, 0))),
    ("start", lambda: char(start={"r_elbow_flexion": "x"})),
    ("start", lambda: char(start=5)),
    ("start", lambda: char(start={"r_elbow_flexion": NAN})),
    ("start", lambda: char(start="up")),
    ("start", lambda: char(start={"r_elbow_flexion": [1, 2]})),
    ("body", lambda: char(body=None)),
    ("body", lambda: char(body=3)),
    ("mass", lambda: char(mass=NAN)),
    ("mass", lambda: char(mass="x")),
    ("height", lambda: char(height=0)),
    ("sex", lambda: char(sex="x")),
    ("root", lambda: char(root=None)),
    ("strength", lambda: char(strength=NAN)),
    ("strength", lambda: char(strength="x")),
    ("self_collision", lambda: char(self_collision="x")),
    ("gravity", lambda: scene(gravity=-9.81)),
    ("gravity", lambda: scene(gravity=(0, 0))),
    ("gravity", lambda: scene(gravity="down")),
    ("gravity", lambda: scene(gravity=None)),
    ("gravity", lambda: scene(gravity=(0, 0, math.inf))),
    ("rate", lambda: scene(physics_hz=None)),
    ("rate", lambda: scene(physics_hz="x")),
    ("0", lambda: scene(physics_hz=0)),
    ("rate", lambda: scene(physics_hz=-1)),
    ("nan", lambda: scene(physics_hz=NAN)),
    ("inf", lambda: scene(physics_hz=math.inf)),
    ("rate", lambda: scene(control_hz=None)),
    ("rate", lambda: scene(control_hz="x")),
    ("seed", lambda: scene(seed=None)),
    ("seed", lambda: scene(seed="x")),
    ("seed", lambda: scene(seed=1.5)),
    ("seed", lambda: scene(seed=-1)),
    ("ground", lambda: scene(ground="x")),
    ("collisions", lambda: scene(collisions="x")),
    ("props", lambda: scene(props=[1])),
    ("characters", lambda: scene(characters=["ada"])),
    ("characters", lambda: scene(characters=None)),
    ("events", lambda: scene(events=("push",))),
    ("events", lambda: scene(events=None)),
    ("scene", lambda: StageLoop(None)),
    ("scene", lambda: StageLoop("x")),
    ("script", lambda: Performance(None)),
    ("script", lambda: Performance("x")),
    ("state", lambda: made().S.restore(None)),
    ("state", lambda: made().S.restore({})),
    ("state", lambda: made().S.restore(made().O.save())),
    ("state", lambda: made().S.restore("x")),
    ("body", lambda: stunt.describe_body("human39")),
    ("body", lambda: stunt.describe_body(None)),
    ("clip", lambda: stunt.load_clip(None)),
    ("clip", lambda: stunt.load_clip(3)),
    ("clip", lambda: stunt.load_clip(str(made().tmp))),
    ("clip", lambda: stunt.load_clip("x" * 5000)),
    ("clip", lambda: stunt.load_clip("a\0b")),
    ("script", lambda: stunt.load_script(None)),
    ("script", lambda: stunt.load_script(made().tmp)),
    ("script", lambda: stunt.load_script("a\0b")),
    ("script", lambda: stunt.load_script("x" * 5000 + ".yaml")),
    ("script", lambda: stunt.load_script(3.5)),
    ("take", lambda: stunt.Take.load(None)),
    ("take", lambda: stunt.Take.load("a\0b")),
    ("take", lambda: stunt.Take.load("x" * 5000)),
    ("take", lambda: stunt.Take.load(3.5)),
    ("take", lambda: made().T.save(None)),
    ("take", lambda: made().T.save("a\0b")),
    ("long", lambda: made().T.save("x" * 300 + ".npz")),
    ("path", lambda: made().T.export(None)),
    ("fps", lambda: made().T.export(made().tmp / "a.csv", fps=-1)),
    ("fps", lambda: made().T.export(made().tmp / "a.csv", fps=NAN)),
    ("fps", lambda: made().T.export(made().tmp / "a.csv", fps="x")),
    ("start", lambda: made().T.export(made().tmp / "a.csv", start=NAN)),
    ("character", lambda: made().T.export(made().tmp / "a.csv", character="zz")),
    ("fps", lambda: made().T.export(made().tmp / "a.csv", fps=1e12)),
    ("r_elbow_flexion", lambda: made().A.key(stunt.Pose.degrees("", r_elbow_flexion=NAN), at=1.0)),
    ("r_elbow_flexion", lambda: stunt.Pose.degrees("", r_elbow_flexion="x")),
    ("at", lambda: made().A.key(made().P, at="1")),
    ("after", lambda: made().A.key(made().P, at=1.0, after=1.0)),
    ("pose", lambda: made().A.key({}, at=1.0)),
    ("character", lambda: made().S.character(None)),
    ("prop", lambda: made().S.prop(None)),
    ("prop", lambda: made().S.prop("zz")),
    ("character", lambda: made().S.add(None, "torso28")),
    ("body", lambda: made().S.add("eve", None)),
    ("unknown", lambda: made().S.remove("zz")),
    ("character", lambda: made().S.remove(None)),
    ("at", lambda: made().S.at("x", print)),
    ("at", lambda: made().S.at(-1, print)),
    ("unknown", lambda: made().S.attach("zz", "ada/r_hand")),
    ("body", lambda: made().S.attach("ball", "ada/zz")),
    ("to", lambda: made().S.attach("ball", None)),
    ("at", lambda: made().S.attach("ball", "ada/r_hand", at="x")),
    ("until", lambda: made().S.attach("ball", "ada/r_hand", until="x")),
    ("unknown", lambda: made().S.release("zz")),
    ("prop", lambda: made().S.release(None)),
    ("origin", lambda: made().S.throw("ball", "ada/thorax", hits_at=9.0, origin=(1,))),
    ("lead", lambda: made().S.throw("ball", "ada/thorax", hits_at=9.0, lead="x")),
    ("target", lambda: made().S.throw("ball", None, hits_at=9.0)),
    ("prop", lambda: made().S.throw(None, "ada/thorax", hits_at=9.0)),
    ("path", lambda: made().S.drag("ada/thorax", "x", until=2.0)),
    ("nan", lambda: made().S.drag("ada/thorax", [(NAN, 0, 0)], until=2.0)),
    ("strength", lambda: made().S.drag("ada/thorax", [(1, 0, 0)], until=2.0, strength=-1)),
    ("target", lambda: made().S.drag(None, [(1, 0, 0)], until=2.0)),
    ("point", lambda: made().S.push("ada/thorax", impulse=(1, 0, 0), point=(1,))),
    ("duration", lambda: made().S.push("ada/thorax", impulse=(1, 0, 0), duration="x")),
    ("at", lambda: made().S.happen(stunt.Push("ada/thorax", NAN, impulse=(1, 0, 0)))),
    ("at", lambda: made().S.happen(stunt.Push("ada/thorax", "x", impulse=(1, 0, 0)))),
    ("target", lambda: made().S.happen(stunt.Push("zz", 1.0, impulse=(1, 0, 0)))),
    ("seconds", lambda: made().S.run("x")),
    ("seconds", lambda: made().S.run(None)),
    ("seconds", lambda: made().S.run(-1)),
    ("pose", lambda: made().S.pose(3)),
    ("nan", lambda: made().S.tick_of(NAN)),
    ("times", lambda: stunt.Trajectory.through([1, 0], [0, 1])),
    ("times", lambda: stunt.Trajectory.through(None, None)),
    ("time", lambda: stunt.Trajectory.through([0, 1, 2], [0, 1])),
    ("rate", lambda: stunt.Trajectory.sampled(np.zeros(5), 0)),
    ("clip", lambda: stunt.retarget(None, None)),
    ("zz", lambda: char(start={"zz": 1.0})),
    ("control period", lambda: scene(physics_hz=500, control_hz=480)),
    ("cannot write", lambda: made().T.save(made().tmp)),
    (".zzz", lambda: made().T.export(made().tmp / "a.zzz")),
    ("called 'ada' already", lambda: made().S.add("ada", "torso28")),
    ("event", lambda: made().S.happen(None)),
    ("gap", lambda: stunt.Trajectory.through([0, 1], [0, NAN])),
    ("clip", lambda: stunt.motion_of_clip(None, None)),
    ("size", lambda: stunt.Stage(Scene(props={"b": PropSpec("box", size=(1,), mass=1.0)}))),
    ("3300 bodies", lambda: stunt.Stage(Scene(props={f"b{k}": PropSpec("sphere") for k in range(3300)}))),
]


@pytest.mark.parametrize(("named", "wrong"), CASES, ids=[f"{n}-{named}" for n, (named, _) in enumerate(CASES)])
def test_wrong_use_is_an_error_that_names_what(named, wrong):
    with pytest.raises(stunt.StuntError, match=re.escape(named)) as caught:
        wrong()
    assert len(str(caught.value)) < 4100


def test_there_are_a_hundred_and_fifty():
    assert len(CASES) >= 150
