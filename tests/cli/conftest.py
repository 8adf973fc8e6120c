"""A tiny script, performed through the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_helpers import SCRIPT, Result

from stunt.cli.main import main


@pytest.fixture()
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the script into an empty folder, and go there."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tiny.yaml"
    path.write_text(SCRIPT)
    return path


@pytest.fixture()
def stunt(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command line in this process."""

    def run(*argv: object) -> Result:
        code = main([str(word) for word in argv])
        return Result(code, *capsys.readouterr())

    return run
