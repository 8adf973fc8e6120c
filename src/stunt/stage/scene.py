"""A scene as plain data: who is on the stage, what lies on it, what happens to them, and how time passes.

Everything here is a frozen value; `stunt.stage.build.build` turns a scene into a MuJoCo model. Units are metres,
kilograms, seconds and radians, z is up, quaternions are wxyz. The same scene can be written as YAML
(`stunt.script.file`), where angles are in degrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypeAlias

import mujoco

from stunt.errors import NO_NUMBERS, NOWHERE, ConflictingKeysError, InvalidValueError, Place, RateError
from stunt.keys import (
    ANGLE,
    TRUTH,
    ByLimb,
    Choice,
    Context,
    Data,
    MappingOf,
    Nested,
    Number,
    Plain,
    ValueKind,
    Vector,
    Whole,
    Word,
    key,
    read,
    spec,
    write,
)
from stunt.library.names import reference_name
from stunt.motion.clips.clip import Clip
from stunt.motion.pose import Pose
from stunt.motion.pose_keys import StartPose, angles_to_data, joint_angle
from stunt.schema import Node, Section, choice, entries, number, stage_name, wrong
from stunt.stage.event_specs import EVENT_LIST, Event
from stunt.stage.props import MASS, METRES, ORIGIN, POSITION, XYZ, PropSpec, Vector3

BodySource: TypeAlias = str | Path | Clip | mujoco.MjSpec
"""What a body can be made from: a name, a file, a clip with its own skeleton, a model made in Python."""


def _turned(node: Node) -> Any:
    if not isinstance(node.value, (tuple, dict)):
        raise wrong(node, "a quaternion [w, x, y, z], or {rotvec: [x, y, z]} in degrees")
    return joint_angle(node)[0]


@spec("site '{}'")
class SegmentSite:
    """A point on one of a character's segments, by its name: to be led, aimed at and taken hold of."""

    name: str
    on: str = key(kind=Word("a segment: a body's name"), help="which of the character's bodies")
    at: Vector3 = key(default=ORIGIN, kind=Vector(unit="m", says=XYZ), help="where, in the segment's own frame")
    turned: tuple[float, float, float, float] = key(
        default=(1.0, 0.0, 0.0, 0.0), kind=Plain(_turned, "`[w, x, y, z]`, or `{rotvec: [x, y, z]}`", "°", list),
        help="how it is turned there",
    )  # fmt: skip
    place: Place = field(default=NOWHERE, compare=False)


@spec("character '{}'", bare=("body", str))
class CharacterSpec:
    """One character on the stage.

    Attributes:
        body: In a program also a clip, of which it gets the skeleton, or an MjSpec, which is copied.
        start_places: Where each of `start`'s angles was written; `start_units` in which unit (see `Pose.units`).
    """

    body: BodySource = key(
        kind=Word("a built-in body, an MJCF, URDF or motion file, `skeleton`", "body"),
        help="files are looked for beside the script; `skeleton`: the bones of its first clip",
    )
    at: Vector3 = key(
        default=ORIGIN, kind=POSITION, help="the point on the ground below its root; a third number lifts it"
    )
    facing: float = key(default=0.0, kind=ANGLE, help="heading about the vertical; 0 looks along +x")
    root: Literal["fixed", "free"] = key(
        default="fixed", kind=Choice("root", ("fixed", "free")), help="held where it starts, or left to physics"
    )
    height: float | None = key(
        default=None, kind=METRES, help="standing; else the table's mean for the sex (built-in bodies)"
    )
    mass: float | None = key(default=None, kind=MASS, help="of the body; else likewise")
    sex: Literal["male", "female"] = key(
        default="male", kind=Choice("sex", ("male", "female")), help="which anthropometric table"
    )
    strength: float | Mapping[str, float] = key(
        default=1.0, kind=ByLimb(above=0.0), help="factor on peak torques: on all, or `{r_arm: 0.5, l_knee_*: 0.8}`"
    )
    self_collision: bool = key(default=True, kind=TRUTH, help="whether its own limbs collide with each other")
    start: str | Mapping[str, float | tuple[float, float, float, float]] | None = key(
        default=None, kind=StartPose(), help="the pose at time 0; else the body's neutral one"
    )
    damping: Mapping[str, float] = key(
        default={}, kind=MappingOf(Number(0.0, unit="N·m·s/rad"), dict),
        help="of its joints by limb, joint or pattern, whatever else moves them; else the body's own",
    )  # fmt: skip
    sites: tuple[SegmentSite, ...] = key(
        default=(), kind=MappingOf(Nested(SegmentSite)), help="more points on its segments, beside the body's own"
    )
    place: Place = field(default=NOWHERE, compare=False)
    start_places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    start_units: Mapping[str, str] = field(default_factory=dict, compare=False)

    def after_reading(self, section: Section, context: Context) -> CharacterSpec:
        """Take a start that was written on the spot apart."""
        pose: Any = self.start
        if not isinstance(pose, Pose):
            return self
        return replace(self, start=dict(pose.angles), start_places=pose.places, start_units=pose.units)

    def after_writing(self, data: Data, context: Context) -> Data:
        """Write the angles of a start as they were."""
        if isinstance(self.start, Mapping):
            data["start"] = {"angles": angles_to_data(self.start, self.start_units)}
        return data

    def __post_init__(self) -> None:
        """Check what Python made: a script's values were checked at their lines."""
        if isinstance(self.body, Path):
            object.__setattr__(self, "body", str(self.body))
        if not isinstance(self.body, (str, Clip, mujoco.MjSpec)):
            raise InvalidValueError("body", self.body, "a body's name, a file, a Clip or an MjSpec", self.place)
        object.__setattr__(self, "at", _point("at", self.at, self.place))
        if isinstance(self.facing, bool) or not isinstance(self.facing, Real) or not math.isfinite(self.facing):
            raise InvalidValueError("facing", self.facing, "a finite number of radians", self.place)

    @property
    def body_name(self) -> str:
        """What the body is called: as it was named, or a clip's own name and what was done to it."""
        if isinstance(self.body, mujoco.MjSpec):
            return str(self.body.modelname or "MjSpec")
        return reference_name(self.body)


Body = CharacterSpec
"""A character as a program writes it: `Body("walk", root="free", at=(1, 0, 0))`."""


def _point(what: str, value: object, place: Place) -> Vector3:
    """Return three finite numbers; two of them are a point on the ground."""
    try:
        numbers = tuple(float(x) for x in value)  # type: ignore[attr-defined]
    except NO_NUMBERS:
        numbers = ()
    if len(numbers) not in (2, 3) or not all(math.isfinite(x) for x in numbers):
        raise InvalidValueError(what, value, "two or three finite numbers of metres", place)
    return (numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0)


@dataclass(frozen=True)
class Placement:
    """Where the first clip a character follows lay in its file, and where on the stage it was put.

    Attributes:
        source: In the file: x, y, height of the ground [m] and heading [rad].
        stage: On the stage, likewise.
        clip: Its name; empty where an old take does not say.
    """

    source: tuple[float, float, float, float]
    stage: tuple[float, float, float, float]
    clip: str = ""


@spec("collisions")
class Collisions:
    """Two-stage collisions: an analytic impact where a contact is new, then a mild spring and damper."""

    restitution: float = key(default=0.0, kind=Number(0.0, 1.0), help="how much of an approach comes back")
    friction: Literal["none", "infinite", "coulomb"] = key(
        default="coulomb", kind=Choice("friction", ("none", "infinite", "coulomb")),
        help="during the impact; `coulomb`: with the contact's own coefficient",
    )  # fmt: skip
    softness: float = key(
        default=0.05, kind=Number(above=0.0, unit="s"),
        help="time constant of the springs that hold afterwards; at least two physics steps",
    )  # fmt: skip
    impact: bool = key(
        default=True, kind=TRUTH, help="whether there is an impact stage; without it only the mild springs are left"
    )
    place: Place = field(default=NOWHERE, compare=False)


_MODELS = ("engine", "two_stage")


class CollisionModel(ValueKind):
    """How things collide: `engine`, `two_stage`, or a mapping with the settings of two-stage collisions."""

    def read(self, node: Node, context: Context, name: str) -> Collisions | None:
        """Read it."""
        if not isinstance(node.value, dict):
            two_stage = choice(node, _MODELS, "collision model") == "two_stage"
            return Collisions(place=node.place) if two_stage else None
        model = node.value.get("model")
        named = "two_stage" if model is None or model.value is None else choice(model, _MODELS, "collision model")
        rest = {key: value for key, value in node.value.items() if key != "model"}
        return read(Collisions, Node(rest, node.place)) if named == "two_stage" else None

    def write(self, value: Any, context: Context) -> Any:
        """Write it."""
        return {"model": "two_stage", **write(value)}

    def told(self) -> str:
        """Say what it is."""
        return "`engine`, `two_stage`, or a mapping"


@dataclass(frozen=True)
class OnStage(MappingOf):
    """Who or what is on the stage, by names that nobody else has."""

    kind: str = ""

    def read(self, node: Node, context: Context, name: str) -> Any:
        """Read them."""
        for called, value in entries(node).items():
            if self.kind == "prop" and called in context["character"]:
                raise InvalidValueError("the name of a prop", called, "another than a character's", value.place)
            stage_name(called, value.place, self.kind)
        return super().read(node, context, name)


_HZ = Number(10.0, 20_000.0, unit="Hz")
RATE_KEYS = ("rate", "physics_hz", "control_hz")
PROPS = OnStage(Nested(PropSpec), dict, kind="prop")


@spec("a scene")
class Scene:
    """Everything that one `build` turns into a MuJoCo model.

    Characters and props go by their names; a character's name becomes the prefix of its bodies and joints
    (`ada/r_elbow_flexion`). `events` are what happens, each at its time. Collisions of None are the engine's own.
    """

    characters: Mapping[str, CharacterSpec] = key(
        default={}, kind=OnStage(Nested(CharacterSpec), dict, kind="character"), help="who is on the stage"
    )
    props: Mapping[str, PropSpec] = key(default={}, kind=PROPS, help="what lies on it")
    events: tuple[Event, ...] = ()
    physics_hz: float = key(default=480.0, kind=_HZ, help="physics steps per second; alone it sets both")
    control_hz: float = key(default=480.0, kind=_HZ, help="control decisions per second; divides `physics_hz`")
    gravity: Vector3 = key(default=(0.0, 0.0, -9.81), kind=Vector(unit="m/s²", says=XYZ), help="gravity")
    ground: bool = key(default=True, kind=TRUTH, help="whether there is an endless floor at z = 0")
    seed: int = key(default=0, kind=Whole(0, 2**32 - 1), help="of everything random: same seed, same take")
    collisions: Collisions | None = key(
        default=None, kind=CollisionModel(), help="[two-stage collisions](trajectories.md); else the engine's own"
    )
    sleep: bool = key(
        default=False, kind=TRUTH, help="whether what lies still [sleeps](guides/crowd.md) until it is touched"
    )

    @classmethod
    def around(cls, section: Section, context: Context) -> Context:
        """Return the context of its keys: its characters' names are known there."""
        return {**context, "character": section.read("characters", entries, {})}

    def after_reading(self, section: Section, context: Context) -> Scene:
        """Read the rates, which belong together."""
        physics, control = read_rates(section)
        return replace(self, physics_hz=physics, control_hz=control)

    def after_writing(self, data: Data, context: Context) -> Data:
        """Write rates that are the same as one, and events."""
        rates = {name: _HZ.write(getattr(self, name), context) for name in RATE_KEYS[1:]}
        rates = {"rate": rates["physics_hz"]} if self.physics_hz == self.control_hz else rates
        data = {name: value for name, value in data.items() if name not in RATE_KEYS}
        return data | rates | ({"events": EVENT_LIST.write(self.events, context)} if self.events else {})


def read_rates(section: Section) -> tuple[float, float]:
    """Read how often physics steps and how often control decides [Hz]: `rate` for both, or each its own."""
    rate = section.get("rate")
    if rate is not None:
        for other in RATE_KEYS[1:]:
            if other in section:
                raise ConflictingKeysError("a script", ("rate", other), ("rate", other), section.need(other).place)
        return (number(rate, least=_HZ.least, most=_HZ.most),) * 2
    given = {name: section.read(name, number, None, least=_HZ.least, most=_HZ.most) for name in RATE_KEYS[1:]}
    control = given["control_hz"] or given["physics_hz"] or Scene.control_hz
    physics = given["physics_hz"] or Scene.physics_hz
    steps = physics / control
    if steps < 1.0 - 1e-9 or abs(steps - round(steps)) > 1e-9 * steps:
        raise RateError(physics, control, section.need("control_hz").place)
    return physics, control


def read_props(node: Node | None, characters: Mapping[str, CharacterSpec]) -> dict[str, PropSpec]:
    """Read props by name; a prop must not be called like a character."""
    return {} if node is None else PROPS.read(node, {"character": characters}, "")


def read_events(node: Node | None, scene: Scene) -> tuple[Event, ...]:
    """Read a list of events; who and what they name must be on the stage."""
    return () if node is None else EVENT_LIST.read(node, {"character": scene.characters, "prop": scene.props}, "")
