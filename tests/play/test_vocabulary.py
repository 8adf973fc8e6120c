"""What a script can say, objects can, and the reverse: both lists are walked through."""

import dataclasses
import inspect
from typing import get_args

import stunt
from stunt.drive.beats.spec import Part
from stunt.script.kinds import KINDS
from stunt.stage.scene import Event, Scene

OF_A_PART = {
    "beats": "key", "cycle": "perform", "machine": "run_machine", "coupling": "beats", "arrival": "beats",
    "tension": "beats", "ease": "beats", "joints": "beats", "gravity_compensation": "beats",
}  # fmt: skip
OF_A_SECTION = {"tension_poses": "tense", "trajectories": "path", "clips": "follow", "supervisor": "supervise"}
OF_AN_EVENT = {"Push": "push", "Throw": "throw", "Attach": "attach", "Release": "release", "Drag": "drag"}
OF_A_SCENE = {
    "characters": "scene", "props": "props", "physics_hz": "hz", "control_hz": "hz", "gravity": "gravity",
    "ground": "ground", "seed": "seed", "collisions": "collisions", "sleep": "sleep",
}  # fmt: skip
NO_WORDS = {"place", "joint_places", "sections", "reserved"}
AT_THE_MOMENT = {"aim", "put", "hit", "stun", "go_limp", "let_go", "play"}
"""What only a program can say: a script knows what happens beforehand. A script plays clips in a supervisor's pool."""
ANSWERS = {"state", "results", "body", "supervisor", "summary", "happened", "doing_now", "go_on", "request"}


def test_whatever_a_part_says_an_actor_can_be_told():
    said = {field.name for field in dataclasses.fields(Part)} - NO_WORDS
    assert said == set(OF_A_PART)
    assert set(KINDS) == set(OF_A_SECTION)
    for verb in (*OF_A_PART.values(), *OF_A_SECTION.values()):
        assert callable(getattr(stunt.Actor, verb)), verb


def test_whatever_an_actor_can_be_told_a_script_can_say_or_only_a_program_could():
    verbs = {name for name in vars(stunt.Actor) if not name.startswith("_")}
    assert verbs == {*OF_A_PART.values(), *OF_A_SECTION.values()} | AT_THE_MOMENT | ANSWERS


def test_whatever_happens_in_a_scene_can_happen_on_a_stage():
    assert {kind.__name__ for kind in get_args(Event)} == set(OF_AN_EVENT)
    for kind in get_args(Event):
        told = inspect.signature(getattr(stunt.Stage, OF_AN_EVENT[kind.__name__])).parameters
        fields = {field.name for field in dataclasses.fields(kind)} - {"place", "felt"}
        assert fields <= set(told), kind.__name__


def test_whatever_a_scene_has_a_stage_can_be_given():
    given = inspect.signature(stunt.Stage.__init__).parameters
    fields = {field.name for field in dataclasses.fields(Scene)} - {"events"}
    assert fields == set(OF_A_SCENE) and set(OF_A_SCENE.values()) <= set(given)
