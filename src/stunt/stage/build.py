"""One `build` turns a scene into a MuJoCo model; from then on only state changes.

What a scene made in Python is checked for; one read from a file has been checked at its door, with line numbers.

Shirts: on a stage with several people each wears another colour, so that pictures tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, get_args

import mujoco
import numpy as np

from stunt.character.bodies import check_build
from stunt.character.character import Character
from stunt.character.foreign import foreign_body
from stunt.character.shapes import SHIRT, Color
from stunt.errors import (
    NOWHERE,
    BodyError,
    InvalidValueError,
    MissingValueError,
    Place,
    RateError,
    StuntError,
    UnknownNameError,
)
from stunt.library.bodies import body_spec
from stunt.stage.added import add_told
from stunt.stage.event_specs import Event
from stunt.stage.props import PropSpec, Shape, add_prop
from stunt.stage.scene import CharacterSpec, Collisions, Scene
from stunt.stage.two_stage import soften

_FAR: Final = 1e6
TAKEN = ("world", "ground")
"""Names the stage itself uses."""


def check_scene(scene: Scene) -> None:
    """Raise a StuntError for anything in a scene that no stage can be built from."""
    if not isinstance(scene, Scene):
        raise InvalidValueError("scene", scene, "a Scene")
    _check_vector("gravity", scene.gravity, NOWHERE)
    kinds = (("characters", CharacterSpec, "bodies"), ("props", PropSpec, "props"))
    for what, kind, called in kinds:
        found = getattr(scene, what)
        if not isinstance(found, Mapping) or not all(isinstance(item, kind) for item in found.values()):
            raise InvalidValueError(what, found, f"{called} by name ({kind.__name__})")
    if not isinstance(scene.events, (tuple, list)) or not all(isinstance(e, get_args(Event)) for e in scene.events):
        raise InvalidValueError("events", scene.events, "events (Push, Throw, Attach, Release, Drag)")
    if not isinstance(scene.ground, (bool, np.bool_)):
        raise InvalidValueError("ground", scene.ground, "True or False")
    if scene.collisions is not None and not isinstance(scene.collisions, Collisions):
        raise InvalidValueError("collisions", scene.collisions, "Collisions, or None")
    for character in scene.characters.values():
        if not isinstance(character.self_collision, (bool, np.bool_)):
            raise InvalidValueError("self_collision", character.self_collision, "True or False", character.place)
    if isinstance(scene.seed, bool) or not isinstance(scene.seed, int) or scene.seed < 0:
        raise InvalidValueError("seed", scene.seed, "a whole number, 0 or more")
    if not isinstance(scene.sleep, bool):
        raise InvalidValueError("sleep", scene.sleep, "true or false")
    places = {name: character.place for name, character in scene.characters.items()}
    places |= {name: prop.place for name, prop in scene.props.items()}
    for name, place in places.items():
        if name in TAKEN or "/" in name or not name:
            raise StuntError(f"nothing on a stage can be called '{name}': the stage uses that name itself.", place)
    for name in scene.props.keys() & scene.characters.keys():
        raise StuntError(f"'{name}' is both a character and a prop.", scene.props[name].place)
    for prop in scene.props.values():
        _check_prop(prop)
        if prop.restitution is not None and (scene.collisions is None or not scene.collisions.impact):
            expected = "left out, or `collisions: two_stage`: the engine's own collisions know none"
            raise InvalidValueError("restitution", prop.restitution, expected, prop.place)


def _check_prop(prop: PropSpec) -> None:
    if prop.shape not in get_args(Shape):
        raise UnknownNameError("shape", prop.shape, get_args(Shape), prop.place)
    if prop.mass is not None and not (is_finite(prop.mass) and prop.mass > 0.0):
        raise InvalidValueError("mass", prop.mass, "a positive number of kilograms", prop.place)
    for what in ("at", "velocity", "spin", "size"):
        _check_vector(what, getattr(prop, what), prop.place)
    for what, value in (("radius", prop.radius), ("length", prop.length), *(("size", edge) for edge in prop.size)):
        if not (is_finite(value) and value > 0.0):
            raise InvalidValueError(what, value, "a positive number of metres", prop.place)
    if not is_finite(prop.facing):
        raise InvalidValueError("facing", prop.facing, "a finite number of radians", prop.place)
    if prop.restitution is not None and not (is_finite(prop.restitution) and 0.0 <= prop.restitution <= 1.0):
        raise InvalidValueError("restitution", prop.restitution, "a number from 0 to 1", prop.place)
    if not (is_finite(prop.friction) and prop.friction >= 0.0):
        raise InvalidValueError("friction", prop.friction, "a number, 0 or more", prop.place)
    color = prop.color
    if isinstance(color, str) or not isinstance(color, Sequence) or len(color) != 4 or not all(map(is_finite, color)):
        raise InvalidValueError("color", color, "four numbers from 0 to 1", prop.place)
    for what, right, expected in (
        ("active", prop.active is None or isinstance(prop.active, (bool, np.bool_)), "True, False or None"),
        ("steps", is_finite(prop.steps) and prop.steps in range(1, 1001), "a whole number from 1 to 1000"),
        ("file", isinstance(prop.file, str) and "\0" not in prop.file, "a file's path, as a text"),
        ("up", prop.up in (None, "y", "z"), "y, z or None"),
        ("scale", is_finite(prop.scale) and prop.scale > 0.0, "a positive number of metres"),
        ("rope", prop.rope is None or (is_finite(prop.rope) and 0.0 < prop.rope <= 1000.0), "a length up to 1000 m"),
        ("believed_mass", prop.believed_mass is None or (is_finite(prop.believed_mass) and prop.believed_mass >= 0.0),
         "a number of kilograms, 0 or more"),
    ):  # fmt: skip
        if not right:
            raise InvalidValueError(what, getattr(prop, what), expected, prop.place)
    if prop.mass is None and (any((*prop.velocity, *prop.spin)) or prop.rope is not None):
        raise MissingValueError("mass", "a prop that moves", prop.place)


def is_finite(value: object) -> bool:
    """Whether something is one finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _check_vector(what: str, value: Any, place: Place) -> None:
    """Complain about what is not three numbers a stage can be built with."""
    listed = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) and np.ndim(value) == 1
    if not listed or len(value) != 3 or not all(is_finite(x) and abs(x) <= _FAR for x in value):
        raise InvalidValueError(what, value, f"three finite numbers up to {_FAR:g}", place)


SHIRTS: Final[dict[str, Color]] = {
    "blue": SHIRT,
    "red": (0.70, 0.34, 0.30, 1.0),
    "green": (0.42, 0.56, 0.40, 1.0),
    "yellow": (0.78, 0.62, 0.34, 1.0),
    "violet": (0.52, 0.42, 0.62, 1.0),
    "grey": (0.55, 0.55, 0.57, 1.0),
}
"""In the order in which they are worn; then again from the first."""


def dress(body: mujoco.MjSpec, name: str, number: int) -> None:
    """Give a body, before it is attached to a scene, the shirt of the number-th person on stage, counted from 0.

    Somebody whose name is a colour wears that one. Bodies that came in colours of their own keep them.
    """
    shirt = SHIRTS.get(name, list(SHIRTS.values())[number % len(SHIRTS)])
    for geom in body.geoms:
        if np.allclose(geom.rgba, SHIRT):
            geom.rgba = shirt


STILL: Final = 0.01
"""What no part of moves faster than this [m/s] lies still, and may sleep where a scene lets it."""
GROUND = "ground"
_LIGHT_GROUND = (0.86, 0.87, 0.89, 1.0)


@dataclass(frozen=True)
class Prop:
    """A prop inside the compiled model."""

    name: str  #: As in the scene
    spec: PropSpec  #: What the scene says of it
    body: int  #: Body index
    qpos: int  #: First index of its free joint in `qpos`; −1 for scenery
    dof: int  #: First index of its free joint in `qvel`; −1 for scenery
    grip: int  #: Index of its weld; −1 for scenery


@dataclass(frozen=True)
class Built:
    """A compiled scene."""

    scene: Scene  #: What it was made from
    model: mujoco.MjModel  #: The MuJoCo model
    characters: Mapping[str, Character]  #: Who is on the stage, by name
    props: Mapping[str, Prop]  #: What is on it, by name
    steps_per_control: int  #: Physics steps per control step


def steps_per_control(scene: Scene) -> int:
    """Return how many physics steps make a control period.

    Raises:
        RateError: It is not a whole number.
    """
    for rate in (scene.physics_hz, scene.control_hz):
        if not (is_finite(rate) and 1.0 <= rate <= 1e5):
            raise InvalidValueError("a rate", rate, "a number of hertz from 1 to 100000")
    ratio = scene.physics_hz / scene.control_hz
    whole = round(ratio)
    if whole < 1 or abs(ratio - whole) > 1e-9 * ratio:
        raise RateError(scene.physics_hz, scene.control_hz)
    return whole


def build(scene: Scene) -> Built:
    """Compile a scene.

    Raises:
        StuntError: Something in the scene cannot be built; the message says what and where.
    """
    check_scene(scene)
    ratio = steps_per_control(scene)
    spec = mujoco.MjSpec()
    spec.modelname = "stunt"
    spec.compiler.degree = False
    _set_options(spec, scene)
    if scene.ground:
        spec.worldbody.add_geom(
            name=GROUND, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], rgba=_LIGHT_GROUND,
            friction=[0.9, 0.005, 0.0001],
        )  # fmt: skip
    _add_surroundings(spec)
    try:
        for number, (name, character) in enumerate(scene.characters.items()):
            _add_character(spec, name, character, number)
        for name, prop in scene.props.items():
            add_prop(spec, name, prop)
        model = spec.compile()
    except ValueError as error:
        raise BodyError(f"the scene does not compile: {error}") from error
    # A reset in the middle of a take would hide a blow-up; the stage stops there instead.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    if scene.collisions is not None:
        soften(model, scene.collisions)
    characters = {name: Character(model, name) for name in scene.characters}
    props = {name: _find_prop(model, name, prop) for name, prop in scene.props.items()}
    return Built(scene, model, characters, props, ratio)


def _add_surroundings(spec: mujoco.MjSpec) -> None:
    """Light and sky for viewers; physics does not see them."""
    spec.worldbody.add_light(pos=[2.0, -2.0, 5.0], dir=[-0.35, 0.35, -0.87])
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.94, 0.96], rgb2=[0.72, 0.76, 0.82], width=64, height=384,
    )  # fmt: skip


def _set_options(spec: mujoco.MjSpec, scene: Scene) -> None:
    spec.option.timestep = 1.0 / scene.physics_hz
    spec.option.gravity = scene.gravity
    # Stiffness and damping are solved implicitly, together with the contacts.
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    if scene.sleep:
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
        spec.option.sleep_tolerance = STILL
    if scene.collisions is None and any(prop.movable or prop.stops or prop.file for prop in scene.props.values()):
        # Fast balls must not pass through thin arms between two steps, nor feet through kerbs.
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SPECULATIVE


def _add_character(spec: mujoco.MjSpec, name: str, character: CharacterSpec, number: int) -> None:
    body = _body_of(character)
    dress(body, name, number)
    add_told(body, name, character)
    # The scene's own options hold; equal ones give the engine nothing to warn about.
    for option in ("timestep", "gravity", "integrator", "enableflags", "disableflags"):
        setattr(body.option, option, getattr(spec.option, option))
    half = 0.5 * character.facing
    frame = spec.worldbody.add_frame(pos=character.at, quat=[np.cos(half), 0.0, 0.0, np.sin(half)])
    spec.attach(body, prefix=f"{name}/", frame=frame)


def _body_of(character: CharacterSpec) -> mujoco.MjSpec:
    """Make a character's body, from whatever it is to be made from."""
    source, place = character.body, character.place
    strength = 1.0 if isinstance(character.strength, Mapping) else character.strength  # limbs' own: see `add_told`
    if isinstance(source, mujoco.MjSpec):
        check_build(character.height, character.mass, character.sex, character.root, strength, place)
        return foreign_body(
            source, root=character.root, strength=strength, self_collision=character.self_collision, place=place,
        )  # fmt: skip
    return body_spec(
        source,
        height=character.height,
        mass=character.mass,
        sex=character.sex,
        root=character.root,
        strength=strength,
        self_collision=character.self_collision,
        place=place,
    )


def _find_prop(model: mujoco.MjModel, name: str, prop: PropSpec) -> Prop:
    body = model.body(name).id
    if not prop.movable:
        return Prop(name, prop, body, -1, -1, -1)
    joint = model.joint(f"{name}/free")
    return Prop(name, prop, body, int(joint.qposadr[0]), int(joint.dofadr[0]), model.equality(f"{name}/grip").id)
