"""`stunt export`: a take as a file for another tool."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from stunt.cli.terminal import share_bar, write
from stunt.errors import InvalidValueError

PLACEMENT_HELP = "on its clip's skeleton: where the clip lay in its file, or on the stage (auto: source if known)"


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt export`."""
    add = parser.add_argument
    add("takes", metavar="TAKE", nargs="+", help="a take.npz, or the folder it is in; several for a video side by side")
    add("--to", metavar="FILE", required=True, help="where to; its suffix says the format: .bvh .glb .usd .mp4 .npz …")
    add("--character", metavar="NAME", help="only this one (default: everyone, and the props)")
    add("--fps", type=float, metavar="N", help="frames per second (default: the clip's, the take's, 30 or 60)")
    add("--from", type=float, dest="start", metavar="S", help="from when [s]")
    add("--until", type=float, dest="end", metavar="S", help="until when [s]")
    add("--up", choices=("y", "z"), help="which axis points up in the file")
    add("--in-place", action="store_true", help="characters stay over the spot where they began")
    add("--root-motion", action="store_true", help="a bone on the ground carries travel and heading")
    add(
        "--skeleton",
        choices=("auto", "own", "clip"),
        default="auto",
        help="BVH, GLB: Stunt's own, or its clip's file's",
    )
    add("--placement", choices=("auto", "source", "stage"), default="auto", help=PLACEMENT_HELP)
    add("--rigid", action="store_true", help="GLB, USD: rigid parts instead of a smooth skin")
    add("--size", metavar="WxH", default="640x480", help="video: size of each picture (default: 640x480)")
    add("--camera", choices=("fixed", "follow"), default="fixed", help="video: see everything, or follow the character")
    add("--azimuth", type=float, metavar="DEG", default=24.0, help="video: where the camera stands, from the front")
    add("--elevation", type=float, metavar="DEG", default=9.0, help="video: how high it stands")
    add("--label", action="append", metavar="TEXT", help="video: written over a take; once for each")
    add("--no-clock", action="store_true", help="video: show neither time nor beats")
    add("--renderer", choices=("auto", "opengl", "software"), default="auto", help="video: what draws it")
    add("--quiet", action="store_true", help="print errors only")


def export(args: argparse.Namespace) -> int:
    """Run the command."""
    from stunt.cli.take_files import mend
    from stunt.export import Video
    from stunt.export import export as write_file

    video = Video(
        size=_size(args.size), camera=args.camera, azimuth=math.radians(args.azimuth),
        elevation=math.radians(args.elevation), labels=args.label, clock=not args.no_clock, renderer=args.renderer,
    )  # fmt: skip
    for take in args.takes:
        mend(Path(take))
    with share_bar(f"exporting {Path(args.to).name}", quiet=args.quiet) as progress:
        files = write_file(
            args.takes, args.to, character=args.character, fps=args.fps, start=args.start, end=args.end, up=args.up,
            in_place=args.in_place, root_motion=args.root_motion, skeleton=args.skeleton, placement=args.placement,
            rigid=args.rigid, video=video, progress=progress,
        )  # fmt: skip
    if not args.quiet:
        write("".join(f"{file}\n" for file in files))
    return 0


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text.strip().lower())
    if found is None:
        raise InvalidValueError("--size", text, "a width and a height such as 640x480")
    return int(found[1]), int(found[2])
