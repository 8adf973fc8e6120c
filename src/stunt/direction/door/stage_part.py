"""The stage's part of a script: rates, characters and props."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stunt.direction.door.angles import angle, spin
from stunt.direction.door.node import Node
from stunt.direction.door.poses import draft, finish
from stunt.direction.door.values import (
    Section,
    choice,
    entries,
    items,
    known,
    name,
    number,
    position,
    stage_name,
    text,
    truth,
    vector,
    vector3,
    whole,
    wrong,
)
from stunt.errors import ConflictingKeysError, InvalidValueError, MissingValueError, RateError
from stunt.motion.pose import Pose
from stunt.stage.scene import CharacterSpec, Collisions, PropSpec, Scene

RATE_KEYS = ("rate", "physics_hz", "control_hz")
CHARACTER_KEYS = (*("body", "at", "facing", "root", "height", "mass", "sex", "strength", "self_collision", "start"),)
_COMMON = ("shape", "at", "facing", "active", "friction", "color")
_MOVING = (*_COMMON, "mass", "believed_mass", "velocity", "spin", "rope")
SHAPE_KEYS: dict[str, tuple[str, ...]] = {
    "sphere": (*_MOVING, "radius"),
    "box": (*_MOVING, "size"),
    "capsule": (*_MOVING, "radius", "length"),
    "plane": _COMMON,
    "ramp": (*_COMMON, "size"),
    "stairs": (*_COMMON, "size", "steps"),
    "heightfield": (*_COMMON, "size", "heights"),
}
_LOWEST_HZ, _HIGHEST_HZ = 10.0, 20_000.0


def read_rates(section: Section) -> tuple[float, float]:
    """Read how often physics steps and how often control decides [Hz]: `rate` for both, or each its own."""
    bounds = {"least": _LOWEST_HZ, "most": _HIGHEST_HZ}
    rate = section.get("rate")
    if rate is not None:
        for key in RATE_KEYS[1:]:
            if key in section:
                raise ConflictingKeysError("a script", ("rate", key), ("rate", key), section.need(key).place)
        return (number(rate, **bounds),) * 2
    physics = section.read("physics_hz", number, None, **bounds)
    control = section.read("control_hz", number, physics or Scene.control_hz, **bounds)
    physics = Scene.physics_hz if physics is None else physics
    steps = physics / control
    if steps < 1.0 - 1e-9 or abs(steps - round(steps)) > 1e-9 * steps:
        raise RateError(physics, control, section.need("control_hz").place)
    return physics, control


def read_characters(node: Node | None, poses: Mapping[str, Pose]) -> dict[str, CharacterSpec]:
    """Read the characters by name."""
    return {} if node is None else {key: _character(key, value, poses) for key, value in entries(node).items()}


def _character(key: str, node: Node, poses: Mapping[str, Pose]) -> CharacterSpec:
    stage_name(key, node.place, "character")
    if isinstance(node.value, str):  # `ada: human39` is enough
        return CharacterSpec(name(node), place=node.place)
    section = Section(node, f"character '{key}'", CHARACTER_KEYS)
    start, start_pose = _start(section.get("start"), poses)
    return CharacterSpec(
        body=name(section.need("body")),
        at=section.read("at", position, CharacterSpec.at),
        facing=section.read("facing", angle, 0.0),
        root=section.read("root", choice, CharacterSpec.root, options=("fixed", "free"), kind="root"),
        height=section.read("height", number, None, above=0.0),
        mass=section.read("mass", number, None, above=0.0),
        sex=section.read("sex", choice, CharacterSpec.sex, options=("male", "female"), kind="sex"),
        strength=section.read("strength", number, 1.0, above=0.0),
        self_collision=section.read("self_collision", truth, True),
        start=start,
        place=node.place,
        start_places=start_pose.places,
        start_units=start_pose.units,
    )


def _start(node: Node | None, poses: Mapping[str, Pose]) -> tuple[Any, Pose]:
    """Read the pose at time 0: a name, or angles written on the spot. Velocities have no meaning there."""
    nothing = Pose("start", {})
    if node is None:
        return None, nothing
    if not isinstance(node.value, dict):
        return known(node, "pose", poses), nothing
    written = draft(node, "start")
    if written.velocities:
        raise wrong(node, "a pose without velocities (a performance starts at rest)")
    base = None if written.like is None else poses[known(written.like, "pose", poses)]
    pose = finish(written, base)
    return dict(pose.angles), pose


def read_props(node: Node | None, characters: Mapping[str, CharacterSpec]) -> dict[str, PropSpec]:
    """Read the props by name; a prop must not be called like a character."""
    written = {} if node is None else entries(node)
    for key, value in written.items():
        if key in characters:
            raise InvalidValueError("the name of a prop", key, "another than a character's", value.place)
    return {key: _prop(key, value) for key, value in written.items()}


def _prop(key: str, node: Node) -> PropSpec:
    stage_name(key, node.place, "prop")
    shape = choice(Section(node, f"prop '{key}'", _ALL_PROP_KEYS).need("shape"), tuple(SHAPE_KEYS), "shape")
    section = Section(node, f"prop '{key}' ({shape})", SHAPE_KEYS[shape])
    prop = PropSpec(
        shape=shape,
        at=section.read("at", vector3 if "mass" in SHAPE_KEYS[shape] else position, PropSpec.at),
        facing=section.read("facing", angle, 0.0),
        radius=section.read("radius", number, PropSpec.radius, above=0.0),
        length=section.read("length", number, PropSpec.length, above=0.0),
        size=section.read("size", vector3, PropSpec.size, above=0.0),
        steps=section.read("steps", whole, PropSpec.steps, least=1, most=1000),
        heights=_heights(section) if shape == "heightfield" else (),
        mass=section.read("mass", number, None, above=0.0),
        believed_mass=section.read("believed_mass", number, None, least=0.0),
        velocity=section.read("velocity", vector3, PropSpec.velocity),
        spin=section.read("spin", spin, PropSpec.spin),
        active=section.read("active", truth, None),
        friction=section.read("friction", number, PropSpec.friction, least=0.0),
        rope=section.read("rope", number, None, above=0.0, most=1000.0),
        color=section.read("color", _color, PropSpec.color),
        place=node.place,
    )
    if prop.mass is None and (any((*prop.velocity, *prop.spin)) or prop.rope is not None):
        raise MissingValueError("mass", f"{section.what}, which moves,", node.place)
    return prop


_ALL_PROP_KEYS = tuple(dict.fromkeys(key for keys in SHAPE_KEYS.values() for key in keys))


def _color(node: Node) -> tuple[float, ...]:
    return (*vector(node, (3, 4), least=0.0, most=1.0), 1.0)[:4]


def _heights(section: Section) -> tuple[tuple[float, ...], ...]:
    node = section.need("heights")
    rows = items(node)
    width = len(items(rows[0])) if rows else 0
    if len(rows) < 2 or width < 2:
        raise wrong(node, "at least 2 rows of at least 2 heights")
    return tuple(vector(row, (width,), least=0.0, most=1.0) for row in rows)


COLLISION_KEYS = ("model", "restitution", "friction", "softness", "impact")


def read_collisions(node: Node) -> Collisions | None:
    """Read how things collide: `engine`, `two_stage`, or a mapping with the settings of two-stage collisions."""
    if not isinstance(node.value, dict):
        return Collisions(place=node.place) if _collision_model(node) == "two_stage" else None
    section = Section(node, "collisions", COLLISION_KEYS)
    model = section.read("model", _collision_model, "two_stage")
    if model == "engine":
        return None
    return Collisions(
        restitution=section.read("restitution", number, Collisions.restitution, least=0.0, most=1.0),
        friction=section.read(
            "friction", choice, Collisions.friction, options=("none", "infinite", "coulomb"), kind="friction"
        ),
        softness=section.read("softness", number, Collisions.softness, above=0.0),
        impact=section.read("impact", truth, True),
        place=node.place,
    )


def _collision_model(node: Node) -> str:
    return str(choice(node, ("engine", "two_stage"), "collision model"))


def read_stage(section: Section, poses: Mapping[str, Pose]) -> Scene:
    """Read everything of a scene but its events."""
    physics_hz, control_hz = read_rates(section)
    characters = read_characters(section.get("characters"), poses)
    return Scene(
        characters=characters,
        props=read_props(section.get("props"), characters),
        physics_hz=physics_hz,
        control_hz=control_hz,
        gravity=section.read("gravity", vector3, Scene.gravity),
        ground=section.read("ground", truth, Scene.ground),
        seed=section.read("seed", whole, Scene.seed, least=0, most=2**32 - 1),
        collisions=section.read("collisions", read_collisions, None),
    )


def read_title(section: Section) -> str:
    """Read what the script is called."""
    return str(section.read("title", text, ""))
