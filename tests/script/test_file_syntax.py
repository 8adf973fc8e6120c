"""What is no script at all, or comes from Python: refused with a line, or with the keys that lead there."""

import time

import pytest

from stunt import errors
from stunt.script.file import load_script, script_from_data, script_from_text


def bomb() -> str:
    lines = ["title: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"k{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    return "\n".join(lines)


SYNTAX = {
    "nothing": ("", 1, "empty"),
    "only a comment": ("# hello\n\n", 1, "empty"),
    "null": ("~\n", 1, "empty"),
    "an empty mapping": ("\n{}\n", 2, "empty"),
    "a list": ("- a\n- b\n", 1, "a list"),
    "a number": ("\n42\n", 2, "just '42'"),
    "a zero": ("0\n", 1, "just '0'"),
    "a word": ("hello\n", 1, "just 'hello'"),
    "a tab": ("characters:\n\tada: human39\n", 2, "indent with spaces"),
    "an open bracket": ("title: x\ngravity: [0, 0\nseed: 1\n", 3, "not YAML"),
    "a colon too many": ("title: a: b\n", 1, "not YAML"),
    "bad indentation": ("characters:\n    ada: human39\n  ben: human39\n", 3, "not YAML"),
    "an unknown alias": ("title: *x\n", 1, "not YAML"),
    "an unknown tag": ("title: x\nseed: !!python/object:os.system 3\n", 2, "means nothing here"),
    "an unknown tag on a mapping": ("title: x\nprops: !thing {}\n", 2, "means nothing here"),
    "a tag that lies": ("title: x\nseed: !!int x\n", 2, "cannot be read as int"),
    "two documents": ("title: a\n---\ntitle: b\n", 2, "not YAML"),
    "a key twice": ("title: a\nseed: 1\ntitle: b\n", 3, "'title' is written twice, first in line 1"),
    "a key twice, deep": ("poses:\n  a:\n    j: 1\n    j: 2\n", 4, "'j' is written twice, first in line 3"),
    "a key that is a list": ("title: a\n? [1]\n: b\n", 2, "a key must be a name"),
    "a very long key": (f"title: a\n{'x' * 500}: 3\n", 2, "500 characters long"),
    "not UTF-8": (b"title: a\nseed: 1 # caf\xe9\n", 2, "UTF-8"),
    "UTF-16": ("title: a\n".encode("utf-16"), 1, "UTF-8"),
    "a NUL": (b"title: a\nseed: \x00\n", 2, "U+0000"),
    "brackets without end": ("title: x\nseed: " + "[" * 1200, 2, "nested"),
    "deep nesting": ("title: x\nseed: " + "[" * 60 + "]" * 60, 2, "nested"),
    "dashes without end": ("title:\n" + "- " * 5000 + "x", 2, "nested"),
    "a value that contains itself": ("title: x\nposes: &p\n  a: *p\n", 3, "contain themselves"),
    "a merge that contains itself": ("title: x\nposes: &p\n  <<: *p\n", 3, "contain themselves"),
    "a merge of a word": ("title: x\nposes:\n  <<: y\n", 3, "must be followed by a mapping"),
    "a bomb of aliases": (bomb(), None, "20000 values"),
    "too many bytes": ("# " + "x" * 1_000_000, 1, "1000000 bytes"),
}


@pytest.mark.parametrize("what", SYNTAX)
def test_what_is_not_a_script_at_all_is_a_syntax_error_with_its_line(tmp_path, what):
    text, line, words = SYNTAX[what]
    path = tmp_path / "bad.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(errors.ScriptSyntaxError) as caught:
        load_script(path)
    error = caught.value
    assert str(error).startswith(f"{path}:{error.place.line}")
    assert line is None or error.place.line == line, error
    assert words in str(error) and len(str(error)) < 500


def test_a_file_that_is_not_there_is_an_error_of_its_own(tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path, "a\0b"):
        with pytest.raises(errors.ScriptFileError, match="cannot be read"):
            load_script(path)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({}, errors.ScriptSyntaxError, "empty"),
        ([], errors.ScriptSyntaxError, "empty"),
        ([1], errors.ScriptSyntaxError, "a list"),
        (3, errors.ScriptSyntaxError, "just '3'"),
        (None, errors.ScriptSyntaxError, "empty"),
        ({3.5: 1}, errors.ScriptSyntaxError, "keys must be text"),
        ({1: 1, "1": 2}, errors.ScriptSyntaxError, "twice"),
        ({"titel": 1}, errors.UnknownNameError, "Did you mean 'title'"),
        ({"characters": {"ada": {"body": object()}}}, errors.InvalidValueError, r"characters\.ada\.body"),
        ({"characters": {"ada": "x"}, "seed": 10**5000}, errors.InvalidValueError, "very long number"),
        (
            {"characters": {"ada": "x"}, "performance": {"ada": {"beats": [{}]}}},
            errors.MissingValueError,
            r"beats\[0\]",
        ),
    ],
)
def test_data_from_python_is_refused_with_the_keys_that_lead_there(data, error, words):
    with pytest.raises(error, match=words):
        script_from_data(data)


def test_python_data_that_contains_itself_is_refused():
    data: dict = {}
    data["poses"] = data
    with pytest.raises(errors.ScriptSyntaxError, match="contain themselves"):
        script_from_data(data)


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 900_000, "a: " + "[" * 450_000 + "]" * 450_000, "- " * 450_000, "{a: " * 200_000]
)
def test_a_megabyte_of_nesting_is_refused_in_no_time(text):
    began = time.process_time()
    with pytest.raises(errors.StuntError, match="nested more than 32 deep"):
        script_from_text(text, "deep.yaml")
    assert time.process_time() - began < 10.0  # counted after composing, it took hours


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("!" * 1_000_000, "a tag is longer than 1000 letters"),
        ("!" + "%41" * 300_000, "a tag is longer than 1000 letters"),
        (f"%TAG !e! {'a' * 800_000}\n---\n[{'!e!x 1, ' * 19_000}]", "a tag is longer than 1000 letters"),
        ("x: |\n" + " a\n" * 300_000, "may have 100000 lines"),
        ("\r" * 1_000_000, "may have 100000 lines"),
        (f"x: [{'1, ' * 20_000}]", "more than 20000 values"),
        (f"a: &a [1, 1, 1, 1]\nx: [{'*a, ' * 5_000}]", "more than 20000 values"),
    ],
    ids=["tag", "escaped tag", "prefix of tags", "lines", "returns", "values", "aliases"],
)
def test_a_megabyte_of_what_no_script_has_is_refused_in_no_time(text, words):
    began = time.process_time()
    with pytest.raises(errors.ScriptSyntaxError, match=words):
        script_from_text(text, "much.yaml")
    assert time.process_time() - began < 5.0  # the first took 15 s
