"""`stunt track CLIP`: a body follows a clip; the same take and report as `stunt perform`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stunt.errors import StuntError

if TYPE_CHECKING:
    from stunt.direction.script import Script
    from stunt.stage.scene import Push

HELP = "let a body follow a clip, and say how well it did"
SECONDS_BEFORE_PUSH = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt track`."""
    add = parser.add_argument
    add("clip", metavar="CLIP", help="a motion file, or the name of a clip")
    add("--body", metavar="BODY", help="a built-in body, an MJCF file or a motion file (default: the clip's skeleton)")
    add("--mapping", metavar="FILE", help="which joint and body is which part, for names Stunt does not know")
    add("--servo", choices=("world", "parent", "parent_equal", "beat"), default="world", help="how it is followed")
    add("--targets", choices=("egocentric", "absolute"), default="egocentric", help="what targets are turned with")
    add("--assist", choices=("weak", "hook", "none"), default="weak", help="what holds the root upright")
    add("--limit", type=float, default=0.3, metavar="X", help="largest root torque, in m·g·h (default: 0.3)")
    add("--yaw", type=float, default=0.0, metavar="X", help="largest root torque about the vertical, in m·g·h")
    add("--force", type=float, default=0.0, metavar="X", help="largest root force, in body weights")
    add("--strength", type=float, default=1.5, metavar="X", help="factor on every joint's strength (default: 1.5)")
    add("--gain", type=float, default=1.0, metavar="X", help="factor on all gains")
    add("--no-limits", action="store_true", help="let joints exceed their strength")
    add("--external", action="store_true", help="the paper's form: torques on the bones from outside")
    add("--push", action="append", default=[], metavar="N·s@T", help="a forward push on the chest, e.g. 40@1.5")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for the name in")
    add("--out", metavar="DIR", help="where the take goes (default: takes/CLIP; with --json: nowhere)")
    add("--json", action="store_true", help="print the report as JSON, and nothing else")
    add("--rate", type=float, default=120.0, metavar="HZ", help="physics and control rate (default: 120)")
    add("--quiet", action="store_true", help="print errors only")
    add("--no-pictures", action="store_true", help="write no filmstrip and no plots")
    parser.set_defaults(physics_hz=None, control_hz=None, seed=None)


def track(args: argparse.Namespace) -> int:
    """Run the command."""
    from stunt.cli.perform import show_performance
    from stunt.direction.performance import Performance
    from stunt.motion.library import find_clip

    path = find_clip(args.clip, args.clips)
    if args.targets == "absolute" and args.servo != "world":
        raise StuntError("--targets absolute goes with --servo world only.")
    return show_performance(Performance(script_of(path, args)), path, args)


def script_of(path: Path, args: argparse.Namespace) -> Script:
    """Make the script that `stunt track` performs."""
    from stunt.control.root_spring import RootSpring
    from stunt.control.worldspace_program import ServoSettings
    from stunt.direction.clips_part import ClipsPart, PlaySpec
    from stunt.direction.script import Part, Script
    from stunt.stage.scene import CharacterSpec, Scene

    body = str(path if args.body in (None, "skeleton") else args.body)
    part = ClipsPart(
        (PlaySpec(str(path)),),
        ServoSettings(servo=args.servo, gain=args.gain, limited=not args.no_limits, external=args.external),
        RootSpring(kind=args.assist, limit=args.limit, yaw=args.yaw, force=args.force),
        targets=args.targets, mapping=args.mapping,
    )  # fmt: skip
    double = CharacterSpec(body, root="free", strength=args.strength, self_collision=False)
    scene = Scene(
        characters={"double": double}, events=tuple(_push(text) for text in args.push), physics_hz=args.rate,
        control_hz=args.rate,
    )  # fmt: skip
    return Script(scene, {"double": Part(sections={"clips": part})}, title=f"{path.stem}, followed", source=str(path))


def _push(text: str) -> Push:
    from stunt.stage.scene import Push

    size, _, when = text.partition("@")
    try:
        impulse, at = float(size), float(when) if when else SECONDS_BEFORE_PUSH
    except ValueError:
        raise StuntError(f"--push {text} is no push; write newton-seconds and a time, e.g. 40@1.5.") from None
    return Push("double/thorax", at, impulse=(impulse, 0.0, 0.0))
