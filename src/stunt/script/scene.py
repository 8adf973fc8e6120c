"""What happens on the stage: pushes, throws, things taken and let go.

The stage's part of a script: rates, characters and props.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stunt.errors import ConflictingKeysError, InvalidValueError, MissingValueError, RateError, UnknownNameError
from stunt.motion.pose import Pose
from stunt.schema import (
    Node,
    Section,
    choice,
    entries,
    items,
    known,
    moment,
    name,
    number,
    position,
    seconds,
    stage_name,
    text,
    told_by,
    truth,
    vector,
    vector3,
    whole,
    wrong,
)
from stunt.script.poses import draft, finish
from stunt.script.units import angle, spin
from stunt.stage.scene import Attach, CharacterSpec, Collisions, Drag, Event, PropSpec, Push, Release, Scene, Throw

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


EVENT_KEYS: dict[str, tuple[str, ...]] = {
    "push": ("push", "at", "impulse", "force", "duration", "point"),
    "throw": ("throw", "target", "at", "hits_at", "origin", "lead"),
    "attach": ("attach", "to", "at", "on_contact", "until"),
    "release": ("release", "at"),
    "drag": ("drag", "at", "until", "path", "strength"),
}
_ALL_KEYS = tuple(dict.fromkeys(key for keys in EVENT_KEYS.values() for key in keys))


def read_events(node: Node | None, scene: Scene) -> tuple[Event, ...]:
    """Read the list of events; who and what they name must be on the stage."""
    return () if node is None else tuple(_event(event, scene) for event in items(node))


def _event(node: Node, scene: Scene) -> Event:
    kind = told_by(node, "an event", tuple(EVENT_KEYS), _ALL_KEYS)
    return _READERS[kind](Section(node, f"a {kind}" if kind != "attach" else "an attach", EVENT_KEYS[kind]), scene)


def _push(section: Section, scene: Scene) -> Push:
    section.one_of(("impulse", "force"))
    return Push(
        target=_pushed(section.need("push"), scene),
        at=moment(section.need("at")),
        impulse=section.read("impulse", vector3),
        force=section.read("force", vector3),
        duration=section.read("duration", seconds, Push.duration),
        point=section.read("point", vector3),
        place=section.place,
    )


def _throw(section: Section, scene: Scene) -> Throw:
    at = section.read("at", moment, Throw.at)
    hits_at = section.need("hits_at")
    if moment(hits_at) <= at:
        raise wrong(hits_at, f"later than the throw at {at:g} s")
    return Throw(
        prop=_movable(section.need("throw"), scene),
        target=_of_character(section.need("target"), scene),
        hits_at=moment(hits_at),
        at=at,
        origin=section.read("origin", vector3),
        lead=section.read("lead", vector3, Throw.lead),
        place=section.place,
    )


def _attach(section: Section, scene: Scene) -> Attach:
    at, until = section.read("at", moment, Attach.at), section.get("until")
    on_contact = section.read("on_contact", truth, False)
    if until is not None and not on_contact:
        raise MissingValueError("on_contact: true", "an attach with 'until'", until.place)
    if until is not None and moment(until) <= at:
        raise wrong(until, f"later than {at:g} s, when waiting for contact begins")
    return Attach(
        prop=_movable(section.need("attach"), scene),
        to=_of_character(section.need("to"), scene),
        at=at,
        on_contact=on_contact,
        until=None if until is None else moment(until),
        place=section.place,
    )


def _release(section: Section, scene: Scene) -> Release:
    return Release(_movable(section.need("release"), scene), moment(section.need("at")), section.place)


def _drag(section: Section, scene: Scene) -> Drag:
    at, until = moment(section.need("at")), section.need("until")
    if moment(until) <= at:
        raise wrong(until, f"later than {at:g} s, when it is taken hold of")
    path = tuple(vector3(point) for point in items(section.need("path")))
    if not path:
        raise MissingValueError("a point", "the path of a drag", section.place)
    return Drag(
        target=_pushed(section.need("drag"), scene),
        at=at,
        until=moment(until),
        path=path,
        strength=section.read("strength", number, Drag.strength, above=0.0, most=1e6),
        place=section.place,
    )


_READERS: dict[str, Callable[[Section, Scene], Event]] = {
    "push": _push,
    "throw": _throw,
    "attach": _attach,
    "release": _release,
    "drag": _drag,
}


def release_warnings(events: tuple[Event, ...]) -> list[str]:
    """Return a sentence for each release of a prop that nobody has taken by then."""
    attached = [event for event in events if isinstance(event, Attach)]
    return [
        f"{event.place}: '{event.prop}' is released at {event.at:g} s, but nobody takes it before."
        for event in events
        if isinstance(event, Release) and not any(a.prop == event.prop and a.at < event.at for a in attached)
    ]


def _movable(node: Node, scene: Scene) -> str:
    """Read the name of a prop that physics moves."""
    prop = name(node)
    if prop not in scene.props:
        raise UnknownNameError("prop", prop, scene.props, node.place)
    if not scene.props[prop].movable:
        raise wrong(node, "a prop that can move: one with a mass")
    return prop


def _of_character(node: Node, scene: Scene) -> str:
    """Read `character/body`. Whether the character has that body is seen once it is built."""
    target = name(node)
    character, slash, part = target.partition("/")
    if character not in scene.characters:
        raise UnknownNameError("character", character, scene.characters, node.place)
    if not slash or not part:
        raise wrong(node, f"a character and its body, such as '{character}/r_hand'")
    return target


def _pushed(node: Node, scene: Scene) -> str:
    """Read `character/body`, or the name of a prop."""
    target = name(node)
    if "/" in target or target in scene.characters:
        return _of_character(node, scene)
    if target not in scene.props:
        places = [f"{character}/<body>" for character in scene.characters]
        raise UnknownNameError("target of a push", target, [*scene.props, *places], node.place)
    return _movable(node, scene)
