"""Poses held by tension, as a script has them: frozen values, and the order in which they are played.

And where they lead, by their curves alone: what the preview shows and predictions are made from.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.bodies import GROUPS
from stunt.character.character import Character, Joint
from stunt.control.tension.units import Tension, tension_of
from stunt.errors import NOWHERE, InvalidValueError, MissingValueError, Place, UnknownNameError
from stunt.keys import (
    MOMENT,
    SECONDS,
    TRUTH,
    Choice,
    Context,
    Data,
    Known,
    ListOf,
    MappingOf,
    Nested,
    Number,
    Plain,
    ScriptKey,
    Spread,
    ValueKind,
    Whole,
    inline,
    key,
    spec,
    write,
)
from stunt.motion.pose import Pose
from stunt.motion.pose_keys import InlinePose
from stunt.motion.transition import PRESETS, Curve, make_curve, preset
from stunt.schema import MAX_SECONDS, Node, Section, entries, number, number_to_data, plain_from_node, wrong
from stunt.schema import name as word

Update = Literal["sampling", "prediction"]
Path = Literal["constant", "line", "isoangle"]
After = Literal["hold", "beats", "passive"]
EVERY = "all"
MAIN = "main"
"""The name of a section's own poses among its controllers."""
MOST_POSES, MOST_CYCLES, MOST_CUES = 2000, 1000, 20_000


@dataclass(frozen=True)
class Span:
    """Tension at the start of a transition and at its end; a start of None is what the joint has then."""

    end: Tension
    start: Tension | None = None


_SLACK = Number(above=0.0, most=100.0)


@spec("a pair of springs")
class Slack:
    """Factors on the two springs of a pair: one tightened (> 1) or relaxed (< 1) alone."""

    low: float = key(default=1.0, kind=_SLACK, help="factor on the lower one")
    high: float = key(default=1.0, kind=_SLACK, help="factor on the upper one")


@dataclass(frozen=True)
class ByJoint:
    """A setting for some joints: values by joint, limb or pattern; later ones win. Empty says nothing.

    Attributes:
        values: Settings by key, in the order they were written.
        places: Where each was written.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    def of(self, joint: str, default: Any = None) -> Any:
        """Return the setting of a joint."""
        found = default
        for limb, value in self.values.items():
            if any(fnmatchcase(joint, pattern) for pattern in GROUPS.get(limb, (limb,))):
                found = value
        return found

    def check(self, character: Character) -> None:
        """Complain about a key that fits no joint of the character."""
        for limb in self.values:
            if not any(fnmatchcase(joint, p) for joint in character.joints for p in GROUPS.get(limb, (limb,))):
                raise UnknownNameError(
                    f"limb or joint of '{character.name}'", limb, (*GROUPS, *character.joints),
                    self.places.get(limb, NOWHERE),
                )  # fmt: skip


def _read_tension(node: Node) -> Tension:
    return tension_of(plain_from_node(node), node.place)


def _tension_to_data(tension: Tension) -> Any:
    if tension.unit == "level":
        return number_to_data(tension.amount)
    return f"{tension.amount!r} {'s' if tension.unit == 'seconds' else 'N·m/rad'}"


def _read_span(node: Node) -> Span:
    if not isinstance(node.value, dict):
        return Span(_read_tension(node))
    section = Section(node, "a change of tension", ("from", "to"))
    return Span(_read_tension(section.need("to")), section.read("from", _read_tension))


def _span_to_data(span: Span) -> Any:
    end = _tension_to_data(span.end)
    return end if span.start is None else {"from": _tension_to_data(span.start), "to": end}


_TENSION = Plain(_read_tension, "[a tension](#how-tight)", "", _tension_to_data)
_SPAN = Plain(_read_span, "[a tension](#how-tight), or `{from:, to:}`", "", _span_to_data)


@dataclass(frozen=True)
class PerJoint(ValueKind):
    """A setting for all joints, or a mapping of joints, limbs and patterns to settings."""

    each: ValueKind

    def read(self, node: Node, context: Context, name: str) -> ByJoint:
        """Read it."""
        if not isinstance(node.value, dict) or self.each is _SPAN and set(node.value) <= {"from", "to"}:
            return ByJoint({EVERY: self.each.read(node, context, name)}, {EVERY: node.place})
        if not node.value:
            raise wrong(node, "a setting, or a mapping of joints and limbs to settings")
        return ByJoint(
            {key: self.each.read(value, context, key) for key, value in node.value.items()},
            {key: value.place for key, value in node.value.items()},
        )

    def write(self, value: ByJoint, context: Context) -> Any:
        """Write it."""
        return {key: self.each.write(setting, context) for key, setting in value.values.items()}

    def told(self) -> str:
        """Say of what."""
        return f"{self.each.told()}; or by joint"


@dataclass(frozen=True)
class Course(Spread):
    """The course of a transition: a curve, and how its time is warped."""

    keys = (
        ScriptKey("curve", "", Plain(plain_from_node, f"{', '.join(f'`{n}`' for n in PRESETS)}, or knots "
            "`[[time, progress, slope], …]`"), "ease", "its course"),
        ScriptKey("warp", "", Number(), 0.0, "exponential change of time: above 0 starts slowly, below 0 fast"),
    )  # fmt: skip

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> Curve:
        """Read it."""
        warp = section.read("warp", number, 0.0)
        node = section.get("curve")
        place = section.place if node is None else node.place
        if node is None or not isinstance(node.value, tuple):
            return preset("ease" if node is None else word(node), warp, place)
        knots = []
        for knot in node.value:
            if not isinstance(knot.value, tuple) or len(knot.value) != 3:
                raise wrong(knot, "a list of 3 numbers: time, progress, slope")
            time, progress, slope = (number(x) for x in knot.value)
            knots.append((time, progress, slope))
        return make_curve(tuple(knots), warp, place)

    def write_keys(self, value: Curve, context: Context, usual: Any) -> Data:
        """Write it."""
        data: Data = {}
        if value.name and value.name != "ease":
            data["curve"] = value.name
        elif not value.name and value.knots != PRESETS["ease"].knots:
            data["curve"] = [[number_to_data(x) for x in knot] for knot in value.knots]
        return data | ({"warp": number_to_data(value.warp)} if value.warp else {})


_DAMPING = PerJoint(Number(0.0, 10.0))


@spec("a pose under tension")
class TensionPose:
    """One transition into a pose: any subset of the joints. Joints a setting does not name keep what they have."""

    pose: Pose = inline(kind=InlinePose("pose {}"))
    at: float = key(default=0.0, kind=MOMENT, help="when it begins, from its controller's start")
    lasts: float = key(default=0.5, kind=SECONDS, help="how long the transition takes")
    curve: Curve = inline(kind=Course(), default=PRESETS["ease"])
    curves: ByJoint = key(
        default=ByJoint(), kind=PerJoint(Choice("curve", tuple(PRESETS))),
        help="the course of joints and limbs where it is another, by name, warped alike",
    )  # fmt: skip
    tension: ByJoint = key(default=ByJoint(), kind=PerJoint(_SPAN), help="at its end; else it stays as it is")
    damping: ByJoint = key(default=ByJoint(), kind=_DAMPING, help="share of critical; else it stays as it is")
    update: ByJoint = key(
        default=ByJoint(), kind=PerJoint(Choice("update", ("sampling", "prediction"))),
        help="how gains follow external torque: every step, or from start and end alone; else arms predict, and what "
        "bears weight (trunk, head, legs) samples",
    )  # fmt: skip
    path: Path = key(
        default="line", kind=Choice("path", ("constant", "line", "isoangle")),
        help="of predicted gains: constant tension, a line (its warp shapes the motion), or true to the curve",
    )  # fmt: skip
    compensate: ByJoint = key(
        default=ByJoint(), kind=PerJoint(TRUTH),
        help="whether external torque is balanced (true); `false` lets gravity have the joint: a loose wrist",
    )  # fmt: skip
    start: Literal["current", "recalculated"] = key(
        default="current", kind=Choice("start", ("current", "recalculated")),
        help="from the gains in force, or from gains recalculated for where the joint is",
    )  # fmt: skip
    springs: ByJoint = key(
        default=ByJoint(), kind=PerJoint(Nested(Slack, "`{low: 1, high: 1.3}`")),
        help="one spring of a pair tightened or relaxed alone",
    )  # fmt: skip
    then: After = key(
        default="hold", kind=Choice("ending", ("hold", "beats", "passive")),
        help="what follows: hold, hand the joints to the beat law, or let them go",
    )  # fmt: skip
    place: Place = field(default=NOWHERE, compare=False)

    def curve_of(self, joint: str) -> Curve:
        """Return the course of one joint (P4's transition function is of a degree of freedom)."""
        name = self.curves.of(joint)
        return self.curve if name is None else preset(name, self.curve.warp)

    def after_reading(self, section: Section, context: Context) -> TensionPose:
        """Complain about a constant tension that changes."""
        for span in self.tension.values.values() if self.path == "constant" else ():
            if span.start is not None and span.start != span.end:
                node = section.get("tension") or section.node
                raise wrong(node, "the same at both ends, because 'path: constant' keeps it")
        return self


_POSES = ListOf(Nested(TensionPose), counted=("poses", MOST_POSES))


@spec("controller '{}'", bare=("poses", tuple))
class PoseGroup:
    """Poses that belong together."""

    poses: tuple[TensionPose, ...] = key(kind=_POSES, help="each with its time within the controller")
    cycles: int = key(default=1, kind=Whole(1, MOST_CYCLES), help="how often they are played")
    duration: float | None = key(default=None, kind=SECONDS, help="of one cycle; needed where there is more than one")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> PoseGroup:
        """Complain about cycles without a length."""
        if self.cycles > 1 and self.duration is None:
            what = f"{section.what}, which is played {self.cycles} times,"
            raise MissingValueError("duration", what, section.need("cycles").place)
        return self


@spec("a play")
class Play:
    """A controller started at a time."""

    controller: str = key(kind=Known("controller"), help="which")
    at: float = key(default=0.0, kind=MOMENT, help="when")
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Groups(Spread):
    """The section's controllers: those with names, and its own poses, which are played from the start."""

    keys = (
        ScriptKey("poses", "", _POSES, None, "poses played from the start"),
        ScriptKey("controllers", "", MappingOf(Nested(PoseGroup), dict), None, "poses that belong together"),
    )

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> dict[str, PoseGroup]:
        """Read it."""
        named = section.get("controllers")
        found: dict[str, PoseGroup] = {} if named is None else self.keys[1].kind.read(named, context, name)
        if "poses" in section:
            if MAIN in found:
                expected = "another: the section's own 'poses' are called so"
                raise InvalidValueError("the name of a controller", MAIN, expected, found[MAIN].place)
            own = section.need("poses")
            found[MAIN] = PoseGroup(_POSES.read(own, context, name), place=own.place)
        return found

    def write_keys(self, value: Mapping[str, PoseGroup], context: Context, usual: Any) -> Data:
        """Write it."""
        named = {key: write(group, context) for key, group in value.items() if key != MAIN}
        data: Data = {"controllers": named} if named else {}
        return data | ({"poses": _POSES.write(value[MAIN].poses, context)} if MAIN in value else {})


@spec("tension_poses")
class TensionPart:
    """What a character does under tension."""

    tension: ByJoint = key(
        default=ByJoint(), kind=PerJoint(_TENSION), help="these joints are held by tension from the start"
    )
    damping: ByJoint = key(default=ByJoint(), kind=_DAMPING, help="share of critical; 0.7 where nothing is said")
    controllers: Mapping[str, PoseGroup] = inline(kind=Groups(), default={})
    plays: tuple[Play, ...] = key(
        default=(), name="play", kind=ListOf(Nested(Play)), help="which controllers start when"
    )
    balance: bool = key(
        default=False, kind=TRUTH, help="whether a free character leans its ankles to stay over its feet"
    )
    steady: bool = key(default=True, kind=TRUTH, help="whether a tension that gravity would tip over is raised")
    place: Place = field(default=NOWHERE, compare=False)

    @classmethod
    def around(cls, section: Section, context: Context) -> Context:
        """Return the context of its keys: its own controllers are known there."""
        return {**context, "controller": section.read("controllers", entries, {})}

    def after_reading(self, section: Section, context: Context) -> TensionPart:
        """Let its own poses play from the start; complain where nothing is said, or too much."""
        part = replace(self, plays=(*self.plays, Play(MAIN, 0.0))) if "poses" in section else self
        if not part.plays and not part.tension.values:
            raise MissingValueError("poses', 'play' or 'tension", section.what, section.place)
        groups = [(play.at, part.controllers[play.controller]) for play in part.plays]
        played = sum(group.cycles * len(group.poses) for _, group in groups)
        ends = [at + group.cycles * (group.duration or 0.0) for at, group in groups]
        if played > MOST_CUES or max(ends, default=0.0) > MAX_SECONDS:
            raise wrong(section.node, f"played in at most {MOST_CUES} poses and {MAX_SECONDS:g} s")
        return part

    def after_writing(self, data: Data, context: Context) -> Data:
        """Leave out that its own poses are played from the start."""
        plays = [write(play) for play in self.plays if (play.controller, play.at) != (MAIN, 0.0)]
        return {key: value for key, value in data.items() if key != "play"} | ({"play": plays} if plays else {})


@dataclass(frozen=True)
class Cue:
    """One transition on the performance's clock, from `start` to `end` [s]."""

    start: float
    end: float
    entry: TensionPose


def cues(part: TensionPart) -> list[Cue]:
    """Return all transitions in the order in which they begin; of those that begin together, as written."""
    found = []
    for play in part.plays:
        controller = part.controllers[play.controller]
        for cycle in range(controller.cycles):
            began = play.at + cycle * (controller.duration or 0.0)
            for entry in controller.poses:
                found.append(Cue(began + entry.at, began + entry.at + entry.lasts, entry))
    return sorted(found, key=lambda cue: cue.start)


Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PhaseLeg:
    """One joint's way through one transition, from `start` to `end` [s], between two positions (nq,)."""

    start: float
    end: float
    begin: Floats
    goal: Floats
    curve: Curve

    def at(self, time: Any, ball: bool) -> Floats:
        """Return positions at times, (…, nq)."""
        progress = self.curve.at((np.asarray(time, float) - self.start) / max(self.end - self.start, 1e-9))
        if not ball:
            return np.asarray(self.begin + progress[..., None] * (self.goal - self.begin))
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, self.goal, self.begin)
        flat = np.array([_turned(self.begin, float(p) * turn) for p in np.ravel(progress)])
        return flat.reshape(*np.shape(progress), 4)


class Plan:
    """All legs of all joints, each joint's in order; a later one takes over from an earlier one wherever it is."""

    def __init__(self, character: Character, qpos: Floats, cues: Iterable[Cue]) -> None:
        """Lay the legs out.

        Args:
            character: Whose.
            qpos: Where everything starts, (nq,).
            cues: Transitions in the order in which they begin.
        """
        self.character = character
        self.legs: dict[str, list[PhaseLeg]] = {}
        self._home = {name: _position(joint, qpos).copy() for name, joint in character.joints.items()}
        for cue in cues:
            self.add(cue)

    def add(self, cue: Cue) -> None:
        """Append a transition; it must not begin before those that are there."""
        for name, angle in cue.entry.pose.angles.items():
            begin = self.at(name, cue.start)
            leg = PhaseLeg(cue.start, cue.end, begin, np.atleast_1d(np.asarray(angle, float)), cue.entry.curve_of(name))
            self.legs.setdefault(name, []).append(leg)

    def at(self, name: str, time: float) -> Floats:
        """Return one joint's position at a time, (nq,)."""
        legs = self.legs.get(name, [])
        index = bisect.bisect_right([leg.start for leg in legs], time + 1e-9) - 1
        if index < 0:
            return self._home[name]
        return legs[index].at(time, self.character.joints[name].kind == "ball")

    def write(self, qpos: Floats, times: Floats) -> None:
        """Lay the planned positions over a path, from each joint's first leg on.

        Args:
            qpos: The path, changed in place, (T, nq).
            times: Its times [s], (T,).
        """
        for name, legs in self.legs.items():
            joint = self.character.joints[name]
            starts = [leg.start for leg in legs]
            which = np.searchsorted(starts, times + 1e-9, side="right") - 1
            for index, leg in enumerate(legs):
                here = which == index
                if here.any():
                    qpos[here, joint.qpos : joint.qpos + joint.nq] = leg.at(times[here], joint.kind == "ball")


def _position(joint: Joint, qpos: Floats) -> Floats:
    return qpos[joint.qpos : joint.qpos + joint.nq]


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    out = quaternion.copy()
    mujoco.mju_quatIntegrate(out, vector, 1.0)
    return out
