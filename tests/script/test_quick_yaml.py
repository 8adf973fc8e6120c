"""The quick reader of YAML makes of every text what ruamel's own makes of it, mistakes included."""

import random
from pathlib import Path

import pytest
from ruamel.yaml import YAML

import stunt
from stunt.quick_yaml import quick_yaml
from stunt.script.yaml import yaml_from_data

EXAMPLES = sorted((Path(stunt.__file__).parent / "examples").glob("*.yaml"))
BITS = (
    *("a", "b c", "-1.5", "0x1f", "key", "'it''s'", '"q\\n"', "~", "é", "x#y", "a:b", "a?b", "?x", ":y", "-z"),
    "2020-01-01",
    *(": ", ":", ":\n", ", ", ",", "[", "]", "{", "}", "- ", "-", "? ", "?", "|\n", ">-\n", "&x ", "*x"),
    *("!!str ", "!t ", "<<: "),
    *("\n", "\n  ", "\n    ", "\n\n", "\r\n", "\r", " ", "  ", "\t", " # c", "#", "\n# c\n", "\n---\n", "\n...\n"),
    "%YAML 1.1\n",
    *("\ufeff", "\x85", "\u2028", "\x00", "yes", "on", "012", "1_0", "1:30", "'", '"'),
)  # fmt: skip


def _mark(mark):
    return mark and (mark.index, mark.line, mark.column, mark.pointer)


def _plain(node):
    value = node.value
    if isinstance(value, list):
        value = [tuple(map(_plain, x)) if isinstance(x, tuple) else _plain(x) for x in value]
    style = getattr(node, "style", None), getattr(node, "flow_style", None)
    return type(node).__name__, node.tag, value, _mark(node.start_mark), _mark(node.end_mark), node.anchor, style


def _of(yaml, text):
    """Return all there is to know of a text's graph, or of the mistake in it."""
    yaml.max_depth = 12
    yaml.composer.warn_double_anchors = False
    try:
        graph = yaml.compose(text)
        return graph and _plain(graph)
    except RecursionError:
        return "contains itself"
    except Exception as error:
        marks = (_mark(getattr(error, name, None)) for name in ("problem_mark", "context_mark"))
        return type(error).__name__, getattr(error, "problem", str(error)), getattr(error, "context", None), *marks


def same(text):
    return _of(quick_yaml(), text) == _of(YAML(typ="safe", pure=True), text)


def soup(rng):
    return "".join(rng.choice(BITS) for _ in range(rng.randint(1, 24)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_read_alike(path):
    assert same(path.read_text(encoding="utf-8"))


def test_four_thousand_texts_of_anything_are_read_alike():
    rng = random.Random(21)
    assert [text for text in (soup(rng) for _ in range(4000)) if not same(text)] == []


def test_examples_with_something_thrown_in_are_read_alike():
    rng = random.Random(22)
    for _ in range(150):
        text = rng.choice(EXAMPLES[:12]).read_text(encoding="utf-8")[: rng.randint(100, 900)]
        at = rng.randrange(len(text))
        text = text[:at] + soup(rng)[:6] + text[at + rng.randint(0, 3) :]
        assert same(text), text


def test_long_lists_of_numbers_are_read_alike():
    rng = random.Random(23)
    data = {
        "rows": [[rng.uniform(-9, 9) for _ in range(40)] for _ in range(6)],
        "words": {f"k{i}": "v" for i in range(50)},
    }
    assert same(yaml_from_data(data))
