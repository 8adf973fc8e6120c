"""`stunt calibrate` and `stunt preview`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from stunt.cli.options import add_machine
from stunt.cli.take_files import check_writable, write_take
from stunt.cli.terminal import progress_bar, say, write
from stunt.errors import InvalidValueError


def add_calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt calibrate`."""
    add = parser.add_argument
    add("body", nargs="?", default="torso28", metavar="BODY", help="a body or an .xml file (default: torso28)")
    add("--joint", action="append", metavar="NAME", help="only this joint; may be given again")
    add("--points", type=int, default=10, metavar="N", help="tensions per joint (default: 10)")
    add_machine(parser)
    add("--out", metavar="DIR", default="calibration", help="where curves and data go (default: calibration)")
    add("--quiet", action="store_true", help="print errors only")


def add_preview_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt preview`."""
    add = parser.add_argument
    add("script", metavar="SCRIPT|EXAMPLE", help="a .yaml file, or the name of an example")
    add("--out", metavar="DIR", help="where the take and its filmstrip go (default: takes/NAME-preview)")
    add("--fps", type=float, default=60.0, metavar="N", help="frames per second (default: 60)")
    add("--no-pictures", action="store_true", help="write no filmstrip")
    add("--quiet", action="store_true", help="print errors only")


def calibrate(args: argparse.Namespace) -> int:
    """Measure, then write curves and data."""
    from stunt.drive.tension import calibration
    from stunt.drive.tension.calibration_plot import draw_curves, write_data

    if not 2 <= args.points <= 200:
        raise InvalidValueError("--points", args.points, "a whole number from 2 to 200")
    out = Path(args.out)
    check_writable(out)
    with progress_bar(f"calibrate {args.body}", 1.0, quiet=args.quiet) as show:
        curves = calibration.calibrate(
            args.body, args.joint, points=args.points, workers=args.workers, ray=args.ray,
            progress=lambda done, of: show(done / of),
        )  # fmt: skip
    paths = [draw_curves(curves, out / "calibration.png", args.body), *write_data(curves, out, args.body)]
    if not args.quiet:
        write("".join(f"{path}\n" for path in paths))
    return 0


def preview(args: argparse.Namespace) -> int:
    """Write a script's kinematic preview as a take."""
    from stunt.cli.perform import find_script
    from stunt.record.filmstrip import filmstrip
    from stunt.record.report import make_report
    from stunt.script.file import load_script
    from stunt.script.preview import Preview

    if not 1.0 <= args.fps <= 1000.0:
        raise InvalidValueError("--fps", args.fps, "a number from 1 to 1000")
    path = find_script(args.script)
    began = time.perf_counter()
    take = Preview(load_script(path)).take(args.fps)
    spent = time.perf_counter() - began
    folder = Path(args.out) if args.out else Path("takes") / f"{path.stem}-preview"
    check_writable(folder)
    write_take(folder, take, make_report(take, wall_seconds=spent))
    if not args.no_pictures:
        filmstrip(take, folder / "filmstrip.png")
    if not args.quiet:
        say("", f"{take.seconds:.2f} s previewed {take.seconds / spent:.0f} times faster than real time")
        write(f"{folder}\n")
    return 0
