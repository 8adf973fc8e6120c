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

from stunt.errors import (
    NOWHERE,
    ConflictingKeysError,
    InvalidValueError,
    MissingValueError,
    Place,
    RateError,
    UnknownNameError,
)
from stunt.keys import (
    ANGLE,
    MOMENT,
    SECONDS,
    SPIN,
    TRUTH,
    Choice,
    Context,
    Data,
    ListOf,
    MappingOf,
    Nested,
    Number,
    OneOf,
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
from stunt.motion.pose_keys import StartPose, angles_to_data
from stunt.schema import Node, Section, choice, entries, items, name, number, stage_name, wrong
from stunt.schema import vector as read_vector

Vector3 = tuple[float, float, float]
_ORIGIN: Vector3 = (0.0, 0.0, 0.0)
_XYZ = "`[x, y, z]`"
_POSITION = Vector((2, 3), "m", says="`[x, y]`, `[x, y, z]`")
_METRES = Number(above=0.0, unit="m")
_MASS = Number(above=0.0, unit="kg")
BodySource: TypeAlias = str | Path | Clip | mujoco.MjSpec
"""What a body can be made from: a name, a file, a clip with its own skeleton, a model made in Python."""


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
        default=_ORIGIN, kind=_POSITION, help="the point on the ground below its root; a third number lifts it"
    )
    facing: float = key(default=0.0, kind=ANGLE, help="heading about the vertical; 0 looks along +x")
    root: Literal["fixed", "free"] = key(
        default="fixed", kind=Choice("root", ("fixed", "free")), help="held where it starts, or left to physics"
    )
    height: float | None = key(
        default=None, kind=_METRES, help="standing; else the table's mean for the sex (built-in bodies)"
    )
    mass: float | None = key(default=None, kind=_MASS, help="of the body; else likewise")
    sex: Literal["male", "female"] = key(
        default="male", kind=Choice("sex", ("male", "female")), help="which anthropometric table"
    )
    strength: float = key(default=1.0, kind=Number(above=0.0), help="factor on every joint's peak torque")
    self_collision: bool = key(default=True, kind=TRUTH, help="whether its own limbs collide with each other")
    start: str | Mapping[str, float | tuple[float, float, float, float]] | None = key(
        default=None, kind=StartPose(), help="the pose at time 0; else the body's neutral one"
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
    except (TypeError, ValueError):
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
    """

    source: tuple[float, float, float, float]
    stage: tuple[float, float, float, float]


Shape = Literal["sphere", "box", "capsule", "cylinder", "plane", "ramp", "stairs", "heightfield"]
MOVING = ("sphere", "box", "capsule", "cylinder")
SHAPES = (*MOVING, "plane", "ramp", "stairs", "heightfield")


class Heights(ValueKind):
    """Rows of heights, all of one length."""

    def read(self, node: Node, context: Context, name: str) -> tuple[tuple[float, ...], ...]:
        """Read them."""
        rows = items(node)
        width = len(items(rows[0])) if rows else 0
        if len(rows) < 2 or width < 2:
            raise wrong(node, "at least 2 rows of at least 2 heights")
        return tuple(read_vector(row, (width,), least=0.0, most=1.0) for row in rows)

    def write(self, value: Any, context: Context) -> Any:
        """Write them."""
        return [list(row) for row in value]

    def told(self) -> str:
        """Say what they are."""
        return "rows of values in 0–1"


@spec("prop '{}'", by="shape")
class PropSpec:
    """A thing on the stage. Ground shapes never move; what else has a mass does."""

    shape: Shape = key(kind=Choice("shape", SHAPES), help="see below")
    at: Vector3 = key(
        default=_ORIGIN, kind=_POSITION,
        help="of its centre, three numbers for what can move; of ramps, stairs and heightfields the middle of the "
        "footprint",
    )  # fmt: skip
    facing: float = key(default=0.0, kind=ANGLE, help="heading about the vertical")
    active: bool | None = key(
        default=None, kind=TRUTH, help="whether touching it counts as a hit; else yes for what can move"
    )
    friction: float = key(default=0.8, kind=Number(0.0), help="sliding friction coefficient")
    color: tuple[float, float, float, float] = key(
        default=(0.75, 0.35, 0.2, 1.0), kind=Vector((3, 4), fill=1.0, least=0.0, most=1.0, says="RGB or RGBA in 0–1"),
        help="of the thing",
    )  # fmt: skip
    mass: float | None = key(default=None, kind=_MASS, only=MOVING, help="without one it is part of the scenery")
    believed_mass: float | None = key(
        default=None, kind=Number(0.0, unit="kg"), only=MOVING, help="what carriers believe; else the truth"
    )
    velocity: Vector3 = key(default=_ORIGIN, kind=Vector(unit="m/s", says=_XYZ), only=MOVING, help="at time 0")
    spin: Vector3 = key(default=_ORIGIN, kind=SPIN, only=MOVING, help="at time 0")
    rope: float | None = key(
        default=None, kind=Number(above=0.0, most=1000.0, unit="m"), only=MOVING,
        help="length of the rope it hangs from, up from its centre; else none",
    )  # fmt: skip
    radius: float = key(
        default=0.1, kind=_METRES, only=("sphere", "capsule", "cylinder"), help="of sphere, capsule and cylinder"
    )
    length: float = key(
        default=0.2,
        kind=_METRES,
        only=("capsule", "cylinder"),
        help="of a cylinder or a capsule's straight part, along its own z",
    )
    size: Vector3 = key(
        default=(0.3, 0.3, 0.3), kind=Vector(unit="m", above=0.0, says="3 lengths"),
        only=("box", "ramp", "stairs", "heightfield"),
        help="box: edges; ramp: length, width, rise, up along its own +x; stairs: depth of a step, width, rise of a "
        "step; heightfield: extent in x and y, height of the value 1",
    )  # fmt: skip
    steps: int = key(default=5, kind=Whole(1, 1000), only=("stairs",), help="how many steps stairs have")
    heights: tuple[tuple[float, ...], ...] = key(
        default=(), kind=Heights(), only=("heightfield",), help="of a heightfield, which needs them"
    )
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def movable(self) -> bool:
        """Whether physics moves it."""
        return self.mass is not None and self.shape in MOVING

    @property
    def counts_as_hit(self) -> bool:
        """Whether touching it is an event for a character."""
        return self.movable if self.active is None else self.active

    def after_reading(self, section: Section, context: Context) -> PropSpec:
        """Complain about what its shape needs and does not have."""
        if self.shape in MOVING and (at := section.get("at")) is not None:
            read_vector(at, (3,))
        if self.shape == "heightfield":
            section.need("heights")
        if self.mass is None and (any((*self.velocity, *self.spin)) or self.rope is not None):
            raise MissingValueError("mass", f"{section.what}, which moves,", self.place)
        return self


def _of_character(node: Node, context: Context) -> str:
    """Read `character/body`. Whether the character has that body is seen once it is built."""
    target = name(node)
    character, slash, part = target.partition("/")
    if character not in context["character"]:
        raise UnknownNameError("character", character, context["character"], node.place)
    if not slash or not part:
        raise wrong(node, f"a character and its body, such as '{character}/r_hand'")
    return target


def _movable(node: Node, context: Context) -> str:
    """Read the name of a prop that physics moves."""
    prop = name(node)
    if prop not in context["prop"]:
        raise UnknownNameError("prop", prop, context["prop"], node.place)
    if not context["prop"][prop].movable:
        raise wrong(node, "a prop that can move: one with a mass")
    return prop


def _pushed(node: Node, context: Context) -> str:
    """Read `character/body`, or the name of a prop."""
    target = name(node)
    if "/" in target or target in context["character"]:
        return _of_character(node, context)
    if target not in context["prop"]:
        places = [f"{character}/<body>" for character in context["character"]]
        raise UnknownNameError("target of a push", target, [*context["prop"], *places], node.place)
    return _movable(node, context)


@dataclass(frozen=True)
class Target(ValueKind):
    """Somebody's body, or a prop, on the stage."""

    reader: Any
    says: str

    def read(self, node: Node, context: Context, name: str) -> str:
        """Read it."""
        return str(self.reader(node, context))

    def told(self) -> str:
        """Say what it is."""
        return self.says


_BODY = Target(_of_character, "a body or site, `ada/r_hand`")
_PROP = Target(_movable, "a prop with a mass")
_BODY_OR_PROP = Target(_pushed, "a body `ada/r_forearm`, or a prop")


@spec("a push")
class Push:
    """A force or an impulse on a body, from a time on; exactly one of the two."""

    target: str = key(kind=_BODY_OR_PROP, name="push", help="what is pushed")
    at: float = key(kind=MOMENT, help="when it starts")
    impulse: Vector3 | None = key(
        default=None, kind=Vector(unit="N·s", says=_XYZ), help="spread evenly over `duration`; this or `force`"
    )
    force: Vector3 | None = key(default=None, kind=Vector(unit="N", says=_XYZ), help="constant during `duration`")
    duration: float = key(default=0.02, kind=SECONDS, help="how long it lasts")
    point: Vector3 | None = key(
        default=None, kind=Vector(unit="m", says=_XYZ), help="where, in the body's own frame; else its centre of mass"
    )
    felt: bool = key(
        default=False, kind=TRUTH, help="whether it is felt like a touch: reactions and supervisors hear of it"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Push:
        """Complain unless exactly one of impulse and force is given."""
        section.one_of(("impulse", "force"))
        return self


@spec("a throw")
class Throw:
    """A prop thrown so that it meets a body at a time.

    At `at` the prop is put at `origin` with the velocity whose ballistic flight meets, at `hits_at`, the point where
    the target's centre is at the moment of the throw (plus `lead`, its expected displacement).
    """

    prop: str = key(kind=_PROP, name="throw", help="what is thrown")
    target: str = key(kind=_BODY, help="at whom")
    hits_at: float = key(kind=MOMENT, help="when it should hit")
    at: float = key(default=0.0, kind=MOMENT, help="when it leaves")
    origin: Vector3 | None = key(
        default=None, kind=Vector(unit="m", says=_XYZ), help="from where; else where the prop is then"
    )
    lead: Vector3 = key(
        default=_ORIGIN, kind=Vector(unit="m", says=_XYZ), help="expected displacement of the target until the hit"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Throw:
        """Complain about a hit before the throw."""
        if self.hits_at <= self.at:
            raise wrong(section.need("hits_at"), f"later than the throw at {self.at:g} s")
        return self


@spec("an attach")
class Attach:
    """A prop taken into a hand (any body): at a time, or when they first touch from that time on."""

    prop: str = key(kind=_PROP, name="attach", help="what is taken")
    to: str = key(kind=_BODY, help="who holds it, in the relative pose they have then")
    at: float = key(default=0.0, kind=MOMENT, help="when")
    on_contact: bool = key(default=False, kind=TRUTH, help="wait, from `at` on, until they touch")
    until: float | None = key(default=None, kind=MOMENT, help="with `on_contact`: until when to wait")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Attach:
        """Complain about an end of waiting where nobody waits, or before that begins."""
        if self.until is not None and not self.on_contact:
            raise MissingValueError("on_contact: true", "an attach with 'until'", section.need("until").place)
        if self.until is not None and self.until <= self.at:
            raise wrong(section.need("until"), f"later than {self.at:g} s, when waiting for contact begins")
        return self


@spec("a release")
class Release:
    """A held prop let go at a time."""

    prop: str = key(kind=_PROP, name="release", help="what is let go")
    at: float = key(kind=MOMENT, help="when")
    place: Place = field(default=NOWHERE, compare=False)


@spec("a drag")
class Drag:
    """A body pulled about as if by a hand: a spring from it to a point that moves, no stronger than its strength."""

    target: str = key(kind=_BODY_OR_PROP, name="drag", help="what is pulled about")
    at: float = key(kind=MOMENT, help="when it is taken hold of")
    until: float = key(kind=MOMENT, help="when it is let go")
    path: tuple[Vector3, ...] = key(
        kind=ListOf(Vector(unit="m", says=_XYZ)),
        help="displacements from where it was taken hold of, passed one after another, evenly over the time",
    )
    strength: float = key(default=500.0, kind=Number(above=0.0, most=1e6, unit="N"), help="largest force")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> Drag:
        """Complain about an end before the beginning, and about no way."""
        if self.until <= self.at:
            raise wrong(section.need("until"), f"later than {self.at:g} s, when it is taken hold of")
        if not self.path:
            raise MissingValueError("a point", "the path of a drag", self.place)
        return self


Event = Push | Throw | Attach | Release | Drag
EVENTS = {"push": Push, "throw": Throw, "attach": Attach, "release": Release, "drag": Drag}
"""What may happen, by the key that tells it."""
EVENT_LIST = ListOf(OneOf("an event", EVENTS))


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
    gravity: Vector3 = key(default=(0.0, 0.0, -9.81), kind=Vector(unit="m/s²", says=_XYZ), help="gravity")
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


def release_warnings(events: tuple[Event, ...]) -> list[str]:
    """Return a sentence for each release of a prop that nobody has taken by then."""
    attached = [event for event in events if isinstance(event, Attach)]
    return [
        f"{event.place}: '{event.prop}' is released at {event.at:g} s, but nobody takes it before."
        for event in events
        if isinstance(event, Release) and not any(a.prop == event.prop and a.at < event.at for a in attached)
    ]
