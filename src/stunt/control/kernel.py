"""One control step, compiled: from goals on the board to springs and torques in the engine.

Three phases around the engine's two half-steps (see `stunt.control.run`):

* `before`: springs for this step, from the moments of inertia of the step before;
* `between`: with inertia and bias of the present state known, full-coupling torques and feed-forward forces;
* `after`: what the joints really produced, for the record.
"""

from __future__ import annotations

from typing import Any

from stunt.compiled import compiled
from stunt.control.beat import approach, minimum_effort
from stunt.control.board import COMPENSATED, FULL, IMPEDANCE, LOCAL, PASSIVE
from stunt.control.coupled import eliminate_undriven, multiply
from stunt.control.goals import ball_error, hinge_error, joint_limits, quaternion_error, time_constant
from stunt.control.programs import programs_after, programs_before, programs_between
from stunt.control.springs import is_spring, link_moment, release_spring, spatial_moment, write_spring

_FREE, _BALL, _SLIDE = 0, 1, 2  # mjtJoint
_FREE_ROOT_FLOOR = 4.0
"""A free root on the ground is neither fixed nor floating; λ of at least so many periods keeps either guess stable."""


@compiled
def joint_dofs(kind: int) -> int:
    """Return the degrees of freedom of a joint type."""
    return 6 if kind == _FREE else 3 if kind == _BALL else 1


@compiled
def shortest(v: Any, dof: int) -> float:
    """Return the least λ allowed in a degree of freedom's tree [s]."""
    tree = v.dof_tree[dof]
    return _FREE_ROOT_FLOOR * v.times[1] if tree >= 0 and v.grounded[tree] else 0.0


@compiled
def before(v: Any, time: float) -> None:
    """Write this step's springs (see `stunt.control.springs`)."""
    programs_before(v, time)
    for j in range(v.sizes[2]):
        kind, vadr = v.jnt_type[j], v.jnt_dofadr[j]
        if is_spring(v.law[j], v.planted[vadr] != 0):
            write_spring(v, j, joint_dofs(kind), time, shortest(v, vadr))
        else:
            release_spring(v, j, joint_dofs(kind))


@compiled
def update_moments(v: Any) -> None:
    """Note the moment of inertia the gains scale by: own link, everything outboard, or everything inboard."""
    for i in range(v.sizes[1]):
        j, body = v.dof_jntid[i], v.dof_bodyid[i]
        if v.law[j] == PASSIVE:
            continue
        if v.planted[i]:
            # A joint with the ground outboard of it moves the rest of the body instead.
            whole = spatial_moment(v, v.body_rootid[body], i)
            v.moment[i] = whole - spatial_moment(v, body, i) + v.dof_armature[i]
        elif v.law[j] == LOCAL and v.jnt_type[j] != _SLIDE:
            v.moment[i] = v.dof_armature[i] + link_moment(v, i)
        else:
            v.moment[i] = v.mass_matrix[v.rowadr[i] + v.rownnz[i] - 1]


@compiled
def ask_accelerations(v: Any, time: float) -> bool:
    """Write the accelerations full coupling asks for; return whether any joint uses it."""
    found = False
    for j in range(v.sizes[2]):
        vadr = v.jnt_dofadr[j]
        if v.law[j] == FULL and not v.planted[vadr]:
            ask_joint(v, j, time)
            found = True
        else:
            for k in range(joint_dofs(v.jnt_type[j])):
                v.acceleration[vadr + k] = 0.0
    return found


@compiled
def ask_joint(v: Any, j: int, time: float) -> None:
    """Write one joint's asked acceleration, and the gains it amounts to."""
    kind, qadr, vadr = v.jnt_type[j], v.jnt_qposadr[j], v.jnt_dofadr[j]
    period, n = v.times[1], v.times[2]
    left = v.goal_time[j] - time
    lam = max(time_constant(time, v.goal_time[j], v.hold[j], period, n), shortest(v, vadr))
    effort = v.arrival[j] == 1 and left > 1e-9
    # Minimum effort aims at the goal itself, the critically damped pull at the point moving toward it.
    measured_left = 0.0 if effort else left
    if kind == _BALL:
        ball_error(v, qadr, vadr, measured_left, v.quaternion, 0)
    else:
        low, high = joint_limits(v, j)
        _, v.error[vadr], v.error_rate[vadr] = hinge_error(
            v.qpos[qadr], v.qvel[vadr], v.goal[qadr], v.goal_velocity[vadr], measured_left, low, high
        )
    ease = 1.0
    if v.ease[j] > 0.0 and left > 1e-9:
        ease = min(1.0, (time - v.start_time[j] + period) / v.ease[j])
    for k in range(joint_dofs(kind)):
        i = vadr + k
        if effort:
            asked = minimum_effort(v.error[i], v.qvel[i], v.goal_velocity[i], left, period)
        else:
            asked = approach(v.error[i], v.error_rate[i], lam, period)
        v.acceleration[i] = ease * asked
        v.stiffness[i] = v.moment[i] / (lam * lam)
        v.damping[i] = 2.0 * v.moment[i] / lam


@compiled
def list_undriven(v: Any) -> int:
    """List the degrees of freedom that accelerate as they must, in trees that full coupling drives; return how many."""
    nv = v.sizes[1]
    for tree in range(v.sizes[3]):
        v.tree_driven[tree] = 0
    for i in range(nv):
        v.undriven_index[i] = -1
        if v.law[v.dof_jntid[i]] == FULL:
            v.tree_driven[v.dof_tree[i]] = 1
    count = 0
    for i in range(nv):
        j, tree = v.dof_jntid[i], v.dof_tree[i]
        carried = v.jnt_type[j] == _FREE and v.grounded[tree]  # stays put: gravity is felt in the joints
        if v.law[j] == PASSIVE and v.tree_driven[tree] and not carried:
            v.undriven[count] = i
            v.undriven_index[i] = count
            count += 1
    return count


@compiled
def full_torques(v: Any) -> None:
    """Turn the asked accelerations into torques within each joint's strength."""
    nv, h = v.sizes[1], v.times[0]
    for i in range(nv):
        # The engine steps (M + hD + h²K)·a = …: with the model's own D and K counted, a is met exactly.
        own = v.own_stiffness[v.dof_jntid[i]]
        v.implicit[i] = h * v.own_damping[i] + h * h * own
        v.force[i] = v.passive[i] - v.bias[i] - h * own * v.qvel[i]
    multiply(nv, v.rownnz, v.rowadr, v.colind, v.mass_matrix, v.acceleration, v.product)
    count = list_undriven(v)
    if count > 0:
        eliminate_undriven(count, v)
        multiply(nv, v.rownnz, v.rowadr, v.colind, v.mass_matrix, v.acceleration, v.product)
    for i in range(nv):
        j = v.dof_jntid[i]
        if v.law[j] != FULL or v.planted[i]:
            continue
        torque = v.product[i] + v.implicit[i] * v.acceleration[i]
        if v.feed_bias[j]:
            torque -= v.force[i]
        v.saturated[i] = 1 if abs(torque) > v.limit[i] else 0
        v.applied[i] = min(max(torque, -v.limit[i]), v.limit[i])


@compiled
def spring_feed_forward(v: Any) -> None:
    """Write the forces that go with the springs: bias, arrival velocity, and what the parents impose."""
    for i in range(v.sizes[1]):
        j = v.dof_jntid[i]
        parent = v.dof_parentid[i]
        for k in range(3):
            v.inboard[3 * i + k] = v.inboard[3 * parent + k] if parent >= 0 else 0.0
        if not is_spring(v.law[j], v.planted[i] != 0):
            continue
        push = v.damping[i] * (v.error_rate[i] + v.qvel[i])  # k_d·ω_ref: the engine's damper only knows rest
        if v.law[j] == IMPEDANCE:
            push += v.feed_forward[i]
        if v.law[j] == COMPENSATED and v.jnt_type[j] != _SLIDE:
            push += impose(v, i, v.stiffness[i] * v.error[i] - v.damping[i] * v.qvel[i] + push)
        # Passive forces (the model's own springs) are not part of the bias that must be carried.
        bias = v.bias[i] if v.feed_bias[j] else 0.0
        v.applied[i] = min(max(v.scale[i] * push + bias, -v.limit[i]), v.limit[i])
        v.saturated[i] = 1 if v.scale[i] < 1.0 or abs(v.applied[i]) >= v.limit[i] else 0


@compiled
def impose(v: Any, i: int, torque: float) -> float:
    """Return the torque against what inboard joints impose (P0 eq. 9), and hand this joint's own share on (eq. 8).

    The printed eq. 9 is an acceleration and lacks the moment of inertia. Gravity's feed-forward accelerates nothing and
    is left out of eq. 8, as is the compensation itself, which only keeps up with the parents.
    """
    imposed = 0.0
    for k in range(3):
        imposed += v.inboard[3 * i + k] * v.cdof[6 * i + k]
    for k in range(3):
        v.inboard[3 * i + k] += torque / v.moment[i] * v.cdof[6 * i + k]
    return v.moment[i] * imposed


@compiled
def between(v: Any, time: float, model: int, data: int) -> None:
    """Write torques and feed-forward forces for the present state."""
    update_moments(v)
    for i in range(v.sizes[1]):
        v.applied[i] -= v.pull[i]
        v.pull[i] = 0.0
    programs_between(v, time, model, data)
    for i in range(v.sizes[1]):
        if v.law[v.dof_jntid[i]] == PASSIVE:
            continue
        v.applied[i] = 0.0
        v.carried[i] = v.bias[i]
    if ask_accelerations(v, time):
        full_torques(v)
    spring_feed_forward(v)
    for i in range(v.sizes[1]):
        v.applied[i] += v.pull[i]
    programs_after(v, time)


@compiled
def after(v: Any) -> None:
    """Note what every driven joint produced in the step: feed-forward and torque, plus the spring where it ended."""
    for j in range(v.sizes[2]):
        if v.law[j] == PASSIVE:
            continue
        kind, qadr, vadr = v.jnt_type[j], v.jnt_qposadr[j], v.jnt_dofadr[j]
        spring = is_spring(v.law[j], v.planted[vadr] != 0)
        if spring and kind == _BALL:
            quaternion_error(v.qpos, qadr, v.rest, qadr, v.error, vadr)
        elif spring:
            v.error[vadr] = v.rest[qadr] - v.qpos[qadr]
        for k in range(joint_dofs(kind)):
            i = vadr + k
            v.torque[i] = v.applied[i] - v.pull[i]
            v.saturated_steps[i] += v.saturated[i]
            if spring:
                v.torque[i] += v.scale[i] * (v.stiffness[i] * v.error[i] - v.damping[i] * v.qvel[i])
