"""Shells complete commands, options, and the names of what comes with Stunt."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from stunt.cli.main import main
from stunt.cli.parser import COMMANDS


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_every_command_is_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert command in text
    assert "--no-pictures" in text or shell == "tcsh"


def complete(script: Path, line: str) -> list[str]:
    """What bash offers at the end of a line."""
    words = line.split(" ")
    quoted = " ".join(f'"{word}"' for word in words)
    code = (
        f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; "
        f'COMP_POINT={len(line)}; _shtab_stunt; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, timeout=300)
    return [word.strip() for word in done.stdout.split("\n") if word.strip()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_offers_commands_options_examples_and_bodies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "stunt.bash"
    script.write_text(capsys.readouterr().out)
    monkeypatch.chdir(tmp_path)
    assert complete(script, "stunt per") == ["perform"]
    assert "ymca" in complete(script, "stunt perform ym")
    assert "human39" in complete(script, "stunt check human3")
    assert "walk" in complete(script, "stunt track wa")
    assert "--no-pictures" in complete(script, "stunt perform --no")


def test_an_unknown_shell_is_refused_with_those_that_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 2
    assert "bash" in capsys.readouterr().err


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    import stunt

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"stunt {stunt.__version__}"
