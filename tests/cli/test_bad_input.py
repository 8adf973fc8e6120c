"""Every mistake of a script, through the command line: one line that helps, exit code 2, nothing written."""

from __future__ import annotations

import pytest
from cli_helpers import SCRIPT, listing

BEAT = "      - {pose: up, after: 0.2}\n"
MISTAKES = {
    "unknown joint": (
        ("r_elbow_flexion: 20", "r_elbow_flexon: 20"), ("tiny.yaml:8", "'r_elbow_flexon'", "mean 'r_elbow_flexion'?"),
    ),
    "unknown pose": (("pose: up,", "pose: upp,"), ("tiny.yaml:12", "unknown pose 'upp'", "Did you mean 'up'?")),
    "unknown key": (("seconds: 0.3", "secnds: 0.3"), ("tiny.yaml:4", "'secnds'", "Did you mean 'seconds'?")),
    "unknown body": (("torso28", "torso82"), ("tiny.yaml:6", "torso82", "torso28")),
    "outside the limits": (("r_elbow_flexion: 20", "r_elbow_flexion: 200"), ("tiny.yaml:8", "r_elbow_flexion", "200°")),
    "times that do not increase": (
        (BEAT, "      - {pose: up, at: 0.2}\n      - {pose: up, at: 0.1}\n"), ("tiny.yaml:13", "0.1 s", "0.2 s"),
    ),
    "negative mass": (("body: torso28", "body: torso28, mass: -70"), ("tiny.yaml:6", "mass", "-70")),
    "zero duration": (("after: 0.2", "after: 0"), ("tiny.yaml:12", "after", "0")),
    "a rate that does not divide": (("rate: 120", "physics_hz: 500\ncontrol_hz: 480"), ("tiny.yaml:6", "500", "480")),
    "not finite": (("r_elbow_flexion: 20", "r_elbow_flexion: .nan"), ("tiny.yaml:8", "r_elbow_flexion", "nan")),
    "infinite": (("seconds: 0.3", "seconds: .inf"), ("tiny.yaml:4", "seconds", "inf")),
    "empty": ((SCRIPT, ""), ("tiny.yaml", "the script is empty")),
    "only a comment": ((SCRIPT, "# nothing\n"), ("tiny.yaml", "empty")),
    "not YAML": (("characters: {ada", "characters: [{ada"), ("tiny.yaml:",)),
    "a list": ((SCRIPT, "- 1\n- 2\n"), ("tiny.yaml", "a list")),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_mistake_in_a_script_is_told_in_one_line(stunt, script, mistake, options):
    (old, new), words = MISTAKES[mistake]
    script.write_text(SCRIPT.replace(old, new))
    before = listing(script.parent)
    result = stunt("perform", script.name, *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ") and result.err.count("\n") == 1
    for word in words:
        assert word in result.err
    assert listing(script.parent) == before


def test_bytes_that_are_no_text_are_told_too(stunt, script):
    script.write_bytes(bytes(range(256)))
    result = stunt("perform", script)
    assert result.code == 2 and result.err.startswith("error: ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ymka", ("unknown example 'ymka'", "Did you mean 'ymca'?", "conductor", "path to a .yaml file works")),
        ("none.yaml", ("none.yaml", "no such file")),
        ("some/where.yaml", ("some/where.yaml", "no such file")),
        ("ymca.yaml", ("no such file", "example 'ymca'")),
        (".", ("cannot be read",)),
    ],
)
def test_a_script_that_is_not_there_is_told_with_what_is(stunt, script, name, words):
    before = listing(script.parent)
    result = stunt("perform", name)
    assert (result.code, result.out) == (2, "")
    for word in words:
        assert word in result.err
    assert listing(script.parent) == before


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ((), ("a command is missing", "perform")),
        (("perfrom", "ymca"), ("unknown command 'perfrom'", "Did you mean 'perform'?")),
        (("perform",), ("required: SCRIPT|EXAMPLE", "stunt perform --help")),
        (("figures", "p9"), ("unknown paper 'p9'", "p0")),
        (("show", "nowhere"), ("there is no take at 'nowhere'",)),
        (("show", "tiny.yaml"), ("not a take",)),
        (("examples", "ymka"), ("Did you mean 'ymca'?",)),
        (("examples", "--copy", "x.yaml"), ("--copy needs the name",)),
        (("examples", "ymca", "--copy", "tiny.yaml"), ("there already",)),
        (("--verison",), ("unknown option '--verison' of stunt", "Did you mean '--version'?")),
    ],
)
def test_a_mistake_on_the_command_line_is_told_in_one_line(stunt, script, argv, words):
    before = listing(script.parent)
    result = stunt(*argv)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ") and result.err.count("\n") == 1
    for word in words:
        assert word in result.err
    assert listing(script.parent) == before
