"""What a scene adds to a body, whoever made it: points on its segments, and damping of its joints."""

from __future__ import annotations

import math
from fnmatch import fnmatchcase

import mujoco
import numpy as np

from stunt.character.bodies import GROUPS
from stunt.errors import InvalidValueError, UnknownNameError
from stunt.stage.scene import CharacterSpec


def add_told(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    """Add a character's sites and damping to its body, before it is attached to a scene.

    Raises:
        StuntError: There is no such segment, limb or joint; a name is taken; a number is none.
    """
    _add_sites(body, name, character)
    _add_damping(body, name, character)


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


def _add_damping(body: mujoco.MjSpec, name: str, character: CharacterSpec) -> None:
    joints = [joint for joint in body.joints if joint.type != mujoco.mjtJoint.mjJNT_FREE]
    for limb, value in character.damping.items():
        if not (math.isfinite(value) and value >= 0.0):
            raise InvalidValueError(f"damping of {limb}", value, "a number of N·m·s/rad, 0 or more", character.place)
        # A limb's patterns are those of hinges (`r_elbow_*`); a ball joint is called as the whole (`r_elbow`).
        patterns = GROUPS.get(limb, (limb,))
        meant = [j for j in joints if any(fnmatchcase(j.name + end, p) for p in patterns for end in ("", "_"))]
        if not meant:
            known = (*GROUPS, *(joint.name for joint in joints))
            raise UnknownNameError(f"limb or joint of '{name}'", limb, known, character.place)
        for joint in meant:
            joint.damping = np.r_[float(value), np.zeros(np.size(joint.damping) - 1)]
