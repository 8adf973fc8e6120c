"""What can be typed after `stunt`."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from stunt import __version__
from stunt.errors import StuntError, UnknownNameError


@dataclass(frozen=True)
class Command:
    """A command of the command line; its module says what can be typed after it: `add_NAME_arguments`."""

    name: str
    module: str  #: Where it is, in `stunt.cli`; its function is called like the command
    help: str

    def function(self) -> Callable[[argparse.Namespace], int]:
        """Return what runs it."""
        found: Callable[[argparse.Namespace], int] = getattr(self._module(), self.name)
        return found

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Say what can be typed after it."""
        getattr(self._module(), f"add_{self.name}_arguments")(parser)

    def _module(self) -> Any:
        return importlib.import_module(f"stunt.cli.{self.module}")


COMMANDS = {
    command.name: command
    for command in (
        Command("perform", "perform", "play a script and write the take"),
        Command("track", "track_command", "let a body follow a clip, and say how well it did"),
        Command("own", "own_command", "let a body do a clip on its own feet alone, by search where that takes one"),
        Command("batch", "batch_command", "run a plan of many performances, or a folder of clips, into a table"),
        Command(
            "compare", "compare_command", "compare servos, helps, settings or controllers on the same clips and seeds"
        ),
        Command("studio", "studio_command", "direct a performance on a page of this machine"),
        Command(
            "check", "check_command", "say what a clip, body, script or controller is, and what looks wrong with it"
        ),
        Command("examples", "commands", "list the scripts that come with Stunt"),
        Command("show", "commands", "print the beat table of a take, or play it"),
        Command("review", "review_command", "say of a take or clip, in numbers, whether it can be believed"),
        Command("certify", "certify_command", "prove what moved the bodies of a take, by playing it again bare"),
        Command("export", "export_command", "write a take as BVH, GLB, USD, video, npz or CSV"),
        Command("figures", "commands", "draw a paper's figures from fresh runs"),
        Command("bench", "commands", "measure accuracy and speed on this machine"),
        Command("calibrate", "tension_command", "measure how far every joint gives against its tension"),
        Command("preview", "tension_command", "play a script by its curves alone, without physics"),
        Command("learn", "learn_command", "try a controller from many states, and learn from which it succeeds"),
        Command("completion", "completion_command", "print what a shell needs to complete this command line"),
    )
}


class UsageError(StuntError):
    """Arguments that do not make a command."""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints look like all others."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Complain."""
        raise UsageError(f"{message} (see '{self.prog} --help')")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line.

    Raises:
        StuntError: It is none; the message says what exists.
        SystemExit: It asked for help or for the version, which are printed.
    """
    parser, commands = make_parsers(argv[0] if argv else "")
    if not argv:
        parser.error("a command is missing: " + ", ".join(COMMANDS))
    if argv[0].startswith("-") and argv[0] not in parser._option_string_actions:
        _complain(parser, argv[0])
    if not argv[0].startswith("-") and argv[0] not in COMMANDS:
        raise UnknownNameError("command", argv[0], COMMANDS)
    args, rest = parser.parse_known_args(argv)
    if args.command == "bench":
        args.rest = rest
    elif rest:
        _complain(commands[args.command], rest[0])
    return args


def _complain(parser: argparse.ArgumentParser, word: str) -> NoReturn:
    if not word.startswith("-"):
        parser.error(f"'{word}' is one argument too many")
    options = [name for name in parser._option_string_actions if name.startswith("--")]
    raise UnknownNameError(f"option of {parser.prog}", word.partition("=")[0], options)


def make_parsers(only: str | None = None) -> tuple[_Parser, dict[str, _Parser]]:
    """Make the parser of the whole command line, and those of its commands by name; only one may be needed."""
    parser = _Parser(prog="stunt", description="A stunt double for animated characters.")
    parser.add_argument("--version", action="version", version=f"stunt {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    made = {}
    for name, command in COMMANDS.items():
        made[name] = commands.add_parser(name, help=command.help, add_help=name != "bench")
        if only in (None, name):  # what a command is made of takes its time to load
            command.add_arguments(made[name])
    return parser, made
