"""`stunt track CLIP`: a body follows a clip; the same take and report as `stunt perform`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from stunt.errors import StuntError

if TYPE_CHECKING:
    from stunt.drive.beats.spec import Script
    from stunt.stage.scene import Push

HELP = "let a body follow a clip, and say how well it did"
SECONDS_BEFORE_PUSH = 1.0
PUSH_SECONDS = 0.1
"""How long a push lasts: a shove. Two hundred newton-seconds within 20 ms, on a chest of 3 kg, are an explosion."""
PUSH_HELP = (
    "a push, e.g. 40@1.5 (forward on the chest), 40@1.5:l_forearm, 40@1.5:thorax:90 (to its left); degrees from where "
    "it faces at the start, counterclockwise from above; may be repeated"
)
EXTERNAL_HELP = (
    "the paper's form: torques on the bones from outside, as far as the root is held; all of it counts as assistance"
)
MOST = 100.0
"""Largest limit, yaw, force, gain and strength, as in scripts."""


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
    add("--ahead", type=float, metavar="S", help="seconds that --servo beat looks ahead (default: 0.04)")
    add("--no-limits", action="store_true", help="let joints exceed their strength")
    add("--external", action="store_true", help=EXTERNAL_HELP)
    add("--push", action="append", default=[], metavar="N·s@T[:BODY[:DEG]]", help=PUSH_HELP)
    add("--no-react", action="store_true", help="follow the clip whatever hits it: no stun, no fall")
    add("--get-up", action="store_true", help="get up by the package's stand-up clips after a fall, and go on")
    add("--seconds", type=float, metavar="S", help="how long (default: as long as the clip)")
    add("--mirror", action="store_true", help="exchange left and right")
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
    from stunt.library.names import find_clip
    from stunt.library.read import cut_reference, with_option
    from stunt.script.performance import Performance
    from stunt.script.sections.clips import LOOKS_AHEAD

    _check_sizes(args)
    path = find_clip(args.clip, args.clips)
    if args.mirror:
        path = Path(with_option(str(path), "mirror", "true"))
    if args.targets == "absolute" and args.servo != "world":
        raise StuntError("--targets absolute goes with --servo world only.")
    if args.external and args.servo != "world":
        raise StuntError("--external goes with --servo world only.")
    if args.ahead is not None and args.servo != "beat":
        raise StuntError(f"--ahead does not apply to --servo {args.servo}: leave it out, or take --servo beat.")
    if args.ahead is not None and not LOOKS_AHEAD[0] <= args.ahead <= LOOKS_AHEAD[1]:
        raise StuntError(f"--ahead {args.ahead:g} is no look ahead; write {LOOKS_AHEAD[0]:g} to {LOOKS_AHEAD[1]:g} s.")
    return show_performance(Performance(script_of(path, args)), Path(cut_reference(path)[0]), args)


def _check_sizes(args: argparse.Namespace) -> None:
    """Raise where a number is none a script could have either."""
    for option, least in (("limit", 0.0), ("yaw", 0.0), ("force", 0.0), ("gain", 0.01), ("strength", 0.01)):
        value = getattr(args, option)
        if not least <= value <= MOST:
            raise StuntError(f"--{option} must be a number from {least:g} to {MOST:g}, but it is {value:g}.")


def script_of(path: Path, args: argparse.Namespace) -> Script:
    """Make the script that `stunt track` performs."""
    from stunt.control.servo.memory import ServoSettings
    from stunt.control.servo.root_spring import RootSpring
    from stunt.drive.beats.spec import Part, Script
    from stunt.drive.body.reactions import Thresholds
    from stunt.library.names import Library
    from stunt.library.read import cut_reference, with_option
    from stunt.schema import MAX_SECONDS
    from stunt.script.sections.clips import ClipsPart, PlaySpec
    from stunt.stage.scene import CharacterSpec, Scene
    from stunt.supervise.reflexes.get_up import OWN_CLIPS

    clip = str(path) if args.mapping is None else with_option(str(path), "mapping", args.mapping)
    body = clip if args.body in (None, "skeleton") else Library.of(args.clips).located(args.body)
    part = ClipsPart(
        (PlaySpec(clip),),
        ServoSettings(
            servo=args.servo, gain=args.gain, limited=not args.no_limits, external=args.external,
            ahead=ServoSettings.ahead if args.ahead is None else args.ahead,
        ),
        RootSpring(kind=args.assist, limit=args.limit, yaw=args.yaw, force=args.force),
        react=None if args.no_react else Thresholds(), targets=args.targets,
        get_up=tuple(OWN_CLIPS.items()) if args.get_up else (),
    )  # fmt: skip
    double = CharacterSpec(body, root="free", strength=args.strength, self_collision=False)
    scene = Scene(
        characters={"double": double}, events=tuple(_push(text) for text in args.push), physics_hz=args.rate,
        control_hz=args.rate,
    )  # fmt: skip
    file = Path(cut_reference(path)[0])
    if args.seconds is not None and not 0.0 < args.seconds <= MAX_SECONDS:
        raise StuntError(f"--seconds {args.seconds:g} is no length; write a number above 0 and up to {MAX_SECONDS:g}.")
    # What it names is looked for where the user is, so its source is a file there.
    parts = {"double": Part(sections={"clips": part})}
    return Script(scene, parts, args.seconds, title=f"{file.stem}, followed", source=file.name)


def _push(text: str) -> Push:
    from stunt.stage.scene import Push

    size, _, rest = text.partition("@")
    when, body, degrees, *more = [*rest.split(":"), "", ""]
    try:
        impulse, at = float(size), float(when or SECONDS_BEFORE_PUSH)
        direction = math.radians(float(degrees or 0.0))
        if more[2:] or not all(map(math.isfinite, (impulse, at, direction))) or at < 0.0:
            raise ValueError
    except ValueError:
        raise StuntError(
            f"--push {text} is no push; write newton-seconds, a time, and where you like a body and a direction in "
            "degrees: 40@1.5, 40@1.5:l_forearm, 40@1.5:thorax:90."
        ) from None
    along = (impulse * math.cos(direction), impulse * math.sin(direction), 0.0)
    return Push(f"double/{body or 'thorax'}", at, impulse=along, duration=PUSH_SECONDS)
