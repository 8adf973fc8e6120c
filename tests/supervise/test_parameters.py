"""Parameters of controllers in scripts: read, checked with their place, converted, and documented."""

import math
import re
from pathlib import Path
from typing import Annotated

import pytest

from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.script.file import load_script, save_script, script_from_data, script_to_data
from stunt.script.performance import Performance
from stunt.supervise.contract import BaseController
from stunt.supervise.parameters import Given, parameters_of
from stunt.supervise.registry import OWN, maker_of

HEAD = """stunt: 1
seconds: 1
rate: 120
characters:
  ada: {body: skeleton, root: free, strength: 1.5}
performance:
  ada:
    supervisor:
      clips:
        idle: {loop: true}
      controllers:
"""


def script_with(tmp_path, *lines):
    path = tmp_path / "it.yaml"
    path.write_text(HEAD + "".join(f"        - {line}\n" for line in lines))
    return load_script(path)


def pool(script):
    return Performance(script).sections["ada"]["supervisor"].pool


def test_a_script_says_how_to_roll(tmp_path):
    script = script_with(
        tmp_path, "{use: roll, direction: 90, speed: 2, tightness: 0.8}",
        "{use: roll, name: somersault, direction: -45, turn: 720, priority: 5}", "balance",
    )  # fmt: skip
    found = pool(script)
    roll, other = found["roll"], found["somersault"]
    assert (roll.direction, roll.speed, roll.tightness) == (pytest.approx(math.pi / 2), 2.0, 0.8)
    assert other.direction == pytest.approx(-math.pi / 4) and other.turn == pytest.approx(4 * math.pi)
    assert other.priority == 5 and other.tightness == 0.7 and roll.turn == pytest.approx(2 * math.pi)


def test_nested_and_whole_and_named_parameters_arrive(tmp_path):
    lines = ("{use: dive, ball: shot, goal: {half: 2, height: 2.2}}", "{use: stumble, most_steps: 3}",
             "{use: get_up, gather: 0.9}", "{use: fall, tipping: 60}")  # fmt: skip
    found = pool(script_with(tmp_path, *lines))
    assert found["dive"].ball == "shot" and found["dive"].goal.half == 2.0 and found["dive"].goal.ahead == 0.25
    assert found["stumble"].most_steps == 3 and found["get_up"].gather == 0.9
    assert found["fall"].tipping == pytest.approx(math.pi / 3)


def test_parameters_survive_writing_and_reading(tmp_path):
    one = script_with(tmp_path, "{use: roll, direction: 90, tightness: 1}", "{use: dive, goal: {half: 2}}")
    assert script_from_data(script_to_data(one)) == one
    save_script(one, tmp_path / "again.yaml")
    assert load_script(tmp_path / "again.yaml").parts == one.parts


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("{use: roll, tightnes: 0.8}", UnknownNameError, "unknown key 'tightnes' in controller 'roll'.*'tightness'"),
        ("{use: roll, tightness: 2}", InvalidValueError, "from 0 to 1"),
        ("{use: roll, direction: left}", InvalidValueError, "a number"),
        ("{use: stumble, most_steps: 2.5}", InvalidValueError, "a whole number"),
        ("{use: dive, goal: {widht: 2}}", UnknownNameError, "unknown key 'widht' in 'goal'.*half, height, ahead"),
        ("{use: dive, goal: 3}", InvalidValueError, "mapping"),
        ("{use: get_up, direction: 3}", UnknownNameError, "unknown key 'direction' in controller 'get_up'.*gather"),
        ("{direction: 3}", StuntError, "unknown key 'direction'"),
        ("{name: me}", StuntError, "needs 'use'"),
    ],
)
def test_what_a_behaviour_does_not_have_is_refused_with_what_it_has_and_the_line(tmp_path, line, kind, message):
    with pytest.raises(kind, match=message) as caught:
        script_with(tmp_path, "balance", line)
    assert caught.value.place.line == 13 and caught.value.place.file.endswith("it.yaml")


class Mine(BaseController):
    def __init__(self, name="", *, force: Annotated[float, Given("N", 0.0, 500.0)] = 10.0, loud=False, words="ouch"):
        super().__init__(name)
        self.force, self.loud, self.words = force, loud, words


class Picky(BaseController):
    def __init__(self, name="", *, size=1.0):
        super().__init__(name)
        if size > 3:
            raise ValueError("size must be at most 3")


def test_a_users_own_controller_has_parameters_too(tmp_path):
    me = f"{__name__}:Mine"
    found = pool(script_with(tmp_path, f"{{use: '{me}', force: 300, loud: true, words: hey}}"))["Mine"]
    assert (found.force, found.loud, found.words) == (300.0, True, "hey")
    with pytest.raises(InvalidValueError, match="from 0 to 500"):
        script_with(tmp_path, f"{{use: '{me}', force: 501}}")
    with pytest.raises(InvalidValueError, match="true or false"):
        script_with(tmp_path, f"{{use: '{me}', loud: 1}}")
    with pytest.raises(StuntError, match="size must be at most 3") as caught:
        pool(script_with(tmp_path, f"{{use: '{__name__}:Picky', size: 4}}"))
    assert caught.value.place.line == 12


def test_the_table_of_the_documentation_is_true():
    text = (Path(__file__).parents[2] / "docs" / "behaviours.md").read_text(encoding="utf-8")
    table = text.split("| behaviour | parameter |")[1].split("\n\n")[0]
    who, listed = "", {}
    for line in table.splitlines()[2:]:
        first, key, default, unit, meaning = (cell.strip() for cell in line.strip("|").split("|"))
        who = first.strip("`") or who
        listed.setdefault(who, {})[key.strip("`")] = (default, unit)
        assert meaning
    known = {name: parameters_of(maker_of(name)) for name in OWN}
    assert {name: set(entry) for name, entry in listed.items()} == {n: set(p) for n, p in known.items() if p}
    for name, entry in listed.items():
        for key, (default, unit) in entry.items():
            parameter = known[name][key]
            if re.fullmatch(r"[\d.]+", default):
                told = float(default) * parameter.given.factor
                assert told == pytest.approx(parameter.default, rel=2e-3) and unit == parameter.given.unit
