"""`stunt review TAKE`: whether a take or a clip can be believed, as numbers beside those of captured people."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich import box
from rich.markup import escape
from rich.table import Table

from stunt.cli.terminal import say, screen, speaks_unicode, waiting, write

if TYPE_CHECKING:
    from stunt.record.take import Take
    from stunt.review.verdict import Review

OUTSIDE: Final = 1
"""The exit code where something is out of range, or did not happen."""
PICTURE: Final = "review.png"


def add_review_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt review`."""
    add = parser.add_argument
    add("thing", metavar="TAKE", help="a take.npz, or the folder it is in; or a clip, by name or file")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for the name in")
    add("--picture", metavar="FILE", help="where the picture strip goes (default: review.png beside a take)")
    add("--no-pictures", action="store_true", help="draw no picture strip")
    add("--json", action="store_true", help="print the review as JSON, and nothing else")
    add("--all", action="store_true", help="list the figures that are in range, too")


def review(args: argparse.Namespace) -> int:
    """Review; 0 where all is as people's, 1 where something is not."""
    from stunt.review.strip import review_strip
    from stunt.review.verdict import review as look

    take, folder = _found(args)
    with waiting("looking", quiet=args.json):
        found = look(take)
    picture = Path(args.picture) if args.picture is not None else None if folder is None else folder / PICTURE
    if picture is not None and not args.no_pictures and take.cast.characters:
        with waiting("drawing", quiet=args.json):
            review_strip(take, found, picture)
    if args.json:
        write(json.dumps(found.to_data(), indent=2, ensure_ascii=not speaks_unicode(), allow_nan=False) + "\n")
    else:
        _tell(found, everything=args.all)
        if picture is not None and not args.no_pictures:
            write(f"{picture}\n")
    return 0 if found.passed else OUTSIDE


def _found(args: argparse.Namespace) -> tuple[Take, Path | None]:
    """Return what is to be reviewed as a take, and the folder its picture goes to; None of a clip."""
    from stunt.cli.take_files import mend
    from stunt.errors import TakeError
    from stunt.library.names import find_clip, load_clip
    from stunt.record.take import Take
    from stunt.review.filmed import take_of_clip

    path = Path(args.thing)
    if path.is_dir():
        mend(path)
        return Take.load(path), path
    if path.suffix.lower() == ".npz" and path.is_file():
        try:
            return Take.load(path), path.parent
        except TakeError:  # clips come in such files, too
            return take_of_clip(load_clip(args.thing), path.stem), None
    file = find_clip(args.thing, args.clips)
    return take_of_clip(load_clip(file), file.stem), None


def _tell(found: Review, *, everything: bool) -> None:
    from stunt.review.figures import FIGURES

    shown = found.findings if everything else found.outside
    if shown:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name, justify in (("who", "left"), ("figure", "left"), ("value", "right"), ("people", "left")):
            table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        table.add_column("at s", justify="right")
        table.add_column("of")
        for finding in shown:
            one = finding.measured
            value = f"{one.value:.3g} {FIGURES[one.figure].unit}"
            when = "" if one.time is None else f"{one.time:.2f}"
            style = None if finding.inside else "bold red"
            table.add_row(
                escape(finding.character), one.figure, value, finding.range.told(), when, escape(one.what), style=style
            )
        screen().print(table)
    for missing in found.missing:
        say("did not happen", missing.what)
    write(f"{found.told()}\n")
