"""The `stunt` command.

Exit codes: 0 done, 1 a review found something, 2 a mistake the user can mend,
3 blow-up, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP, 141 reader gone.
"""

from __future__ import annotations

from stunt.cli.interrupts import exit_code, nothing_begun, stopped_by_signals

with nothing_begun():
    import argparse
    import contextlib
    import os
    import sys
    from collections.abc import Sequence
    from pathlib import Path

    from stunt.cli.parser import COMMANDS, parse
    from stunt.cli.terminal import forgive_encoding, give_up_output, open_streams, say
    from stunt.errors import StuntError

_READER_GONE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        argv: What was typed after `stunt`; None takes the process's own.

    Returns:
        The exit code.
    """
    try:
        open_streams()
        forgive_encoding()
        with stopped_by_signals():
            typed = sys.argv[1:] if argv is None else list(argv)
            _look_over(typed)
            code = _run(parse(typed))
        sys.stdout.flush()
        return code
    except SystemExit as exit_:  # from --help and --version
        return int(exit_.code or 0)
    except StuntError as error:
        say("error", str(error))
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        say("", "interrupted")
        return exit_code(interrupt)
    except BrokenPipeError:
        give_up_output()
        return _READER_GONE
    except OSError as error:  # of a file nobody foresaw, or of the standard output itself
        give_up_output()
        about = f"'{os.fsdecode(error.filename)}': " if isinstance(error.filename, (str, bytes)) else ""
        say("error", f"{about}{error.strerror or error}.")
        return StuntError.exit_code
    except (MemoryError, RecursionError) as error:
        say("error", f"this is too large for the machine's memory ({type(error).__name__}).")
        return StuntError.exit_code


def _look_over(typed: Sequence[str]) -> None:
    """Refuse a script that is no YAML before the engine is loaded; its graph is kept for whoever reads it then."""
    if len(typed) < 2 or typed[0] not in ("check", "perform", "preview") or not typed[1].endswith((".yaml", ".yml")):
        return
    from stunt.archives import read_file
    from stunt.script.yaml import MAX_BYTES, composed

    with contextlib.suppress(OSError, ValueError):  # the command itself says what is wrong with the file
        composed(read_file(typed[1], 64 * MAX_BYTES), typed[1])


def _run(args: argparse.Namespace) -> int:
    for folder in getattr(args, "clips", ()):
        if args.command != "bench" and not Path(folder).is_dir():
            raise StuntError(f"--clips {folder} is no folder.")
    # Imported here, so that Ctrl-C while the engine loads is handled like any other.
    return int(COMMANDS[args.command].function()(args))


if __name__ == "__main__":
    sys.exit(main())
