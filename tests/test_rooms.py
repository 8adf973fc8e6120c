"""Imports run one way, and nothing in the repository depends on the machine it was written on."""

import ast
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "stunt"

# Each room may import the rooms to its left, and itself.
ORDER = (
    "base", "maths", "character", "motion", "library", "control", "stage", "record", "drive", "supervise", "play",
    "script",
    "check", "export", "gym", "studio", "cli",
)  # fmt: skip
BASE = ("errors", "schema", "archives", "__init__")
EXAMPLES_FOR = ("studio", "cli")


def room_of(module: str) -> str:
    parts = module.split(".")
    if len(parts) == 1 or parts[1] in BASE or parts[1].startswith("__"):
        return "base"
    return parts[1]


def imports_of(path: Path) -> set[str]:
    """Modules of stunt that a file imports when it runs (imports for type checking alone do not count)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            skipped |= {id(child) for child in ast.walk(node)}
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "stunt":
            found |= {node.module} if node.module != "stunt" else {f"stunt.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("stunt.")}
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_run_one_way(path):
    here = room_of("stunt." + ".".join(path.relative_to(SOURCE).with_suffix("").parts))
    for module in imports_of(path):
        there = room_of(module)
        if there == "examples":
            assert here in EXAMPLES_FOR, f"{here} imports {module}"
            continue
        if here == "examples":
            assert there == "base", f"examples import {module}"
            continue
        assert ORDER.index(there) <= ORDER.index(here), f"{here} imports {module}"


def test_no_file_names_a_folder_of_one_machine():
    root = SOURCE.parents[1]
    if not (root / ".git").exists():
        pytest.skip("not a checkout")
    words = "|".join(("/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"))
    found = subprocess.run(["git", "grep", "-nIE", words, "--", "."], cwd=root, capture_output=True, text=True)
    assert not found.stdout
