"""Finds the snippets of the documentation, and what must stand around them for them to run.

A comment right before a block changes what is done with it:

* `<!-- before: … -->` is Python that runs first (names the block takes for granted);
* `<!-- in: … {block} … -->` is the script a YAML fragment belongs into, at the indentation of `{block}`;
* `<!-- parsed: why -->` leaves a block at being parsed: it would take too long, or wait for somebody. So does the word
  `no-run` behind the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "README.md"]
_BLOCK = re.compile(
    r"(?:<!--\s*(?P<how>before|in|parsed):\s?(?P<what>.*?)-->\s*\n)?^```(?P<language>[\w{}-]*)(?P<more>[^\n]*)\n(?P<text>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Snippet:
    """One block of a page, with the comment before it."""

    page: Path
    line: int
    language: str
    text: str
    how: str
    what: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def snippets(page: Path, *languages: str) -> list[Snippet]:
    """All blocks of a page in some languages, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("text"))
        how = "parsed" if "no-run" in match["more"] else match["how"] or ""
        found.append(Snippet(page, line, match["language"], match["text"], how, (match["what"] or "").strip("\n")))
    return [snippet for snippet in found if snippet.language in languages]


def filled_in(snippet: Snippet) -> str:
    """A YAML fragment inside the script it belongs into."""
    if snippet.how != "in":
        return snippet.text
    lines = []
    for line in snippet.what.splitlines():
        if line.strip() != "{block}":
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        body = snippet.text.splitlines()
        least = min(len(some) - len(some.lstrip()) for some in body if some.strip())
        lines += [indent + some[least:] for some in body]
    return "\n".join(lines) + "\n"
