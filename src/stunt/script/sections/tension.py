"""`tension_poses` joins scripts and performances.

The `tension_poses` section of a part: read, written, checked. The format is described in `docs/tension.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from stunt.character.character import Character
from stunt.control.tension.units import Tension, tension_of
from stunt.drive.balance.ankles import AnkleBalance
from stunt.drive.balance.support import GroundSense
from stunt.drive.beats.check import check_pose
from stunt.drive.tension.performer import LEVEL, TensionPerformer
from stunt.drive.tension.spec import EVERY, ByJoint, Play, PoseGroup, Slack, Span, TensionPart, TensionPose, cues
from stunt.drive.tension.warnings import foresee
from stunt.errors import InvalidValueError, MissingValueError
from stunt.motion.pose import Pose
from stunt.motion.transition import PRESETS, Curve, make_curve, preset
from stunt.schema import (
    MAX_SECONDS,
    Node,
    Section,
    choice,
    entries,
    items,
    known,
    moment,
    name,
    number,
    plain_from_node,
    seconds,
    truth,
    whole,
    wrong,
)
from stunt.script.poses import read_inline
from stunt.script.sections.kind import SectionKind
from stunt.script.units import number_to_data
from stunt.stage.scene import Scene

if TYPE_CHECKING:
    from stunt.script.performance import Performance


PART_KEYS = ("tension", "damping", "poses", "controllers", "play", "balance")
POSE_KEYS = (
    *("pose", "angles", "name", "at", "lasts", "curve", "warp", "tension", "damping", "update", "path"),
    *("compensate", "start", "springs", "then"),
)
CONTROLLER_KEYS = ("poses", "cycles", "duration")
UPDATES = ("sampling", "prediction")
PATHS = ("constant", "line", "isoangle")
MAIN = "main"
MOST_POSES, MOST_CYCLES, MOST_CUES = 2000, 1000, 20_000
MOST_RATIO, MOST_SLACK = 10.0, 100.0


def read_tension_part(node: Node, scene: Scene, poses: Mapping[str, Pose]) -> TensionPart:
    """Read the section: tensions from the start, controllers made of poses, and when they start."""
    section = Section(node, "tension_poses", PART_KEYS)
    controllers = {
        key: _controller(f"controller '{key}'", value, poses)
        for key, value in (entries(section.need("controllers")) if "controllers" in section else {}).items()
    }
    plays = section.read("play", _plays, (), controllers=controllers)
    if "poses" in section:
        if MAIN in controllers:
            expected = "another: the section's own 'poses' are called so"
            raise InvalidValueError("the name of a controller", MAIN, expected, controllers[MAIN].place)
        controllers[MAIN] = PoseGroup(_poses(section.need("poses"), poses), place=section.need("poses").place)
        plays = (*plays, Play(MAIN, 0.0))
    tension = section.read("tension", _by_joint, ByJoint(), each=_tension)
    if not plays and not tension.values:
        raise MissingValueError("poses', 'play' or 'tension", section.what, section.place)
    _check_size(controllers, plays, node)
    return TensionPart(
        tension=tension,
        damping=section.read("damping", _by_joint, ByJoint(), each=_ratio),
        controllers=controllers,
        plays=plays,
        balance=section.read("balance", truth, False),
        place=node.place,
    )


def _check_size(controllers: Mapping[str, PoseGroup], plays: tuple[Play, ...], node: Node) -> None:
    played = sum(controllers[p.controller].cycles * len(controllers[p.controller].poses) for p in plays)
    ends = [p.at + controllers[p.controller].cycles * (controllers[p.controller].duration or 0.0) for p in plays]
    if played > MOST_CUES or max(ends, default=0.0) > MAX_SECONDS:
        raise wrong(node, f"played in at most {MOST_CUES} poses and {MAX_SECONDS:g} s")


def _controller(what: str, node: Node, poses: Mapping[str, Pose]) -> PoseGroup:
    if isinstance(node.value, tuple):  # just its poses
        return PoseGroup(_poses(node, poses), place=node.place)
    section = Section(node, what, CONTROLLER_KEYS)
    cycles = section.read("cycles", whole, 1, least=1, most=MOST_CYCLES)
    duration = section.read("duration", seconds)
    if cycles > 1 and duration is None:
        raise MissingValueError("duration", f"{what}, which is played {cycles} times,", section.need("cycles").place)
    return PoseGroup(_poses(section.need("poses"), poses), cycles, duration, node.place)


def _plays(node: Node, controllers: Mapping[str, PoseGroup]) -> tuple[Play, ...]:
    found = []
    for entry in items(node):
        section = Section(entry, "a play", ("controller", "at"))
        called = known(section.need("controller"), "controller", controllers)
        found.append(Play(called, section.read("at", moment, 0.0), entry.place))
    return tuple(found)


def _poses(node: Node, poses: Mapping[str, Pose]) -> tuple[TensionPose, ...]:
    written = items(node)
    if not 0 < len(written) <= MOST_POSES:
        raise InvalidValueError("the number of poses", len(written), f"from 1 to {MOST_POSES}", node.place)
    return tuple(_pose(k, entry, poses) for k, entry in enumerate(written))


def _pose(index: int, node: Node, poses: Mapping[str, Pose]) -> TensionPose:
    section = Section(node, "a pose under tension", POSE_KEYS)
    pose = read_inline(section, poses, f"pose {index + 1}")
    tension = section.read("tension", _by_joint, ByJoint(), each=_span)
    path = section.read("path", choice, TensionPose.path, options=PATHS, kind="path")
    if path == "constant":
        _check_constant(tension, section.need("tension") if "tension" in section else node)
    return TensionPose(
        pose=pose,
        at=section.read("at", moment, 0.0),
        lasts=section.read("lasts", seconds, TensionPose.lasts),
        curve=_curve(section),
        tension=tension,
        damping=section.read("damping", _by_joint, ByJoint(), each=_ratio),
        update=section.read("update", _by_joint, ByJoint(), each=_update),
        path=path,
        compensate=section.read("compensate", _by_joint, ByJoint(), each=truth),
        start=section.read("start", choice, "current", options=("current", "recalculated"), kind="start"),
        springs=section.read("springs", _by_joint, ByJoint(), each=_slack),
        then=section.read("then", choice, "hold", options=("hold", "beats", "passive"), kind="ending"),
        place=node.place,
    )


def _check_constant(tension: ByJoint, node: Node) -> None:
    for span in tension.values.values():
        if span.start is not None and span.start != span.end:
            raise wrong(node, "the same at both ends, because 'path: constant' keeps it")


def _by_joint(node: Node, each: Callable[[Node], Any]) -> ByJoint:
    """Read a setting for all joints, or a mapping of joints, limbs and patterns to settings."""
    if not isinstance(node.value, dict) or each is _span and set(node.value) <= {"from", "to"}:
        return ByJoint({EVERY: each(node)}, {EVERY: node.place})
    if not node.value:
        raise wrong(node, "a setting, or a mapping of joints and limbs to settings")
    return ByJoint(
        {key: each(value) for key, value in node.value.items()},
        {key: value.place for key, value in node.value.items()},
    )


def _tension(node: Node) -> Tension:
    return tension_of(plain_from_node(node), node.place)


def _span(node: Node) -> Span:
    if not isinstance(node.value, dict):
        return Span(_tension(node))
    section = Section(node, "a change of tension", ("from", "to"))
    return Span(_tension(section.need("to")), section.read("from", _tension))


def _ratio(node: Node) -> float:
    return number(node, least=0.0, most=MOST_RATIO)


def _update(node: Node) -> str:
    return str(choice(node, UPDATES, "update"))


def _slack(node: Node) -> Slack:
    section = Section(node, "a pair of springs", ("low", "high"))
    bounds = {"least": 0.0, "most": MOST_SLACK, "above": 0.0}
    return Slack(section.read("low", number, 1.0, **bounds), section.read("high", number, 1.0, **bounds))


def _curve(section: Section) -> Curve:
    warp = section.read("warp", number, 0.0)
    node = section.get("curve")
    place = section.place if node is None else node.place
    if node is None or not isinstance(node.value, tuple):
        return preset("ease" if node is None else name(node), warp, place)
    knots = []
    for knot in node.value:
        if not isinstance(knot.value, tuple) or len(knot.value) != 3:
            raise wrong(knot, "a list of 3 numbers: time, progress, slope")
        time, progress, slope = (number(x) for x in knot.value)
        knots.append((time, progress, slope))
    return make_curve(tuple(knots), warp, place)


def check_tension_part(part: TensionPart, character: Character) -> None:
    """Check joints, limbs and angles against the character."""
    part.tension.check(character)
    part.damping.check(character)
    for controller in part.controllers.values():
        for entry in controller.poses:
            if not entry.pose.angles:
                raise MissingValueError("angles", f"pose '{entry.pose.name}'", entry.place)
            check_pose(entry.pose, character)
            for setting in (entry.tension, entry.damping, entry.update, entry.compensate, entry.springs):
                setting.check(character)


def tension_part_to_data(part: TensionPart) -> dict[str, Any]:
    """Return the section as plain data."""
    data: dict[str, Any] = {}
    data |= {"tension": _joints_to_data(part.tension, _tension_to_data)} if part.tension.values else {}
    data |= {"damping": _joints_to_data(part.damping, number_to_data)} if part.damping.values else {}
    data |= {"balance": True} if part.balance else {}
    own = [play for play in part.plays if play.controller == MAIN and play.at == 0.0]
    others = {key: value for key, value in part.controllers.items() if key != MAIN}
    if others:
        data["controllers"] = {key: _controller_to_data(value) for key, value in others.items()}
    plays = [play for play in part.plays if play not in own]
    if plays:
        data["play"] = [{"controller": p.controller, "at": number_to_data(p.at)} for p in plays]
    if MAIN in part.controllers:
        data["poses"] = [_pose_to_data(entry) for entry in part.controllers[MAIN].poses]
    return data


def _controller_to_data(controller: PoseGroup) -> dict[str, Any]:
    data: dict[str, Any] = {"poses": [_pose_to_data(entry) for entry in controller.poses]}
    data |= {"cycles": controller.cycles} if controller.cycles != 1 else {}
    return data | ({"duration": number_to_data(controller.duration)} if controller.duration is not None else {})


def _pose_to_data(entry: TensionPose) -> dict[str, Any]:
    from stunt.script.file import _angles

    data: dict[str, Any] = {"name": entry.pose.name, "angles": _angles(entry.pose.angles, entry.pose.units)}
    data |= {"at": number_to_data(entry.at), "lasts": number_to_data(entry.lasts)}
    data |= _curve_to_data(entry.curve)
    writers: dict[str, Callable[[Any], Any]] = {
        "tension": _span_to_data, "damping": number_to_data, "update": str, "compensate": bool,
        "springs": _slack_to_data,
    }  # fmt: skip
    for key, writer in writers.items():
        setting: ByJoint = getattr(entry, key)
        data |= {key: _joints_to_data(setting, writer)} if setting.values else {}
    plain = {f.name: f.default for f in fields(TensionPose) if f.name in ("path", "start", "then")}
    return data | {key: getattr(entry, key) for key, default in plain.items() if getattr(entry, key) != default}


def _joints_to_data(setting: ByJoint, writer: Callable[[Any], Any]) -> Any:
    return {key: writer(value) for key, value in setting.values.items()}


def _tension_to_data(tension: Tension) -> Any:
    if tension.unit == "level":
        return number_to_data(tension.amount)
    return f"{tension.amount!r} {'s' if tension.unit == 'seconds' else 'N·m/rad'}"


def _span_to_data(span: Span) -> Any:
    if span.start is None:
        return _tension_to_data(span.end)
    return {"from": _tension_to_data(span.start), "to": _tension_to_data(span.end)}


def _slack_to_data(slack: Slack) -> dict[str, Any]:
    return {"low": number_to_data(slack.low), "high": number_to_data(slack.high)}


def _curve_to_data(curve: Curve) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if curve.name and curve.name != "ease":
        data["curve"] = curve.name
    elif not curve.name and curve.knots != PRESETS["ease"].knots:
        data["curve"] = [[number_to_data(x) for x in knot] for knot in curve.knots]
    return data | ({"warp": number_to_data(curve.warp)} if curve.warp else {})


KEY = "tension_poses"


def _start(performance: Performance, name: str, part: TensionPart) -> None:
    script = performance.script.parts[name]
    if not script.beats and script.machine is None and len(script.sections) == 1:
        # Nobody else moves this character: all of it is under tension from the start.
        part = replace(part, tension=replace(part.tension, values={EVERY: LEVEL, **part.tension.values}))
    performer = TensionPerformer(performance.stage, name, part)
    performance.warnings += [finding.sentence(name) for finding in foresee(performer, cues(part))]
    performance.sections[name][KEY] = performer
    performance.logs.append(performer.log)
    if performer.character.root is not None:
        GroundSense(performer)
        if part.balance:
            AnkleBalance(performer)


def _seconds(part: TensionPart) -> float | None:
    return max((cue.end for cue in cues(part)), default=None)


TENSION = SectionKind(KEY, read_tension_part, tension_part_to_data, check_tension_part, _start, _seconds)
