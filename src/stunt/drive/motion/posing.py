"""Forward kinematics of one character over many frames at once, and the rows its servo reads.

`mj_kinematics` does one frame of the whole scene; whoever takes over a body in the middle of a scene has no time for
hundreds of those.

Forward kinematics of one character over many frames, compiled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.servo.memory import ServoTargets
from stunt.drive.motion.layout import Layout
from stunt.drive.motion.sole_hold import SWING_FRICTION, SWING_SPEED
from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats

_BALL, _SLIDE = 1, 2


@compiled
def rotated(q: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector turned by a quaternion."""
    w, a, b, c = q[0], q[1], q[2], q[3]
    i, j, k = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * i + b * k - c * j, y + w * j + c * i - a * k, z + w * k + a * j - b * i


@compiled
def multiply_into(p: Any, w: float, x: float, y: float, z: float, out: Any) -> None:
    """Write p·(w, x, y, z); `out` may be `p`."""
    a, b, c, d = p[0], p[1], p[2], p[3]
    out[0] = a * w - b * x - c * y - d * z
    out[1] = a * x + b * w + c * z - d * y
    out[2] = a * y - b * z + c * w + d * x
    out[3] = a * z + b * y - c * x + d * w


@compiled
def pose_bodies(qpos: Any, wanted: Any, bones: Any, positions: Any, turns: Any) -> None:
    """Write where bodies are, (F, bodies, 3), and how they are turned, (F, bodies, 4).

    Args:
        qpos: Own coordinates (and whatever follows them), (F, …).
        wanted: Which bodies, counted from the root; of those all ancestors must be, the others are left out.
        bones: As `posing.bones_of` has them.
        positions: Written.
        turns: Written.
    """
    first, root_qpos, parents, body_pos, body_quat, joint_start, joint_count, kinds, addresses = bones[:9]
    axes, anchors, zero = bones[9:]
    at, turn = np.zeros(3), np.zeros(4)
    for frame in range(qpos.shape[0]):
        for k in range(3):
            positions[frame, 0, k] = qpos[frame, k]
        for k in range(4):
            turns[frame, 0, k] = qpos[frame, 3 + k]
        for n in range(1, positions.shape[1]):
            if not wanted[n]:
                continue
            body = first + n
            above = parents[body] - first
            for k in range(4):
                turn[k] = turns[frame, above, k]
            x, y, z = rotated(turn, body_pos[body, 0], body_pos[body, 1], body_pos[body, 2])
            at[0], at[1], at[2] = (
                positions[frame, above, 0] + x,
                positions[frame, above, 1] + y,
                positions[frame, above, 2] + z,
            )
            if body_quat[body, 0] != 1.0:
                multiply_into(
                    turn, body_quat[body, 0], body_quat[body, 1], body_quat[body, 2], body_quat[body, 3], turn
                )
            for j in range(joint_start[body], joint_start[body] + joint_count[body]):
                q = addresses[j] - root_qpos
                if kinds[j] == _SLIDE:
                    far = qpos[frame, q] - zero[addresses[j]]
                    x, y, z = rotated(turn, far * axes[j, 0], far * axes[j, 1], far * axes[j, 2])
                    at[0] += x
                    at[1] += y
                    at[2] += z
                    continue
                x, y, z = rotated(turn, anchors[j, 0], anchors[j, 1], anchors[j, 2])
                if kinds[j] == _BALL:
                    multiply_into(
                        turn, qpos[frame, q], qpos[frame, q + 1], qpos[frame, q + 2], qpos[frame, q + 3], turn
                    )
                else:
                    half = 0.5 * (qpos[frame, q] - zero[addresses[j]])
                    s = math.sin(half)
                    multiply_into(turn, math.cos(half), s * axes[j, 0], s * axes[j, 1], s * axes[j, 2], turn)
                a, b, c = rotated(turn, anchors[j, 0], anchors[j, 1], anchors[j, 2])
                at[0] += x - a
                at[1] += y - b
                at[2] += z - c
            for k in range(3):
                positions[frame, n, k] = at[k]
            for k in range(4):
                turns[frame, n, k] = turn[k]


@compiled
def lift_rows(
    frames: Any, fps: float, wanted: Any, bones: Any, toes: Any, standing: Any, swing: Any, turns: Any, path: Any,
    friction: Any, joints: Any,
) -> None:  # fmt: skip
    """Write frames as the servo reads them (see `posing.servo_rows`).

    Args:
        frames: Positions and velocities, (F, nq + nv).
        fps: Frames per second.
        wanted: All bodies, (bodies,).
        bones: As `posing.bones_of` has them.
        toes: The body each sole goes by, (soles,).
        standing: Friction of the soles while they do not swing, (soles,).
        swing: Speed from which a sole swings [m/s], and its friction then.
        turns: Written, (F, bodies, 4).
        path: Written, (F, 3).
        friction: Written, (F, soles).
        joints: Written, (F, nq − 7).
    """
    count, last = frames.shape[0], frames.shape[0] - 1
    places, world = np.empty((count, turns.shape[1], 3)), np.empty((count, turns.shape[1], 4))
    pose_bodies(frames, wanted, bones, places, world)
    relative_turns(world, turns)
    for f in range(count):
        low, high = max(f - 1, 0), min(f + 1, last)
        for k in range(3):
            path[f, k] = frames[f, k]
        for k in range(joints.shape[1]):
            joints[f, k] = frames[f, 7 + k]
        for n in range(toes.shape[0]):
            x = places[high, toes[n], 0] - places[low, toes[n], 0]
            y = places[high, toes[n], 1] - places[low, toes[n], 1]
            fast = math.sqrt(x * x + y * y) * fps / max(high - low, 1) > swing[0]
            friction[f, n] = swing[1] if fast else standing[n]


@compiled
def relative_turns(turns: Any, out: Any) -> None:
    """Write how bodies are turned, seen from the first; that one stays as it is, (F, bodies, 4)."""
    for f in range(turns.shape[0]):
        for n in range(turns.shape[1]):
            a, b = turns[f, 0], turns[f, n]
            if n == 0:
                for k in range(4):
                    out[f, 0, k] = b[k]
                continue
            w0, x0, y0, z0 = a[0], -a[1], -a[2], -a[3]
            out[f, n, 0] = w0 * b[0] - x0 * b[1] - y0 * b[2] - z0 * b[3]
            out[f, n, 1] = w0 * b[1] + x0 * b[0] + y0 * b[3] - z0 * b[2]
            out[f, n, 2] = w0 * b[2] - x0 * b[3] + y0 * b[0] + z0 * b[1]
            out[f, n, 3] = w0 * b[3] + x0 * b[2] - y0 * b[1] + z0 * b[0]


@compiled
def add_depth(
    positions: Any, turns: Any, body: int, at: Any, own: Any, size: Any, kind: int, depth: Any
) -> float:  # fmt: skip
    """Raise `depth` to how deep a geom's lowest point is below the floor in every frame; return the largest.

    Args:
        positions: Of all bodies, (F, bodies, 3).
        turns: Likewise, (F, bodies, 4).
        body: Whose geom it is.
        at: Its place in the body, (3,).
        own: Its turn in the body, (4,).
        size: Its size, (3,).
        kind: Its type, as the engine counts them.
        depth: Written, (F,).
    """
    turn, most = np.zeros(4), 0.0
    for f in range(depth.shape[0]):
        _, _, z = rotated(turns[f, body], at[0], at[1], at[2])
        multiply_into(turns[f, body], own[0], own[1], own[2], own[3], turn)
        turn[1], turn[2], turn[3] = -turn[1], -turn[2], -turn[3]
        a, b, c = rotated(turn, 0.0, 0.0, 1.0)  # the vertical in the geom's frame
        if kind == 6:  # box
            down = abs(a) * size[0] + abs(b) * size[1] + abs(c) * size[2]
        elif kind == 4:  # ellipsoid
            down = math.sqrt((a * size[0]) ** 2 + (b * size[1]) ** 2 + (c * size[2]) ** 2)
        elif kind == 3:  # capsule
            down = size[0] + abs(c) * size[1]
        elif kind == 2:  # sphere
            down = size[0]
        else:
            down = 0.0
        depth[f] = max(depth[f], down - z - positions[f, body, 2])
        most = max(most, depth[f])
    return most


Bones = tuple[Any, ...]
_BONES: WeakKeyDictionary[Character, Bones] = WeakKeyDictionary()


def bones_of(model: mujoco.MjModel, character: Character) -> Bones:
    """Return what compiled functions know a body by: its first body and coordinate, and the model's own arrays.

    Asking the model for an array costs more than posing a body by it.
    """
    known = _BONES.get(character)
    if known is None:
        root = character.root
        assert root is not None  # supervised characters have free roots
        known = _BONES[character] = (
            character.root_body, root.qpos, model.body_parentid, model.body_pos, model.body_quat, model.body_jntadr,
            model.body_jntnum, model.jnt_type, model.jnt_qposadr, model.jnt_axis, model.jnt_pos, model.qpos0,
        )  # fmt: skip
    return known


def body_count(character: Character) -> int:
    """Return how many bodies a character has, gaps included."""
    return max(character.bodies.values()) + 1 - character.root_body


@dataclass(frozen=True, eq=False)
class ServoView:
    """How a servo sees one body: what never changes of it.

    Attributes:
        bones: See `bones_of`.
        bodies: How many it has.
        toes: The body each sole goes by: a foot by its toe, (soles,).
        standing: Friction of the soles while they do not swing, (soles,).
    """

    bones: Bones
    bodies: int
    toes: NDArray[np.int64]
    standing: Floats

    @staticmethod
    def of(model: mujoco.MjModel, character: Character, soles: list[int]) -> ServoView:
        """Return how a servo sees a character.

        Args:
            model: The scene.
            character: Who.
            soles: Geoms whose friction goes with the swing of their foot.
        """
        first, count = character.root_body, body_count(character)
        toes = np.array([_toe(model, geom, first, count) for geom in soles], np.int64)
        standing = np.array([character.grip[geom] for geom in soles])
        return ServoView(bones_of(model, character), count, toes, standing)


def servo_rows(view: ServoView, layout: Layout, frames: Floats, fps: float) -> ServoTargets:
    """Return frames as the servo reads them (`stunt.drive.motion.body_motion.make_rows` for many frames at once).

    Args:
        view: How the servo sees the body.
        layout: Of its coordinates.
        frames: Positions and velocities, (F, nq + nv).
        fps: Frames per second.
    """
    count, bodies, soles = len(frames), view.bodies, len(view.toes)
    turns, path, friction = np.empty((count, bodies, 4)), np.empty((count, 3)), np.zeros((count, max(soles, 1)))
    joints = np.empty((count, layout.nq - 7))
    lift_rows(
        frames, fps, np.ones(bodies, np.bool_), view.bones, view.toes, view.standing, (SWING_SPEED, SWING_FRICTION),
        turns, path, friction, joints,
    )  # fmt: skip
    return ServoTargets(fps, turns, path, friction, joints)


def _toe(model: mujoco.MjModel, geom: int, first: int, count: int) -> int:
    """Return the body a sole goes by, counted from the root."""
    body = int(model.geom_bodyid[geom])
    toes = [b for b in range(body + 1, first + count) if model.body_parentid[b] == body]
    return (toes[0] if toes else body) - first
