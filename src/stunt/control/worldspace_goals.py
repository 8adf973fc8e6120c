"""Goals for actors that follow a clip by the beat law, compiled: the board drives them, the clip a little ahead."""

from __future__ import annotations

import math
from typing import Any

from stunt.compiled import compiled
from stunt.control import worldspace as w
from stunt.control.views import floats, longs

_BALL = 1


@compiled
def worldspace_before(v: Any, address: int, time: float) -> None:
    """Give the board the goals of actors it drives: the clip a little ahead, to be passed at the clip's velocity."""
    t = longs(address)
    count, a, f, s = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS]), floats(t[w.T_SCRATCH])
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] == 0 or a[i + w.MODE] != w.BOARD:
            continue
        frame = (time + f[n + w.AHEAD] - f[n + w.START]) * f[n + w.FPS]
        for j in range(a[i + w.JNT0], a[i + w.JNT1]):
            v.goal_time[j], v.start_time[j] = time + f[n + w.AHEAD], time
            aim_joint(v, a, i, j, frame, s)


@compiled
def aim_joint(v: Any, a: Any, i: int, j: int, frame: float, s: Any) -> None:
    """Write one joint's goal and the velocity to pass it with."""
    frames, q0, q1, d0, d1 = a[i + w.FRAMES], a[i + w.QPOS0], a[i + w.QPOS1], a[i + w.DOF0], a[i + w.DOF1]
    places, speeds = floats(a[i + w.ROW_QPOS]), floats(a[i + w.ROW_QVEL])
    q, d = v.jnt_qposadr[j], v.jnt_dofadr[j]
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    high, share = min(low + 1, frames - 1), x - low
    ball = v.jnt_type[j] == _BALL
    first, second = low * (q1 - q0) + q - q0, high * (q1 - q0) + q - q0
    sign, norm = 1.0, 0.0
    if ball:
        dot = 0.0
        for k in range(4):
            dot += places[first + k] * places[second + k]
        sign = 1.0 if dot >= 0.0 else -1.0
    for k in range(4 if ball else 1):
        s[k] = (1.0 - share) * places[first + k] + share * sign * places[second + k]
        norm += s[k] * s[k]
    for k in range(4 if ball else 1):
        v.goal[q + k] = s[k] / math.sqrt(norm) if ball else s[k]
    for k in range(3 if ball else 1):
        one, two = speeds[low * (d1 - d0) + d - d0 + k], speeds[high * (d1 - d0) + d - d0 + k]
        v.goal_velocity[d + k] = one + share * (two - one) if frame < frames - 1.0 else 0.0
