"""Trajectories in a script, as frozen data."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, replace
from typing import Any, Literal

from stunt.errors import NOWHERE, InvalidValueError, MissingValueError, Place
from stunt.keys import (
    CLIP,
    FILE,
    MOMENT,
    NAME,
    SECONDS,
    TRUTH,
    Choice,
    Context,
    Data,
    ListOf,
    MappingOf,
    Nested,
    Number,
    Plain,
    ScriptKey,
    Spread,
    Vector,
    inline,
    key,
    spec,
)
from stunt.motion.clips.clip import Clip
from stunt.motion.pose_keys import joint_angle
from stunt.motion.trajectory import BETWEENS, Trajectory
from stunt.schema import Node, Section, choice, items, measure_to_data, number, number_to_data

Form = Literal["adaptive", "bare"]
_DAMPING = Number(above=0.0)
_MEASURE = Plain(lambda node: _point(joint_angle(node)[0]), "angles; a ball joint's as in poses", "°")


def _point(value: Any) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)


def _written(value: tuple[float, ...], unit: str) -> Any:
    return list(value) if len(value) > 1 else measure_to_data(value[0], unit)


@dataclass(frozen=True)
class TimedValues(Spread):
    """A trajectory: times, as many values, and how it goes between them. None where no values are written.

    Attributes:
        values: The key of its values.
        each: What one of them is.
        needed: Whether they must be there.
    """

    values: str
    each: Any
    needed: bool = False

    @property
    def keys(self) -> tuple[ScriptKey, ...]:  # type: ignore[override]
        """Its keys."""
        return (
            ScriptKey("times", "", ListOf(Number(0.0, unit="s")), MISSING, "when, increasing"),
            ScriptKey(self.values, "", ListOf(self.each), MISSING if self.needed else None, "one for each time"),
            ScriptKey("between", "", Choice("between", BETWEENS), "spline", "how it goes from one to the next"),
        )

    def read_keys(self, section: Section, context: Context, name: str, usual: Any) -> Trajectory | None:
        """Read it."""
        if not self.needed and self.values not in section:
            return None
        node = section.need(self.values)
        values = [self.each.read(value, context, name) for value in items(node)]
        times = [number(time, least=0.0) for time in items(section.need("times"))]
        if len(times) != len(values) or not times:
            raise InvalidValueError("the number of values", len(values), f"one per time ({len(times)})", node.place)
        between = section.read("between", choice, "spline", options=BETWEENS, kind="between")
        return Trajectory.through(times, values, between, place=section.need("times").place)

    def write_keys(self, value: Trajectory | None, context: Context, usual: Any) -> Data:
        """Write it."""
        if value is None:
            return {}
        data: Data = {"times": [number_to_data(time) for time in value.times]}
        data |= {} if value.between == "spline" else {"between": value.between}
        return data | {self.values: [self.each.write(x, context) for x in value.values]}


@spec("the trajectory of '{}'")
class JointPath:
    """One joint's trajectory, of a ball joint quaternions; `unit` is the one it was written in. None is the part's."""

    joint: str
    trajectory: Trajectory = inline(kind=TimedValues("values", _MEASURE, needed=True))
    settling: float | None = key(default=None, kind=SECONDS, help="settling time; else the part's")
    damping: float | None = key(default=None, kind=_DAMPING, help="damping ratio; else the part's")
    unit: str = field(default="deg", compare=False)
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> JointPath:
        """Remember the unit."""
        return replace(self, unit=joint_angle(items(section.need("values"))[0])[1])

    def after_writing(self, data: Data, context: Context) -> Any:
        """Write values in the unit they had; one that just holds a joint is written as that value."""
        data["values"] = [_written(value, self.unit) for value in self.trajectory.values]
        return data["values"][0] if set(data) == {"times", "values"} and data["times"] == [0] else data


class JointPaths(Nested):
    """A joint's path: a mapping, or a value at which it is held (`neck_flexion: 0`)."""

    def read(self, node: Node, context: Context, name: str) -> JointPath:
        """Read it."""
        if isinstance(node.value, dict) and "rotvec" not in node.value:
            return super().read(node, context, name)
        held, unit = joint_angle(node)
        return JointPath(name, Trajectory.through([0.0], [held], place=node.place), unit=unit, place=node.place)


@spec("the trajectory of site '{}'")
class SitePath:
    """One site's trajectory."""

    site: str
    position: Trajectory | None = inline(
        default=None, kind=TimedValues("position", Vector((3,), "m", says="`[x, y, z]` in the world"))
    )
    orientation: Trajectory | None = inline(
        default=None, kind=TimedValues("orientation", Vector((4,), says="quaternions `[w, x, y, z]`"))
    )
    relative: bool = key(default=False, kind=TRUTH, help="whether positions count from where the site is at the start")
    settling: float | None = key(default=None, kind=SECONDS, help="settling time; else the part's")
    strength: float | None = key(
        default=None, kind=Number(above=0.0, unit="N"), help="largest force of the string; else twice the body's weight"
    )
    damping: float | None = key(default=None, kind=_DAMPING, help="damping ratio; else the part's")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> SitePath:
        """Complain where nothing is asked of it."""
        if self.position is None and self.orientation is None:
            raise MissingValueError("position' or 'orientation", section.what, self.place)
        return self


@spec("markers")
class MarkerPaths:
    """Capture markers that drive sites."""

    file: str = key(kind=FILE, help="a C3D file, or a CSV table of sensors, beside the script")
    drive: tuple[tuple[str, str], ...] = key(kind=MappingOf(NAME), help="site by marker")
    at: float = key(default=0.0, kind=MOMENT, help="when its first frame falls")
    fit: Literal["none", "body", "markers"] = key(
        default="none", kind=Choice("fit", ("none", "body", "markers")), help="what is scaled to the other's size"
    )
    relative: bool = key(
        default=False, kind=TRUTH, help="whether markers only say how far sites move from where they start"
    )
    strength: float | None = key(
        default=None, kind=Number(above=0.0, unit="N"), help="largest force of a string; else half the body's weight"
    )
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> MarkerPaths:
        """Complain where nothing is driven."""
        if not self.drive:
            raise MissingValueError("drive", "'markers'", self.place)
        return self


@spec("clip")
class ClipPaths:
    """A clip, brought onto the body, that some of its joints follow."""

    file: str | Clip = key(kind=CLIP, help="which")
    joints: tuple[str, ...] = key(default=("*",), kind=ListOf(NAME), help="which joints, by name or pattern")
    at: float = key(default=0.0, kind=MOMENT, help="when its first frame falls")
    place: Place = field(default=NOWHERE, compare=False)


@spec("trajectories")
class TrajectoryPart:
    """All trajectories of one character; joints nobody drives stay passive."""

    settling: float = key(
        default=0.2, kind=SECONDS, help="the one knob: how fast a joint closes in on its path, where none is given"
    )
    damping: float = key(
        default=1.0, kind=_DAMPING, help="of the way there, where none is given: less than 1 swings over, more creeps"
    )
    form: Form = key(
        default="adaptive", kind=Choice("form", ("adaptive", "bare")), help="which law; `bare`: as printed, to compare"
    )
    joints: tuple[JointPath, ...] = key(
        default=(), kind=MappingOf(JointPaths(JointPath, "a path, or a value to hold")), help="driven joints"
    )
    sites: tuple[SitePath, ...] = key(default=(), kind=MappingOf(Nested(SitePath)), help="sites pulled from outside")
    markers: MarkerPaths | None = key(default=None, kind=Nested(MarkerPaths), help="sites pulled by capture markers")
    clip: ClipPaths | None = key(default=None, kind=Nested(ClipPaths), help="joints that go as in a clip")
    place: Place = field(default=NOWHERE, compare=False)

    def after_reading(self, section: Section, context: Context) -> TrajectoryPart:
        """Complain where nothing is driven."""
        if not self.joints and not self.sites and self.markers is None and self.clip is None:
            raise MissingValueError("joints', 'sites', 'markers' or 'clip", "'trajectories'", self.place)
        return self
