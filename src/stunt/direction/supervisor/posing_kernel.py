"""Forward kinematics of one character over many frames, compiled."""

from __future__ import annotations

import math
from typing import Any

from stunt.compiled import compiled

_BALL, _SLIDE = 1, 2


@compiled
def _rotate(q: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector turned by a quaternion."""
    w, a, b, c = q[0], q[1], q[2], q[3]
    i, j, k = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * i + b * k - c * j, y + w * j + c * i - a * k, z + w * k + a * j - b * i


@compiled
def _multiply(p: Any, w: float, x: float, y: float, z: float, out: Any) -> None:
    """Write p·(w, x, y, z); `out` may be `p`."""
    a, b, c, d = p[0], p[1], p[2], p[3]
    out[0] = a * w - b * x - c * y - d * z
    out[1] = a * x + b * w + c * z - d * y
    out[2] = a * y - b * z + c * w + d * x
    out[3] = a * z + b * y - c * x + d * w


@compiled
def pose_bodies(
    qpos: Any, first: int, root_qpos: int, parents: Any, body_pos: Any, body_quat: Any, joint_start: Any,
    joint_count: Any, kinds: Any, addresses: Any, axes: Any, anchors: Any, zero: Any, positions: Any, turns: Any,
) -> None:  # fmt: skip
    """Write where bodies are, (F, bodies, 3), and how they are turned, (F, bodies, 4). Arrays are the model's own."""
    for frame in range(qpos.shape[0]):
        for k in range(3):
            positions[frame, 0, k] = qpos[frame, k]
        for k in range(4):
            turns[frame, 0, k] = qpos[frame, 3 + k]
        for n in range(1, positions.shape[1]):
            body = first + n
            above = parents[body] - first
            x, y, z = _rotate(turns[frame, above], body_pos[body, 0], body_pos[body, 1], body_pos[body, 2])
            at, turn, up = positions[frame, n], turns[frame, n], positions[frame, above]
            at[0], at[1], at[2] = up[0] + x, up[1] + y, up[2] + z
            own = body_quat[body]
            _multiply(turns[frame, above], own[0], own[1], own[2], own[3], turn)
            for j in range(joint_start[body], joint_start[body] + joint_count[body]):
                q = addresses[j] - root_qpos
                if kinds[j] == _SLIDE:
                    far = qpos[frame, q] - zero[addresses[j]]
                    x, y, z = _rotate(turn, far * axes[j, 0], far * axes[j, 1], far * axes[j, 2])
                    at[0] += x
                    at[1] += y
                    at[2] += z
                    continue
                x, y, z = _rotate(turn, anchors[j, 0], anchors[j, 1], anchors[j, 2])
                if kinds[j] == _BALL:
                    _multiply(turn, qpos[frame, q], qpos[frame, q + 1], qpos[frame, q + 2], qpos[frame, q + 3], turn)
                else:
                    half = 0.5 * (qpos[frame, q] - zero[addresses[j]])
                    s = math.sin(half)
                    _multiply(turn, math.cos(half), s * axes[j, 0], s * axes[j, 1], s * axes[j, 2], turn)
                a, b, c = _rotate(turn, anchors[j, 0], anchors[j, 1], anchors[j, 2])
                at[0] += x - a
                at[1] += y - b
                at[2] += z - c
