"""What an environment does at every step, compiled: actions to goals, states to observations and rewards.

In Python this would cost as much as the physics. Angles of ball joints are rotation vectors here, so that actions and
observations have one number per degree of freedom.

Handing a compiled function an array costs half a microsecond and more where caches are cold, as they are after physics;
an environment would hand over a dozen, several times per step. So compiled code gets one table of addresses, as control
does (`stunt.control.core.views`), and the arrays stay where they are. Arrays of rows are indexed flat.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, Final

import numpy as np

from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import exponential, logarithm, product, rotated
from stunt.maths.pointers import AddressTable, layout

SIZES: Final = layout(
    ("joints", np.int64),
    ("dofs", np.int64),
    ("root", np.int64),  # first position of the free root, −1 without
    ("root_dof", np.int64),  # its first velocity
    ("ends", np.int64),  # of limbs
    ("nq", np.int64),  # of the whole model
    ("nv", np.int64),
)

TABLE: Final = AddressTable(
    "Arrays",
    (
        ("sizes", SIZES),
        ("qpos", np.float64),  # positions, (nq,)
        ("qvel", np.float64),  # velocities, (nv,)
        ("xpos", np.float64),  # where the bodies are [m], (nbody, 3)
        ("torque", np.float64),  # what each joint produced [N·m], (nv,)
        ("limit", np.float64),  # its strength, (nv,)
        ("goal", np.float64),  # the board's goals, (nq,)
        ("ball", np.int64),  # 1 where a joint is a ball, (njnt,)
        ("qadr", np.int64),  # first position of each joint, (njnt,)
        ("vadr", np.int64),  # first velocity of each joint, (njnt,)
        ("low", np.float64),  # lower limits of hinges and slides, (njnt,)
        ("high", np.float64),  # upper limits, (njnt,)
        ("scale", np.float64),  # how far an action of 1 goes [rad or m], one per degree of freedom
        ("dofs", np.int64),  # the degrees of freedom
        ("ends", np.int64),  # bodies at the ends of limbs
        ("rows", np.float64),  # poses: those actions are relative to, and a clip's, (F, nq)
        ("paces", np.float64),  # a clip's velocities, (F, nv)
        ("places", np.float64),  # where a clip has the ends, seen from the root in the world's axes [m], (F, ends, 3)
        ("wanted", np.float64),  # a pose to be reached, (nq,)
        ("out", np.float32),  # the observation
    ),
)
Arrays = namedtuple("Arrays", TABLE.names)  # type: ignore[misc]  # noqa: PYI024
arrays_at = TABLE.unpacker(Arrays)
"""In kernels: what is behind the address of a table."""

ROOT_NUMBERS = 10
"""Observations of a free root: height, downward direction, linear and angular velocity in its own frame."""

# ---- rotations


@inlined
def _apart(q: Any, a: int, p: Any, b: int) -> Any:
    """Return the rotation vector from q's quaternion to p's, in q's frame."""
    w, x, y, z = product(q[a], -q[a + 1], -q[a + 2], -q[a + 3], p[b], p[b + 1], p[b + 2], p[b + 3])
    return logarithm(w, x, y, z)


@inlined
def _into(q: Any, a: int, x: float, y: float, z: float) -> Any:
    """Return a world vector seen from the frame of q's quaternion."""
    return rotated(q[a], -q[a + 1], -q[a + 2], -q[a + 3], x, y, z)


# ---- actions


@inlined
def _within(value: float) -> float:
    return min(max(value, -1.0), 1.0)


@inlined
def _turn(t: Any, action: Any, factor: float, row: int, target: Any) -> None:
    """Write a row's pose turned by the scaled action, inside the limits, to `target`."""
    k, base = 0, row * t.sizes.nq
    for j in range(t.sizes.joints):
        a = t.qadr[j]
        b = base + a
        if t.ball[j] == 0:
            target[a] = min(max(t.rows[b] + factor * t.scale[k] * _within(action[k]), t.low[j]), t.high[j])
            k += 1
            continue
        w, x, y, z = exponential(
            factor * t.scale[k] * _within(action[k]),
            factor * t.scale[k + 1] * _within(action[k + 1]),
            factor * t.scale[k + 2] * _within(action[k + 2]),
        )
        target[a], target[a + 1], target[a + 2], target[a + 3] = product(
            t.rows[b], t.rows[b + 1], t.rows[b + 2], t.rows[b + 3], w, x, y, z
        )
        k += 3


@compiled
def steer(table: Any, action: Any, row: int) -> None:
    """Write the goals an action asks for: a row's pose, turned by the scaled action, inside the limits.

    Args:
        table: Addresses of the task's arrays.
        action: One number per degree of freedom in −1 … 1.
        row: Which pose actions are relative to.
    """
    t = arrays_at(table.ctypes.data)
    _turn(t, action, 1.0, row, t.goal)


@compiled
def want(table: Any, ways: Any, factor: float, row: int) -> None:
    """Write a pose to be reached: a row's, turned by numbers of −1 … 1 times a factor on the actions' scale."""
    t = arrays_at(table.ctypes.data)
    _turn(t, ways, factor, row, t.wanted)


# ---- observations


@inlined
def _observe(t: Any) -> int:
    """Write what a body feels of itself: root, joint positions, joint velocities; return how many numbers that were."""
    n, root = 0, t.sizes.root
    qpos, qvel, out = t.qpos, t.qvel, t.out
    if root >= 0:
        v = t.sizes.root_dof
        out[0] = qpos[root + 2]
        out[1], out[2], out[3] = _into(qpos, root + 3, 0.0, 0.0, -1.0)
        out[4], out[5], out[6] = _into(qpos, root + 3, qvel[v], qvel[v + 1], qvel[v + 2])
        out[7], out[8], out[9] = qvel[v + 3], qvel[v + 4], qvel[v + 5]  # the engine's is in the root's frame already
        n = ROOT_NUMBERS
    for j in range(t.sizes.joints):
        a = t.qadr[j]
        if t.ball[j] == 0:
            out[n] = qpos[a]
            n += 1
        else:
            out[n], out[n + 1], out[n + 2] = logarithm(qpos[a], qpos[a + 1], qpos[a + 2], qpos[a + 3])
            n += 3
    for k in range(t.sizes.dofs):
        out[n] = qvel[t.dofs[k]]
        n += 1
    return n


@inlined
def _towards(t: Any, goal: Any, base: int, n: int) -> float:
    """Write how far each joint is from a pose, from `out[n]` on; return the mean square [rad² or m²]."""
    total, first = 0.0, n
    for j in range(t.sizes.joints):
        a = t.qadr[j]
        if t.ball[j] == 0:
            away = goal[base + a] - t.qpos[a]
            t.out[n] = away
            total += away * away
            n += 1
        else:
            x, y, z = _apart(t.qpos, a, goal, base + a)
            t.out[n], t.out[n + 1], t.out[n + 2] = x, y, z
            total += x * x + y * y + z * z
            n += 3
    return total / max(n - first, 1)


@inlined
def _effort(t: Any) -> float:
    """Return the mean square of the torques as shares of the joints' strength."""
    total = 0.0
    for k in range(t.sizes.dofs):
        i = t.dofs[k]
        if t.limit[i] < math.inf:
            share = t.torque[i] / t.limit[i]
            total += share * share
    return total / max(t.sizes.dofs, 1)


@compiled
def look_towards(table: Any) -> Any:
    """Observe the body and its way to the wanted pose; return the mean square of that way and the effort."""
    t = arrays_at(table.ctypes.data)
    return _towards(t, t.wanted, 0, _observe(t)), _effort(t)


@compiled
def look_upright(table: Any) -> Any:
    """Observe the body; return the height of its root [m], the cosine of its tilt, and the effort."""
    t = arrays_at(table.ctypes.data)
    _observe(t)
    root = t.sizes.root
    return t.qpos[root + 2], 1.0 - 2.0 * (t.qpos[root + 4] ** 2 + t.qpos[root + 5] ** 2), _effort(t)


@compiled
def look_at_clip(table: Any, row: int) -> Any:
    """Observe the body and its way to a row of a clip: joints, root's place and turn in the root's frame.

    The reward is DeepMimic's (Peng et al. 2018, eq. 5–9): pose, joint velocities, ends of limbs and root, with its
    weights; sums over joints are means here, so that it does not depend on how many there are.

    Returns:
        Reward, distance of the root from the clip's [m], angle between the two [rad], effort.
    """
    t = arrays_at(table.ctypes.data)
    n, base, root = _observe(t), row * t.sizes.nq, t.sizes.root
    pose = _towards(t, t.rows, base, n)
    n += t.sizes.dofs
    r = base + root
    x, y, z = t.rows[r] - t.qpos[root], t.rows[r + 1] - t.qpos[root + 1], t.rows[r + 2] - t.qpos[root + 2]
    away = x * x + y * y + z * z
    t.out[n], t.out[n + 1], t.out[n + 2] = _into(t.qpos, root + 3, x, y, z)
    tx, ty, tz = _apart(t.qpos, root + 3, t.rows, r + 3)
    t.out[n + 3], t.out[n + 4], t.out[n + 5] = tx, ty, tz
    turn = tx * tx + ty * ty + tz * tz
    reward = (
        0.65 * math.exp(-10.0 * pose - 2.0 * turn)
        + 0.1 * math.exp(-0.5 * _pace(t, row))
        + 0.15 * math.exp(-10.0 * _reach(t, row))
        + 0.1 * math.exp(-10.0 * away)
    )
    return reward, math.sqrt(away), math.sqrt(turn), _effort(t)


@inlined
def _pace(t: Any, row: int) -> float:
    """Return the mean square of how much faster or slower the joints are than the clip's [rad²/s²]."""
    total = 0.0
    for k in range(t.sizes.dofs):
        i = t.dofs[k]
        total += (t.qvel[i] - t.paces[row * t.sizes.nv + i]) ** 2
    return total / max(t.sizes.dofs, 1)


@inlined
def _reach(t: Any, row: int) -> float:
    """Return the sum of squares of how far the ends of limbs are from the clip's, seen from the root [m²]."""
    total = 0.0
    for e in range(t.sizes.ends):
        for i in range(3):
            here = t.xpos[3 * t.ends[e] + i] - t.qpos[t.sizes.root + i]
            total += (here - t.places[3 * (row * t.sizes.ends + e) + i]) ** 2
    return total
