"""A key is declared once: what is read, written, typed, printed and shown of it comes from there."""

import argparse
import importlib.util
import sys
from dataclasses import field, replace
from pathlib import Path

import mujoco
import pytest

from stunt.cli.options import offer, told
from stunt.drive.beats.spec import Script
from stunt.errors import NOWHERE, InvalidValueError, MissingValueError, Place, ScriptFileError, UnknownNameError
from stunt.keys import (
    ANGLE,
    CLIP,
    Choice,
    Known,
    ListOf,
    MappingOf,
    Nested,
    Number,
    Whole,
    inline,
    key,
    read,
    references,
    shown,
    spec,
    with_references,
    write,
)
from stunt.schema import node_from_plain
from stunt.script.file import load_script, save_script, script_from_data, script_to_data
from stunt.stage.scene import CharacterSpec, Scene

ROOT = Path(__file__).parents[1]


@spec("a spring")
class Spring:
    """Keys that stand among another spec's."""

    stiffness: float = key(default=5.0, kind=Number(above=0.0, most=100.0, unit="N/m"), help="how stiff")


@spec("bounce '{}'", bare=("clip", str))
class Bounce:
    """A toy."""

    name: str
    clip: str = key(kind=CLIP, help="which")
    turn: float = key(default=0.0, kind=ANGLE, help="how far it turns")
    times: int = key(default=1, kind=Whole(1, 9), help="how often")
    place: Place = field(default=NOWHERE, compare=False)


@spec("a toy")
class Toy:
    """A toy's part."""

    color: str = key(default="red", kind=Choice("color", ("red", "blue")), help="which color")
    spring: Spring = inline(default=Spring(stiffness=7.0))
    toward: str | None = key(default=None, kind=Known("character"), help="to whom")
    bounces: tuple[Bounce, ...] = key(default=(), kind=MappingOf(Nested(Bounce)), help="what it does")
    others: tuple[str, ...] = key(default=(), kind=ListOf(CLIP), help="more")
    place: Place = field(default=NOWHERE, compare=False)


WRITTEN = {
    "color": "blue", "stiffness": 9, "toward": "ada", "bounces": {"hop": {"clip": "hop", "turn": 90, "times": 3}},
    "others": ["walk"],
}  # fmt: skip


def toy(data, name=""):
    return read(Toy, node_from_plain(data), {"character": ("ada", "ben")}, name)


def test_what_is_written_is_read_and_written_again():
    made = toy(WRITTEN)
    assert made.spring.stiffness == 9.0 and made.bounces[0].turn == pytest.approx(1.5707963)
    assert write(made) == WRITTEN
    assert toy(write(made)) == made


def test_defaults_are_the_owners_and_are_not_written():
    assert toy({}).spring.stiffness == 7.0 and Spring().stiffness == 5.0
    assert write(toy({})) == {} and write(toy({"stiffness": 5})) == {"stiffness": 5}


def test_a_value_alone_stands_for_the_key_that_says_so():
    assert toy({"bounces": {"hop": "jump"}}).bounces == (Bounce("hop", "jump"),)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({"colour": "red"}, UnknownNameError, "unknown key 'colour' in a toy. Did you mean 'color'?"),
        ({"color": "rde"}, UnknownNameError, "unknown color 'rde'. Did you mean 'red'? Available: red, blue"),
        ({"stiffness": 0}, InvalidValueError, "stiffness must be a number greater than 0, at most 100, but it is 0"),
        ({"toward": "bne"}, UnknownNameError, "unknown character 'bne'. Did you mean 'ben'?"),
        ({"bounces": {"hop": {"turn": 3}}}, MissingValueError, "bounce 'hop' needs 'clip'"),
        ({"bounces": {"hop": {"clip": "a", "times": 10}}}, InvalidValueError, "a whole number from 1 to 9"),
        ({"bounces": {"hop": 3}}, InvalidValueError, "bounce 'hop' must be a mapping"),
    ],
)
def test_mistakes_say_what_was_expected_and_what_there_is(data, error, words):
    with pytest.raises(error) as caught:
        toy(data)
    assert words in str(caught.value)


def test_clips_are_found_wherever_a_spec_names_them():
    made = toy(WRITTEN)
    assert [clip for clip, _ in references(made, "clip")] == ["hop", "walk"]
    changed = with_references(made, lambda clip: f"mine/{clip}")
    assert changed.bounces[0].clip == "mine/hop" and changed.others == ("mine/walk",)
    assert with_references(changed, lambda clip: clip[5:]) == made


def test_options_of_the_command_line_come_from_the_declaration(capsys):
    parser = argparse.ArgumentParser(prog="toy")
    offer(parser, Toy, "color")
    offer(parser, Spring, "stiffness", default=8.0)
    assert told(parser.parse_args([]), Spring) == Spring(8.0)
    assert told(parser.parse_args(["--color", "blue"]), Toy).color == "blue"
    assert told(parser.parse_args(["--stiffness", "3"]), Spring) == Spring(3.0)
    with pytest.raises(InvalidValueError, match="--stiffness must be a number greater than 0, at most 100"):
        told(parser.parse_args(["--stiffness", "-1"]), Spring)
    assert "how stiff (default: 8 N/m)" in parser.format_help()


def tables():
    path = ROOT / "tools" / "key_tables.py"
    found = importlib.util.spec_from_file_location("key_tables", path)
    module = importlib.util.module_from_spec(found)
    sys.modules["key_tables"] = module
    found.loader.exec_module(module)
    return module


def test_a_row_of_the_docs_comes_from_the_declaration():
    assert "| `stiffness` | up to 100 [N/m] | 7 | how stiff |" in tables().table(Toy, [])


def test_the_tables_of_the_docs_are_as_the_code_has_them():
    assert tables().stale() == []


def test_the_studio_shows_what_is_declared():
    entry = next(entry for entry in shown(Toy) if entry["key"] == "stiffness")
    assert entry == {
        "key": "stiffness", "value": "up to 100", "unit": "N/m", "default": "7", "help": "how stiff", "least": 0.0,
        "most": 100.0, "options": [],
    }  # fmt: skip


def test_folders_of_clips_reach_every_section(tmp_path):
    from shutil import copy

    from stunt.library.names import find_clip

    mine = tmp_path / "clips"
    mine.mkdir()
    for name in ("my_guard", "my_jab"):
        copy(find_clip("idle"), mine / f"{name}.bvh")
    path = tmp_path / "it.yaml"
    path.write_text(
        """
characters: {red: {body: skeleton, root: free}, blue: {body: skeleton, root: free, at: [2, 0]}}
performance:
  red:
    supervisor:
      fights:
        box: {against: blue, clips: [my_guard, my_jab], blows: {my_jab: {at: 0.2, limb: r_hand}}}
      walks: {stroll: {path: [[0, 0], [1, 0]], clips: [my_guard]}}
  blue:
    clips: {play: [{clip: my_guard}], get_up: {front: my_jab}}
"""
    )
    script = load_script(path, clips=[mine])
    red, blue = script.parts["red"].sections["supervisor"], script.parts["blue"].sections["clips"]
    found = {*red.fights[0].clips, *red.walks[0].clips, blue.play[0].clip, dict(blue.get_up)["front"]}
    assert found == {str(mine / "my_guard.bvh"), str(mine / "my_jab.bvh")}


def test_the_default_assistance_is_written_once():
    from stunt.control.servo.law import RootSpring
    from stunt.script.sections.clips import ClipsPart
    from stunt.script.sections.supervisor import SupervisorPart

    assert ClipsPart.root == RootSpring() and replace(SupervisorPart.root, yaw=RootSpring.yaw) == RootSpring()
    data = {
        "characters": {"ada": {"body": "idle", "root": "free"}},
        "performance": {"ada": {"clips": {"play": [{"clip": "idle"}]}}},
    }
    assert "assist" not in script_to_data(script_from_data(data))["performance"]["ada"]["clips"]


def test_a_body_made_in_python_is_refused_in_words_where_a_script_is_written():
    scene = Scene(characters={"ada": CharacterSpec(mujoco.MjSpec())})
    with pytest.raises(ScriptFileError, match="MjSpec.* only in memory"):
        script_to_data(Script(scene))


def test_a_push_that_is_felt_is_read_as_it_was_written():
    push = {"push": "ada/r_hand", "at": 1, "impulse": [1, 0, 0], "felt": True}
    script = script_from_data({"seconds": 2, "characters": {"ada": "human39"}, "events": [push]})
    assert script.scene.events[0].felt and script_to_data(script)["events"] == [push]


@pytest.mark.parametrize("title", ["\x85", "a\u2028b", "\u2029: "])
def test_characters_that_yaml_takes_for_line_breaks_come_back(title, tmp_path):
    script = script_from_data({"title": title, "seconds": 2, "characters": {"ada": "human39"}})
    save_script(script, tmp_path / "script.yaml")
    assert load_script(tmp_path / "script.yaml").title == title
