"""Props: what a script may say of one, and its MuJoCo geometry: one builder per shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, Final, Literal

import mujoco
import numpy as np

from stunt.errors import NO_NUMBERS, NOWHERE, InvalidValueError, MissingValueError, Place
from stunt.keys import ANGLE, FILE, SPIN, TRUTH, Choice, Context, Number, ValueKind, Vector, Whole, key, spec
from stunt.library.meshes import convex_pieces, read_mesh
from stunt.schema import Node, Section, items, wrong
from stunt.schema import vector as read_vector

Vector3 = tuple[float, float, float]
ORIGIN: Final[Vector3] = (0.0, 0.0, 0.0)
XYZ: Final = "`[x, y, z]`"
POSITION: Final = Vector((2, 3), "m", says="`[x, y]`, `[x, y, z]`")
METRES: Final = Number(above=0.0, unit="m")
MASS: Final = Number(above=0.0, unit="kg")
Shape = Literal["sphere", "box", "capsule", "cylinder", "plane", "ramp", "stairs", "heightfield", "mesh"]
MOVING = ("sphere", "box", "capsule", "cylinder")
SHAPES = (*MOVING, "plane", "ramp", "stairs", "heightfield", "mesh")


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
        default=ORIGIN, kind=POSITION,
        help="of its centre, three numbers for what can move; of ramps, stairs and heightfields the middle of the "
        "footprint",
    )  # fmt: skip
    facing: float = key(default=0.0, kind=ANGLE, help="heading about the vertical")
    active: bool | None = key(
        default=None,
        kind=TRUTH,
        help="whether touching it counts as a hit; else yes for what can move, and walls and furniture (box, sphere, "
        "capsule, cylinder) stop who is on data",
    )
    friction: float = key(default=0.8, kind=Number(0.0), help="sliding friction coefficient")
    restitution: float | None = key(
        default=None, kind=Number(0.0, 1.0), help="how much of an approach comes back from it; else `collisions` says"
    )
    color: tuple[float, float, float, float] = key(
        default=(0.75, 0.35, 0.2, 1.0), kind=Vector((3, 4), fill=1.0, least=0.0, most=1.0, says="RGB or RGBA in 0–1"),
        help="of the thing",
    )  # fmt: skip
    mass: float | None = key(default=None, kind=MASS, only=MOVING, help="without one it is part of the scenery")
    believed_mass: float | None = key(
        default=None, kind=Number(0.0, unit="kg"), only=MOVING, help="what carriers believe; else the truth"
    )
    velocity: Vector3 = key(default=ORIGIN, kind=Vector(unit="m/s", says=XYZ), only=MOVING, help="at time 0")
    spin: Vector3 = key(default=ORIGIN, kind=SPIN, only=MOVING, help="at time 0")
    rope: float | None = key(
        default=None, kind=Number(above=0.0, most=1000.0, unit="m"), only=MOVING,
        help="length of the rope it hangs from, up from its centre; else none",
    )  # fmt: skip
    radius: float = key(
        default=0.1, kind=METRES, only=("sphere", "capsule", "cylinder"), help="of sphere, capsule and cylinder"
    )
    length: float = key(
        default=0.2,
        kind=METRES,
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
    file: str = key(default="", kind=FILE, only=("mesh",), help="an OBJ, STL or glTF file, which a mesh needs")
    scale: float = key(default=1.0, kind=METRES, only=("mesh",), help="of a mesh's file: metres per unit")
    up: Literal["y", "z"] | None = key(
        default=None, kind=Choice("up", ("y", "z")), only=("mesh",), help="its upward axis; else y, in .stl z"
    )
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def movable(self) -> bool:
        """Whether physics moves it."""
        return self.mass is not None and self.shape in MOVING

    @property
    def felt_mass(self) -> float:
        """What whoever carries it believes it weighs [kg]."""
        return (self.mass or 0.0) if self.believed_mass is None else self.believed_mass

    @property
    def counts_as_hit(self) -> bool:
        """Whether touching it is an event for a character."""
        return self.movable if self.active is None else self.active

    @property
    def stops(self) -> bool:
        """Whether who is moved by data minds it though nothing moves it: walls, kerbs, furniture; not the ground."""
        return not self.movable and self.shape in MOVING and self.active is not False

    def after_reading(self, section: Section, context: Context) -> PropSpec:
        """Complain about what its shape needs and does not have."""
        if self.shape in MOVING and (at := section.get("at")) is not None:
            read_vector(at, (3,))
        if self.shape in _NEEDS:
            section.need(_NEEDS[self.shape])
        if self.mass is None and (any((*self.velocity, *self.spin)) or self.rope is not None):
            raise MissingValueError("mass", f"{section.what}, which moves,", self.place)
        return self


_ROPE, _HEMP = 0.012, (0.66, 0.58, 0.44, 1.0)  # how thick a rope looks [m], and its colour; nothing touches it
_HEIGHTFIELD_BASE = 0.05  # thickness below the lowest point [m]; the engine wants one


def add_prop(spec: mujoco.MjSpec, name: str, prop: PropSpec) -> None:
    """Add a prop to the scene, movable ones with a free joint and an (idle) grip.

    Args:
        spec: The scene being built.
        name: The prop's name: its body, joint and geoms are called after it.
        prop: What it is.
    """
    half = 0.5 * prop.facing
    body = spec.worldbody.add_body(name=name, pos=prop.at, quat=[np.cos(half), 0.0, 0.0, np.sin(half)])
    if prop.movable:
        body.add_freejoint(name=f"{name}/free")
    look: dict[str, Any] = {"rgba": prop.color, "friction": [prop.friction, 0.005, 0.0001]}
    if prop.movable:
        look["mass"] = prop.mass
    _SHAPES[prop.shape](spec, body, name, prop, look)
    if prop.movable:
        # One weld per prop, aimed at whatever body takes hold of it. It starts asleep, between the prop and itself.
        grip = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
        grip.name = f"{name}/grip"
        grip.name1 = name
        grip.name2 = "world"
        grip.active = False
        grip.solref = [0.004, 1.0]
        grip.solimp = [0.99, 0.999, 0.001, 0.5, 2.0]
        if prop.rope is not None:
            rope = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
            rope.name, rope.name1, rope.name2 = f"{name}/rope", name, "world"
            rope.data[:3] = [0.0, 0.0, prop.rope]  # the end of the rope stays where it is
            body.add_geom(
                name=f"{name}/hangs", type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0.0, 0.0, 0.0, 0.0, 0.0, prop.rope],
                size=[_ROPE, 0.0, 0.0], rgba=_HEMP, mass=0.0, contype=0, conaffinity=0,
            )  # fmt: skip


def _primitive(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    radius, half, (x, y, z) = prop.radius, 0.5 * prop.length, prop.size
    sizes = {"box": [0.5 * x, 0.5 * y, 0.5 * z], "sphere": [radius, 0.0, 0.0], "plane": [0.0, 0.0, 1.0]}
    kind = getattr(mujoco.mjtGeom, f"mjGEOM_{prop.shape.upper()}")
    body.add_geom(name=name, type=kind, size=sizes.get(prop.shape, [radius, half, 0.0]), **look)


def _ramp(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    length, width, rise = prop.size
    x, y = 0.5 * length, 0.5 * width
    corners = [[-x, -y, 0], [-x, y, 0], [x, -y, 0], [x, y, 0], [x, -y, rise], [x, y, rise]]
    spec.add_mesh(name=f"{name}/wedge", uservert=np.ravel(corners).tolist())
    body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=f"{name}/wedge", **look)


def _stairs(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    depth, width, rise = prop.size
    for step in range(prop.steps):
        height = (step + 1) * rise
        x = (step + 0.5 - 0.5 * prop.steps) * depth
        place, half = [x, 0.0, 0.5 * height], [0.5 * depth, 0.5 * width, 0.5 * height]
        body.add_geom(name=f"{name}/step{step + 1}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=half, **look)


def _heightfield(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    try:
        heights = np.asarray(prop.heights, dtype=float)
    except NO_NUMBERS:
        heights = np.zeros(0)
    if not np.isfinite(heights).all() or heights.ndim != 2 or min(heights.shape) < 2:
        raise InvalidValueError("heights", prop.heights, "at least 2 rows of at least 2 numbers", prop.place)
    # The engine stretches values to 0–1, so the user's scale goes into the field's height and its place.
    lowest, span = float(heights.min()), float(heights.max() - heights.min())
    field = spec.add_hfield(
        name=f"{name}/field",
        size=[0.5 * prop.size[0], 0.5 * prop.size[1], max(span * prop.size[2], 1e-6), _HEIGHTFIELD_BASE],
        nrow=heights.shape[0],
        ncol=heights.shape[1],
    )
    field.userdata = ((heights - lowest) / max(span, 1e-12)).ravel().tolist()
    place, kind = [0.0, 0.0, lowest * prop.size[2]], mujoco.mjtGeom.mjGEOM_HFIELD
    body.add_geom(name=name, type=kind, hfieldname=f"{name}/field", pos=place, **look)


def _mesh(spec: mujoco.MjSpec, body: Any, name: str, prop: PropSpec, look: dict[str, Any]) -> None:
    """Draw the whole mesh, which nothing touches, over pieces in a group that is not drawn."""
    if not prop.file:
        raise MissingValueError("file", "a prop that is a mesh", prop.place)
    mesh = read_mesh(prop.file, prop.scale, prop.up, prop.place)
    whole = {"uservert": mesh.points.ravel().tolist(), "userface": mesh.faces.ravel().tolist()}
    spec.add_mesh(name=f"{name}/mesh", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL, **whole)
    shape: dict[str, Any] = {"type": mujoco.mjtGeom.mjGEOM_MESH} | look
    body.add_geom(name=name, meshname=f"{name}/mesh", contype=0, conaffinity=0, **shape)
    for number, corners in enumerate(convex_pieces(mesh)):
        piece = f"{name}/piece{number + 1}"
        spec.add_mesh(name=piece, uservert=corners.ravel().tolist())
        body.add_geom(name=piece, meshname=piece, group=3, **shape)


_NEEDS: Final = {"heightfield": "heights", "mesh": "file"}
_SHAPES: Final[dict[str, Callable[[mujoco.MjSpec, Any, str, PropSpec, dict[str, Any]], None]]] = {
    **dict.fromkeys((*MOVING, "plane"), _primitive),
    "ramp": _ramp,
    "stairs": _stairs,
    "heightfield": _heightfield,
    "mesh": _mesh,
}
