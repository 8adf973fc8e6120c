"""The wheel, in an empty environment, away from the checkout: it installs, and `stunt perform ymca` runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NO_INDEX = ("No matching distribution", "Could not find a version", "Temporary failure", "Connection", "Failed to est")


def run(words: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    return subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True, timeout=1200)


def pip(python: Path | str, words: list[str], cwd: Path) -> None:
    done = run([str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *words], cwd)
    if done.returncode != 0 and any(sign in done.stderr for sign in NO_INDEX):
        pytest.skip(f"no package index within reach: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.mark.wheel
def test_the_wheel_installs_and_performs_in_an_empty_environment(tmp_path: Path) -> None:
    source = tmp_path / "source"
    run(["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(source)], tmp_path)
    tree = source if (source / "pyproject.toml").is_file() else ROOT
    pip(sys.executable, ["wheel", "--no-deps", "--wheel-dir", str(tmp_path / "wheels"), str(tree)], tmp_path)
    (wheel,) = (tmp_path / "wheels").glob("stunt-*.whl")
    venv.EnvBuilder(with_pip=True).create(tmp_path / "empty")
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip(python, ["install", "--constraint", str(ROOT / "constraints.txt"), str(wheel)], tmp_path)
    stunt = python.parent / "stunt"
    version = run([str(stunt), "--version"], tmp_path)
    assert version.returncode == 0 and version.stdout.startswith("stunt ")
    played = run([str(stunt), "perform", "ymca", "--json"], tmp_path)
    assert played.returncode == 0, played.stderr
    report = json.loads(played.stdout)
    drawn = run([str(stunt), "perform", "ymca", "--out", "take", "--quiet"], tmp_path)
    assert drawn.returncode == 0 and (tmp_path / "take" / "filmstrip.png").is_file()
    print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB; {report['seconds']:.1f} s performed")
    package = Path(run([str(python), "-c", "import stunt; print(stunt.__file__)"], tmp_path).stdout.strip()).parent
    assert (package / "py.typed").is_file() and package.is_relative_to(tmp_path)
    for words, folder in ((["bench"], "benchmarks"), (["figures", "p0"], "papers")):
        told = run([str(stunt), *words], tmp_path)
        assert told.returncode == 2 and f"'{folder}/' is not part" in told.stderr
    completed = run([str(stunt), "completion", "bash"], tmp_path)
    assert completed.returncode == 0 and "_stunt_example" in completed.stdout


def test_the_package_imports_nothing_that_stays_beside_it() -> None:
    beside = re.compile(r"^\s*(?:from|import) (?:papers|benchmarks|tests|tools)\b", re.M)
    files = (ROOT / "src").rglob("*.py")
    assert [str(file) for file in files if beside.search(file.read_text(encoding="utf-8"))] == []
