"""A scene as plain data: who is on the stage, what lies on it, what happens to them, and how time passes.

Everything here is a frozen value; `stunt.stage.build.build` turns a scene into a MuJoCo model. Units are metres,
kilograms, seconds and radians, z is up, quaternions are wxyz. The same scene can be written as YAML
(`stunt.script.file`), where angles are in degrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from stunt.errors import NOWHERE, Place

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class CharacterSpec:
    """One character on the stage.

    Attributes:
        body: Name of a built-in body (`human39`, …) or path of an MJCF file.
        at: Where the character stands [m]: the point on the ground below its root; z raises it.
        facing: Heading about the vertical [rad]; 0 looks along +x.
        root: `fixed` holds the root in the air where it starts, `free` leaves it to physics.
        height: Standing height [m]; None takes the table's mean for the sex. Built-in bodies only.
        mass: Body mass [kg]; None likewise.
        sex: `male` or `female`: which anthropometric table.
        strength: Factor on every joint's peak torque.
        self_collision: Whether the character's own limbs collide with each other.
        start: Name of the pose at time 0, or joint angles [rad], a ball joint's as a quaternion; None is the body's
            neutral pose.
        place: Where it was written, for error messages.
        start_places: Where each of `start`'s angles was written; `start_units` in which unit (see `Pose.units`).
    """

    body: str
    at: Vector = (0.0, 0.0, 0.0)
    facing: float = 0.0
    root: Literal["fixed", "free"] = "fixed"
    height: float | None = None
    mass: float | None = None
    sex: Literal["male", "female"] = "male"
    strength: float = 1.0
    self_collision: bool = True
    start: str | Mapping[str, float | tuple[float, float, float, float]] | None = None
    place: Place = field(default=NOWHERE, compare=False)
    start_places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    start_units: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def body_name(self) -> str:
        """What the body is called."""
        return self.body


@dataclass(frozen=True)
class Placement:
    """Where the first clip a character follows lay in its file, and where on the stage it was put.

    Attributes:
        source: In the file: x, y, height of the ground [m] and heading [rad].
        stage: On the stage, likewise.
    """

    source: tuple[float, float, float, float]
    stage: tuple[float, float, float, float]


Shape = Literal["sphere", "box", "capsule", "plane", "ramp", "stairs", "heightfield"]


@dataclass(frozen=True)
class PropSpec:
    """A thing on the stage.

    Attributes:
        shape: One of the shapes below, each reading some of the sizes:
            sphere (`radius`) · box (`size`: full edge lengths) · capsule (`radius`, `length` of the straight part,
            along its own z) · plane (endless ground) · ramp (`size`: length, width, rise; goes up along its own +x) ·
            stairs (`size`: depth of one step, width, rise of one step; `steps`) · heightfield (`size`: x, y extent and
            height of the value 1; `heights`: rows of values in 0–1).
        at: Position of the centre [m] (ramp, stairs, heightfield: of the middle of the footprint, on the ground).
        facing: Heading about the vertical [rad].
        mass: Mass [kg]; None makes the prop static, part of the scenery. Ground shapes are always static.
        believed_mass: What whoever carries it believes it weighs [kg]; None knows the truth.
        velocity: Linear velocity at time 0 [m/s].
        spin: Angular velocity at time 0 [rad/s], world frame.
        active: Whether touching it counts as a hit (a ball: yes; ground, a chair one sits on: no). None: yes for
            things that can move, no for scenery.
        friction: Sliding friction coefficient.
        rope: Length of the rope it hangs from, up from its centre [m]; None: it hangs from nothing.
        color: RGBA in 0–1.
    """

    shape: Shape
    at: Vector = (0.0, 0.0, 0.0)
    facing: float = 0.0
    radius: float = 0.1
    length: float = 0.2
    size: Vector = (0.3, 0.3, 0.3)
    steps: int = 5
    heights: tuple[tuple[float, ...], ...] = ()
    mass: float | None = None
    believed_mass: float | None = None
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)
    active: bool | None = None
    friction: float = 0.8
    rope: float | None = None
    color: tuple[float, float, float, float] = (0.75, 0.35, 0.2, 1.0)
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def movable(self) -> bool:
        """Whether physics moves it."""
        return self.mass is not None and self.shape not in ("plane", "ramp", "stairs", "heightfield")

    @property
    def counts_as_hit(self) -> bool:
        """Whether touching it is an event for a character."""
        return self.movable if self.active is None else self.active


@dataclass(frozen=True)
class Push:
    """A force or an impulse on a body, from a time on.

    Attributes:
        target: `character/body` or a prop's name.
        at: When it starts [s].
        impulse: Total impulse [N·s], world frame, spread evenly over `duration`. Exactly one of impulse and force.
        force: Constant force [N], world frame, during `duration`.
        duration: How long it lasts [s].
        point: Where it acts, in the body's own frame [m]; None is the centre of mass.
    """

    target: str
    at: float
    impulse: Vector | None = None
    force: Vector | None = None
    duration: float = 0.02
    point: Vector | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Throw:
    """A prop thrown so that it meets a body at a time.

    At `at` the prop is put at `origin` with the velocity whose ballistic flight meets, at `hits_at`, the point where
    the target's centre is at the moment of the throw (plus `lead`, its expected displacement).

    Attributes:
        prop: Name of a movable prop.
        target: `character/body` (or `character/site`).
        hits_at: When it should hit [s].
        at: When it leaves [s].
        origin: From where [m]; None is where the prop is then.
        lead: Expected displacement of the target until the hit [m].
    """

    prop: str
    target: str
    hits_at: float
    at: float = 0.0
    origin: Vector | None = None
    lead: Vector = (0.0, 0.0, 0.0)
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Attach:
    """A prop taken into a hand (any body): at a time, or when they first touch from that time on.

    Attributes:
        prop: Name of a movable prop.
        to: `character/body` that holds it, in the relative pose they have then.
        at: When [s].
        on_contact: Wait, from `at` on, until prop and body touch.
        until: If given, stop waiting for contact at that time [s].
    """

    prop: str
    to: str
    at: float = 0.0
    on_contact: bool = False
    until: float | None = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Release:
    """A held prop let go at a time [s]."""

    prop: str
    at: float
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Drag:
    """A body pulled about as if by a hand: a spring from it to a point that moves, no stronger than its strength.

    Attributes:
        target: `character/body` or a prop's name.
        at: When it is taken hold of [s].
        until: When it is let go [s].
        path: Where it is pulled, as displacements from where it was when it was taken hold of [m]; passed one after
            another, evenly over the time.
        strength: Largest force [N].
    """

    target: str
    at: float
    until: float
    path: tuple[Vector, ...]
    strength: float = 500.0
    place: Place = field(default=NOWHERE, compare=False)


Event = Push | Throw | Attach | Release | Drag


@dataclass(frozen=True)
class Collisions:
    """Two-stage collisions: an analytic impact where a contact is new, then a mild spring and damper.

    Attributes:
        restitution: Coefficient of restitution, 0–1: how much of an approach comes back.
        friction: During the impact: `none`, `infinite`, or `coulomb` with the contact's own coefficient.
        softness: Time constant of the springs that hold afterwards [s]; at least two physics steps.
        impact: Whether there is an impact stage at all; without it only the mild springs are left, for comparison.
    """

    restitution: float = 0.0
    friction: Literal["none", "infinite", "coulomb"] = "coulomb"
    softness: float = 0.05
    impact: bool = True
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Scene:
    """Everything that one `build` turns into a MuJoCo model.

    Attributes:
        characters: By name; a name becomes the prefix of its bodies and joints (`ada/r_elbow_flexion`).
        props: By name.
        events: What happens, each at its time.
        physics_hz: Physics steps per second.
        control_hz: Control updates per second; divides `physics_hz`.
        gravity: Gravity [m/s²].
        ground: Whether there is an endless floor at z = 0.
        seed: Seed of everything random in the performance.
        collisions: Two-stage collisions; None is the engine's own contact model.
    """

    characters: Mapping[str, CharacterSpec] = field(default_factory=dict)
    props: Mapping[str, PropSpec] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    physics_hz: float = 480.0
    control_hz: float = 480.0
    gravity: Vector = (0.0, 0.0, -9.81)
    ground: bool = True
    seed: int = 0
    collisions: Collisions | None = None
