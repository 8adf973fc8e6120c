"""`stunt track CLIP`: a body follows a clip; the same take and report as `stunt perform`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from stunt.cli.options import offer, told, told_fields
from stunt.errors import StuntError

if TYPE_CHECKING:
    from stunt.drive.beats.spec import Script

PUSH_HELP = (
    "a push, e.g. 40@1.5 (forward on the chest), 40@1.5:l_forearm, 40@1.5:thorax:90 (to its left); degrees from where "
    "it faces at the start, counterclockwise from above; may be repeated"
)


def add_track_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt track`."""
    from stunt.cli.perform import CERTIFY_HELP
    from stunt.control.servo.law import RootSpring, ServoSettings
    from stunt.script.sections.clips import ClipsPart
    from stunt.stage.scene import CharacterSpec

    add = parser.add_argument
    add("clip", metavar="CLIP", help="a motion file, or the name of a clip")
    add("--body", metavar="BODY", help="a built-in body, an MJCF file or a motion file (default: the clip's skeleton)")
    add("--mapping", metavar="FILE", help="which joint and body is which part, for names Stunt does not know")
    offer(parser, ServoSettings, "servo")
    offer(parser, ClipsPart, "targets")
    offer(parser, RootSpring, "assist", "limit", "yaw", "force", "clock")
    offer(parser, CharacterSpec, "strength", default=1.5)
    offer(parser, ServoSettings, "gain", help="factor on all gains (default: 1)")
    offer(parser, ServoSettings, "ahead")
    offer(parser, ServoSettings, "limited", option="--no-limits", help="let joints exceed their strength")
    offer(parser, ServoSettings, "external")
    add("--push", action="append", default=[], metavar="N·s@T[:BODY[:DEG]]", help=PUSH_HELP)
    add("--no-react", action="store_true", help="follow the clip whatever hits it: no stun, no fall")
    add("--get-up", action="store_true", help="get up by the package's stand-up clips after a fall, and go on")
    add("--seconds", type=float, metavar="S", help="how long (default: as long as the clip)")
    add("--mirror", action="store_true", help="exchange left and right")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for the name in")
    add("--out", metavar="DIR", help="where the take goes (default: takes/CLIP; with --json: nowhere)")
    add("--json", action="store_true", help="print the report as JSON, and nothing else")
    add("--rate", type=float, default=120.0, metavar="HZ", help="physics and control rate (default: 120)")
    add("--certify", action="store_true", help=CERTIFY_HELP)
    add("--as-told", action="store_true", help="follow in the usual way, whatever comes of it: no rehearsal")
    add("--quiet", action="store_true", help="print errors only")
    add("--no-pictures", action="store_true", help="write no filmstrip and no plots")
    parser.set_defaults(physics_hz=None, control_hz=None, seed=None)


def track(args: argparse.Namespace) -> int:
    """Run the command."""
    from stunt.cli.perform import show_performance
    from stunt.cli.terminal import waiting
    from stunt.control.servo.law import ServoSettings
    from stunt.library.doctor import examine
    from stunt.library.names import find_clip
    from stunt.library.read import cut_reference, with_option
    from stunt.script.performance import Performance
    from stunt.search.manners import Rehearsed, rehearsed

    servo = told(args, ServoSettings).servo
    path = find_clip(args.clip, args.clips)
    if args.mirror:
        path = Path(with_option(str(path), "mirror", "true"))
    if args.targets == "absolute" and servo != "world":
        raise StuntError("--targets absolute goes with --servo world only.")
    if args.external and servo != "world":
        raise StuntError("--external goes with --servo world only.")
    if args.ahead is not None and servo != "beat":
        raise StuntError(f"--ahead does not apply to --servo {servo}: leave it out, or take --servo beat.")
    with waiting("rehearsing", quiet=args.quiet):
        rehearsal = rehearsed(script_of(path, args)) if rehearses(args) else Rehearsed(script_of(path, args))
    performance = Performance(rehearsal.script, certify=args.certify)
    performance.warnings.extend([rehearsal.told] if rehearsal.told else [])
    # What `stunt check` warns of is said here too: nobody checks a file that seems to work.
    clip = str(path) if args.mapping is None else with_option(str(path), "mapping", args.mapping)
    performance.warnings.extend(f"clip: {line}" for line in examine(clip).warnings)
    return show_performance(performance, Path(cut_reference(path)[0]), args)


def rehearses(args: argparse.Namespace) -> bool:
    """Whether ways to follow may be tried: nobody said how, with what help, how long, or that something pushes."""
    said = ("servo", "gain", "ahead", "targets", "limited", "external", "assist", "limit", "yaw", "force", "clock")
    free = args.seconds is None and not (args.as_told or args.push)
    return free and all(getattr(args, name) is None for name in said)


def script_of(path: Path, args: argparse.Namespace) -> Script:
    """Make the script that `stunt track` performs."""
    import numpy as np

    from stunt.control.servo.law import RootSpring, ServoSettings
    from stunt.drive.beats.spec import Part, Script
    from stunt.drive.body.reactions import Thresholds
    from stunt.library.names import Library
    from stunt.library.read import cut_reference, with_option
    from stunt.many.shove import shoves
    from stunt.schema import MAX_SECONDS
    from stunt.script.sections.clips import ClipsPart, PlaySpec, physics_rate
    from stunt.stage.scene import CharacterSpec, Scene
    from stunt.supervise.reflexes.get_up import OWN_CLIPS

    clip = str(path) if args.mapping is None else with_option(str(path), "mapping", args.mapping)
    body = clip if args.body in (None, "skeleton") else Library.of(args.clips).located(args.body)
    part = ClipsPart(
        (PlaySpec(clip),), told(args, ServoSettings), told(args, RootSpring),
        react=None if args.no_react else Thresholds(), get_up=tuple(OWN_CLIPS.items()) if args.get_up else (),
        **told_fields(args, ClipsPart),
    )  # fmt: skip
    double = CharacterSpec(body, root="free", **told_fields(args, CharacterSpec))
    rng = np.random.default_rng(0)  # of directions that are `random`
    pushes = tuple(shove.event("double", shove.degrees(rng)) for shove in shoves(args.push, "--push"))
    scene = Scene(
        characters={"double": double}, events=pushes, physics_hz=physics_rate(part, args.rate), control_hz=args.rate
    )
    file = Path(cut_reference(path)[0])
    if args.seconds is not None and not 0.0 < args.seconds <= MAX_SECONDS:
        raise StuntError(f"--seconds {args.seconds:g} is no length; write a number above 0 and up to {MAX_SECONDS:g}.")
    # What it names is looked for where the user is, so its source is a file there.
    parts = {"double": Part(sections={"clips": part})}
    return Script(scene, parts, args.seconds, title=f"{file.stem}, followed", source=file.name)
