"""The documentation builds, and a warning is an error."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_documentation_builds_without_a_warning(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(needed, reason="the documentation's tools are an extra: pip install 'stunt[docs]'")
    pytest.importorskip("gymnasium", reason="the reference of the environments needs Gymnasium")
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "guides" / "perform.html").is_file()
    assert "class" in (tmp_path / "api" / "stage.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_table_of_contents_and_every_link_leads_somewhere() -> None:
    docs = ROOT / "docs"
    index = (docs / "index.md").read_text(encoding="utf-8") + (docs / "api" / "index.md").read_text(encoding="utf-8")
    for page in docs.rglob("*.md"):
        name = page.relative_to(docs).with_suffix("").as_posix()
        assert name == "index" or name.removeprefix("api/") in index, f"{name} is in no table of contents"
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{name} links to {target}"


def test_a_page_of_the_reference_can_be_read_at_one_sitting() -> None:
    pages = sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "guides").glob("*.md"))
    counted = {page.stem: len(page.read_text(encoding="utf-8").replace("|", " ").split()) for page in pages}
    assert not {name: words for name, words in counted.items() if words > 1600}, (
        "about 1,500 words are enough for a page"
    )


@pytest.mark.parametrize("page", ["p0", "p1", "p2", "p3", "p4"])
def test_a_papers_page_begins_with_its_title_authors_and_year(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert re.match(r"# .+\n\n> \*.+\.\* [^\n]+, [\s\S]*?\b(19|20)\d\d\.\n\n", text)
