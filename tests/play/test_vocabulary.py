"""What a script can say, objects can, and the reverse: both lists are walked through."""

import dataclasses
import inspect
from typing import get_args

import pytest

import stunt
from stunt.drive.beats.spec import Part
from stunt.drive.paths.spec import JointPath, SitePath
from stunt.drive.tension.spec import TensionPose
from stunt.play.arguments import tension_setting
from stunt.script.kinds import KINDS
from stunt.script.sections.clips import ClipsPart, PlaySpec
from stunt.script.sections.supervisor import RequestSpec, SupervisorPart
from stunt.stage.event_specs import Event
from stunt.stage.scene import Scene

OF_A_PART = {
    "beats": "key", "cycle": "perform", "machine": "run_machine", "coupling": "beats", "arrival": "beats",
    "tension": "beats", "give": "beats", "ease": "beats", "joints": "beats", "gravity_compensation": "beats",
    "root": "assist",
}  # fmt: skip
OF_A_SECTION = {"tension_poses": "tense", "trajectories": "path", "clips": "follow", "supervisor": "supervise"}
OF_AN_EVENT = {"Push": "push", "Throw": "throw", "Attach": "attach", "Release": "release", "Drag": "drag"}
OF_A_SCENE = {
    "characters": "scene", "props": "props", "physics_hz": "hz", "control_hz": "hz", "gravity": "gravity",
    "ground": "ground", "seed": "seed", "collisions": "collisions", "sleep": "sleep",
}  # fmt: skip
NO_WORDS = {"place", "joint_places", "sections", "reserved"}
AT_THE_MOMENT = {"aim", "put", "hit", "stun", "go_limp", "let_go", "play", "stiffen", "strengthen"}
"""What only a program can say: a script knows what happens beforehand. A script plays clips in a supervisor's pool."""
POOL = {"request", "add", "remove"}
ANSWERS = {"state", "results", "body", "character", "joints", "part", "supervisor", "summary", "happened", "logs"}


def test_whatever_a_part_says_an_actor_can_be_told():
    said = {field.name for field in dataclasses.fields(Part)} - NO_WORDS
    assert said == set(OF_A_PART)
    assert set(KINDS) == set(OF_A_SECTION)
    for verb in (*OF_A_PART.values(), *OF_A_SECTION.values()):
        assert callable(getattr(stunt.Actor, verb)), verb


def test_whatever_an_actor_can_be_told_a_script_can_say_or_only_a_program_could():
    ada = stunt.Stage({"ada": stunt.Body("human39")}).actor("ada")
    verbs = {name for name in dir(ada) if not name.startswith("_")} - {"stage", "name"}
    assert verbs == {*OF_A_PART.values(), *OF_A_SECTION.values()} | AT_THE_MOMENT | POOL | ANSWERS


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


OF_TENSION = {"tension": "perform", "damping": "perform", "controllers": "perform", "plays": "perform",
              "balance": "perform", "steady": "perform"}  # fmt: skip
OF_CLIPS = {"play": "clip"}
OF_A_CLIP = {"clip": "clip"}
OF_A_POOL = {
    "clips": "pool", "walks": "pool", "fights": "pool", "controllers": "pool", "rate": "hz", "gain": "settings",
    "passive": "relation", "active": "relation", "requests": "request",
}  # fmt: skip
OF_A_REQUEST = {"do": "name"}
OF_PATHS = {"joint": "what", "site": "what", "position": "trajectory", "form": "bare"}
NOT_SAID = {"place", "unit", "mapping"}
"""A mapping file is told to `load_clip`."""


@pytest.mark.parametrize(
    ("spec", "verb", "called"),
    [
        (ClipsPart, "follow", OF_CLIPS), (PlaySpec, "follow", OF_A_CLIP), (SupervisorPart, "supervise", OF_A_POOL),
        (RequestSpec, "request", OF_A_REQUEST), (JointPath, "path", OF_PATHS), (SitePath, "path", OF_PATHS),
        (TensionPose, "tense", {}),
    ],
)  # fmt: skip
def test_every_key_of_a_section_is_an_argument_of_its_verb(spec, verb, called):
    told = set(inspect.signature(getattr(stunt.Actor, verb)).parameters)
    for field in dataclasses.fields(spec):
        if field.name not in NOT_SAID and called.get(field.name) != "request":
            argument = called.get(field.name, field.name)
            taken = argument in told or (verb == "tense" and tension_setting(argument, field.default) is not None)
            assert taken, field.name


def test_parts_of_joints_are_performed_as_they_are():
    assert set(OF_TENSION) == {field.name for field in dataclasses.fields(stunt.TensionPart)} - NOT_SAID
    stage = stunt.Stage({"ada": "human39"})
    stage.actor("ada").perform(stunt.TensionPart())
    stage.actor("ada").perform(stunt.TrajectoryPart())
