"""Kinematic actors, compiled: the body is where its data says, at the velocity its data says.

Between frames every coordinate is a cubic Hermite curve through positions and velocities, orientations in the tangent
space of the earlier frame, so that position and velocity are continuous whatever the frame rate.

Data comes in two parts: a lead of its own frames (a blend from what went before), and the motion's frames as they are,
placed over the ground by a turn and a shift, round after round where it loops. Nothing is laid out ahead, so a walk may
go on for an hour without anybody's doing.

Contacts see a body that is being accelerated along its data, with its true inertia or a multiple of it (`kin_firm`: a
kicking leg is held by its muscles and weighs more than a limp one); afterwards its state is put back on the data.
Pushed once, an obstacle moves as if a free body had hit it; pushed for several steps, it goes where the data goes. What
contacts and pushes did to the body meanwhile is not lost: the impulse is remembered (`owed`), and who hands the body
over to forces may give it back to it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.core.engine import BALL
from stunt.control.servo.memory import KINEMATIC, actor_at
from stunt.maths.compiled import compiled
from stunt.maths.flat import cross, exponential, logarithm, product
from stunt.maths.pointers import floats

MEMORY: Final = 0.02
"""Time constant with which an impulse that nobody claimed is forgotten [s]."""

LEAST: Final = 1e-6
"""What is smaller is no push but a rounding error [N, N·m]."""


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
def turn_hermite(
    rows: Any, q0: int, u0: int, q1: int, u1: int, s: float, seconds: float, where: Any, q: int, pace: Any, d: int
) -> None:
    """Write an orientation between two frames, and its angular velocity in its own frame.

    The earlier quaternion is at `rows[q0]`, its angular velocity at `rows[u0]`; those of the later one at `q1` and
    `u1`. Of the interval, so many `seconds` long, a share `s` has passed. Written to `where[q]` and `pace[d]`.
    """
    w, a, b, c = rows[q0], rows[q0 + 1], rows[q0 + 2], rows[q0 + 3]
    r, i, j, k = product(w, -a, -b, -c, rows[q1], rows[q1 + 1], rows[q1 + 2], rows[q1 + 3])
    x, y, z = logarithm(r, i, j, k)  # from the earlier to the later one
    # The later angular velocity as a rate of that rotation vector: ω + ½ r×ω + ⅟₁₂ r×(r×ω).
    i, j, k = cross(x, y, z, rows[u1], rows[u1 + 1], rows[u1 + 2])
    e, f, g = cross(x, y, z, i, j, k)
    x, i = hermite(0.0, rows[u0], x, rows[u1] + 0.5 * i + e / 12.0, s, seconds)
    y, j = hermite(0.0, rows[u0 + 1], y, rows[u1 + 1] + 0.5 * j + f / 12.0, s, seconds)
    z, k = hermite(0.0, rows[u0 + 2], z, rows[u1 + 2] + 0.5 * k + g / 12.0, s, seconds)
    # Back: q = q0·exp(r), ω = ṙ − ½ r×ṙ + ⅙ r×(r×ṙ).
    e, f, g = cross(x, y, z, i, j, k)
    m, n, o = cross(x, y, z, e, f, g)
    pace[d], pace[d + 1], pace[d + 2] = i - 0.5 * e + m / 6.0, j - 0.5 * f + n / 6.0, k - 0.5 * g + o / 6.0
    r, i, j, k = exponential(x, y, z)
    where[q], where[q + 1], where[q + 2], where[q + 3] = product(w, a, b, c, r, i, j, k)


@compiled
def data_state(v: Any, t: Any, who: Any, time: float) -> None:
    """Write where an actor's data has it at a time, and how fast, to `where` and `pace`; held at its ends."""
    frame, lead = max((time - who.kin_start) * who.kin_fps, 0.0), who.kin_frames
    low = int(frame)
    if low < lead - 1:
        between_frames(v, t, who, who.kin_rows, low, frame - low)
        return
    last = who.kin_base_frames - 1
    low += who.kin_first - last * int(who.kin_rounds)
    if who.kin_loop != 0:
        while low >= last:
            next_round(who)
            low -= last
    if low < 0:  # a round's very first moment, seen from a rounding error before it
        low, frame = 0, 0.0
    late = low >= last
    share = 1.0 if late else frame - int(frame)
    between_frames(v, t, who, who.kin_base, min(low, last - 1), share)
    place(t, who)
    if late:
        pace = t.pace
        for d in range(who.root_dof, who.dof1):
            pace[d] = 0.0


@compiled
def next_round(who: Any) -> None:
    """Place a looping motion's next round where the last one ended."""
    angle, x, y = who.kin_at[2], who.kin_step[0], who.kin_step[1]
    who.kin_at[0] += math.cos(angle) * x - math.sin(angle) * y
    who.kin_at[1] += math.sin(angle) * x + math.cos(angle) * y
    who.kin_at[2] += who.kin_step[2]
    who.kin_rounds += 1.0


@compiled
def place(t: Any, who: Any) -> None:
    """Move an actor's root, as its motion has it, to where the motion is placed."""
    where, pace, q, d = t.where, t.pace, who.root_qpos, who.root_dof
    angle = who.kin_at[2]
    cos, sin, c, s = math.cos(angle), math.sin(angle), math.cos(0.5 * angle), math.sin(0.5 * angle)
    x, y = where[q], where[q + 1]
    where[q], where[q + 1] = who.kin_at[0] + cos * x - sin * y, who.kin_at[1] + sin * x + cos * y
    pace[d], pace[d + 1] = cos * pace[d] - sin * pace[d + 1], sin * pace[d] + cos * pace[d + 1]
    w0, x, y, z = where[q + 3], where[q + 4], where[q + 5], where[q + 6]
    where[q + 3], where[q + 6] = c * w0 - s * z, c * z + s * w0
    where[q + 4], where[q + 5] = c * x - s * y, c * y + s * x


@compiled
def between_frames(v: Any, t: Any, who: Any, address: int, low: int, s: float) -> None:
    """Write a state between a frame and the next one, as the frames have it."""
    where, pace = t.where, t.pace
    rows, seconds, root_q, root_d = floats(address), 1.0 / who.kin_fps, who.root_qpos, who.root_dof
    nq, nv = who.qpos1 - root_q, who.dof1 - root_d
    first, second = low * (nq + nv), (low + 1) * (nq + nv)
    for k in range(3):
        p, r = first + nq + k, second + nq + k
        where[root_q + k], pace[root_d + k] = hermite(rows[first + k], rows[p], rows[second + k], rows[r], s, seconds)
    turn_hermite(
        rows, first + 3, first + nq + 3, second + 3, second + nq + 3, s, seconds, where, root_q + 3, pace, root_d + 3
    )
    for j in range(who.jnt0, who.jnt1):
        q, d = v.jnt_qposadr[j], v.jnt_dofadr[j]
        q0, u0 = first + q - root_q, first + nq + d - root_d
        q1, u1 = second + q - root_q, second + nq + d - root_d
        if v.jnt_type[j] == BALL:
            turn_hermite(rows, q0, u0, q1, u1, s, seconds, where, q, pace, d)
        else:
            where[q], pace[d] = hermite(rows[q0], rows[u0], rows[q1], rows[u1], s, seconds)


@compiled
def push_along(v: Any, t: Any, who: Any, time: float) -> None:
    """Write the forces that take an actor to its data's velocity in this step, if nothing is in the way."""
    data_state(v, t, who, time + v.times.step)
    pace, first, last, h = t.pace, who.root_dof, who.dof1, v.times.step
    firm = who.kin_firm
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
def put_on_data(v: Any, t: Any, who: Any, time: float) -> None:
    """After a step: remember what contacts and pushes gave, and put the actor where its data has it."""
    h = v.times.step
    owed, constraint, smooth = t.owed, t.constraint, t.smooth
    where, pace = t.where, t.pace  # as `push_along` left them: of the step's end
    keep = max(0.0, 1.0 - h / MEMORY)
    for d in range(who.root_dof, who.dof1):
        pushed = smooth[d] - (v.passive[d] - v.bias[d] + v.applied[d])  # what acts on its bodies from outside
        if abs(pushed) > LEAST:  # while somebody pushes nothing is forgotten
            owed[d] += h * (constraint[d] + pushed)
        else:
            owed[d] = keep * owed[d] + h * constraint[d]
        v.qvel[d], v.torque[d], v.saturated[d] = pace[d], 0.0, 0
    for q in range(who.root_qpos, who.qpos1):
        v.qpos[q] = where[q]


@compiled
def put_all(v: Any, t: Any, time: float) -> None:
    """Put every kinematic actor on its data."""
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if who.active != 0 and who.mode == KINEMATIC:
            put_on_data(v, t, who, time)
