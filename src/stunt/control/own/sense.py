"""What a body on its own feet knows in a tick: its own state, and what the clip asks for at the clip's time."""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.own import layout as w
from stunt.maths.compiled import compiled
from stunt.maths.flat import multiply_quaternions, world_difference
from stunt.maths.pointers import floats, longs

GRAVITY: Final = 9.81
_LOWEST = 0.3  # a centre of mass is taken to be at least so high [m]


@compiled
def sample(rows: Any, width: int, frames: int, frame: float, first: int, count: int, out: Any, o: int) -> None:
    """Write some columns of rows at a fractional frame: on the line between two, held outside."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    share = x - low
    a, b = low * width + first, min(low + 1, frames - 1) * width + first
    for k in range(count):
        out[o + k] = (1.0 - share) * rows[a + k] + share * rows[b + k]


@compiled
def unit(values: Any, o: int) -> None:
    """Make the quaternion at values[o:o+4] one of unit length."""
    size = math.sqrt(values[o] ** 2 + values[o + 1] ** 2 + values[o + 2] ** 2 + values[o + 3] ** 2)
    for k in range(4):
        values[o + k] /= size


@compiled
def ask_clip(t: Any, who: Any) -> bool:
    """Write what the clip asks for now: pose, velocities, whole body, feet; return whether it is still going on."""
    frame, frames = who.clip * who.fps, who.frames
    live = who.clip < (frames - 1.0) / who.fps
    rate = who.rate if live else 0.0
    sample(floats(who.poses), who.nq, frames, frame, 0, who.nq, t.goal, 0)
    unit(t.goal, 3)
    joints = longs(who.joints)
    for j in range(who.joint_count):
        if joints[3 * j] == 3:
            unit(t.goal, joints[3 * j + 1])
    sample(floats(who.velocities), who.nv, frames, frame, 0, who.nv, t.pace, 0)
    sample(floats(who.accelerations), who.nv, frames, frame, 0, who.nv, t.urge, 0)
    for d in range(who.nv):  # a slower clock asks for slower joints
        t.pace[d] *= rate
        t.urge[d] *= rate * rate
    sample(floats(who.centre), w.CENTRE, frames, frame, 0, w.CENTRE, t.middle, 0)
    sample(floats(who.feet), 2 * w.POSE, frames, frame, 0, 2 * w.POSE, t.foot, 0)
    for i in range(w.FEET):
        unit(t.foot, w.POSE * i + 3)
        for k in range(7, 16):
            t.foot[w.POSE * i + k] *= rate * rate if 10 <= k < 13 else rate
    for k in range(3, 15):
        if not live or who.paused != 0:
            t.middle[k] = 0.0
    return live


@compiled
def pose_error(v: Any, t: Any, who: Any) -> None:
    """Write how far the body is from the pose, in the body's tangent space."""
    q0, error, scratch = who.root_qpos, t.error, t.scratch
    for k in range(3):
        error[k] = t.goal[k] - v.qpos[q0 + k]
    _turn_error(v, t.goal, 3, q0 + 3, error, 3, scratch)
    joints = longs(who.joints)
    for j in range(who.joint_count):
        q, d = joints[3 * j + 1], joints[3 * j + 2]
        if joints[3 * j] == 3:
            _turn_error(v, t.goal, q, q0 + q, error, d, scratch)
        else:
            error[d] = t.goal[q] - v.qpos[q0 + q]


@compiled
def _turn_error(v: Any, goal: Any, g: int, q: int, out: Any, o: int, scratch: Any) -> None:
    """Write the rotation vector, in the frame of the orientation that is, that turns it into the goal."""
    for k in range(4):
        scratch[k] = v.qpos[q + k] if k == 0 else -v.qpos[q + k]
    multiply_quaternions(scratch, 0, goal, g, scratch, 4)
    scratch[8], scratch[9], scratch[10], scratch[11] = 1.0, 0.0, 0.0, 0.0
    world_difference(scratch, 4, scratch, 8, out, o)


@compiled
def weigh(v: Any, t: Any, who: Any) -> None:
    """Write the body's own inertia matrix, dense, and the forces that are there without control."""
    first, n, inertia = who.root_dof, who.nv, t.inertia
    for k in range(n * n):
        inertia[k] = 0.0
    for i in range(n):
        start = v.rowadr[first + i]
        for k in range(start, start + v.rownnz[first + i]):
            j = v.colind[k] - first
            inertia[i * n + j] = v.mass_matrix[k]
            inertia[j * n + i] = v.mass_matrix[k]
        t.bias[i] = v.bias[first + i] - v.passive[first + i]


@compiled
def pendulum_rate(t: Any, who: Any) -> float:
    """Return the rate at which a body as high as this one falls over [1/s]."""
    return math.sqrt(GRAVITY / max(t.com[3 * who.root_body + 2] - who.floor, _LOWEST * who.size))
