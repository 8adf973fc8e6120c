"""Where each joint should be now: errors against the key it is heading for, and the time constant of the pull.

Compiled; called by the kernel for every controlled joint at every control step.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.beat.law import moving_reference
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import logarithm, product


@inlined
def time_constant(time: float, goal_time: float, hold: float, period: float, n: float) -> float:
    """Return λ: what is left until the beat divided by n (one period at the least), or the hold's after it [s]."""
    left = goal_time - time
    if left > 1e-9:
        return max(left, period) / n
    return hold


@compiled
def quaternion_error(start: Any, s: int, goal: Any, g: int, out: Any, o: int) -> None:
    """Write the rotation vector that turns `start[s:s+4]` into `goal[g:g+4]`, in start's own frame, to `out[o:o+3]`."""
    a, b, c, d = start[s], start[s + 1], start[s + 2], start[s + 3]
    w, x, y, z = product(a, -b, -c, -d, goal[g], goal[g + 1], goal[g + 2], goal[g + 3])
    out[o], out[o + 1], out[o + 2] = logarithm(w, x, y, z)


@compiled
def turn_back(goal: Any, g: int, rate: Any, r: int, time_left: float, out: Any, o: int) -> None:
    """Write goal ⊗ exp(−rate·T), a ball joint's moving reference, to `out[o:o+4]`."""
    speed = math.sqrt(rate[r] ** 2 + rate[r + 1] ** 2 + rate[r + 2] ** 2)
    # More than one radian of wind-up would start by turning the wrong way.
    half = 0.5 * min(speed * time_left, 1.0)
    factor = -math.sin(half) / speed if speed > 1e-12 else 0.0
    w, x, y, z = math.cos(half), factor * rate[r], factor * rate[r + 1], factor * rate[r + 2]
    out[o], out[o + 1], out[o + 2], out[o + 3] = product(goal[g], goal[g + 1], goal[g + 2], goal[g + 3], w, x, y, z)


@inlined
def hinge_error(
    q: float, v: float, goal: float, goal_velocity: float, left: float, low: float, high: float
) -> tuple[float, float, float]:
    """Return reference, error and error rate of a hinge or slide; `left` ≤ 0 holds the goal at rest."""
    if left > 1e-9:
        reference, reference_velocity = moving_reference(goal, goal_velocity, left, low, high)
    else:
        reference, reference_velocity = goal, 0.0
    return reference, reference - q, reference_velocity - v


@compiled
def ball_error(v: Any, q: int, i: int, left: float, reference: Any, r: int) -> None:
    """Write the reference (to `reference[r:r+4]`), error and error rate of the ball joint at `qpos[q]`, `qvel[i]`."""
    moving = left > 1e-9
    if moving:
        turn_back(v.goal, q, v.goal_velocity, i, left, reference, r)
    else:
        for k in range(4):
            reference[r + k] = v.goal[q + k]
    quaternion_error(v.qpos, q, reference, r, v.error, i)
    for k in range(3):
        # The goal's rate is given in the goal's frame; the two frames meet at the beat, where it matters.
        v.error_rate[i + k] = (v.goal_velocity[i + k] if moving else 0.0) - v.qvel[i + k]


@inlined
def joint_limits(v: Any, j: int) -> tuple[float, float]:
    """Return the limits the reference may not leave; the engine stores (0, 0) for unlimited joints."""
    low, high = v.jnt_range[2 * j], v.jnt_range[2 * j + 1]
    return (low, high) if low < high else (-math.inf, math.inf)
