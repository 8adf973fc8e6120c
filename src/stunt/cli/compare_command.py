"""`stunt compare A B … --clips …`: ways of following clips, like for like, with intervals."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stunt import __version__
from stunt.cli.batch_command import SOME_FAILED, run_left
from stunt.cli.options import add_machine
from stunt.cli.terminal import say, screen, write
from stunt.errors import InvalidValueError, StuntError, UnknownNameError

if TYPE_CHECKING:
    from stunt.many.comparison import Comparison
    from stunt.many.plan import BatchPlan

SEEDS: Final = 5
"""Starts with noise, unless told."""


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt compare`."""
    add = parser.add_argument
    add(
        "sides", nargs="+", metavar="SIDE",
        help="what is compared, with the first: a servo or a help (world, parent, weak, hook, …), KEY=VALUE,… of a "
        "setting, NAME:KEY=VALUE,…, module:Class, or default; or one plan's .yaml file, or the folder of a batch",
    )  # fmt: skip
    add(
        "--clips",
        dest="followed",
        nargs="+",
        default=[],
        metavar="CLIP",
        help="clips, folders or patterns that all of them follow",
    )
    add("--body", default="skeleton", metavar="BODY", help="on which body (default: the clip's own skeleton)")
    add("--pushes", nargs="+", default=[], metavar="PUSH", help="pushes such as 40@1.5:thorax:90; each is a run")
    add("--seeds", type=int, metavar="N", help=f"starts with noise (default: {SEEDS})")
    add("--seed", type=int, default=0, metavar="N", help="of noise and resampling (default: 0)")
    add("--with", dest="common", metavar="KEY=VALUE,…", help="keys that all sides have, such as strength=1.2")
    add("--seconds", type=float, metavar="S", help="how long each run lasts (default: as long as its clip)")
    add("--measures", metavar="NAME,…", help="which columns of the table are compared (default: the usual ones)")
    add("--by", default="setting", metavar="COLUMN", help="which column of a batch names the sides (default: setting)")
    add("--standing", action="store_true", help="count only pairs in which nobody fell")
    add("--out", metavar="DIR", help="where rows, table, plot and JSON go (default: comparisons/NAMES)")
    add_machine(parser)
    add("--json", action="store_true", help="print the comparison as JSON, and nothing else")
    add("--quiet", action="store_true", help="print errors only")


def compare(args: argparse.Namespace) -> int:
    """Run what is to be compared, compare it, and write it down."""
    from stunt.many.batch import rows_in

    args.quiet = args.quiet or args.json
    only = Path(args.sides[0]) if len(args.sides) == 1 else None
    if only is not None and only.is_dir():
        _refuse_runs(args)
        return _tell(rows_in(only), Path(args.out) if args.out else only, args, {"rows": str(only)}, 0)
    plan, name = _plan(args, only)
    _check_measures(plan, args)
    out = Path(args.out or Path("comparisons", name))
    rows, code = _run(plan, out, args)
    if code > 128:  # a signal ended it
        return code
    about = {
        "title": plan.title,
        "digest": plan.digest,
        "settings": {key: dict(of) for key, of in plan.settings.items()},
    }
    return _tell(rows, out, args, about, code)


def _check_measures(plan: BatchPlan, args: argparse.Namespace) -> None:
    """Complain about a measure that no run will have, before anything is run; jobs of one's own may have any."""
    from stunt.many.columns import COLUMNS

    for measure in args.measures.split(",") if args.measures and not plan.jobs else ():
        if measure not in COLUMNS:
            raise UnknownNameError("measure", measure, COLUMNS)


def _refuse_runs(args: argparse.Namespace) -> None:
    """Complain where a finished batch is compared and something was to be run."""
    for option in ("followed", "pushes", "seeds", "common", "seconds", "ray"):
        if getattr(args, option):
            word = {"common": "with", "followed": "clips"}.get(option, option)
            raise StuntError(
                f"--{word} is for runs; '{args.sides[0]}' is a folder whose rows are compared as they are."
            )


def _plan(args: argparse.Namespace, only: Path | None) -> tuple[BatchPlan, str]:
    """Return what is run, and what its folder is called."""
    from dataclasses import replace

    from stunt.many.plan import BatchPlan, Seeds, load_plan
    from stunt.many.setting import checked_settings
    from stunt.many.shove import shoves
    from stunt.many.sides import keys_of_text, sides_of

    if only is not None and only.suffix.lower() in (".yaml", ".yml"):
        return load_plan(only), only.stem
    if len(args.sides) < 2:
        raise StuntError(f"a comparison needs two sides; '{args.sides[0]}' is one, and neither a plan nor a folder.")
    if not args.followed:
        raise StuntError("--clips is missing: say which clips are followed, for example --clips walk idle.")
    count = SEEDS if args.seeds is None else args.seeds
    if not 1 <= count <= 1_000_000:
        raise InvalidValueError("--seeds", count, "a whole number from 1 to 1000000")
    common = keys_of_text(args.common) if args.common else {}
    settings = {name: {**common, **own} for name, own in sides_of(args.sides).items()}
    plan = BatchPlan(
        clips=tuple(args.followed), bodies=(args.body,), settings=checked_settings(settings), seeds=Seeds(count),
        pushes=tuple(shoves(args.pushes, "--pushes")), seed=args.seed, seconds=args.seconds,
    )  # fmt: skip
    name = "_".join("".join(c if c.isalnum() else "-" for c in side) for side in settings)[:80]
    return replace(plan, title=" against ".join(settings)), name


def _run(plan: BatchPlan, out: Path, args: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    """Run what is left of a plan in its folder; return all its rows, and the exit code so far."""
    from stunt.jobs.run import machine_of
    from stunt.many.batch import BatchRun

    run = BatchRun(plan, out)
    machine = machine_of(args.workers, args.ray)
    try:
        with run.open() as journal:
            for sentence in (*run.warnings, *journal.warnings):
                say("warning", sentence)
            stopped = run_left(run, machine, quiet=args.quiet)
            run.write_tables(("csv",))
            code = stopped or (SOME_FAILED if journal.failed else 0)
            return [entry["row"] for entry in journal.entries()], code
    finally:
        machine.close()


def _tell(rows: Iterable[dict[str, Any]], out: Path, args: argparse.Namespace, about: dict[str, Any], code: int) -> int:
    from stunt.many.compared_files import write_comparison
    from stunt.many.comparison import compare as compare_rows

    measures = tuple(args.measures.split(",")) if args.measures else ()
    found = compare_rows(rows, by=args.by, measures=measures, standing=args.standing, seed=args.seed)
    about = {"stunt": __version__, **about}
    paths = write_comparison(found, out, about, str(about.get("title") or " against ".join(found.sides)))
    if args.json:
        write(json.dumps({**about, **found.to_data()}, indent=1, ensure_ascii=False) + "\n")
        return code
    if not args.quiet:
        _print(found)
    write("".join(f"{path}\n" for path in paths))
    return code


def _print(found: Comparison) -> None:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from stunt.many.compared_files import note_of, table_of

    head, *lines = table_of(found)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(head):
        table.add_column(escape(heading), justify="left" if number == 0 else "right")
    for line in lines:
        table.add_row(*map(escape, line))
    screen().print(table)
    screen().print(escape(note_of(found)))
    for failure in found.failures[:3]:
        say("failed", failure)
