"""`stunt batch PLAN|FOLDER|CLIP …`: many performances, a table of what came of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stunt.cli.interrupts import exit_code
from stunt.cli.options import add_machine
from stunt.cli.terminal import say, screen, write
from stunt.errors import InvalidValueError, StuntError

if TYPE_CHECKING:
    from stunt.jobs.job import Done
    from stunt.jobs.pool import Machine
    from stunt.many.batch import BatchRun
    from stunt.many.plan import BatchPlan

SOME_FAILED: Final = 1
"""Exit code where all was run and some jobs failed."""
TELL_EVERY: Final = 10.0
"""How often a progress that is no terminal's is told [s]."""
_TAKES = ("none", "failed", "all")
_FORMATS = ("csv", "md", "parquet")


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt batch`."""
    add = parser.add_argument
    add("plan", nargs="+", metavar="PLAN|FOLDER|CLIP", help="a plan's .yaml file; or a folder, a pattern or clips")
    add("--out", metavar="DIR", help="where rows and tables go, and from where it goes on (default: batches/NAME)")
    add_machine(parser)
    add("--takes", choices=_TAKES, help="of which jobs takes are kept (default: as the plan says, else none)")
    add(
        "--format", action="append", choices=_FORMATS, help="a table's format, may be repeated (default: all there are)"
    )
    add("--limit", type=int, metavar="N", help="run no more than N jobs this time")
    add("--most", type=int, metavar="N", help="run a plan of up to N jobs (default: 100,000)")
    add("--time-limit", type=float, metavar="S", help="stop a job that takes longer; it counts as failed")
    add("--retry", action="store_true", help="run those jobs again that failed before")
    add("--dry-run", action="store_true", help="say how many jobs there are and what they will take; run none")
    add("--quiet", action="store_true", help="print errors only")


def batch(args: argparse.Namespace) -> int:
    """Run the command."""
    from stunt.jobs.run import machine_of
    from stunt.jobs.table import available_formats, check_formats
    from stunt.many.batch import MOST, BatchRun, estimate

    _check(args)
    plan, name = _plan(args.plan)
    if args.dry_run:
        write(f"{estimate(plan)}\n")
        return 0
    formats = args.format or available_formats()
    check_formats(formats)
    run = BatchRun(plan, args.out or Path("batches") / name, most=args.most or MOST, takes=args.takes)
    machine = machine_of(args.workers, args.ray, args.time_limit)
    try:
        with run.open() as journal:
            for sentence in (*run.warnings, *journal.warnings):
                say("warning", sentence)
            stopped = run_left(run, machine, quiet=args.quiet, limit=args.limit, retry=args.retry)
            paths = run.write_tables(formats)
            if not args.quiet:
                screen().print(_summary(run))
            write("".join(f"{path}\n" for path in paths))
            return stopped or (SOME_FAILED if journal.failed else 0)
    finally:
        machine.close()


def _check(args: argparse.Namespace) -> None:
    for option in ("limit", "most"):
        given = getattr(args, option)
        if given is not None and not 1 <= given <= 10**12:
            raise InvalidValueError(f"--{option}", given, "a whole number of at least 1")
    if args.time_limit is not None and not args.time_limit > 0.0:
        raise InvalidValueError("--time-limit", args.time_limit, "seconds, more than 0")
    if args.ray and args.time_limit is not None:
        raise StuntError("--time-limit goes with processes of this machine only, not with --ray.")


def _plan(words: list[str]) -> tuple[BatchPlan, str]:
    """Return the plan that was typed, and what its folder is called."""
    from stunt.many.plan import BatchPlan, load_plan

    if len(words) == 1:
        return load_plan(words[0]), Path(words[0]).absolute().stem.strip("*?[]. ") or "clips"
    if any(Path(word).suffix.lower() in (".yaml", ".yml") for word in words):
        raise StuntError("one plan at a time: a .yaml file stands alone; clips and folders may be several.")
    return BatchPlan(clips=tuple(words)), Path(words[0]).absolute().parent.name or "clips"


def run_left(run: BatchRun, machine: Machine, *, quiet: bool, limit: int | None = None, retry: bool = False) -> int:
    """Run what is left, and show how far it is; return the exit code where a signal ended it, else 0."""
    journal = run.journal
    assert journal is not None
    before = journal.done
    if before and not quiet:
        say("", f"going on: {before:,} of {journal.count:,} jobs have their rows in '{run.out}'")
    with _progress(journal, quiet=quiet) as show:
        try:
            for _ in run.run(machine, limit=limit, retry=retry, progress=show):
                pass
        except KeyboardInterrupt as interrupt:
            machine.close()
            stopped = exit_code(interrupt)
        else:
            stopped = 0
    if stopped:
        kept = f"{journal.done:,} of {journal.count:,} rows are kept"
        say("", f"interrupted: {kept}; the same command goes on from there")
    return stopped


@contextmanager
def _progress(journal: Any, *, quiet: bool) -> Iterator[Callable[[Done], None]]:
    """Show how far it is and how long it will take, on the standard error."""
    if quiet:
        yield lambda done: None
        return
    if not sys.stderr.isatty():
        yield _ProgressLines(journal).show
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    shown = TextColumn("{task.completed:,.0f} of {task.total:,.0f} jobs, {task.fields[failed]:,} failed")
    columns = (BarColumn(), shown, TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, console=screen(errors=True), transient=True, speed_estimate_period=600.0) as bar:
        task = bar.add_task("batch", total=journal.count, completed=journal.done, failed=journal.failed)
        yield lambda done: bar.update(task, completed=journal.done, failed=journal.failed)


class _ProgressLines:
    """Progress as lines, now and then."""

    def __init__(self, journal: Any) -> None:
        self._journal, self._began, self._first = journal, time.monotonic(), journal.done
        self._told = self._began

    def show(self, done: Done) -> None:
        """Tell, if it is time to."""
        now, journal = time.monotonic(), self._journal
        if now - self._told < TELL_EVERY:
            return
        self._told = now
        left = (now - self._began) / max(journal.done - self._first, 1) * (journal.count - journal.done)
        say("", f"{journal.done:,} of {journal.count:,} jobs, {journal.failed:,} failed, about {_duration(left)} left")


def _duration(seconds: float) -> str:
    for length, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.0f} s"


def _summary(run: BatchRun) -> Any:
    """Return a table of means by setting."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    from stunt.many.summary import SHOWN, summary

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("setting")
    for heading in ("jobs", "failed", "fell", *SHOWN.values()):
        table.add_column(heading, justify="right")
    assert run.journal is not None
    for line in summary(entry["row"] for entry in run.journal.entries()):
        figures = ["–" if value is None else f"{value:.3g}" for value in line.means.values()]
        table.add_row(escape(line.setting), f"{line.jobs:,}", f"{line.failed:,}", f"{line.fell:,}", *figures)
    return table
