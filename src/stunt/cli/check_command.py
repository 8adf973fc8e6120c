"""`stunt check THING`: what a clip, body, script or controller is, what looks wrong, what Stunt would assume."""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

from stunt.character.bodies import BUILT_IN, SUFFIXES
from stunt.cli.terminal import write
from stunt.errors import StuntError

SURE = 0.95
"""Recognised more surely than this, parts are not listed one by one."""
Findings = tuple[dict[str, Any], list[str]]
"""Data for programs, lines for people."""


def _body_findings(args: argparse.Namespace) -> Findings:
    from stunt.check.body import examine_body

    found = examine_body(args.thing)
    if args.mapping is not None:
        _write_mapping(found, args.mapping)
    return found.to_data(), _lines(found)


def _write_mapping(found: Any, path: str) -> None:
    from stunt.check.body_trial import raised, stage_for
    from stunt.motion.clips.mapping import JointMapping, write_mapping

    names = list(stage_for(raised(found.body), 480.0).character("it").bodies)
    write_mapping(JointMapping({}, found.parts), path, names)


def _lines(found: Any) -> list[str]:
    kinds = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in found.joints.items())
    (weak, least), (strong, most) = found.strength
    x, y, z = found.size_m
    density = f"; {found.density:.0f} kg/m³ by its shapes" if found.density is not None else ""
    lines = [
        f"{found.body}: {found.kind}, {found.bodies} bodies, {kinds}, {found.dofs} degrees of freedom",
        f"  mass         {found.mass_kg:.4g} kg; heaviest '{found.heaviest[0]}' {found.heaviest[1]:.3g} kg, "
        f"lightest '{found.lightest[0]}' {found.lightest[1]:.3g} kg",
        f"  scale        {x:.2f} × {y:.2f} × {z:.2f} m (forward, across, up){density}",
        f"  inertia      smallest at '{found.smallest_moment[0]}': {found.smallest_moment[1]:.2g} kg·m²; "
        f"largest is {found.inertia_ratio:.0f} times that",
        f"  limits       {sum(found.joints.values()) - len(found.unlimited)} of {sum(found.joints.values())} joints",
        f"  strength     '{weak}' {least:.3g} to '{strong}' {most:.3g} N·m (slides: N)",
        *(f"  stability    {_held(held)}" for held in found.held),
        f"  marks        {_marks(found.marks)}",
        f"  person       {len(found.parts)} parts recognised",
    ]
    for what, some in (("missing", found.missing), ("assumed", found.assumed), ("warning", found.warnings)):
        lines += [f"  {what:12} {line}" for line in some]
    return [*lines, f"  verdict      {'ready to perform' if found.usable else 'not ready: see the warnings'}"]


def _held(held: Any) -> str:
    own = f"its own springs and dampers change it by {held.own:.2g} per step"
    own += " (which only an implicit step survives)" if held.own > 2.0 else ""
    if not held.stable:
        return f"at {held.hz:g} Hz a push on every joint does not die down; {own}"
    return f"at {held.hz:g} Hz a push on every joint is down to {100 * held.left:.2g} % after 0.5 s; {own}"


def _marks(marks: Any) -> str:
    strained = f"; at their strength: {', '.join(marks.at_limit)}" if marks.at_limit else ""
    return (
        f"{marks.joints} joints a tenth of their way and back, 0.6 s each: worst '{marks.joint}' "
        f"{marks.error_deg:.4f}° off{strained}"
    )


_REFERENCE = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")
_CLIP_SOURCES = ("pybullet:",)


def _is_controller(thing: str) -> bool:
    """Whether what was typed names a controller: `module:Class`, or a registered name."""
    from stunt.supervise.registry import registered

    if thing.startswith(_CLIP_SOURCES):
        return False
    return bool(_REFERENCE.match(thing)) or thing in registered()


def _controller_findings(thing: str) -> Findings:
    """Run the conformance checker; return the findings as data and as lines."""
    import sys

    from stunt.supervise.conformance import check_controller
    from stunt.supervise.registry import make_controller, maker_of

    if "" not in sys.path:
        sys.path.insert(0, "")  # a module in the user's own folder, as Python itself would find it
    maker_of(thing)
    found = check_controller(lambda stage, who: make_controller(thing, stage, who), name=thing)
    kind = "kinematic" if found.kinematic else "dynamic"
    data = {
        "controller": thing, "name": found.name, "kinematic": found.kinematic, "ok": found.ok,
        "trials": found.trials, "broken": found.broken, "notes": found.notes,
    }  # fmt: skip
    verdict = "keeps the contract" if found.ok else "breaks the contract"
    lines = [f"{thing}: '{found.name}', {kind}, {verdict}"]
    rows = [*found.trials.items(), *(("note", note) for note in found.notes)]
    rows += [("broken", sentence) for sentence in found.broken]
    wide = max((len(head) for head, _ in rows), default=0)
    lines += [f"  {head:<{wide}}  {words}" for head, words in rows]
    return data, lines


THINGS = (
    "a clip or skeleton (a file or a name), a body (a file or a name), a script or example, or a controller "
    "(module:Class)"
)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
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
    add("--own-feet", action="store_true", help="try a long clip on own feet too, which takes a while")
    add("--json", action="store_true", help="print the findings as JSON")


def check(args: argparse.Namespace) -> int:
    """Examine a thing; 0 where it can be used."""
    if _is_controller(args.thing):
        found = _controller_findings(args.thing)
        _show(args, found)
        return 0 if found[0]["ok"] else 2
    if _is_script(args):
        return _show(args, _script_findings(args))
    return _show(args, _body_findings(args) if _is_body(args) else _clip_findings(args))


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
    from stunt.check.clip import LONGEST, QUICK, examine_feet, examine_fit
    from stunt.library.doctor import examine
    from stunt.library.names import find_clip, load_clip
    from stunt.motion.clips.assume import Overrides

    overrides = Overrides(args.up, args.scale, args.fps, args.skip_frames, None, args.skeleton)
    path = find_clip(args.thing, args.clips)
    found, clip = examine(path, overrides), load_clip(path, overrides=overrides)
    if args.mapping is not None:
        from stunt.motion.clips.mapping import mapping_from_guess, write_mapping

        write_mapping(mapping_from_guess(found.parts), args.mapping, clip.skeleton.names)
    try:
        changes = examine_fit(clip)
    except StuntError as error:  # what kind of clip it is can be said all the same
        fitting, told, feet = None, [f"there is no body to fit it to: {error}"], None
    else:
        fitting, told = changes.to_data(), changes.sentences() or ["its own body can do it as it is"]
        feet = examine_feet(clip, longest=LONGEST if args.own_feet else QUICK)
    lines = [*_clip_lines(found), *(f"  fitting      {line}" for line in told)]
    lines += [f"  own feet     {line}" for line in ([] if feet is None else _feet_lines(feet))]
    return found.to_data() | {"fitting": fitting, "own_feet": feet}, lines


def _feet_lines(feet: dict[str, Any]) -> list[str]:
    """Say whether a clip holds on own feet, and what it takes."""
    if feet["holds"] is None:
        return [feet["why"]]
    lines = [f"will hold at strength {feet['strength']:g}" if feet["holds"] else f"will not hold: {feet['why']}"]
    if "load" in feet:
        lines.append(
            f"poses changed by {feet['pose_deg']:.1f}°, feet by {feet['feet_deg']:.1f}°, centre of mass by "
            f"{100.0 * feet['com_m']:.1f} cm; in the air {100.0 * feet['flight']:.0f} % of the time"
        )
        lines.append(
            f"strength and friction allow {100.0 * feet['feasible_share']:.0f} % of the frames; torques up to "
            f"{feet['load']:.2f} of strength in 95 % of them; most is asked of {feet['worst_joint']} at "
            f"{feet['worst_time']:.2f} s"
        )
    return lines


def _clip_lines(found: Any) -> list[str]:
    lines = [
        f"{found.file}: {found.format}, {found.frames} frames at {found.fps:g} per second, {found.seconds:.2f} s"
        + (", looping" if found.loop else ""),
        f"  skeleton     {found.joints} joints"
        + (f", {found.channels} channels" if found.channels else "")
        + f"; names: {found.vocabulary}; {len(found.parts)} parts of a person recognised",
        f"  units        1 unit is {found.metres_per_unit:.6g} m; {found.up} is up",
    ]
    if found.kind != "creature":
        sure = f"{found.kind}, confidence {found.confidence:.2f}: {found.told_by}"
        lines.append(f"  recognised   {sure}")
        if found.confidence < SURE:  # what may be wrong is shown, so that it can be overruled
            lines += [
                f"  taken for    {part}: {name} ({found.reasons.get(part, found.told_by)})"
                for part, name in found.parts.items()
            ]
            lines.append("  taken for    if that is wrong: --mapping FILE writes it to be edited")
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
    """Whether a thing is plainly a body: a built-in name, or a model file."""
    thing = args.thing
    named = thing in BUILT_IN or thing.partition("?")[0].lower().endswith(SUFFIXES)
    return bool(args.kind == "body" or (args.kind is None and named))


def _is_script(args: argparse.Namespace) -> bool:
    if args.kind is not None:
        return bool(args.kind == "script")
    from stunt.library.read import cut_reference

    return Path(cut_reference(args.thing)[0]).suffix.lower() in (".yaml", ".yml") or _is_example(args)


def _is_example(args: argparse.Namespace) -> bool:
    """Whether a thing is the name of an example, and of nothing nearer."""
    from stunt.examples import example_names
    from stunt.library.names import clip_entries

    name = args.thing.lower()
    return name in example_names() and not Path(args.thing).exists() and args.thing not in clip_entries(args.clips)


def _script_findings(args: argparse.Namespace) -> Findings:
    """Put everyone on the stage as a performance would, with their clips, and say what there is."""
    from stunt.cli.perform import find_script
    from stunt.script.file import load_script
    from stunt.script.performance import Performance

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
