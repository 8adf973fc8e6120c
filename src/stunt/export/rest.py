"""The rest pose of a rig: upright at the origin, facing +x, with arms and legs apart.

Apart, so that a skin knows which limb a point belongs to, and because animators expect it so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from stunt.character.bodies import BUILT_IN
from stunt.character.character import Character
from stunt.rotations import Floats, conjugate, from_rotation_vector, multiply, rotate

_ARM, _LEG = np.radians(48.0), np.radians(7.0)  # From straight down.
_HINGES = {"shoulder_abduction": _ARM, "hip_abduction": _LEG}
_BALLS = (("shoulder", "upper_arm", "forearm", _ARM), ("hip", "thigh", "shank", _LEG))


def rest_pose(model: mujoco.MjModel, character: Character, about: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Return where all bodies are in the rest pose, seen from where the character was put on the stage.

    Args:
        model: The scene.
        character: Who.
        about: What the take's meta says of it.

    Returns:
        Places [m], (nbody, 3), and turns, (nbody, 4).
    """
    data = mujoco.MjData(model)
    at, facing = about.get("at"), float(about.get("facing", 0.0))
    if about.get("body") in BUILT_IN:
        for name, joint in character.joints.items():
            if name[:2] in ("l_", "r_") and name[2:] in _HINGES:
                data.qpos[joint.qpos] = _HINGES[name[2:]]
    elif about.get("clip") is not None:
        _spread(model, data, character, facing)
    mujoco.mj_kinematics(model, data)
    root = data.xpos[character.root_body]
    origin = np.array([root[0], root[1], 0.0]) if at is None else np.asarray(at, float)
    back = from_rotation_vector(np.array([0.0, 0.0, -facing]))
    return rotate(back, data.xpos - origin), multiply(back, data.xquat)


def _spread(model: mujoco.MjModel, data: mujoco.MjData, character: Character, facing: float) -> None:
    """Turn hanging arms and closed legs of a body with ball joints outward, about the axis it faces along."""
    mujoco.mj_kinematics(model, data)
    forward = np.array([np.cos(facing), np.sin(facing), 0.0])
    left = np.array([-np.sin(facing), np.cos(facing), 0.0])
    for side, sign in (("l_", 1.0), ("r_", -1.0)):
        for joint_name, upper, lower, wanted in _BALLS:
            joint = character.joints.get(f"{side}{joint_name}")
            if joint is None or joint.kind != "ball" or f"{side}{lower}" not in character.bodies:
                continue
            body, below = character.bodies[f"{side}{upper}"], character.bodies[f"{side}{lower}"]
            way = data.xpos[below] - data.xpos[body]
            out = float(np.arctan2(sign * (way @ left), -way[2]))  # 0: straight down, π/2: level
            if out < wanted:
                turn = from_rotation_vector(forward * sign * (wanted - out))
                own = np.asarray(data.xquat[body], float)
                data.qpos[joint.qpos : joint.qpos + 4] = multiply(conjugate(own), multiply(turn, own))
