"""`stunt check THING`: what a clip, body, script or controller is, what looks wrong, what Stunt would assume."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stunt.cli import controller_check
from stunt.cli.terminal import write

Findings = tuple[dict[str, Any], list[str]]
"""Data for programs, lines for people."""

THINGS = (
    "a clip or skeleton (a file or a name), a body (a file or a name), a script or example, or a controller "
    "(module:Class)"
)
HELP = "say what a clip, body, script or controller is, and what looks wrong with it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what can be typed after `stunt check`."""
    add = parser.add_argument
    add("thing", metavar="THING", help=THINGS)
    add("--as", dest="kind", choices=("clip", "body", "script"), help="what to take it for (default: by its name)")
    add("--up", choices=("x", "y", "z"), help="the clip's upward axis")
    add("--scale", type=float, metavar="M", help="metres per unit of the clip")
    add("--fps", type=float, metavar="N", help="the clip's frames per second")
    add("--skip-frames", type=int, metavar="N", help="frames to leave out at the start")
    add("--skeleton", metavar="FILE", help="the .asf of an .amc")
    add("--clips", action="append", default=[], metavar="DIR", help="a folder of clips to look for the name in")
    add("--mapping", metavar="FILE", help="write which joint was taken for which part, to be edited")
    add("--json", action="store_true", help="print the findings as JSON")


def check(args: argparse.Namespace) -> int:
    """Examine a thing; 0 where it can be used."""
    if controller_check.is_controller(args.thing):
        found = controller_check.controller_findings(args.thing)
        _show(args, found)
        return 0 if found[0]["ok"] else 2
    for matches, findings in CHECKS:
        if matches(args):
            return _show(args, findings(args))
    return _show(args, _clip_findings(args))


def _show(args: argparse.Namespace, findings: Findings) -> int:
    data, lines = findings
    write(json.dumps(_plain(data), indent=2, ensure_ascii=False) + "\n" if args.json else "\n".join(lines) + "\n")
    return 0


def _plain(value: Any) -> Any:
    """Make values that JSON has no word for into null, and tuples into lists."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _clip_findings(args: argparse.Namespace) -> Findings:
    from stunt.motion.doctor import examine
    from stunt.motion.door import Overrides
    from stunt.motion.library import find_clip
    from stunt.motion.read import read_clip

    overrides = Overrides(args.up, args.scale, args.fps, args.skip_frames, None, args.skeleton)
    path = find_clip(args.thing, args.clips)
    found = examine(path, overrides)
    if args.mapping is not None:
        from stunt.motion.mapping import mapping_from_guess, write_mapping

        write_mapping(mapping_from_guess(found.parts), args.mapping, read_clip(path, overrides).skeleton.names)
    return found.to_data(), _clip_lines(found)


def _clip_lines(found: Any) -> list[str]:
    lines = [
        f"{found.file}: {found.format}, {found.frames} frames at {found.fps:g} per second, {found.seconds:.2f} s"
        + (", looping" if found.loop else ""),
        f"  skeleton     {found.joints} joints"
        + (f", {found.channels} channels" if found.channels else "")
        + f"; names: {found.vocabulary}; {len(found.parts)} parts of a person recognised",
        f"  units        1 unit is {found.metres_per_unit:.6g} m; {found.up} is up",
    ]
    if found.height_m is not None:
        lines.append(f"  person       {found.height_m:.2f} m tall")
    if found.floor_m is not None:
        lines.append(f"  floor        at {found.floor_m:+.3f} m")
    if found.foot_slide_m is not None:
        pace = f" ({found.foot_slide_m_s:.3f} m/s while planted)" if found.foot_slide_m_s is not None else ""
        lines.append(f"  foot slide   {found.foot_slide_m:.2f} m{pace}")
    lines.append(f"  spikes       {len(found.spikes)}")
    lines.append(f"  first frame  {'a T-pose, no motion' if found.first_frame_t_pose else 'part of the motion'}")
    lines.append(f"  flight       {_flight_line(found)}")
    lines += [f"  assumed      {about}: {what}" for about, what in found.assumed.items()]
    lines += [f"  told         {about}: {what}" for about, what in found.overridden.items()]
    lines += [f"  warning      {line}" for line in found.warnings]
    return lines


def _flight_line(found: Any) -> str:
    if found.flight is None:
        return "none long enough to judge the frame rate by"
    fits = (
        f"{found.flight.fps:.0f} frames per second would be gravity" if math.isfinite(found.flight.fps) else "no fall"
    )
    return f"{len(found.flight.phases)} phases, falling at {found.flight.fall:.2f} m/s²; {fits}"


def _is_body(args: argparse.Namespace) -> bool:
    from stunt.cli.check_body import is_body

    return args.kind == "body" or (args.kind is None and is_body(args.thing))


def _body_findings(args: argparse.Namespace) -> Findings:
    from stunt.cli.check_body import body_findings

    return body_findings(args.thing, args.mapping)


def _is_script(args: argparse.Namespace) -> bool:
    if args.kind is not None:
        return bool(args.kind == "script")
    return Path(args.thing).suffix.lower() in (".yaml", ".yml") or _is_example(args)


def _is_example(args: argparse.Namespace) -> bool:
    """Whether a thing is the name of an example, and of nothing nearer."""
    from stunt.examples import example_names
    from stunt.motion.library import clip_entries

    name = args.thing.lower()
    return name in example_names() and not Path(args.thing).exists() and args.thing not in clip_entries(args.clips)


def _script_findings(args: argparse.Namespace) -> Findings:
    """Put everyone on the stage as a performance would, with their clips, and say what there is."""
    from stunt.cli.perform import find_script
    from stunt.direction.performance import Performance
    from stunt.direction.script_file import load_script

    path = str(find_script(args.thing))
    script = load_script(path, clips=args.clips)
    performance = Performance(script)
    built = performance.stage.built
    warnings = [str(warning) for warning in performance.warnings]
    people = {name: len(character.joints) for name, character in built.characters.items()}
    data = {
        "file": path, "title": script.title, "seconds": performance.seconds, "characters": people,
        "props": list(built.props), "warnings": warnings,
    }  # fmt: skip
    lines = [f"{path}: {script.title or 'a script'}", f"  characters   {', '.join(people) or 'none'}"]
    lines += [f"  length       {performance.seconds:g} s"]
    lines += [f"  props        {', '.join(built.props) or 'none'}", *(f"  warning      {line}" for line in warnings)]
    return data, lines


CHECKS: list[tuple[Callable[[argparse.Namespace], bool], Callable[[argparse.Namespace], Findings]]] = [
    (_is_script, _script_findings),
    (_is_body, _body_findings),
]
"""What is no clip: whether it is of that kind, and what to say of it. The first that fits is taken."""
