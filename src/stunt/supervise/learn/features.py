"""What a learned pre-condition looks at: how a body stands and moves, seen from where it faces."""

from __future__ import annotations

import hashlib
import math
from typing import Final
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.balance.capture import capture_point
from stunt.errors import BodyError
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.stage.loop import StageLoop

FEATURES: Final = (
    "com_ahead", "com_left", "com_up", "com_speed_ahead", "com_speed_left", "com_speed_up", "capture_ahead",
    "capture_left", "lean_ahead", "lean_left", "spin_roll", "spin_pitch", "spin_yaw", "feet_ahead", "feet_left",
    "left_foot_up", "right_foot_up",
)  # fmt: skip
"""Of the centre of mass against the middle of the feet [m], its velocity [m/s], the capture point [m], where the root's
up axis leans, its angular velocity [rad/s], the left foot against the right one and the heights of both [m]."""
HEIGHT: Final = FEATURES.index("com_up")
CAPTURE: Final = FEATURES.index("capture_ahead")
LEAN: Final = FEATURES.index("lean_ahead")
_FEET = ("l_foot", "r_foot")
_SCRATCH: WeakKeyDictionary[StageLoop, tuple[mujoco.MjModel, mujoco.MjData]] = WeakKeyDictionary()


def features(stage: StageLoop, character: Character) -> Floats:
    """Return a character's features now, (17,).

    They are worked out from positions and velocities alone, so that a restored performance sees the same.

    Raises:
        BodyError: It has no free root, or no two feet.
    """
    if character.root is None or any(foot not in character.bodies for foot in _FEET):
        raise BodyError(f"'{character.name}' needs a free root and bodies {' and '.join(_FEET)} for a pre-condition.")
    data = _looked_at(stage)
    root, first = character.root, character.root_body
    turn = rotations.multiply(data.qpos[root.qpos + 3 : root.qpos + 7], rotations.conjugate(_stood(stage, character)))
    facing = float(rotations.heading(turn))
    com, speed = data.subtree_com[first], data.subtree_linvel[first]
    left, right = (data.xpos[character.bodies[foot]] for foot in _FEET)
    middle = 0.5 * (left + right)
    capture = capture_point(com, speed, float(middle[2]))
    up = rotations.rotate(turn, np.array([0.0, 0.0, 1.0]))
    spin = rotations.rotate(data.qpos[root.qpos + 3 : root.qpos + 7], data.qvel[root.dof + 3 : root.dof + 6])
    return np.concatenate([
        _seen(com - middle, facing), _seen(speed, facing), _seen(capture - middle[:2], facing), _seen(up[:2], facing),
        _seen(spin, facing), _seen((left - right)[:2], facing), [left[2], right[2]],
    ])  # fmt: skip


def _looked_at(stage: StageLoop) -> mujoco.MjData:
    """Return data with kinematics and velocities of the present state."""
    model, data = _SCRATCH.get(stage, (None, None))
    if data is None or model is not stage.model:
        _, data = _SCRATCH[stage] = stage.model, mujoco.MjData(stage.model)
    data.qpos[:], data.qvel[:] = stage.data.qpos, stage.data.qvel
    mujoco.mj_kinematics(stage.model, data)
    mujoco.mj_comPos(stage.model, data)
    mujoco.mj_comVel(stage.model, data)
    mujoco.mj_subtreeVel(stage.model, data)
    return data


def _stood(stage: StageLoop, character: Character) -> Floats:
    """Return how the root is turned when the body stands and faces +x, (4,)."""
    assert character.root is not None  # checked by who calls
    facing = stage.scene.characters[character.name].facing
    back = rotations.from_rotation_vector(np.array([0.0, 0.0, -facing]))
    return rotations.multiply(back, stage.model.qpos0[character.root.qpos + 3 : character.root.qpos + 7])


def _seen(vector: Floats, facing: float) -> Floats:
    c, s = math.cos(facing), math.sin(facing)
    return np.array([c * vector[0] + s * vector[1], c * vector[1] - s * vector[0], *vector[2:]])


def body_digest(model: mujoco.MjModel, character: Character) -> str:
    """Return what tells a body from every other: bones, masses, joints, limits and strengths, as a digest."""
    bodies = sorted(character.bodies.values())
    joints = sorted(joint.id for joint in character.joints.values())
    digest = hashlib.sha256()
    for values in (
        model.body_mass[bodies], model.body_inertia[bodies], model.body_ipos[bodies], model.body_pos[bodies[1:]],
        model.jnt_type[joints], model.jnt_range[joints], model.jnt_axis[joints],
        [joint.strength for joint in character.joints.values()],
    ):  # fmt: skip
        digest.update(np.round(np.asarray(values, float), 6).tobytes())
    digest.update(" ".join(character.bodies).encode())
    return digest.hexdigest()[:24]
