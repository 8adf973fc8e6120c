"""What a scene adds to a body, whoever made it: points on its segments, damping and strength of its joints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import mujoco
import numpy as np

from stunt.character.bodies import by_joint
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.stage.scene import CharacterSpec


def add_told(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    """Add a character's sites, and what it says by limb, to its body, before it is attached to a scene.

    Raises:
        StuntError: There is no such segment, limb or joint; a name is taken; a number is none.
    """
    _add_sites(body, name, character)
    _add_by_joint(body, name, character)


def _add_sites(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    for site in character.sites:
        names = [segment.name for segment in body.bodies if segment.name != "world"]
        if site.on not in names:
            raise UnknownNameError(f"body of '{name}'", site.on, names, site.place)
        if site.name in (taken := [other.name for other in body.sites]) or "/" in site.name or not site.name:
            raise InvalidValueError("the name of a site", site.name, f"another than {', '.join(taken)}", site.place)
        if len(site.at) != 3 or not all(map(math.isfinite, site.at)):
            raise InvalidValueError("at", site.at, "three finite numbers of metres", site.place)
        if len(site.turned) != 4 or not abs(math.hypot(*site.turned) - 1.0) < 0.01:
            raise InvalidValueError("turned", site.turned, "a quaternion [w, x, y, z] of length 1", site.place)
        body.body(site.on).add_site(name=site.name, pos=site.at, quat=site.turned)


def _add_by_joint(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    joints = {joint.name: joint for joint in body.joints if joint.type != mujoco.mjtJoint.mjJNT_FREE}
    for j, value in by_joint("damping", character.damping, joints, name, most=math.inf, place=character.place).items():
        joints[j].damping = np.r_[value, np.zeros(np.size(joints[j].damping) - 1)]
    if isinstance(character.strength, Mapping):
        for j, value in by_joint("strength", character.strength, joints, name, place=character.place).items():
            joints[j].actfrcrange = value * np.asarray(joints[j].actfrcrange)
