"""What can be typed after `stunt`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from stunt import __version__
from stunt.cli import (
    check_command,
    completion_command,
    export_command,
    learn_command,
    studio_command,
    tension_command,
    track_command,
)
from stunt.cli.options import offer
from stunt.errors import StuntError, UnknownNameError
from stunt.keys import key_of

COUPLINGS = ("full", "compensated", "composite", "local", "constant")
COMMANDS = (
    "perform", "track", "studio", "check", "examples", "show", "export", "figures", "bench", "calibrate", "preview",
    "learn", "completion",
)  # fmt: skip


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
    parser, commands = make_parsers()
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


def make_parsers() -> tuple[_Parser, dict[str, _Parser]]:
    """Make the parser of the whole command line, and those of its commands by name."""
    parser = _Parser(prog="stunt", description="A stunt double for animated characters.")
    parser.add_argument("--version", action="version", version=f"stunt {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    made = {
        "perform": commands.add_parser("perform", help="play a script and write the take"),
        "track": commands.add_parser("track", help=track_command.HELP),
        "check": commands.add_parser("check", help=check_command.HELP),
        "studio": commands.add_parser("studio", help=studio_command.HELP),
        "preview": commands.add_parser("preview", help=tension_command.PREVIEW_HELP),
        "calibrate": commands.add_parser("calibrate", help=tension_command.CALIBRATE_HELP),
        "learn": commands.add_parser("learn", help=learn_command.HELP),
        "examples": commands.add_parser("examples", help="list the scripts that come with Stunt"),
        "show": commands.add_parser("show", help="print the beat table of a take, or play it"),
        "export": commands.add_parser("export", help=export_command.HELP),
        "figures": commands.add_parser("figures", help="draw a paper's figures from fresh runs"),
        "bench": commands.add_parser("bench", help="measure accuracy and speed on this machine", add_help=False),
        "completion": commands.add_parser("completion", help=completion_command.HELP),
    }
    _perform_arguments(made["perform"])
    track_command.add_arguments(made["track"])
    check_command.add_arguments(made["check"])
    studio_command.add_arguments(made["studio"])
    tension_command.add_preview_arguments(made["preview"])
    tension_command.add_calibrate_arguments(made["calibrate"])
    completion_command.add_arguments(made["completion"])
    learn_command.add_arguments(made["learn"])
    export_command.add_arguments(made["export"])
    _other_arguments(made)
    return parser, made


def _perform_arguments(parser: argparse.ArgumentParser) -> None:
    from stunt.stage.scene import Scene

    add = parser.add_argument
    add("script", metavar="SCRIPT|EXAMPLE", help="a .yaml file, or the name of an example (see 'stunt examples')")
    add("--out", metavar="DIR", help="where the take goes (default: takes/NAME; with --json: nowhere)")
    add("--json", action="store_true", help="print the report as JSON, and nothing else")
    add("--rate", type=float, metavar="HZ", help="physics and control rate")
    for name in ("physics_hz", "control_hz", "seed"):
        offer(parser, Scene, name, help=f"{key_of(Scene, name).help} (default: the script's)")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for names in")
    add("--coupling", choices=COUPLINGS, metavar="LEVEL", help=f"compare with another law: {', '.join(COUPLINGS)}")
    add("--verify", metavar="TAKE", help="say where this differs from a take of the same script; writes nothing")
    add("--quiet", action="store_true", help="print errors only")
    add("--no-pictures", action="store_true", help="write no filmstrip and no plots")


def _other_arguments(parsers: dict[str, _Parser]) -> None:
    add = parsers["examples"].add_argument
    add("name", nargs="?", metavar="NAME", help="print this one")
    add("--copy", metavar="FILE", help="copy it to a new file")
    add = parsers["show"].add_argument
    add("take", metavar="TAKE", help="a take.npz, or the folder it is in")
    add("--live", action="store_true", help="play it in MuJoCo Studio: a window, or a page where there is no display")
    add("--web", action="store_true", help="play it on a page of this machine, even if there is a display")
    add("--port", type=int, metavar="N", help="the page's port")
    add("--no-browser", action="store_true", help="open no browser for the page")
    add = parsers["figures"].add_argument
    add("paper", nargs="?", default="p0", metavar="PAPER", help="which paper (default: p0, On the Beat)")
    add("--out", metavar="DIR", default="figures", help="where they go (default: figures)")
