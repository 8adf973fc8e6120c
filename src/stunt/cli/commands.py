"""The smaller commands: `stunt examples`, `stunt show`, `stunt figures`, `stunt bench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich import box
from rich.markup import escape
from rich.table import Table

from stunt.cli.terminal import say, screen, waiting, write
from stunt.errors import ScriptFileError, StuntError, UnknownNameError
from stunt.examples import Example, beside, example
from stunt.examples import examples as all_examples
from stunt.record.files import written_aside

PAPERS = ("p0", "p1", "p2", "p3", "p4")
"""What `stunt figures` can draw."""


def add_examples_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt examples`."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this one")
    parser.add_argument("--copy", metavar="FILE", help="copy it to a new file")


def examples(args: argparse.Namespace) -> int:
    """List the examples, print one, or copy one."""
    if args.name is None:
        if args.copy is not None:
            raise StuntError("--copy needs the name of an example: stunt examples NAME --copy FILE.")
        screen().print(_examples_table())
        return 0
    chosen = example(args.name)
    if args.copy is None:
        write(chosen.text())
    else:
        write(f"{_copy(chosen, Path(args.copy))}\n")
    return 0


def _examples_table() -> Table:
    from stunt.script.file import load_script

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("example", no_wrap=True)
    table.add_column("title")
    table.add_column("what happens")
    for entry in all_examples():
        table.add_row(entry.name, escape(load_script(entry.path).title), escape(entry.description))
    return table


def _copy(chosen: Example, to: Path) -> Path:
    """Copy an example into a folder or to a new file."""
    to = to / chosen.path.name if to.is_dir() else to
    if to.exists():
        raise ScriptFileError(f"'{to}' is there already, and stays as it is.")
    try:
        with written_aside(to) as aside:
            aside.write_bytes(chosen.path.read_bytes())
    except OSError as error:
        raise ScriptFileError(f"cannot write '{to}': {error.strerror}.") from error
    return to


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt show`."""
    add = parser.add_argument
    add("take", metavar="TAKE", help="a take.npz, or the folder it is in")
    add("--live", action="store_true", help="play it in MuJoCo Studio: a window, or a page where there is no display")
    add("--web", action="store_true", help="play it on a page of this machine, even if there is a display")
    add("--port", type=int, metavar="N", help="the page's port")
    add("--no-browser", action="store_true", help="open no browser for the page")


def show(args: argparse.Namespace) -> int:
    """Print a take's beat table; play it if asked to."""
    from stunt.cli.take_files import full_report, mend
    from stunt.record.beat_table import beat_table
    from stunt.record.take import Take, doubted

    mend(Path(args.take))
    take = Take.load(args.take)
    report = full_report(take)
    with doubted(take):
        screen().print(beat_table(report))
    if report["review"]:
        write(f"review: {report['review']['told']}\n")
    for sentence in report["warnings"]:
        say("warning", sentence)
    if args.live or args.web or args.port is not None or args.no_browser:
        from stunt.record.live import show_live

        show_live(take, web=args.web or None, port=args.port or 0, open_browser=not args.no_browser)
    return 0


def add_figures_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt figures`."""
    parser.add_argument(
        "paper", nargs="?", default="p0", metavar="PAPER", help="which paper (default: p0, On the Beat)"
    )
    parser.add_argument("--out", metavar="DIR", default="figures", help="where they go (default: figures)")


def figures(args: argparse.Namespace) -> int:
    """Draw a paper's figures from fresh runs."""
    if args.paper not in PAPERS:
        raise UnknownNameError("paper", args.paper, PAPERS)
    from stunt.cli.take_files import check_writable

    out = Path(args.out)
    check_writable(out)
    with waiting(f"drawing the figures of {args.paper}", quiet=False):
        paths = beside(f"papers.{args.paper}.figures").make(out)
    write("".join(f"{path}\n" for path in paths))
    return 0


def add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    """Leave what can be typed after `stunt bench` to the benchmarks."""


def bench(args: argparse.Namespace) -> int:
    """Measure; the rest of the command line belongs to the benchmark."""
    return int(beside("benchmarks.main").run(args.rest) or 0)
