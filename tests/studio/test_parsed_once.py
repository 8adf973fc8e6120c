"""One edit parses the text at most twice, however many of the studio's parties read it; beats are resolved once."""

import os
from pathlib import Path

import pytest
from studio_helpers import run

from stunt.drive.beats import spec
from stunt.examples import example
from stunt.script import yaml as script_yaml
from stunt.studio.backstage import worker
from stunt.studio.backstage.rehearsal import Rehearsal
from stunt.studio.paper.document import Document
from stunt.studio.paper.splice import Set, edited, plain

pytest.importorskip("nicegui", reason="the studio's extra is not installed")


class Stage:
    """Stands for the simulation's process: does what it is told in a process of its own memory of texts."""

    def __init__(self):
        self.worker = worker.Worker(_Pipe())
        self.parsed = 0

    def say(self, op, **data):
        kept = script_yaml.graph_of_yaml
        script_yaml.graph_of_yaml = kept.__wrapped__  # it remembers nothing of the server's
        try:
            getattr(self.worker, f"do_{op}")(**data)
        finally:
            script_yaml.graph_of_yaml = kept

    def close(self):
        pass


class _Pipe:
    def send(self, word):
        pass


@pytest.mark.parametrize("ripple", [False, True])
def test_a_moved_beat_parses_the_text_at_most_twice_and_resolves_its_part_once(tmp_path: Path, monkeypatch, ripple):
    from stunt.studio.session import Session

    path = tmp_path / "ymca.yaml"
    path.write_text(example("ymca").text())
    session = Session(Document.open(path), path, tmp_path)
    session._link = Stage()
    session._put_on_stage("open")
    parsed, resolved = [], []
    compose, in_time = script_yaml.YAML.compose, spec._in_time
    monkeypatch.setattr(script_yaml.YAML, "compose", lambda self, text: (parsed.append(text), compose(self, text))[1])
    monkeypatch.setattr(script_yaml.YAML, "load", lambda self, text: pytest.fail("a text is loaded past the graph"))
    monkeypatch.setattr(spec, "_in_time", lambda part: (resolved.append(part), in_time(part))[1])

    async def edit(by):
        parsed.clear()
        resolved.clear()
        await session.on_edit("move_beats", {"character": "dancer", "indices": [2], "by": by, "ripple": ripple})

    run(edit(0.1))
    before = session.document.now.text
    run(edit(-0.05))
    assert session.document.now.text != before
    assert len(parsed) <= 2 and set(parsed) == {session.document.now.text}
    assert len(resolved) == len({id(part) for part in resolved}) <= 2  # the server's part and the stage's
    session.close()


def test_what_was_spliced_is_still_read_and_compared(monkeypatch):
    text = "a: {k: 1}\nb: [1, 2]\n"
    monkeypatch.setattr("stunt.studio.paper.splice.flow", lambda value: "17")  # a splice that writes the wrong thing
    new = edited(text, [Set(("a", "k"), 2)])
    assert plain(new) == {"a": {"k": 2}, "b": [1, 2]}


def test_several_values_are_replaced_by_one_reading_of_the_text():
    text = "a: {k: 1, l: 22}  # here\nb: [1, 2]\n"
    assert edited(text, [Set(("a", "k"), 222), Set(("b", 1), 3), Set(("a", "l"), 4)]) == (
        "a: {k: 222, l: 4}  # here\nb: [1, 3]\n"
    )


def test_data_of_a_text_are_the_readers_own():
    text = "a: &x {k: [1]}\nb: *x\nc: {<<: *x, l: 2}\n"
    one = plain(text)
    one["a"]["k"].append(2)
    assert plain(text) == {"a": {"k": [1]}, "b": {"k": [1]}, "c": {"k": [1], "l": 2}}


def test_a_rehearsal_resolves_its_beats_once(monkeypatch):
    resolved, in_time = [], spec._in_time
    monkeypatch.setattr(spec, "_in_time", lambda part: (resolved.append(part), in_time(part))[1])
    Rehearsal(worker.script_with(example("ymca").text(), os.fspath(example("ymca").path), []))
    assert len(resolved) == 1
