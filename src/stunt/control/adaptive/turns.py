"""Orientations under the adaptive law, compiled: of ball joints, and of sites that a string turns.

One controller per axis of the frame a turn is counted in: a ball joint's parent, a site's world. Errors are rotation
vectors there. A ball joint acts through the board's spring as a hinge does; the engine has one stiffness for its three
axes, so that all scale by the inertia of the heaviest, and the lighter ones are only held more stiffly.
"""

from __future__ import annotations

import math
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.adaptive.law import BETA, adapt, drive, model_step
from stunt.maths.compiled import compiled
from stunt.maths.flat import exponential, product, rotated, turn, world_difference
from stunt.maths.piecewise import evaluate
from stunt.maths.pointers import layout, record

LEAD: Final = (2.0 + BETA) / (1.0 + BETA)

BALL: Final = layout(
    ("qpos", np.int64),  # where its quaternion and
    ("dof", np.int64),  # its spin begin
    ("turn_first", np.int64),  # where its path's pieces begin,
    ("turn_count", np.int64),  # how many there are,
    ("turn_hint", np.int64),  # and which was the last one
    ("lam", np.float64),  # λ [1/s]
    ("ratio", np.float64),  # damping ratio of its model
    ("transition", np.float64, 4),  # of its model in one period
    ("model_turn", np.float64, 4),  # how its model is turned against the parent,
    ("model_spin", np.float64, 3),  # and how fast that changes [rad/s]
    ("turn_gains", np.float64, 12),  # four of each axis of the parent
    ("turn_error", np.float64),  # angle from its path [rad]
    ("turn_squares", np.float64),  # sum of its square
    ("steps", np.float64),  # over so many control steps
    ("turn_worst", np.float64),  # largest squared angle
    ("worst_time", np.float64),  # [s]
)
"""A driven ball joint."""

ball_at = record(BALL)


def new_ball(model: mujoco.MjModel, data: mujoco.MjData, joint: int) -> NDArray[Any]:
    """Start the model where the joint is, and the constant gains at what holds it there, as of hinges."""
    new, qpos, dof = np.zeros(1, BALL), int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    turn, spin, held, own = data.qpos[qpos : qpos + 4], np.zeros(3), np.zeros(3), np.arange(dof, dof + 3)
    mujoco.mju_rotVecQuat(spin, data.qvel[own], turn)
    mujoco.mju_rotVecQuat(held, data.qfrc_bias[own], turn)
    inertia = data.M[model.M_rowadr[own] + model.M_rownnz[own] - 1].max()
    new["qpos"], new["dof"], new["model_turn"], new["model_spin"] = qpos, dof, turn, spin
    new["turn_gains"][0, 3::4] = held / inertia if inertia > 0.0 else 0.0
    return new


@compiled
def wanted_orientation(t: Any, row: Any, time: float) -> None:
    """Write the desired orientation, its angular velocity and acceleration to the scratch."""
    s, length = t.scratch, 0.0
    for k in range(4):
        row.turn_hint, s.wanted[k], s.wanted_spin[k], s.wanted_push[k] = evaluate(
            t.breaks, t.coefficients, row.turn_first, row.turn_count, row.turn_hint, k, time
        )
        length += s.wanted[k] ** 2
    length = math.sqrt(max(length, 1e-12))
    for k in range(4):
        s.wanted[k] /= length
    spin_of(s.wanted_spin, s.wanted, length)  # ω = 2·q̇⊗q*
    spin_of(s.wanted_push, s.wanted, length)  # ω̇ = 2·q̈⊗q*


@compiled
def spin_of(change: Any, quat: Any, length: float) -> None:
    """Replace the change of a quaternion of some length by the vector 2·q̇⊗q* of the unit one."""
    w, x, y, z = change[0] / length, change[1] / length, change[2] / length, change[3] / length
    e, i, j, k = quat[0], -quat[1], -quat[2], -quat[3]
    change[0] = 2.0 * (w * i + x * e + y * k - z * j)
    change[1] = 2.0 * (w * j - x * k + y * e + z * i)
    change[2] = 2.0 * (w * k + x * j - y * i + z * e)


@compiled
def lead_turn(t: Any, row: Any, time: float, base: int, h: float, frozen: bool) -> None:
    """Advance the model and the gains of a turn whose orientation is the scratch's `now`, and its spin `rate[base:]`.

    Leaves in the scratch how far the model is ahead (`error`, `lag`), its acceleration (`ask[base:]`) and what was
    learned. An axis that its last push, if that is at the limit, would have go on that way (`held`) learns nothing.
    """
    s, lam = t.scratch, row.lam
    wanted_orientation(t, row, time)
    world_difference(s.wanted, 0, s.now, 0, s.error, 0)
    off = s.error[0] ** 2 + s.error[1] ** 2 + s.error[2] ** 2
    row.turn_error = math.sqrt(off)
    row.turn_squares += off
    row.turn_worst = max(row.turn_worst, off)
    world_difference(row.model_turn, 0, s.now, 0, s.error, 0)
    world_difference(row.model_turn, 0, s.wanted, 0, s.model_error, 0)  # how far the model is from the path
    for k in range(3):
        wd, ad, wm = s.wanted_spin[k], s.wanted_push[k], row.model_spin[k]
        later, rate = model_step(s.model_error[k], wm - wd, 0.0, 0.0, 0.0, h, row.transition)
        spin, s.lag[k] = s.rate[base + k], wm - s.rate[base + k]
        y = drive(s.error[k], s.lag[k], lam)
        # An orientation has no zero to scale by: only spin and the constant are regressors.
        stop = frozen or s.held[k] * y > 0.0
        s.learned[k] = adapt(row.turn_gains, 4 * k, 0.0, spin / lam, 0.0, y, lam, h, stop)
        row.model_spin[k] = wd + h * ad + rate
        s.ask[base + k] = (row.model_spin[k] - wm) / h
        s.model_later[k] = later
        s.path_later[k] = h * (wd + 0.5 * h * ad)
    for k in range(4):
        row.model_turn[k] = s.wanted[k]
    turn(s.path_later, 0, row.model_turn, 0, s.spare, 0)
    turn(s.model_later, 0, row.model_turn, 0, s.spare, 0)


@compiled
def drive_ball(v: Any, t: Any, ball: Any, time: float) -> None:
    """Advance one ball joint's model and gains, and write its spring and feed-forward to the board."""
    s, q, i, h, lam = t.scratch, ball.qpos, ball.dof, v.times.period, ball.lam
    a, b, c, d = v.qpos[q], v.qpos[q + 1], v.qpos[q + 2], v.qpos[q + 3]
    s.now[0], s.now[1], s.now[2], s.now[3] = a, b, c, d
    s.rate[0], s.rate[1], s.rate[2] = rotated(a, b, c, d, v.qvel[i], v.qvel[i + 1], v.qvel[i + 2])
    limit = 1.0 if v.saturated[i] + v.saturated[i + 1] + v.saturated[i + 2] > 0 else 0.0
    s.held[0], s.held[1], s.held[2] = rotated(
        a, b, c, d, limit * v.torque[i], limit * v.torque[i + 1], limit * v.torque[i + 2]
    )
    worst = ball.turn_worst
    lead_turn(t, ball, time, 0, h, False)
    ball.steps += 1.0
    if ball.turn_worst > worst:
        ball.worst_time = time
    moment = max(v.moment[i], v.moment[i + 1], v.moment[i + 2])
    x, y, z = rotated(a, -b, -c, -d, s.ask[0], s.ask[1], s.ask[2])
    v.feed_forward[i], v.feed_forward[i + 1] = v.moment[i] * x, v.moment[i + 1] * y
    v.feed_forward[i + 2] = v.moment[i + 2] * z
    x, y, z = rotated(a, -b, -c, -d, s.learned[0], s.learned[1], s.learned[2])
    v.feed_forward[i] += moment * x
    v.feed_forward[i + 1] += moment * y
    v.feed_forward[i + 2] += moment * z
    for k in range(3):
        v.stiffness[i + k] = (1.0 + BETA) * moment * lam * lam
        v.damping[i + k] = (2.0 + BETA) * moment * lam
    # Where the model will be at the end of a step, on average over the period (as of hinges), and ahead of that by the
    # damper's drag: the engine's only knows rest.
    back = (0.5 - 0.5 * v.times.step / h) * h
    for k in range(3):
        spin = ball.model_spin[k] - back * s.ask[k]
        s.path_later[k] = spin * (LEAD / lam - back)
    e, f, g, o = exponential(s.path_later[0], s.path_later[1], s.path_later[2])
    m = ball.model_turn
    v.rest[q], v.rest[q + 1], v.rest[q + 2], v.rest[q + 3] = product(e, f, g, o, m[0], m[1], m[2], m[3])
    w = s.wanted
    v.goal[q], v.goal[q + 1], v.goal[q + 2], v.goal[q + 3] = w[0], w[1], w[2], w[3]
    v.goal_velocity[i], v.goal_velocity[i + 1], v.goal_velocity[i + 2] = rotated(
        w[0], -w[1], -w[2], -w[3], s.wanted_spin[0], s.wanted_spin[1], s.wanted_spin[2]
    )
