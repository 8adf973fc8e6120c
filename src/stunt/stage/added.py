"""What a scene adds to a body, whoever made it: points on its segments, damping and strength of its joints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.bodies import by_joint
from stunt.errors import NO_NUMBERS, InvalidValueError, UnknownNameError
from stunt.stage.scene import CharacterSpec, SegmentSite


def add_told(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    """Add a character's sites, and what it says by limb, to its body, before it is attached to a scene.

    Raises:
        StuntError: There is no such segment, limb or joint; a name is taken; a number is none.
    """
    _add_sites(body, name, character)
    _add_by_joint(body, name, character)


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


def _add_by_joint(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    joints = {joint.name: joint for joint in body.joints if joint.type != mujoco.mjtJoint.mjJNT_FREE}
    for j, value in by_joint("damping", character.damping, joints, name, most=math.inf, place=character.place).items():
        joints[j].damping = np.r_[value, np.zeros(np.size(joints[j].damping) - 1)]
    if isinstance(character.strength, Mapping):
        for j, value in by_joint("strength", character.strength, joints, name, place=character.place).items():
            joints[j].actfrcrange = value * np.asarray(joints[j].actfrcrange)
