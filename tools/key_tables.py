"""Writes the tables of keys in the docs from the declarations in the code.

A table stands between `<!-- keys: module:Spec -->` and `<!-- /keys -->`; keys named behind the spec are the only ones
it has, and with `-` before them those it leaves out. `--check` only says which pages are stale.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

from stunt.keys import ScriptKey, declared

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r"(<!-- keys: (?P<spec>[\w.]+:\w+)(?P<names>[^>]*?) -->\n).*?(<!-- /keys -->)", re.DOTALL)


def table(cls: type, names: list[str]) -> str:
    """Return the table of a spec's keys."""
    left_out = {name[1:] for name in names if name.startswith("-")}
    only = [name for name in names if not name.startswith("-")]
    rows = {k.name: _row(k) for k in declared(cls) if k.name not in left_out and (not only or k.name in only)}
    return "\n".join(["| key | value | if left out | meaning |", "|---|---|---|---|", *rows.values()]) + "\n"


def _row(entry: ScriptKey) -> str:
    value = entry.kind.told() + (f" [{entry.kind.unit}]" if entry.kind.unit else "")
    usual = "needed" if entry.needed else f"{entry.shown_default()}" or "–"
    return f"| `{entry.name}` | {_cell(value)} | {_cell(usual)} | {_cell(entry.help)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def renewed(page: str) -> str:
    """Return a page with its tables as the code has them."""

    def new(match: re.Match[str]) -> str:
        module, _, name = match["spec"].partition(":")
        return match[1] + table(getattr(importlib.import_module(module), name), match["names"].split()) + match[4]

    return _BLOCK.sub(new, page)


def stale(docs: Path = DOCS) -> list[Path]:
    """Return the pages whose tables are not as the code has them."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(docs.rglob("*.md"))}
    return [path for path, text in pages.items() if renewed(text) != text]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; say which pages are stale")
    args = parser.parse_args()
    found = stale()
    for path in found:
        print(path)
        if not args.check:
            path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if args.check and found else 0


if __name__ == "__main__":
    sys.exit(main())
