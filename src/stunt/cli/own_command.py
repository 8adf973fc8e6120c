"""`stunt own CLIP`: a body does a clip on its own feet; `--search` where live control does not."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stunt.cli.interrupts import exit_code
from stunt.cli.options import add_machine, offer, told_fields
from stunt.cli.terminal import say, share_bar, write
from stunt.errors import StuntError

if TYPE_CHECKING:
    from stunt.search.search import Search

NOT_DONE: Final = 1
"""Exit code where the body fell."""
ROWS: Final = "search"
"""The folder of a search's rows, in the take's."""
MOTION: Final = "motion.bvh"
_TELL_EVERY: Final = 10.0  # how often a progress that is no terminal's is told [s]


def add_own_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt own`."""
    from stunt.cli.perform import CERTIFY_HELP
    from stunt.control.servo.law import RootSpring
    from stunt.search.own import BUDGET
    from stunt.stage.scene import CharacterSpec

    add = parser.add_argument
    add("clip", metavar="CLIP", help="a motion file, or the name of a clip")
    add("--body", metavar="BODY", help="a built-in body, an MJCF file or a motion file (default: the clip's skeleton)")
    offer(parser, CharacterSpec, "strength", default=1.5)
    offer(parser, RootSpring, "clock")
    add("--search", action="store_true", help="where it falls or leaves its clip: try what else to ask for")
    add("--seed", type=int, default=0, metavar="N", help="of the search (default: 0)")
    add("--budget", type=float, metavar="S", help=f"processor seconds per second of the clip (default: {BUDGET:g})")
    add_machine(parser)
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for the name in")
    add("--out", metavar="DIR", help="where the take goes, and from where a search goes on (default: takes/CLIP-own)")
    add("--json", action="store_true", help="print what came of it as JSON, and nothing else")
    add("--certify", action="store_true", help=CERTIFY_HELP)
    add("--quiet", action="store_true", help="print errors only")
    add("--no-pictures", action="store_true", help="write no filmstrip and no plots")


def own(args: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit code: 0 where the body is up a second after the clip's end, 1 where it fell, 128 and the
            signal's number if it was stopped.

    Raises:
        StuntError: There is no such clip or body, or it cannot go on its own feet at all; nothing was written.
    """
    from stunt.cli.perform import show_performance
    from stunt.export import export
    from stunt.jobs.run import machine_of
    from stunt.library.read import cut_reference
    from stunt.search.own import BUDGET, FOUND, search_own
    from stunt.stage.scene import CharacterSpec

    for option, given in (("--budget", args.budget), ("--workers", args.workers), ("--ray", args.ray or None)):
        if given is not None and not args.search:
            raise StuntError(f"{option} goes with --search.")
    folder = Path(args.out) if args.out else Path("takes") / f"{Path(cut_reference(args.clip)[0]).stem}-own"
    machine = machine_of(args.workers if args.search else 0, args.ray)
    keys = told_fields(args, CharacterSpec) | ({"clock": args.clock} if args.clock else {})
    budget = (BUDGET if args.budget is None else args.budget) if args.search else 0.0
    try:
        with _progress(args) as show:
            found = search_own(
                args.clip, args.body, seed=args.seed, budget=budget, out=folder / ROWS if args.search else None,
                progress=show, machine=machine, clips=args.clips, **keys,
            )  # fmt: skip
    except KeyboardInterrupt as interrupt:
        if not args.search:
            raise
        say("", f"interrupted: what was tried is kept in '{folder / ROWS}'; the same command goes on from there")
        return exit_code(interrupt)
    finally:
        machine.close()
    told = {key: value for key, value in found.to_data().items() if key != "vectors"}
    shown = argparse.Namespace(**{**vars(args), "out": str(folder), "json": False, "quiet": args.quiet or args.json})
    code = show_performance(found.stage(certify=args.certify).performance, folder, shown)
    if code:
        return code
    found.save(folder / FOUND)
    export(folder, folder / MOTION)
    if args.json:
        write(_json(told))
    elif not args.quiet:
        write(f"{folder}: {FOUND}, {MOTION}\n{found.told()}\n")
    return 0 if found.done else NOT_DONE


def _json(told: dict[str, Any]) -> str:
    from stunt.cli.terminal import speaks_unicode
    from stunt.record.report import report_text

    return report_text(told, ascii_only=not speaks_unicode())


@contextlib.contextmanager
def _progress(args: argparse.Namespace) -> Iterator[Callable[[Search], None]]:
    """Show how far a search is and how long it may still take, on the standard error."""
    quiet = args.quiet or args.json or not args.search
    began, last = time.monotonic(), time.monotonic()
    with share_bar("searching", quiet=quiet) as bar:

        def show(search: Search) -> None:
            nonlocal last
            bar(min(search.spent / search.limit, 1.0))
            now = time.monotonic()
            if quiet or now - last < _TELL_EVERY:
                return
            last = now
            left = (now - began) * max(search.limit / search.spent - 1.0, 0.0)
            say(
                "",
                f"{search.trials:,} trials, with its clip up to {search.best.reach:.2f} s, at most {left:.0f} s left",
            )

        yield show
