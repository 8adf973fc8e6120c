"""What a scene made in Python is checked for; one read from a file has been checked at its door, with line numbers."""

from __future__ import annotations

import math
from typing import get_args

from stunt.errors import InvalidValueError, StuntError, UnknownNameError
from stunt.stage.scene import PropSpec, Scene, Shape

TAKEN = ("world", "ground")
"""Names the stage itself uses."""


def check_scene(scene: Scene) -> None:
    """Raise a StuntError for anything in a scene that no stage can be built from."""
    if not all(math.isfinite(component) for component in scene.gravity):
        raise InvalidValueError("gravity", scene.gravity, "three finite numbers")
    if isinstance(scene.seed, bool) or not isinstance(scene.seed, int) or scene.seed < 0:
        raise InvalidValueError("seed", scene.seed, "a whole number, 0 or more")
    places = {name: character.place for name, character in scene.characters.items()}
    places |= {name: prop.place for name, prop in scene.props.items()}
    for name, place in places.items():
        if name in TAKEN or "/" in name or not name:
            raise StuntError(f"nothing on a stage can be called '{name}': the stage uses that name itself.", place)
    for name in scene.props.keys() & scene.characters.keys():
        raise StuntError(f"'{name}' is both a character and a prop.", scene.props[name].place)
    for prop in scene.props.values():
        _check_prop(prop)


def _check_prop(prop: PropSpec) -> None:
    if prop.shape not in get_args(Shape):
        raise UnknownNameError("shape", prop.shape, get_args(Shape), prop.place)
    if prop.mass is not None and not (math.isfinite(prop.mass) and prop.mass > 0.0):
        raise InvalidValueError("mass", prop.mass, "a positive number of kilograms", prop.place)
    for what, value in (("radius", prop.radius), ("length", prop.length), *(("size", edge) for edge in prop.size)):
        if not (math.isfinite(value) and value > 0.0):
            raise InvalidValueError(what, value, "a positive number of metres", prop.place)
