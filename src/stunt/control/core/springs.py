"""Laws that act as joint springs: the per-joint beat couplings, given impedances, and joints that carry the body.

The springs are the engine's own (`jnt_stiffness`, `dof_damping`, `qpos_spring`): under the `discrete` integrator they
are solved implicitly together with the contacts, so that gains of any size are stable at 120 Hz. They must be written
*before* the first half-step, which evaluates them; their feed-forward force is written after it, when gravity and
Coriolis forces of the present state are known.
"""

from __future__ import annotations

from typing import Any

from stunt.control.core.board import COMPENSATED, COMPOSITE, IMPEDANCE, LOCAL, STANDING
from stunt.control.core.engine import BALL
from stunt.control.core.goals import ball_error, hinge_error, joint_limits, quaternion_error
from stunt.maths.compiled import compiled, inlined


@inlined
def is_spring(law: int, planted: bool) -> bool:
    """Whether a joint is driven by a spring: by its law, or because it carries the body."""
    if law == LOCAL or law == COMPOSITE or law == COMPENSATED or law == IMPEDANCE:
        return True
    return planted and law != 0 and law != STANDING


@inlined
def aim_spring(v: Any, j: int, ndof: int, left: float, rate: float) -> None:
    """Set rest, stiffness and damping of a beat-law spring on the board: k_s = m/λ², k_d = 2m/λ (P0 eq. 4).

    Args:
        v: Views.
        j: The joint.
        ndof: Its degrees of freedom.
        left: Time left until its beat [s].
        rate: 1/λ [1/s].
    """
    kind, qadr, vadr = v.jnt_type[j], v.jnt_qposadr[j], v.jnt_dofadr[j]
    period = v.times.period
    # The reference is where it will be at the end of the period: that is where an implicit spring is evaluated.
    if kind == BALL:
        ball_error(v, qadr, vadr, left - period, v.rest, qadr)
    elif v.goal_velocity[vadr] == 0.0:
        v.rest[qadr] = v.goal[qadr]
        v.error[vadr], v.error_rate[vadr] = v.goal[qadr] - v.qpos[qadr], -v.qvel[vadr]
    else:
        low, high = joint_limits(v, j)
        v.rest[qadr], v.error[vadr], v.error_rate[vadr] = hinge_error(
            v.qpos[qadr], v.qvel[vadr], v.goal[qadr], v.goal_velocity[vadr], left - period, low, high
        )
    for i in range(vadr, vadr + ndof):
        moment = v.moment[i]
        v.stiffness[i], v.damping[i] = moment * rate * rate, 2.0 * moment * rate
    if v.arrival[j] == 1 and left > 1e-9:
        aim_with_least_effort(v, vadr, ndof, qadr if kind != BALL else -1, max(left, period))


@compiled
def aim_with_least_effort(v: Any, vadr: int, ndof: int, qadr: int, left: float) -> None:
    """Replace the gains by those of a = 6e/T² − (4ω+2ω̂)/T: a spring to the goal itself and a damper toward −ω̂/2."""
    for i in range(vadr, vadr + ndof):
        v.stiffness[i], v.damping[i] = 6.0 * v.moment[i] / (left * left), 4.0 * v.moment[i] / left
        v.error_rate[i] = -0.5 * v.goal_velocity[i] - v.qvel[i]
    if qadr >= 0:
        v.rest[qadr] = v.goal[qadr]
        v.error[vadr] = v.goal[qadr] - v.qpos[qadr]


@inlined
def write_spring(v: Any, j: int, ndof: int, left: float, rate: float) -> None:
    """Set one joint's spring for this control step, weak enough to stay within the joint's strength.

    A spring cannot be clamped without losing its implicit treatment; scaling stiffness, damping and feed-forward by
    limit/prediction keeps it a spring. The limit is soft: an impact within the step may exceed it.

    Args:
        v: Views.
        j: The joint.
        ndof: Its degrees of freedom.
        left: Time left until its beat [s].
        rate: 1/λ of its pull [1/s].
    """
    kind, qadr, vadr = v.jnt_type[j], v.jnt_qposadr[j], v.jnt_dofadr[j]
    if v.law[j] != IMPEDANCE:
        aim_spring(v, j, ndof, left, rate)
    elif kind == BALL:
        quaternion_error(v.qpos, qadr, v.rest, qadr, v.error, vadr)
        for k in range(3):
            v.error_rate[vadr + k] = -v.qvel[vadr + k]
    else:
        # Where the step ends, which is where the engine takes the spring's force.
        v.error[vadr] = v.rest[qadr] - v.qpos[qadr] - v.times.step * v.qvel[vadr]
        v.error_rate[vadr] = -v.qvel[vadr]
    scale, stiffness = 1.0, 0.0
    for k in range(ndof):
        i = vadr + k
        predicted = v.stiffness[i] * v.error[i] + v.damping[i] * v.error_rate[i]
        if v.law[j] == IMPEDANCE:
            predicted += v.feed_forward[i]
        # What gravity needs, as of the last step, comes first; the spring has what is left of the strength.
        bias = v.carried[i] if v.feed_bias[j] else 0.0
        if abs(predicted + bias) > v.limit[i]:
            room = max(v.limit[i] - bias if predicted > 0.0 else v.limit[i] + bias, 0.0)
            scale = min(scale, room / abs(predicted))
        stiffness += v.stiffness[i]
    if ndof > 1:
        stiffness /= ndof  # the engine has one stiffness per joint: a ball joint's is the mean
    v.jnt_stiffness[j] = v.own_stiffness[j] + scale * stiffness
    for k in range(ndof):
        v.scale[vadr + k] = scale
        v.dof_damping[vadr + k] = v.own_damping[vadr + k] + scale * v.damping[vadr + k]
    if kind == BALL:
        for k in range(4):
            v.qpos_spring[qadr + k] = v.rest[qadr + k]
    elif v.own_stiffness[j] == 0.0:
        v.qpos_spring[qadr] = v.rest[qadr]
    else:  # two springs side by side
        own, added = v.own_stiffness[j], scale * stiffness
        v.qpos_spring[qadr] = (own * v.own_rest[qadr] + added * v.rest[qadr]) / (own + added)


@inlined
def write_impedance(v: Any, j: int) -> None:
    """Set a hinge's or slide's given spring for this control step: `write_spring` for what most joints are.

    Programs put one on every joint they drive; what only beats and ball joints need is left out.
    """
    q, i = v.jnt_qposadr[j], v.jnt_dofadr[j]
    rest, rate, stiffness, damping = v.rest[q], v.qvel[i], v.stiffness[i], v.damping[i]
    # Where the step ends, which is where the engine takes the spring's force.
    error = rest - v.qpos[q] - v.times.step * rate
    predicted = stiffness * error - damping * rate + v.feed_forward[i]
    bias, most, scale = v.carried[i] if v.feed_bias[j] else 0.0, v.limit[i], 1.0
    if abs(predicted + bias) > most:
        scale = min(1.0, max(most - bias if predicted > 0.0 else most + bias, 0.0) / abs(predicted))
    own, added = v.own_stiffness[j], scale * stiffness
    v.error[i], v.error_rate[i], v.scale[i] = error, -rate, scale
    v.jnt_stiffness[j] = own + added
    v.dof_damping[i] = v.own_damping[i] + scale * damping
    # Two springs side by side where the model has one of its own.
    v.qpos_spring[q] = rest if own == 0.0 else (own * v.own_rest[q] + added * rest) / (own + added)


@inlined
def release_spring(v: Any, j: int, ndof: int) -> None:
    """Give a joint that no spring drives the model's own stiffness and damping back."""
    qadr, vadr = v.jnt_qposadr[j], v.jnt_dofadr[j]
    v.jnt_stiffness[j] = v.own_stiffness[j]
    for k in range(ndof):
        v.dof_damping[vadr + k] = v.own_damping[vadr + k]
        v.scale[vadr + k] = 1.0
    for k in range(ndof if ndof == 1 else ndof + 1):
        v.qpos_spring[qadr + k] = v.own_rest[qadr + k]


@inlined
def spatial_moment(v: Any, body: int, i: int) -> float:
    """Return sᵀ I s of a body's composite inertia about degree of freedom i's motion axis s [kg·m²].

    The engine packs a composite as six tensor entries, mass × centre, and mass.
    """
    s, c = 6 * i, 10 * body
    w0, w1, w2, l0, l1, l2 = v.cdof[s], v.cdof[s + 1], v.cdof[s + 2], v.cdof[s + 3], v.cdof[s + 4], v.cdof[s + 5]
    turning = (
        v.crb[c] * w0 * w0 + v.crb[c + 1] * w1 * w1 + v.crb[c + 2] * w2 * w2
        + 2.0 * (v.crb[c + 3] * w0 * w1 + v.crb[c + 4] * w0 * w2 + v.crb[c + 5] * w1 * w2)
    )  # fmt: skip
    m0, m1, m2, mass = v.crb[c + 6], v.crb[c + 7], v.crb[c + 8], v.crb[c + 9]
    coupling = 2.0 * (w0 * (m1 * l2 - m2 * l1) + w1 * (m2 * l0 - m0 * l2) + w2 * (m0 * l1 - m1 * l0))
    return turning + coupling + mass * (l0 * l0 + l1 * l1 + l2 * l2)


@inlined
def link_moment(v: Any, i: int) -> float:
    """Return the own link's moment of inertia about a turning degree of freedom: the `local` level [kg·m²]."""
    body, joint = v.dof_bodyid[i], v.dof_jntid[i]
    # The first half of the engine's motion axis is the axis of rotation in the world.
    a0, a1, a2 = v.cdof[6 * i], v.cdof[6 * i + 1], v.cdof[6 * i + 2]
    moment = 0.0
    for k in range(3):
        r = 9 * body + k
        along = v.ximat[r] * a0 + v.ximat[r + 3] * a1 + v.ximat[r + 6] * a2
        moment += v.body_inertia[3 * body + k] * along * along
    r0 = v.xipos[3 * body] - v.xanchor[3 * joint]
    r1 = v.xipos[3 * body + 1] - v.xanchor[3 * joint + 1]
    r2 = v.xipos[3 * body + 2] - v.xanchor[3 * joint + 2]
    c0, c1, c2 = r1 * a2 - r2 * a1, r2 * a0 - r0 * a2, r0 * a1 - r1 * a0
    return moment + v.body_mass[body] * (c0 * c0 + c1 * c1 + c2 * c2)
