"""What the documentation shows, runs: Python, scripts and commands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from snippets import PAGES, ROOT, Snippet, filled_in, snippets

from stunt.cli.main import main
from stunt.cli.parser import parse

# The README has a test of its own.
PYTHON = [page for page in PAGES if snippets(page, "python") and page.name != "README.md"]
YAML = [snippet for page in PAGES for snippet in snippets(page, "yaml") if page.name != "batch.md"]
PLANS = snippets(ROOT / "docs" / "batch.md", "yaml")
WAITING = ("studio", "bench")  # run until somebody stops them, or for minutes
SHELL = [snippet for page in PAGES for snippet in snippets(page, "sh")]


def name_of(thing: Path | Snippet) -> str:
    return thing.name if isinstance(thing, Snippet) else str(thing.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_the_python_of_a_page_runs_from_top_to_bottom(page: Path, folder: Path) -> None:
    if page.name in ("train.md", "gym.md"):
        pytest.importorskip("gymnasium", reason="Gymnasium is an extra")
    _prepare(page, folder)
    names: dict[str, object] = {"__name__": "snippet"}
    for snippet in snippets(page, "python"):
        if snippet.how == "before":
            exec(compile(snippet.what, f"{snippet.name} (before)", "exec", dont_inherit=True), names)
        code = compile("\n" * snippet.line + snippet.text, str(page), "exec", dont_inherit=True)
        if snippet.how != "parsed":
            exec(code, names)


def _prepare(page: Path, folder: Path) -> None:
    """Run what the page's commands write that its Python reads."""
    for snippet in snippets(page, "sh"):
        for words in commands(snippet):
            if "--mapping" in words:
                assert main(words[1:]) == 0


@pytest.mark.parametrize("snippet", YAML, ids=name_of)
def test_a_script_is_one(snippet: Snippet, folder: Path) -> None:
    from stunt.script.check import check_against_stage
    from stunt.script.file import load_script
    from stunt.stage.build import build

    for clip in ("walk", "idle", "punch"):
        shutil.copy(ROOT / "src" / "stunt" / "examples" / "clips" / f"{clip}.bvh", folder)
    shutil.copy(ROOT / "src" / "stunt" / "examples" / "reach.c3d", folder)
    shutil.copy(folder / "idle.bvh", folder / "stop.bvh")
    file = folder / "script.yaml"
    file.write_text(filled_in(snippet), encoding="utf-8")
    script = load_script(file)
    if snippet.how != "parsed":
        check_against_stage(script, build(script.scene).characters)


@pytest.mark.parametrize("snippet", PLANS, ids=name_of)
def test_a_plan_is_one(snippet: Snippet, folder: Path) -> None:
    from stunt.many.batch import BatchRun
    from stunt.many.plan import load_plan

    (folder / "walks").mkdir()
    shutil.copy(ROOT / "src" / "stunt" / "examples" / "clips" / "walk.bvh", folder / "walks")
    (folder / "plan.yaml").write_text(snippet.text, encoding="utf-8")
    assert BatchRun(load_plan("plan.yaml")).count == 2 * 2 * 3 * 3 * 5


def test_every_column_of_a_batch_is_explained() -> None:
    from stunt.many.columns import COLUMNS

    page, reviews = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("batch.md", "review.md"))
    own = [column for column in COLUMNS if not column.startswith("review_")]
    assert [column for column in own if f"`{column}`" not in page] == []
    figures = [column.removeprefix("review_") for column in COLUMNS if column.startswith("review_")]
    assert [figure for figure in figures if f"`{figure}`" not in reviews] == []


def commands(snippet: Snippet) -> list[list[str]]:
    lines = [line.strip().removeprefix("$ ") for line in snippet.text.splitlines()]
    lines = [re.split(r" [|>] ", line)[0] for line in lines]  # what a shell does with the output is its business
    return [shlex.split(line, comments=True) for line in lines if line.startswith("stunt ")]


@pytest.mark.parametrize("snippet", SHELL, ids=name_of)
def test_a_command_does_what_it_says(snippet: Snippet, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clips = ROOT / "src" / "stunt" / "examples" / "clips"
    shutil.copy(clips / "walk.bvh", folder)
    for words in commands(snippet):
        parse(words[1:])
        if snippet.how == "parsed" or words[1] in WAITING:
            continue
        assert main(words[1:]) == 0, f"{' '.join(words)}: {capsys.readouterr().err}"


def test_every_kind_of_snippet_was_found() -> None:
    assert len(PYTHON) > 8 and len(YAML) > 8 and len(SHELL) > 5
