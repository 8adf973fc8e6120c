"""Kinematic actors, compiled: the body is where its data says, at the velocity its data says.

Between frames every coordinate is a cubic Hermite curve through positions and velocities, orientations in the tangent
space of the earlier frame, so that position and velocity are continuous whatever the frame rate.

Contacts see a body that is being accelerated along its data, with its true inertia or a multiple of it (`KIN_FIRM`: a
kicking leg is held by its muscles and weighs more than a limp one); afterwards its state is put back on the data.
Pushed once, an obstacle moves as if a free body had hit it; pushed for several steps, it goes where the data goes. What
contacts did to the body meanwhile is not lost: the impulse is remembered (`T_OWED`), and who hands the body over to
forces may give it back to it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.compiled import compiled
from stunt.control import worldspace as w
from stunt.control.small import multiply_quaternions
from stunt.control.views import floats, longs

_BALL = 1
MEMORY: Final = 0.02
"""Time constant with which an impulse that nobody claimed is forgotten [s]."""


@compiled
def hermite(x0: float, v0: float, x1: float, v1: float, s: float, seconds: float) -> tuple[float, float]:
    """Return position and velocity at a share s of an interval, from positions and velocities at its ends."""
    rest, s2 = 1.0 - s, s * s
    position = (
        (1.0 + 2.0 * s) * rest * rest * x0 + s * rest * rest * seconds * v0
        + s2 * (3.0 - 2.0 * s) * x1 + s2 * (s - 1.0) * seconds * v1
    )  # fmt: skip
    velocity = 6.0 * s * rest * (x1 - x0) / seconds + (1.0 - 4.0 * s + 3.0 * s2) * v0 + (3.0 * s2 - 2.0 * s) * v1
    return position, velocity


@compiled
def cross_into(a: Any, i: int, b: Any, j: int, out: Any, o: int) -> None:
    """Write a[i:i+3] × b[j:j+3] to out[o:o+3]."""
    x = a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1]
    y = a[i + 2] * b[j] - a[i] * b[j + 2]
    z = a[i] * b[j + 1] - a[i + 1] * b[j]
    out[o], out[o + 1], out[o + 2] = x, y, z


@compiled
def turn_hermite(
    rows: Any,
    q0: int,
    u0: int,
    q1: int,
    u1: int,
    s: float,
    seconds: float,
    x: Any,
    where: Any,
    q: int,
    pace: Any,
    d: int,
) -> None:
    """Write an orientation between two frames, and its angular velocity in its own frame; x is scratch of 32.

    Args:
        rows: The actor's frames.
        q0: Where the earlier quaternion is in them; `u0` its angular velocity, `q1` and `u1` those of the later one.
        u0: See `q0`.
        q1: See `q0`.
        u1: See `q0`.
        s: Share of the interval.
        seconds: Its length.
        x: Scratch.
        where: Positions, written at `q`.
        q: See `where`.
        pace: Velocities, written at `d`.
        d: See `pace`.
    """
    # x[0:4] = q0⁻¹·q1, x[4:7] its rotation vector.
    x[8], x[9], x[10], x[11] = rows[q0], -rows[q0 + 1], -rows[q0 + 2], -rows[q0 + 3]
    multiply_quaternions(x, 8, rows, q1, x, 0)
    sign = 1.0 if x[0] >= 0.0 else -1.0
    sine = math.sqrt(x[1] * x[1] + x[2] * x[2] + x[3] * x[3])
    share = 2.0 * math.atan2(sine, sign * x[0]) / sine if sine > 1e-12 else 2.0
    for k in range(3):
        x[4 + k] = sign * share * x[1 + k]
    # The later angular velocity as a rate of the rotation vector: ω + ½ r×ω + ⅟₁₂ r×(r×ω).
    cross_into(x, 4, rows, u1, x, 12)
    cross_into(x, 4, x, 12, x, 15)
    for k in range(3):
        late = rows[u1 + k] + 0.5 * x[12 + k] + x[15 + k] / 12.0
        x[18 + k], x[21 + k] = hermite(0.0, rows[u0 + k], x[4 + k], late, s, seconds)
    # Back: q = q0·exp(r), ω = ṙ − ½ r×ṙ + ⅙ r×(r×ṙ).
    cross_into(x, 18, x, 21, x, 12)
    cross_into(x, 18, x, 12, x, 15)
    for k in range(3):
        pace[d + k] = x[21 + k] - 0.5 * x[12 + k] + x[15 + k] / 6.0
    angle = math.sqrt(x[18] * x[18] + x[19] * x[19] + x[20] * x[20])
    share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    x[8], x[9], x[10], x[11] = math.cos(0.5 * angle), share * x[18], share * x[19], share * x[20]
    multiply_quaternions(rows, q0, x, 8, where, q)


@compiled
def data_state(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float) -> None:
    """Write where an actor's data has it at a time, and how fast, to T_WHERE and T_PACE; held at its ends."""
    where, pace, x = floats(t[w.T_WHERE]), floats(t[w.T_PACE]), floats(t[w.T_SCRATCH])
    rows, frames, seconds = floats(a[i + w.KIN_ROWS]), a[i + w.KIN_FRAMES], 1.0 / f[n + w.KIN_FPS]
    root_q, root_d = a[i + w.ROOT_QPOS], a[i + w.ROOT_DOF]
    nq, nv = a[i + w.QPOS1] - root_q, a[i + w.DOF1] - root_d
    frame = (time - f[n + w.KIN_START]) * f[n + w.KIN_FPS]
    late = frame > frames - 1.0
    frame = min(max(frame, 0.0), frames - 1.0)
    low = int(min(frame, max(frames - 2.0, 0.0)))
    first, second, s = low * (nq + nv), min(low + 1, frames - 1) * (nq + nv), frame - low
    for k in range(3):
        p, r = first + nq + k, second + nq + k
        where[root_q + k], pace[root_d + k] = hermite(rows[first + k], rows[p], rows[second + k], rows[r], s, seconds)
    turn_hermite(
        rows, first + 3, first + nq + 3, second + 3, second + nq + 3, s, seconds, x, where, root_q + 3, pace, root_d + 3
    )
    for j in range(a[i + w.JNT0], a[i + w.JNT1]):
        q, d = v.jnt_qposadr[j], v.jnt_dofadr[j]
        q0, u0 = first + q - root_q, first + nq + d - root_d
        q1, u1 = second + q - root_q, second + nq + d - root_d
        if v.jnt_type[j] == _BALL:
            turn_hermite(rows, q0, u0, q1, u1, s, seconds, x, where, q, pace, d)
        else:
            where[q], pace[d] = hermite(rows[q0], rows[u0], rows[q1], rows[u1], s, seconds)
    if late:
        for d in range(root_d, a[i + w.DOF1]):
            pace[d] = 0.0


@compiled
def push_along(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float) -> None:
    """Write the forces that take an actor to its data's velocity in this step, if nothing is in the way."""
    data_state(v, t, a, i, f, n, time + v.times[0])
    pace, first, last, h = floats(t[w.T_PACE]), a[i + w.ROOT_DOF], a[i + w.DOF1], v.times[0]
    firm = f[n + w.KIN_FIRM]
    for d in range(first, last):
        gain = (pace[d] - v.qvel[d]) / h
        # The engine solves joint damping implicitly: it weighs like inertia.
        v.applied[d] = v.bias[d] - v.passive[d] + h * v.dof_damping[d] * gain
    for d in range(first, last):
        start, count = v.rowadr[d], v.rownnz[d]
        for k in range(start, start + count):
            c = v.colind[k]
            v.mass_matrix[k] *= firm
            v.applied[d] += v.mass_matrix[k] * (pace[c] - v.qvel[c]) / h
            if c != d:
                v.applied[c] += v.mass_matrix[k] * (pace[d] - v.qvel[d]) / h


@compiled
def put_on_data(v: Any, t: Any, a: Any, i: int, f: Any, n: int, time: float) -> None:
    """After a step: remember what contacts gave, and put the actor where its data has it."""
    h = v.times[0]
    owed, constraint = floats(t[w.T_OWED]), floats(t[w.T_CONSTRAINT])
    where, pace = floats(t[w.T_WHERE]), floats(t[w.T_PACE])
    data_state(v, t, a, i, f, n, time + h)
    keep = max(0.0, 1.0 - h / MEMORY)
    for d in range(a[i + w.ROOT_DOF], a[i + w.DOF1]):
        owed[d] = keep * owed[d] + h * constraint[d]
        v.qvel[d], v.torque[d], v.saturated[d] = pace[d], 0.0, 0
    for q in range(a[i + w.ROOT_QPOS], a[i + w.QPOS1]):
        v.qpos[q] = where[q]


@compiled
def put_all(v: Any, t: Any, time: float) -> None:
    """Put every kinematic actor on its data."""
    count, a, f = longs(t[w.T_ACTORS])[0], longs(t[w.T_INTS]), floats(t[w.T_NUMBERS])
    for actor in range(count):
        i, n = actor * w.INTS, actor * w.NUMBERS
        if a[i + w.ACTIVE] != 0 and a[i + w.MODE] == w.KINEMATIC:
            put_on_data(v, t, a, i, f, n, time)
