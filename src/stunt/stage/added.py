"""What a scene adds to a body, whoever made it: points on its segments, and damping of its joints."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.bodies import GROUPS
from stunt.errors import NO_NUMBERS, InvalidValueError, UnknownNameError
from stunt.stage.scene import CharacterSpec, SegmentSite


def add_told(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    """Add a character's sites and damping to its body, before it is attached to a scene.

    Raises:
        StuntError: There is no such segment, limb or joint; a name is taken; a number is none.
    """
    _add_sites(body, name, character)
    _add_damping(body, name, character)


def _add_sites(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    sites: object = character.sites
    if not isinstance(sites, tuple | list) or not all(isinstance(site, SegmentSite) for site in sites):
        raise InvalidValueError(f"sites of '{name}'", sites, "a tuple of `SegmentSite`s", character.place)
    for site in character.sites:
        names = [segment.name for segment in body.bodies if segment.name != "world"]
        if site.on not in names:
            raise UnknownNameError(f"body of '{name}'", site.on, names, site.place)
        taken = [other.name for other in body.sites]
        if not isinstance(site.name, str) or site.name in taken or not site.name or "/" in site.name:
            raise InvalidValueError("the name of a site", site.name, f"another than {', '.join(taken)}", site.place)
        if not np.isfinite(_numbers(site.at, 3)).all():
            raise InvalidValueError("at", site.at, "three finite numbers of metres", site.place)
        if not abs(np.linalg.norm(_numbers(site.turned, 4)) - 1.0) < 0.01:
            raise InvalidValueError("turned", site.turned, "a quaternion [w, x, y, z] of length 1", site.place)
        body.body(site.on).add_site(name=site.name, pos=site.at, quat=site.turned)


def _numbers(value: object, count: int) -> NDArray[np.float64]:
    """Return so many numbers; what is no such thing is no number."""
    try:
        found = np.asarray(value, dtype=float)
    except NO_NUMBERS:
        return np.full(count, np.nan)
    return found if found.shape == (count,) else np.full(count, np.nan)


def _add_damping(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    joints = [joint for joint in body.joints if joint.type != mujoco.mjtJoint.mjJNT_FREE]
    if not isinstance(character.damping, Mapping):
        expected = "a mapping of limbs or joints to N·m·s/rad"
        raise InvalidValueError(f"damping of '{name}'", character.damping, expected, character.place)
    for limb, value in character.damping.items():
        if not isinstance(limb, str):
            raise InvalidValueError(f"damping of '{name}'", limb, "the name of a limb or joint", character.place)
        if not (np.isfinite(_numbers([value], 1)).all() and value >= 0.0):
            raise InvalidValueError(f"damping of {limb}", value, "a number of N·m·s/rad, 0 or more", character.place)
        # A limb's patterns are those of hinges (`r_elbow_*`); a ball joint is called as the whole (`r_elbow`).
        patterns = GROUPS.get(limb, (limb,))
        meant = [j for j in joints if any(fnmatchcase(j.name + end, p) for p in patterns for end in ("", "_"))]
        if not meant:
            known = (*GROUPS, *(joint.name for joint in joints))
            raise UnknownNameError(f"limb or joint of '{name}'", limb, known, character.place)
        for joint in meant:
            joint.damping = np.r_[float(value), np.zeros(np.size(joint.damping) - 1)]
