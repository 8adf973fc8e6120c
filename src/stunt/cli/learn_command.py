"""`stunt learn CONTROLLER`: try a controller from many states, and learn from which it succeeds."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stunt.cli.options import add_machine
from stunt.cli.take_files import check_writable
from stunt.cli.terminal import say, share_bar, write
from stunt.errors import InvalidValueError, UnknownNameError

if TYPE_CHECKING:
    from stunt.supervise.practice import Practice


def add_learn_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt learn`."""
    add = parser.add_argument
    add("controller", metavar="CONTROLLER", help="a registered controller, or module:Class")
    add("--tries", type=int, default=400, metavar="N", help="how often it is tried (default: 400)")
    add("--body", default="idle", metavar="BODY", help="a body, or the clip whose skeleton it has (default: idle)")
    add("--strength", type=float, default=1.5, metavar="X", help="times the joints' usual strength (default: 1.5)")
    add("--start", action="append", metavar="STATE", help="pushed, falling or lying (default: as the controller says)")
    add("--success", metavar="WHAT", help="stands (afterwards) or says (so itself); default: as the controller says")
    add("--seed", type=int, default=0, metavar="N", help="randomness (default: 0)")
    add_machine(parser)
    add("--out", metavar="DIR", default="learned", help="where tries and pre-condition go (default: learned)")
    add("--json", action="store_true", help="print what was learned as JSON, and nothing else")
    add("--quiet", action="store_true", help="print errors only")


def learn(args: argparse.Namespace) -> int:
    """Try, learn, write; interrupted, it goes on where it was."""
    from stunt.supervise.learn.samples import collect
    from stunt.supervise.learn.training import train
    from stunt.supervise.learn.trial import TrialPlan
    from stunt.supervise.practice import practice_of
    from stunt.supervise.registry import maker_of

    if not 1 <= args.tries <= 1_000_000:
        raise InvalidValueError("--tries", args.tries, "a whole number from 1 to 1000000")
    if not 0.01 <= args.strength <= 100.0:
        raise InvalidValueError("--strength", args.strength, "a number from 0.01 to 100")
    practice = _practice(practice_of(maker_of(args.controller)), args)
    out = Path(args.out)
    check_writable(out)
    name = args.controller.rpartition(":")[2].lower()
    with share_bar(f"trying {name}", quiet=args.quiet or args.json) as show:
        samples = collect(
            TrialPlan(args.controller, args.body, strength=args.strength, practice=practice), args.tries,
            out / f"{name}.jsonl", seed=args.seed, workers=args.workers, ray=args.ray,
            progress=lambda done, of: show(done / of),
        )  # fmt: skip
    machine, judged = train(samples, seed=args.seed)
    path = machine.save(out / f"{name}.npz")
    if args.json:
        write(json.dumps({**machine.about, "file": str(path)}, indent=2) + "\n")
    elif not args.quiet:
        say("", f"{int(samples.success.sum())} of {len(samples.samples)} tries succeeded")
        if samples.blown_up:
            say("", f"{samples.blown_up} more blew up and are left out")
        say(
            "",
            f"held-out: {100 * judged.accuracy:.1f} % of {judged.count} right ({100 * judged.guess:.0f} % by guessing)",
        )
        write(f"{path}\n")
    return 0


def _practice(declared: Practice, args: argparse.Namespace) -> Practice:
    """Return how the controller is tried: as it declares, but for what was typed."""
    from stunt.supervise.practice import STARTS, SUCCESSES

    for state in args.start or ():
        if state not in STARTS:
            raise UnknownNameError("state to start in", state, STARTS)
    if args.success is not None and args.success not in SUCCESSES:
        raise UnknownNameError("kind of success", args.success, SUCCESSES)
    starts = tuple(args.start) if args.start else declared.starts
    return replace(declared, starts=starts, success=args.success or declared.success)
