"""Whatever is done to a script, the door gives a script or one of our errors, and soon."""

import random
import re
import time
from pathlib import Path

import pytest

from stunt.drive.beats.spec import Script
from stunt.errors import StuntError
from stunt.schema import MAX_DEPTH
from stunt.script.file import _script, script_from_data, script_to_data
from stunt.script.yaml import node_from_yaml

DOCS = Path(__file__).parents[2] / "docs" / "script.md"
GOOD = re.search(r"<!-- annotated script.*?```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)[1]
WORDS = [
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "!!int ",
    "!x",
    "<<: ",
    "? ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "@",
    "`",
]
WORDS += [
    "\t",
    "\n",
    "~",
    ".nan",
    "-.inf",
    "true",
    "0",
    "-1",
    "1e400",
    "---\n",
    "...",
    "x",
    "ada",
    "\x07",
    "é",
    "0x",
    "1_0",
]
ODD = [
    None,
    True,
    False,
    0,
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**400,
    "",
    "x",
    [],
    {},
    [None],
    {"x": None},
    b"x",
    object(),
]
EVERY = 5.0  # [s] of the processor, far more than a script of this size takes


def read(raw: bytes) -> Script | StuntError:
    began = time.process_time()
    try:
        result: Script | StuntError = _script(node_from_yaml(raw, "fuzz.yaml"), "fuzz.yaml")
    except StuntError as error:
        result = error
        assert error.place.file == "fuzz.yaml" and error.place.line >= 1, error
        assert error.place.line <= raw.count(b"\n") + 1
    assert time.process_time() - began < EVERY
    return result


def garbled_lines(rng: random.Random) -> bytes:
    lines = GOOD.split("\n")
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(lines))
        action = rng.choice(["delete", "double", "swap", "insert", "cut", "indent"])
        if action == "delete":
            del lines[i]
        elif action == "double":
            lines.insert(i, lines[i])
        elif action == "swap":
            j = rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        elif action == "insert":
            at = rng.randint(0, len(lines[i]))
            lines[i] = lines[i][:at] + rng.choice(WORDS) + lines[i][at:]
        elif action == "cut":
            lines[i] = lines[i][: rng.randint(0, len(lines[i]))]
        else:
            lines[i] = " " * rng.randint(0, 8) + lines[i].lstrip()
    return "\n".join(lines).encode()


def random_bytes(rng: random.Random) -> bytes:
    raw = bytearray(GOOD.encode())
    for _ in range(rng.randint(1, 10)):
        raw[rng.randrange(len(raw))] = rng.randrange(256) if rng.random() < 0.3 else rng.randrange(32, 127)
    return bytes(raw)


def soup(rng: random.Random) -> bytes:
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(1, 60))).encode()


@pytest.mark.parametrize(("make", "ends"), [(garbled_lines, 4), (random_bytes, 3), (soup, 1)])
def test_a_garbled_file_gives_a_script_or_an_error_with_a_line_in_it(make, ends):
    rng = random.Random(7)
    kinds = {type(read(make(rng))) for _ in range(120)}
    assert len(kinds) >= ends  # the mutations get past the YAML and into every part of the door


def places_in(data: object, path: tuple = ()) -> list[tuple]:
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, child in children for place in places_in(child, (*path, key)))]


def put(data: object, path: tuple, value: object) -> object:
    if not path:
        return value
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = put(data[path[0]], path[1:], value)
    return copy


def test_any_odd_value_at_any_place_of_plain_data_gives_a_script_or_an_error():
    good = script_to_data(_script(node_from_yaml(GOOD.encode()), ""))
    rng = random.Random(3)
    places = places_in(good)
    for path in places:
        for value in rng.sample(ODD, 5):
            try:
                assert isinstance(script_from_data(put(good, path, value)), Script)
            except StuntError as error:
                assert len(str(error)) < 1000


@pytest.mark.parametrize("part", ["[", "{a: ", "- ", "? ", "&a [*a, ", "!!seq [", "'", "a: &b *b\n"])
def test_endless_repetition_of_any_mark_is_refused_in_bounded_time(part):
    began = time.process_time()
    with pytest.raises(StuntError):
        _script(node_from_yaml((part * (20 * MAX_DEPTH)).encode(), "x"), "x")
    assert time.process_time() - began < 8.0
