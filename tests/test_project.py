"""What the project says about itself: one version, pinned tools, checks that fetch nothing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import stunt

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def plain(name: str) -> str:
    """Return a requirement's name as package indices compare it, without its version."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", name.strip())[0]).lower()


def test_the_version_is_a_literal_in_one_file_and_the_build_reads_it_there() -> None:
    assert "version" in PROJECT["project"]["dynamic"] and "version" not in PROJECT["project"]
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "stunt.__version__"}
    text = (ROOT / "src" / "stunt" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE) == [stunt.__version__]
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    words = ["git", "grep", "-lF", f'"{stunt.__version__}"', "--", "."]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["src/stunt/__init__.py"]


def test_everything_a_developer_installs_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {plain(line) for line in lines if "==" in line}
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = {plain(name) for names in (PROJECT["project"]["dependencies"], *extras) for name in names} - {"stunt"}
    assert asked <= pins


def test_solvers_and_inverse_kinematics_are_imported_only_when_used() -> None:
    code = "import sys, stunt; sys.exit(any(name.split('.')[0] in ('mink', 'daqp') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_hooks_before_a_commit_are_local_and_every_command_that_contributing_names_exists() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"repo: (\S+)", hooks) == ["local"] and "://" not in hooks
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`make ([a-z-]+)", page)) <= targets
