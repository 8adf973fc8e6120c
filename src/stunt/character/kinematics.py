"""Forward kinematics of one character over many frames at once, compiled.

`mj_kinematics` does one frame of the whole scene, and every frame goes through Python. Here all frames of one body are
done in one call; the results are the engine's.
"""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.errors import BodyError, InvalidValueError
from stunt.maths import rotations
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import Quaternion, product, rotated
from stunt.maths.rotations import Floats

BALL, SLIDE = 1, 2
"""Of the engine's kinds of joints, as compiled functions count them."""
Bones = tuple[Any, ...]
_BONES: WeakKeyDictionary[Character, Bones] = WeakKeyDictionary()
_UNIT = 1e-14  # a quaternion's square may be off by this without being made one of unit length


@inlined
def _unit(w: float, x: float, y: float, z: float) -> Quaternion:
    """Return a quaternion at unit length, as the engine takes those of joints."""
    square = w * w + x * x + y * y + z * z
    if abs(square - 1.0) <= _UNIT:
        return w, x, y, z
    if square < 1e-30:
        return 1.0, 0.0, 0.0, 0.0
    scale = 1.0 / math.sqrt(square)
    return scale * w, scale * x, scale * y, scale * z


@compiled
def pose_bodies(qpos: Any, wanted: Any, bones: Any, positions: Any, turns: Any) -> None:
    """Write where bodies are, (F, bodies, 3), and how they are turned, (F, bodies, 4).

    Args:
        qpos: Own coordinates (and whatever follows them), (F, …).
        wanted: Which bodies, counted from the root; of those all ancestors must be, the others are left out.
        bones: As `bones_of` has them.
        positions: Written.
        turns: Written.
    """
    first, root_qpos, parents, body_pos, body_quat, joint_start, joint_count, kinds, addresses = bones[:9]
    axes, anchors, zero = bones[9:]
    for f in range(qpos.shape[0]):
        positions[f, 0, 0], positions[f, 0, 1], positions[f, 0, 2] = qpos[f, 0], qpos[f, 1], qpos[f, 2]
        w, i, j, k = _unit(qpos[f, 3], qpos[f, 4], qpos[f, 5], qpos[f, 6])
        turns[f, 0, 0], turns[f, 0, 1], turns[f, 0, 2], turns[f, 0, 3] = w, i, j, k
        for n in range(1, positions.shape[1]):
            if not wanted[n]:
                continue
            body = first + n
            above = parents[body] - first
            w, i, j, k = turns[f, above, 0], turns[f, above, 1], turns[f, above, 2], turns[f, above, 3]
            x, y, z = rotated(w, i, j, k, body_pos[body, 0], body_pos[body, 1], body_pos[body, 2])
            at_x, at_y, at_z = positions[f, above, 0] + x, positions[f, above, 1] + y, positions[f, above, 2] + z
            if body_quat[body, 0] != 1.0:
                w, i, j, k = product(
                    w, i, j, k, body_quat[body, 0], body_quat[body, 1], body_quat[body, 2], body_quat[body, 3]
                )
            for joint in range(joint_start[body], joint_start[body] + joint_count[body]):
                q = addresses[joint] - root_qpos
                if kinds[joint] == SLIDE:
                    far = qpos[f, q] - zero[addresses[joint]]
                    x, y, z = rotated(w, i, j, k, far * axes[joint, 0], far * axes[joint, 1], far * axes[joint, 2])
                    at_x, at_y, at_z = at_x + x, at_y + y, at_z + z
                    continue
                x, y, z = rotated(w, i, j, k, anchors[joint, 0], anchors[joint, 1], anchors[joint, 2])
                if kinds[joint] == BALL:
                    p, a, b, c = _unit(qpos[f, q], qpos[f, q + 1], qpos[f, q + 2], qpos[f, q + 3])
                else:
                    half = 0.5 * (qpos[f, q] - zero[addresses[joint]])
                    sine = math.sin(half)
                    p, a, b, c = math.cos(half), sine * axes[joint, 0], sine * axes[joint, 1], sine * axes[joint, 2]
                w, i, j, k = product(w, i, j, k, p, a, b, c)
                a, b, c = rotated(w, i, j, k, anchors[joint, 0], anchors[joint, 1], anchors[joint, 2])
                at_x, at_y, at_z = at_x + (x - a), at_y + (y - b), at_z + (z - c)
            positions[f, n, 0], positions[f, n, 1], positions[f, n, 2] = at_x, at_y, at_z
            turns[f, n, 0], turns[f, n, 1], turns[f, n, 2], turns[f, n, 3] = w, i, j, k


def bones_of(model: mujoco.MjModel, character: Character) -> Bones:
    """Return what compiled functions know a body by: its first body and coordinate, and the model's own arrays.

    Asking the model for an array costs more than posing a body by it.

    Raises:
        BodyError: The character has no free root.
    """
    known = _BONES.get(character)
    if known is None:
        root = character.root
        if root is None:
            raise BodyError(f"'{character.name}' must have a free root to follow a clip.")
        known = _BONES[character] = (
            character.root_body, root.qpos, model.body_parentid, model.body_pos, model.body_quat, model.body_jntadr,
            model.body_jntnum, model.jnt_type, model.jnt_qposadr, model.jnt_axis, model.jnt_pos, model.qpos0,
        )  # fmt: skip
    return known


def body_count(character: Character) -> int:
    """Return how many bodies a character has, gaps included."""
    return max(character.bodies.values()) + 1 - character.root_body


def pose_frames(
    model: mujoco.MjModel, character: Character, qpos: Floats, wanted: NDArray[np.bool_] | None = None
) -> tuple[Floats, Floats]:
    """Return where a character's bodies are, (F, bodies, 3) [m], and how they are turned in the world, (F, bodies, 4).

    Bodies are counted from the root. What the engine's `mj_kinematics` says, for all frames at once.

    Args:
        model: The scene.
        character: Who; its root must be free.
        qpos: Its own coordinates, (F, nq of the character).
        wanted: Which bodies, with all their ancestors, (bodies,); None: all. Others are 0.

    Raises:
        BodyError: The character has no free root.
        InvalidValueError: There are fewer coordinates than its joints have.
    """
    bones, count = bones_of(model, character), body_count(character)
    needed = max([7, *(joint.qpos + joint.nq - bones[1] for joint in character.joints.values())])
    if qpos.ndim != 2 or qpos.shape[1] < needed:
        raise InvalidValueError(f"frames of '{character.name}'", qpos.shape, f"(frames, {needed}) coordinates")
    places, turns = np.zeros((len(qpos), count, 3)), np.zeros((len(qpos), count, 4))
    some = np.ones(count, np.bool_) if wanted is None else wanted
    pose_bodies(np.ascontiguousarray(qpos), some, bones, places, turns)
    return places, turns


_ROUND = (int(mujoco.mjtGeom.mjGEOM_CAPSULE), int(mujoco.mjtGeom.mjGEOM_CYLINDER))


def box_corners(model: mujoco.MjModel, geom: int) -> Floats:
    """Return the corners of the box around a geom, in its body's frame [m], (8, 3).

    Round ones lie in no box of their own: that of a capsule or cylinder is turned about it as its body's axes are, so
    that feet of capsules are as deep as they are, however the file rolled them.
    """
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    turn = model.geom_quat[geom]
    if int(model.geom_type[geom]) in _ROUND:
        axes = rotations.to_matrix(turn)  # of the body, seen from the geom
        across = min(axes, key=lambda axis: abs(axis[2]))
        roll = np.arctan2(across[1], across[0])
        turn = rotations.multiply(turn, rotations.from_rotation_vector(np.array([0.0, 0.0, roll])))
    return np.asarray(model.geom_pos[geom] + rotations.rotate(turn, centre + signs * half))


def corners_over(
    model: mujoco.MjModel, character: Character, geoms: list[int], places: Floats, turns: Floats
) -> Floats:
    """Return the corners of the boxes around geoms, in the world [m], (F, 8·geoms, 3).

    Args:
        model: The scene.
        character: Whose geoms.
        geoms: Which.
        places: Of its bodies, as from `pose_frames`, (F, bodies, 3).
        turns: Likewise, (F, bodies, 4).
    """
    found = []
    for geom in geoms:
        body = int(model.geom_bodyid[geom]) - character.root_body
        found.append(places[:, None, body] + rotations.rotate(turns[:, None, body], box_corners(model, geom)))
    return np.concatenate(found, axis=1)
