"""Bodies that are no clip's: built-in people by name, models by the path of their MJCF or URDF file."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from numbers import Real
from pathlib import Path
from typing import get_args

import mujoco

from stunt.character.anthropometry import TABLES, Sex
from stunt.character.character import Character
from stunt.character.foreign import load_foreign
from stunt.character.human import HINGES, Order, Root, build_human
from stunt.character.skeleton import Person
from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError

BUILT_IN: tuple[str, ...] = tuple(HINGES)
SUFFIXES = (".xml", ".mjcf", ".urdf")
HEIGHTS = (0.4, 2.6)

# Limb name → patterns of joint names.
GROUPS: dict[str, tuple[str, ...]] = {
    "trunk": ("pelvis_*", "lumbar_*", "thorax_*"),
    "head": ("neck_*", "head_*"),
    "l_arm": ("l_clavicle_*", "l_shoulder_*", "l_elbow_*", "l_forearm_*", "l_wrist_*"),
    "r_arm": ("r_clavicle_*", "r_shoulder_*", "r_elbow_*", "r_forearm_*", "r_wrist_*"),
    "arms": ("?_clavicle_*", "?_shoulder_*", "?_elbow_*", "?_forearm_*", "?_wrist_*"),
    "l_leg": ("l_hip_*", "l_knee_*", "l_ankle_*"),
    "r_leg": ("r_hip_*", "r_knee_*", "r_ankle_*"),
    "legs": ("?_hip_*", "?_knee_*", "?_ankle_*"),
    "clavicles": ("?_clavicle_*",),
    "wrists": ("?_wrist_*",),
    "all": ("*",),
}


def make_body(
    body: str,
    *,
    height: float | None = None,
    mass: float | None = None,
    sex: Sex = "male",
    root: Root = "fixed",
    strength: float = 1.0,
    self_collision: bool = True,
    place: Place = NOWHERE,
) -> mujoco.MjSpec:
    """Make a body, standing on z = 0 and facing +x, to be attached to a scene.

    Args:
        body: A name of `BUILT_IN`, or the path of an MJCF or URDF file.
        height: Standing height [m]; None is the table's mean. Built-in bodies only.
        mass: Body mass [kg]; None likewise.
        sex: Which anthropometric table.
        root: `free` gives the root a free joint, `fixed` none.
        strength: Factor on every joint's peak torque.
        self_collision: Whether the body's parts touch each other.
        place: Where the request was written, for error messages.

    Raises:
        UnknownNameError: No built-in body has that name and it is no path of an MJCF or URDF file.
        InvalidValueError: A size, mass, factor or choice that is impossible.
        BodyError: The file cannot be loaded as a body.
    """
    check_build(height, mass, sex, root, strength, place)
    if body in BUILT_IN:
        table = TABLES[sex]
        tall = table.height if height is None else height
        # Without a mass, a person of another height keeps the table's build: the same body-mass index.
        heavy = table.mass * (tall / table.height) ** 2 if mass is None else mass
        return build_human(Order(body, Person(sex, tall, heavy), root, strength, self_collision))
    if Path(body).suffix.lower() in SUFFIXES:
        for what, value in (("height", height), ("mass", mass)):
            if value is not None:
                raise InvalidValueError(what, value, f"left out, because '{body}' has its own", place)
        return load_foreign(body, root=root, strength=strength, self_collision=self_collision, place=place)
    raise UnknownNameError("body", body, (*BUILT_IN, f"or the path of a {', '.join(SUFFIXES)} file"), place)


def check_build(
    height: float | None, mass: float | None, sex: str, root: str, strength: float, place: Place = NOWHERE
) -> None:
    """Raise where a size, mass, factor or choice is impossible for any body.

    Raises:
        InvalidValueError: It says which, and what would do.
    """
    low, high = HEIGHTS
    if height is not None and not (_is_number(height) and low <= height <= high):
        raise InvalidValueError("height", height, f"a number of metres from {low} to {high}", place)
    if mass is not None and not (_is_number(mass) and mass > 0):
        raise InvalidValueError("mass", mass, "a positive number of kilograms", place)
    if not (_is_number(strength) and strength > 0):
        raise InvalidValueError("strength", strength, "a positive factor", place)
    if sex not in get_args(Sex):
        raise InvalidValueError("sex", sex, " or ".join(get_args(Sex)), place)
    if root not in get_args(Root):
        raise InvalidValueError("root", root, " or ".join(get_args(Root)), place)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def groups_of(character: Character) -> dict[str, tuple[str, ...]]:
    """Limbs of a character and the names of their joints; limbs it does not have are left out."""
    names = character.joints
    found = {limb: tuple(n for n in names if any(fnmatchcase(n, p) for p in GROUPS[limb])) for limb in GROUPS}
    return {limb: joints for limb, joints in found.items() if joints}


def by_joint(
    what: str, wanted: float | Mapping[str, float], joints: Collection[str], whose: str,
    *, least: float = 0.0, most: float = 100.0, place: Place = NOWHERE,
) -> dict[str, float]:  # fmt: skip
    """Return joints' numbers: one for all, or by limb, joint and pattern; later ones win, what is not said is left out.

    Raises:
        UnknownNameError: There is no such limb or joint.
        InvalidValueError: A number is none, or out of its range.
    """
    found: dict[str, float] = {}
    for limb, value in (wanted if isinstance(wanted, Mapping) else {"all": wanted}).items():
        if not isinstance(limb, str):
            raise InvalidValueError(f"{what} of '{whose}'", limb, "the name of a limb, joint or pattern", place)
        if not (_is_number(value) and least <= value <= most):
            expected = f"a number from {least:g} to {most:g}" if most < math.inf else f"a number, at least {least:g}"
            raise InvalidValueError(f"{what} of {limb}", value, expected, place)
        # A limb's patterns are those of hinges (`r_elbow_*`); a ball joint is called as the whole (`r_elbow`).
        patterns = GROUPS.get(limb, (limb,))
        meant = [name for name in joints if any(fnmatchcase(name + end, p) for p in patterns for end in ("", "_"))]
        if not meant and limb != "all":
            raise UnknownNameError(f"limb or joint of '{whose}'", limb, (*GROUPS, *joints), place)
        found |= dict.fromkeys(meant, float(value))
    return found
