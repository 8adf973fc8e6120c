"""Laws that act as joint springs: the per-joint beat couplings, given impedances, and joints that carry the body.

The springs are the engine's own (`jnt_stiffness`, `dof_damping`, `qpos_spring`): under the `discrete` integrator they
are solved implicitly together with the contacts, so that gains of any size are stable at 120 Hz. They must be written
*before* the first half-step, which evaluates them; their feed-forward force is written after it, when gravity and
Coriolis forces of the present state are known.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.core.board import COMPENSATED, COMPOSITE, IMPEDANCE, LOCAL, STANDING
from stunt.control.core.engine import BALL
from stunt.control.core.goals import ball_error, hinge_error, joint_limits, quaternion_error
from stunt.maths.compiled import compiled, inlined

OVER: Final = 1.001
"""A torque that is longer than so many times a joint's strength is over it."""


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

    Scaling stiffness, damping and feed-forward by limit/prediction keeps it a spring, solved implicitly. What a contact
    or another limb adds within the step is not in the prediction: a step that went over is taken again (`cut_springs`).

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
    along = across = beyond = 0.0
    for k in range(ndof):
        i = vadr + k
        predicted = v.stiffness[i] * v.error[i] + v.damping[i] * v.error_rate[i]
        if v.law[j] == IMPEDANCE:
            predicted += v.feed_forward[i]
        # What gravity needs, as of the last step, comes first; the spring has what is left of the strength.
        bias = v.carried[i] if v.feed_bias[j] else 0.0
        along, across, beyond = along + predicted * predicted, across + predicted * bias, beyond + bias * bias
    engage_spring(v, j, ndof, share_within(along, across, beyond, v.limit[vadr]))


@inlined
def share_within(square: float, product: float, other: float, most: float) -> float:
    """Return the largest share s of a torque p, 0 to 1, with which |b + s·p| is no longer than a strength.

    Args:
        square: |p|².
        product: p·b.
        other: |b|², of what goes before it.
        most: The strength.
    """
    if square + 2.0 * product + other <= most * most:
        return 1.0
    root = product * product - square * (other - most * most)
    if root <= 0.0:
        return 0.0
    return min(1.0, max(0.0, (math.sqrt(root) - product) / square))


@inlined
def engage_spring(v: Any, j: int, ndof: int, scale: float) -> None:
    """Write a share of a joint's spring to the model, beside the model's own."""
    qadr, vadr, stiffness = v.jnt_qposadr[j], v.jnt_dofadr[j], 0.0
    for k in range(ndof):
        stiffness += v.stiffness[vadr + k]
        v.scale[vadr + k] = scale
        v.dof_damping[vadr + k] = v.own_damping[vadr + k] + scale * v.damping[vadr + k]
    # The engine has one stiffness per joint: a ball joint's is the mean.
    own, added = v.own_stiffness[j], scale * stiffness / ndof
    v.jnt_stiffness[j] = own + added
    if v.jnt_type[j] == BALL:
        for k in range(4):
            v.qpos_spring[qadr + k] = v.rest[qadr + k]
    else:  # two springs side by side where the model has one of its own
        v.qpos_spring[qadr] = (
            v.rest[qadr] if own == 0.0 else (own * v.own_rest[qadr] + added * v.rest[qadr]) / (own + added)
        )


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
def spring_torque(v: Any, i: int) -> float:
    """Return what a spring and its feed-forward produce in one degree of freedom, its error up to date [N·m]."""
    spring = v.scale[i] * (v.stiffness[i] * v.error[i] - v.damping[i] * v.qvel[i])
    return float(v.applied[i] - v.pull[i] + spring)


@inlined
def note_errors(v: Any, j: int) -> None:
    """Write how far a joint is from its spring's rest."""
    qadr, vadr = v.jnt_qposadr[j], v.jnt_dofadr[j]
    if v.jnt_type[j] == BALL:
        quaternion_error(v.qpos, qadr, v.rest, qadr, v.error, vadr)
    else:
        v.error[vadr] = v.rest[qadr] - v.qpos[qadr]


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
