"""`stunt completion SHELL`: what a shell needs to complete commands, options, examples, clips and bodies."""

from __future__ import annotations

import argparse
from typing import Any

from stunt.cli.terminal import write

SHELLS = ("bash", "zsh", "tcsh")
_FOLDERS = ("out",)
_FILES = ("mapping", "skeleton", "copy", "body")


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt completion`."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def completion(args: argparse.Namespace) -> int:
    """Print the completion script."""
    from stunt.cli.parser import make_parsers

    write(script_for(args.shell, *make_parsers()))
    return 0


def script_for(shell: str, parser: argparse.ArgumentParser, commands: dict[str, Any]) -> str:
    """Return the completion script of a shell; names of examples, clips and bodies are those of this installation."""
    import shtab

    names = _names()
    for command, made in commands.items():
        for action in made._actions:
            _complete(action, _kind(command, action.dest), shtab)
    preamble: Any = {"bash": _bash(names), "zsh": _zsh(names)}
    return shtab.complete(parser, shell=shell, preamble=preamble if shell in preamble else "") + "\n"


def _names() -> dict[str, list[str]]:
    from stunt.character.bodies import BUILT_IN
    from stunt.examples import examples
    from stunt.library.names import clip_entries

    clips, bodies = list(clip_entries()), list(BUILT_IN)
    return {"example": [entry.name for entry in examples()], "clip": clips, "thing": [*clips, *bodies], "body": bodies}


def _kind(command: str, dest: str) -> str:
    """Return which names complete an argument; `file` and `folder` for those without."""
    if dest in _FOLDERS or dest == "clips":
        return "folder"
    known = {
        ("perform", "script"): "example",
        ("preview", "script"): "example",
        ("examples", "name"): "example",
        ("track", "clip"): "clip",
        ("check", "thing"): "thing",
        ("calibrate", "body"): "body",
    }
    return known.get((command, dest), "file" if dest in _FILES or dest == "take" else "")


def _complete(action: Any, kind: str, shtab: Any) -> None:
    if kind == "folder":
        action.complete = shtab.DIRECTORY
    elif kind == "file":
        action.complete = shtab.FILE
    elif kind:
        action.complete = {"bash": f"_stunt_{kind}", "zsh": f"_stunt_{kind}", "tcsh": "f"}


def _bash(names: dict[str, list[str]]) -> str:
    return "\n".join(
        f'_stunt_{kind}() {{ compgen -W "{" ".join(words)}" -- "$1"; compgen -f -- "$1"; }}'
        for kind, words in names.items()
    )


def _zsh(names: dict[str, list[str]]) -> str:
    quoted = {kind: " ".join(word.replace(":", "\\:") for word in words) for kind, words in names.items()}
    return "\n".join(
        f"_stunt_{kind}() {{ _alternative '{kind}s:{kind}:({words})' 'files:file:_files' }}"
        for kind, words in quoted.items()
    )
