from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

import stunt.examples
from stunt import Performance, __version__, load_script
from stunt.cli import terminal
from stunt.cli.perform import find_script
from stunt.examples import example, example_names, examples

PACKAGED = sorted(path.stem for path in Path(stunt.examples.__file__).parent.glob("*.yaml"))


def test_examples_lists_every_script_of_the_package_with_its_title(stunt, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    result = stunt("examples")
    assert result.code == 0 and list(example_names()) == PACKAGED
    for entry in examples():
        (line,) = [line for line in result.out.splitlines() if line.split() and line.split()[0] == entry.name]
        assert load_script(entry.path).title in line
        assert entry.description and entry.description in line


@pytest.mark.parametrize("name", PACKAGED)
def test_every_example_can_be_put_on_stage(name):
    performance = Performance(load_script(example(name).path), foretell=False)
    assert performance.seconds > 0.0


def test_an_example_is_found_in_capitals_too():
    assert example("YMCA") == example("ymca")


def test_an_example_can_be_printed_and_copied(stunt, script):
    assert stunt("examples", "ymca").out == example("ymca").text()
    assert stunt("examples", "ymca", "--copy", "mine.yaml").code == 0
    assert load_script("mine.yaml") == load_script(example("ymca").path)
    Path("folder").mkdir()
    assert stunt("examples", "ymca", "--copy", "folder").out == "folder/ymca.yaml\n"


def test_an_examples_name_means_the_example_and_a_path_means_the_file(script):
    Path("ymca").write_text("a script without a suffix")
    Path("other").write_text("another")
    assert find_script("ymca") == example("ymca").path
    assert find_script("./ymca") == Path("ymca")
    assert find_script("other") == Path("other")


def test_version_and_help_go_to_the_standard_output(stunt):
    assert stunt("--version").out == f"stunt {__version__}\n"
    result = stunt("perform", "--help")
    assert result.code == 0 and "--no-pictures" in result.out


def test_show_prints_the_table_again(stunt, script):
    performed = stunt("perform", script, "--out", "out", "--no-pictures")
    shown = stunt("show", "out")
    assert shown.code == 0
    table = performed.out.split("1 of 1 beat")[0]
    assert table and shown.out.startswith(table)


@pytest.mark.parametrize(
    ("options", "call"),
    [
        (("--live",), {"web": None, "port": 0, "open_browser": True}),
        (("--live", "--web"), {"web": True, "port": 0, "open_browser": True}),
        (("--port", "9000", "--no-browser"), {"web": None, "port": 9000, "open_browser": False}),
    ],
)
def test_show_live_plays_the_take(stunt, script, monkeypatch, options, call):
    assert stunt("perform", script, "--out", "out", "--no-pictures").code == 0
    calls = []
    live = types.ModuleType("live")
    live.show_live = lambda take, **how: calls.append((take.meta["title"], how))
    monkeypatch.setitem(sys.modules, "stunt.record.live", live)
    assert stunt("show", "out", *options).code == 0
    assert calls == [("Tiny", call)]


def test_figures_are_drawn_into_a_folder_and_named(stunt, script, monkeypatch):
    figures = types.ModuleType("p0")
    figures.make = lambda out: [out / "one.png"]
    monkeypatch.setitem(sys.modules, "papers.p0.figures", figures)
    assert stunt("figures", "p0", "--out", "pictures").out == "pictures/one.png\n"
    assert stunt("figures").out == "figures/one.png\n"


def test_bench_gets_the_rest_of_the_command_line(stunt, monkeypatch):
    bench, calls = types.ModuleType("main"), []
    bench.run = lambda rest: calls.append(rest) or 1
    monkeypatch.setitem(sys.modules, "benchmarks.main", bench)
    assert stunt("bench", "--quick", "cost").code == 1
    assert calls == [["--quick", "cost"]]


def test_a_closed_pipe_is_no_error_message(stunt, monkeypatch):
    def closed(text):
        raise BrokenPipeError

    monkeypatch.setattr("stunt.cli.commands.write", closed)
    monkeypatch.setattr("stunt.cli.main.give_up_output", lambda: None)
    result = stunt("examples", "ymca")
    assert (result.code, result.err) == (141, "")


def test_a_message_of_several_lines_becomes_one(capsys):
    terminal.say("error", "one\ntwo")
    assert capsys.readouterr().err == "error: one two\n"


@pytest.mark.parametrize(("words", "folder"), [(("bench", "--quick"), "benchmarks"), (("figures", "p0"), "papers")])
def test_without_a_checkout_bench_and_figures_say_where_they_are(stunt, script, monkeypatch, tmp_path, words, folder):
    monkeypatch.setattr("stunt.examples._FOLDER", tmp_path / "a" / "src" / "stunt" / "examples")
    result = stunt(*words)
    assert result.code == 2 and f"'{folder}/' is not part of the installed package" in result.err
    assert "pip install -e ." in result.err
