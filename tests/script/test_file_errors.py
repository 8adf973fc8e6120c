"""Every mistake in a script: its own class, the file, the exact line, and what was probably meant.

In each text the line to be named ends in `# <<<`.
"""

import pytest

from stunt import errors
from stunt.script.file import load_script

MARK = "# <<<"


def whole(changed: str = "", *, poses: str = "", beats: str = "", part: str = "", top: str = "") -> str:
    """A good script with some lines put in or instead."""
    return f"""\
title: Hello
{top}
characters:
  ada: {{body: human39}}
poses:
  rest: {{r_elbow_flexion: 10}}
  wave: {{like: rest, r_shoulder_abduction: 120}}
{poses}
props:
  ball: {{shape: sphere, radius: 0.1, mass: 0.4, at: [3, 0, 1]}}
  wall: {{shape: box, size: [1, 1, 1]}}
performance:
  ada:
    beats:
      - {{pose: wave, after: 0.5}}
{beats}
{part}
{changed}
"""


def line_of_mark(text: str) -> int:
    lines = [i for i, line in enumerate(text.split("\n"), start=1) if MARK in line]
    assert len(lines) == 1
    return lines[0]


def refused(tmp_path, text: str) -> errors.StuntError:
    path = tmp_path / "bad.yaml"
    path.write_bytes(text.encode())
    with pytest.raises(errors.StuntError) as caught:
        load_script(path)
    assert str(caught.value).startswith(f"{path}:")
    return caught.value


PROP = "characters: {ada: human39}\nseconds: 1\nprops:\n  ball: "
PART = "characters: {ada: human39}\nposes: {a: {j: 1}}\nperformance:\n  ada:\n    "
MACHINE = "characters: {ada: human39}\nseconds: 2\nposes: {a: {j: 1}}\nperformance:\n  ada:\n    machine:\n      "
STATE = MACHINE + "states:\n        go:\n          "

UNKNOWN = {
    "key at the top": (whole(top="sed: 3 # <<<"), "key in a script", "seed"),
    "key of a character": (
        "characters:\n  ada:\n    body: human39\n    hight: 1.7 # <<<\n",
        "key in character 'ada'",
        "height",
    ),
    "key of a prop": (PROP + "{shape: sphere, raduis: 0.1, mass: 1} # <<<", "key in prop 'ball'", "radius"),
    "key of another shape": (PROP + "{shape: capsule, steps: 4} # <<<", "key in prop 'ball' (capsule)", None),
    "key of a part": (whole(part="    cuopling: full # <<<"), "key in the part of 'ada'", "coupling"),
    "key of a beat": (whole(beats="      - {pose: rest, aftr: 0.5} # <<<"), "key in a beat", "after"),
    "key of a long pose": (whole(poses="  x: {angels: {}, angles: {j: 1}} # <<<"), "key in pose 'x'", "angles"),
    "key of an event": (
        whole("events:\n  - {push: ball, impulse: [0, 0, 1], durtion: 3} # <<<"),
        "key in a push",
        "duration",
    ),
    "key that tells the event": (whole("events:\n  - {pusch: ball, at: 3} # <<<"), "key in an event", "push"),
    "key of another event": (whole("events:\n  - {release: ball, at: 1, until: 3} # <<<"), "key in a release", None),
    "key of a machine": (MACHINE + "begin: a # <<<", "key in a machine", None),
    "key of a state": (STATE + "pose: a\n          whithin: 1 # <<<", "key in state 'go'", "within"),
    "key of a way out": (
        STATE + "pose: a\n          within: 1\n          next:\n          - {too: go} # <<<",
        "key in a way out",
        "to",
    ),
    "pose of a beat": (whole(beats="      - pose: wvae # <<<\n        after: 1"), "pose", "wave"),
    "pose of a state": (STATE + "pose: b # <<<\n          within: 1", "pose", None),
    "pose to start from": (
        "characters:\n  ada:\n    body: x\n    start: rset # <<<\nposes: {rest: {j: 1}}",
        "pose",
        "rest",
    ),
    "pose it is like": (whole(poses="  x:\n    like: rets # <<<\n    j: 3"), "pose", "rest"),
    "character in the performance": (
        "characters: {ada: human39}\nperformance:\n  adda: # <<<\n    beats: []",
        "character",
        "ada",
    ),
    "character in an event": (
        whole("events:\n  - {push: eda/hand, force: [1, 0, 0], at: 1} # <<<"),
        "character",
        "ada",
    ),
    "prop in an event": (whole("events:\n  - {release: bal, at: 1} # <<<"), "prop", "ball"),
    "target of a push": (whole("events:\n  - {push: bell, force: [1, 0, 0], at: 1} # <<<"), "target of a push", "ball"),
    "prop in a way out": (
        STATE + "pose: a\n          within: 1\n          next: {to: go, contact: any, with: x} # <<<",
        "prop",
        None,
    ),
    "state to start in": (MACHINE + "start: og # <<<\n      states: {go: {pose: a, within: 1}}", "state", "go"),
    "state to go to": (
        STATE + "pose: a\n          within: 1\n          next:\n          - {to: gone, after: 1} # <<<",
        "state",
        "go",
    ),
    "shape": (PROP + "\n    shape: shpere # <<<", "shape", "sphere"),
    "coupling": (whole(part="    coupling: compositt # <<<"), "coupling", "composite"),
    "arrival": (whole(part="    arrival: critcal # <<<"), "arrival", "critical"),
    "root": ("characters: {ada: {body: x, root: fixd}} # <<<", "root", "fixed"),
    "sex": ("characters: {ada: {body: x, sex: femal}} # <<<", "sex", "female"),
    "velocity of a joint without an angle": (
        whole(poses="  x:\n    angles: {r_elbow: 1}\n    velocities:\n      r_elbwo: 3 # <<<"),
        "joint among this pose's angles",
        "r_elbow",
    ),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_an_unknown_name_is_reported_with_its_line_and_what_was_probably_meant(tmp_path, what):
    text, kind, suggestion = UNKNOWN[what]
    error = refused(tmp_path, text)
    assert isinstance(error, errors.UnknownNameError), error
    assert error.place.line == line_of_mark(text)
    assert error.kind == kind
    assert error.suggestion == suggestion
    assert f"bad.yaml:{line_of_mark(text)} (" in str(error) and "Available: " in str(error)
    assert suggestion is None or f"Did you mean '{suggestion}'?" in str(error)


INVALID = {
    "negative mass": PROP + "\n    shape: sphere\n    mass: -1 # <<<",
    "zero mass": PROP + "\n    shape: sphere\n    mass: 0 # <<<",
    "mass that is a word": PROP + "\n    shape: sphere\n    mass: heavy # <<<",
    "mass that is true": PROP + "\n    shape: sphere\n    mass: true # <<<",
    "mass that is a list": PROP + "\n    shape: sphere\n    mass: [1] # <<<",
    "number that is not one": PROP + "\n    shape: sphere\n    radius: .nan # <<<",
    "number without end": PROP + "\n    shape: sphere\n    radius: .inf # <<<",
    "number too large to be meant": PROP + "\n    shape: sphere\n    radius: 1e300 # <<<",
    "whole number too long": PROP + "\n    shape: sphere\n    radius: 0x" + "f" * 5000 + " # <<<",
    "vector with a hole": PROP + "\n    shape: sphere\n    at: [1, 2] # <<<",
    "vector with a nan": PROP + "\n    shape: sphere\n    at: [1, 2, .nan] # <<<",
    "vector with a word": PROP + "\n    shape: sphere\n    at: [1, 2, x] # <<<",
    "colour": PROP + "\n    shape: sphere\n    color: [1, 2, 0] # <<<",
    "no heights": PROP + "\n    shape: heightfield\n    heights: [[0, 1]] # <<<",
    "ragged heights": PROP + "\n    shape: heightfield\n    heights:\n    - [0, 1]\n    - [0] # <<<",
    "steps": PROP + "\n    shape: stairs\n    steps: 2.5 # <<<",
    "a prop that is a word": PROP + "round # <<<",
    "a prop called like a character": "characters: {ada: human39}\nprops:\n  ada: {shape: plane} # <<<",
    "a name with a slash": "characters:\n  a/b: human39 # <<<",
    "characters in a list": "characters: [ada] # <<<",
    "negative height": "characters:\n  ada:\n    body: human39\n    height: -1 # <<<",
    "at of a character": "characters:\n  ada:\n    body: human39\n    at: 3 # <<<",
    "facing": "characters:\n  ada:\n    body: human39\n    facing: 3 m # <<<",
    "self collision": "characters:\n  ada:\n    body: human39\n    self_collision: 1 # <<<",
    "start with a velocity": "characters:\n  ada:\n    body: x\n    start: {angles: {j: 1}, velocities: {j: 1}} # <<<",
    "no time": whole(top="seconds: 0 # <<<"),
    "negative time": whole(top="seconds: -3 # <<<"),
    "endless time": whole(top="seconds: 1e8 # <<<"),
    "seed": whole(top="seed: -1 # <<<"),
    "seed with a fraction": whole(top="seed: 1.5 # <<<"),
    "rate": whole(top="rate: 0 # <<<"),
    "negative rate": whole(top="physics_hz: -480 # <<<"),
    "gravity": whole(top="gravity: -9.81 # <<<"),
    "ground": whole(top="ground: flat # <<<"),
    "version": whole(top="stunt: 2 # <<<"),
    "zero after": whole(beats="      - pose: rest\n        after: 0 # <<<"),
    "negative after": whole(beats="      - {pose: rest, after: -0.1} # <<<"),
    "negative at": whole(beats="      - {pose: rest, at: -0.1} # <<<"),
    "hold": whole(beats="      - {pose: rest, after: 0.1, hold: 0} # <<<"),
    "first beat at once": PART + "beats:\n    - {pose: a, at: 0} # <<<",
    "no beats": PART + "beats: [] # <<<",
    "beats that are none": PART + "beats: often # <<<",
    "a beat that is a word": PART + "beats:\n    - wave # <<<",
    "too many beats": PART + "beats: # <<<\n" + "    - a\n" * 5001,
    "a pose written in the wrong place": PART + "beats:\n    - {pose: {j: 1}, at: 1} # <<<",
    "zero cycles": whole(part="    cycle: 0 # <<<"),
    "half a cycle": whole(part="    cycle: 0.5 # <<<"),
    "too many cycles": whole(part="    cycle: 100000 # <<<"),
    "cycles that last for days": PART + "cycle: 900 # <<<\n    beats: [{pose: a, at: 3000}]",
    "tension": whole(part="    tension: 0 # <<<"),
    "no joints": whole(part="    joints: [] # <<<"),
    "no states": MACHINE + "states: {} # <<<",
    "zero within": STATE + "pose: a\n          within: 0 # <<<",
    "poses like each other": whole(poses="  x: {like: y, j: 1}\n  y: {like: x, j: 1} # <<<"),
    "pose like itself": whole(poses="  x: {like: x, j: 1} # <<<"),
    "pose that is a number": whole(poses="  x: 3 # <<<"),
    "angle that is a word": whole(poses="  x:\n    j: much # <<<"),
    "angle that is true": whole(poses="  x:\n    j: true # <<<"),
    "angle that is not a number": whole(poses="  x:\n    j: .nan # <<<"),
    "angle left out": whole(poses="  x:\n    j: # <<<\n    k: 3"),
    "quaternion of three": whole(poses="  x:\n    j: [1, 0, 0] # <<<"),
    "quaternion that is not unit": whole(poses="  x:\n    j: [1, 1, 0, 0] # <<<"),
    "rotation vector": whole(poses="  x:\n    j: {rotvec: [1, 0]} # <<<"),
    "rotation vector misspelt": whole(poses="  x:\n    j: {rotvek: [1, 0, 0]} # <<<"),
    "velocity of another kind": whole(poses="  x:\n    angles: {j: 3}\n    velocities:\n      j: [1, 2, 3] # <<<"),
    "velocity without its time": whole(poses="  x:\n    angles: {j: 3}\n    velocities:\n      j: 3 rad # <<<"),
    "push of a character": whole("events:\n  - {push: ada, force: [1, 0, 0], at: 1} # <<<"),
    "push of scenery": whole("events:\n  - {push: wall, force: [1, 0, 0], at: 1} # <<<"),
    "throw of scenery": whole("events:\n  - {throw: wall, target: ada/head, hits_at: 1} # <<<"),
    "throw that hits before": whole("events:\n  - {throw: ball, target: ada/head, at: 1, hits_at: 1} # <<<"),
    "push before the beginning": whole("events:\n  - {push: ball, force: [1, 0, 0], at: -1} # <<<"),
    "push that takes no time": whole("events:\n  - {push: ball, force: [1, 0, 0], at: 1, duration: 0} # <<<"),
    "until before at": whole("events:\n  - {attach: ball, to: ada/hand, at: 1, on_contact: true, until: 0.5} # <<<"),
    "events that are a mapping": whole("events: {push: ball} # <<<"),
}


@pytest.mark.parametrize("what", INVALID)
def test_a_value_that_cannot_be_is_reported_with_its_line(tmp_path, what):
    error = refused(tmp_path, INVALID[what])
    assert type(error) is errors.InvalidValueError, error
    assert error.place.line == line_of_mark(INVALID[what]), error
    assert "must be " in str(error) and len(str(error)) < 500


CONFLICTS = {
    "both ways to say the rate": whole(top="rate: 100\nphysics_hz: 100 # <<<"),
    "both at and after": whole(beats="      - {pose: rest, after: 0.1, at: 3} # <<<"),
    "two ways in one": STATE + "pose: a\n          within: 1\n          next: {after: 1, contact: any, to: go} # <<<",
    "above and below": STATE
    + "pose: a\n          within: 1\n          next: {joint: j, above: 1, below: 2, to: go} # <<<",
    "impulse and force": whole("events:\n  - {push: ball, impulse: [1, 0, 0], force: [1, 0, 0], at: 1} # <<<"),
    "two events in one": whole("events:\n  - {push: ball, release: ball, at: 1} # <<<"),
}


@pytest.mark.parametrize("what", CONFLICTS)
def test_keys_that_exclude_each_other_are_reported_with_the_line_of_the_second(tmp_path, what):
    error = refused(tmp_path, CONFLICTS[what])
    assert type(error) is errors.ConflictingKeysError, error
    assert error.place.line == line_of_mark(CONFLICTS[what])
    assert "takes exactly one of " in str(error)


MISSING = {
    "body": "characters:\n  ada: {root: free} # <<<",
    "shape": PROP + "{mass: 1} # <<<",
    "heights": PROP + "{shape: heightfield} # <<<",
    "mass": PROP + "{shape: sphere, velocity: [1, 0, 0]} # <<<",
    "at' or 'after": whole(beats="      - {pose: rest} # <<<"),
    "pose' or 'angles": whole(beats="      - {after: 1} # <<<"),
    "angles": whole(poses="  x: {} # <<<"),
    "beats' or 'machine": "characters: {ada: human39}\nperformance:\n  ada: {coupling: full} # <<<",
    "the part of a character": "characters: {ada: human39}\nperformance: {} # <<<",
    "characters": "title: Alone # <<<",
    "performance' or 'seconds": "characters: {ada: human39} # <<<",
    "seconds": STATE.replace("seconds: 2\n", "").replace("39}", "39} # <<<", 1) + "pose: a\n          within: 1",
    "states": MACHINE.replace("machine:", "machine: # <<<") + "start: a",
    "within": STATE.replace("go:", "go: # <<<") + "pose: a",
    "to": STATE + "pose: a\n          within: 1\n          next: {after: 1} # <<<",
    "after' or 'contact' or 'joint' or 'hit' or 'missed' or 'reached' or 'fell' or 'signal": STATE
    + "pose: a\n          within: 1\n          next: {to: go} # <<<",
    "above' or 'below": STATE + "pose: a\n          within: 1\n          next: {joint: j, to: go} # <<<",
    "impulse' or 'force": whole("events:\n  - {push: ball, at: 1} # <<<"),
    "hits_at": whole("events:\n  - {throw: ball, target: ada/head} # <<<"),
    "at": whole("events:\n  - {release: ball} # <<<"),
    "push' or 'throw' or 'attach' or 'release' or 'drag": whole("events:\n  - {at: 1} # <<<"),
    "on_contact: true": whole("events:\n  - {attach: ball, to: ada/hand, until: 1} # <<<"),
}


@pytest.mark.parametrize("key", MISSING)
def test_what_is_missing_is_named_with_the_line_of_what_needs_it(tmp_path, key):
    error = refused(tmp_path, MISSING[key])
    assert type(error) is errors.MissingValueError, error
    assert error.key == key
    assert error.place.line == line_of_mark(MISSING[key])


@pytest.mark.parametrize(
    "text",
    [
        "characters: {ada: human39}\nperformance: # <<<\n",
        "characters: {ada: human39}\nperformance:\n  ada: # <<<\n",
        "characters: {ada: human39}\nperformance:\n  ada: {beats: } # <<<\n",
    ],
)
def test_a_performance_left_empty_is_an_error(tmp_path, text):
    error = refused(tmp_path, text)
    assert type(error) is errors.MissingValueError
    assert error.place.line == line_of_mark(text)


ORDER = {
    "at before at": ["{pose: a, at: 1}", "{pose: a, at: 0.5} # <<<"],
    "at the same time": ["{pose: a, at: 1}", "{pose: a, at: 1.0} # <<<"],
    "at before what after adds up to": ["{pose: a, at: 1}", "{pose: a, after: 0.5}", "{pose: a, at: 1.2} # <<<"],
}


@pytest.mark.parametrize("what", ORDER)
def test_beats_that_do_not_come_one_after_the_other_are_reported_at_the_later_line(tmp_path, what):
    text = PART + "beats:\n" + "".join(f"    - {beat}\n" for beat in ORDER[what])
    error = refused(tmp_path, text)
    assert type(error) is errors.BeatOrderError
    assert error.place.line == line_of_mark(text)
    assert error.time <= error.previous


@pytest.mark.parametrize(
    "top", ["physics_hz: 480\ncontrol_hz: 100 # <<<", "physics_hz: 120\ncontrol_hz: 240 # <<<", "control_hz: 7e2 # <<<"]
)
def test_rates_that_do_not_divide_are_reported_with_both_values(tmp_path, top):
    error = refused(tmp_path, whole(top=top))
    assert type(error) is errors.RateError
    assert error.place.line == line_of_mark(whole(top=top))
    assert f"{error.physics_hz:g} Hz" in str(error) and f"{error.control_hz:g} Hz" in str(error)
