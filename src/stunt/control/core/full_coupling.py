"""Full coupling: what acceleration each joint asks for, and the torques that give it to all at once, M(q)·a + c(q, v).

P0 names this as the O(n³) alternative to its own compensation; with the engine's sparse M it is one sparse product.
What no joint drives (a free root in the air, passive joints) accelerates as it must: those rows are eliminated first,
so that a leaping character's arms are not driven as if its pelvis were bolted down.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.beat.law import minimum_effort
from stunt.control.core.board import FULL, PASSIVE
from stunt.control.core.engine import BALL, FREE
from stunt.control.core.goals import ball_error, hinge_error, joint_limits, time_constant
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import factor, solve


@compiled
def multiply(count: int, rownnz: Any, rowadr: Any, colind: Any, values: Any, x: Any, out: Any) -> None:
    """Write M·x for the engine's lower-triangular sparse M."""
    for i in range(count):
        out[i] = 0.0
    for i in range(count):
        start, length = rowadr[i], rownnz[i]
        total = 0.0
        for k in range(start, start + length - 1):
            j = colind[k]
            total += values[k] * x[j]
            out[j] += values[k] * x[i]
        out[i] += total + values[start + length - 1] * x[i]


@compiled
def eliminate_undriven(count: int, v: Any) -> None:
    """Find the accelerations of the undriven degrees of freedom p, given those of the driven ones c.

    Solves M_pp·a_p = force_p − M_pc·a_c, with M·a for a_p = 0 already in `v.product`, and the engine's implicit damping
    and stiffness on the diagonal.

    Args:
        count: How many there are.
        v: Views; `undriven` lists them, `undriven_index` is the inverse.
    """
    for r in range(count):
        i = v.undriven[r]
        for c in range(count):
            v.block[r * count + c] = 0.0
        v.right[r] = v.force[i] - v.product[i]
    for r in range(count):
        i = v.undriven[r]
        for k in range(v.rowadr[i], v.rowadr[i] + v.rownnz[i]):
            c = v.undriven_index[v.colind[k]]
            if c >= 0:
                v.block[r * count + c] = v.felt_inertia[k]
                v.block[c * count + r] = v.felt_inertia[k]
        v.block[r * count + r] += v.implicit[i]
    factor(v.block, 0, count)
    solve(v.block, 0, count, v.right, 0)
    for r in range(count):
        v.acceleration[v.undriven[r]] = v.right[r]


_FREE_ROOT_FLOOR = 4.0
"""A free root on the ground is neither fixed nor floating; λ of at least so many periods keeps either guess stable."""

LANDING = 8.5
"""Periods before the beat from which the rest of the way is planned step by step: λ = T/n nears a period there, and
what the continuous law leaves of the error is of the order of a period's share of the way."""

_AT_STOP = 2e-3
"""How near to its limit [rad or m] a passive joint counts as resting on it."""


@inlined
def joint_dofs(kind: int) -> int:
    """Return the degrees of freedom of a joint type."""
    return 6 if kind == FREE else 3 if kind == BALL else 1


@inlined
def shortest(v: Any, dof: int) -> float:
    """Return the least λ allowed in a degree of freedom's tree [s]."""
    tree = v.dof_tree[dof]
    return _FREE_ROOT_FLOOR * v.times.period if tree >= 0 and v.grounded[tree] else 0.0


@compiled
def ask_accelerations(v: Any, time: float) -> None:
    """Write the accelerations asked for, (nv,); 0 where nothing is.

    Joints on their way to the same beat share λ: what `stunt.control.beat.approach` divides by is computed once.
    """
    period, n = v.times.period, v.times.constants
    if v.counts.asked < v.sizes.njnt:
        for i in range(v.sizes.nv):
            v.acceleration[i] = 0.0
    known, pull, brake, stiff = 0.0, 0.0, 0.0, 0.0
    started, eased, ease = 0.0, -1.0, 1.0
    for k in range(v.counts.asked):
        j = v.full_joints[k]
        if k == v.counts.full:  # from here on: tasks of bodies on own feet, whose torques are held for a tick
            period, known, eased = v.times.tick, 0.0, -1.0
        vadr = v.jnt_dofadr[j]
        left = v.goal_time[j] - time
        floor = shortest(v, vadr) if k < v.counts.full else 0.0
        lam = max(time_constant(time, v.goal_time[j], v.hold[j], period, n), floor)
        if lam != known:
            known, stiff = lam, 1.0 / lam
            soft = 1.0 / (1.0 + period * stiff)
            pull, brake = stiff * stiff * soft * soft, 2.0 * stiff * soft * soft
        if v.start_time[j] != started or v.ease[j] != eased:
            started, eased = v.start_time[j], v.ease[j]
            ease = min(1.0, (time - started + period) / eased) if eased > 0.0 else 1.0
        # Under a free root on the ground λ has a floor: its tree is not driven as exactly as a plan would need.
        landing = 0.999 * period < left < LANDING * period and floor == 0.0
        effort = (v.arrival[j] == 1 and left > 1e-9) or landing
        aim_joint(v, j, 0.0 if effort else left)
        share = ease if left > 1e-9 else 1.0
        for i in range(vadr, vadr + joint_dofs(v.jnt_type[j])):
            if effort:
                asked = minimum_effort(v.error[i], v.qvel[i], v.goal_velocity[i], left, period)
            else:
                asked = pull * (v.error[i] + period * v.error_rate[i]) + brake * v.error_rate[i]
            v.acceleration[i] = share * asked
            moment = v.felt_inertia[v.rowadr[i] + v.rownnz[i] - 1]
            v.moment[i] = moment
            v.stiffness[i] = moment * stiff * stiff
            v.damping[i] = 2.0 * moment * stiff


@inlined
def aim_joint(v: Any, j: int, left: float) -> None:
    """Write a joint's error and error rate. Minimum effort aims at the goal itself (`left` 0), else a moving point."""
    qadr, vadr = v.jnt_qposadr[j], v.jnt_dofadr[j]
    if v.jnt_type[j] == BALL:
        ball_error(v, qadr, vadr, left, v.quaternion, 0)
        return
    if v.goal_velocity[vadr] == 0.0:
        v.error[vadr], v.error_rate[vadr] = v.goal[qadr] - v.qpos[qadr], -v.qvel[vadr]
        return
    low, high = joint_limits(v, j)
    _, v.error[vadr], v.error_rate[vadr] = hinge_error(
        v.qpos[qadr], v.qvel[vadr], v.goal[qadr], v.goal_velocity[vadr], left, low, high
    )


@compiled
def full_torques(v: Any) -> None:
    """Turn the asked accelerations into torques within each joint's strength."""
    nv, h = v.sizes.nv, v.times.step
    multiply(nv, v.rownnz, v.rowadr, v.colind, v.felt_inertia, v.acceleration, v.product)
    if v.counts.full < v.sizes.njnt:
        count = list_undriven(v)
        if count > 0:
            eliminate_undriven(count, v)
            multiply(nv, v.rownnz, v.rowadr, v.colind, v.felt_inertia, v.acceleration, v.product)
    for k in range(v.counts.full):
        j = v.full_joints[k]
        vadr, own, ndof, square = v.jnt_dofadr[j], v.own_stiffness[j], joint_dofs(v.jnt_type[j]), 0.0
        for i in range(vadr, vadr + ndof):
            # The engine steps (M + hD + h²K)·a = …: with the model's own D and K counted, a is met exactly.
            torque = v.product[i] + h * (v.own_damping[i] + h * own) * v.acceleration[i]
            if v.feed_bias[j]:
                torque += v.felt_bias[i] - v.passive[i] + h * own * v.qvel[i]
            v.applied[i] = torque
            square += torque * torque
        keep_short(v, vadr, ndof, square)


@inlined
def keep_short(v: Any, vadr: int, ndof: int, square: float) -> None:
    """Shorten a joint's torque, of so long a square, to its strength, and write it down."""
    most = v.limit[vadr]
    over = square > most * most
    for i in range(vadr, vadr + ndof):
        if over:
            v.applied[i] *= most / math.sqrt(square)
        v.saturated[i] = 1 if over else 0
        v.saturated_steps[i] += v.saturated[i]
        v.torque[i] = v.applied[i]


@compiled
def is_carried(v: Any, j: int, tree: int) -> bool:
    """Whether an undriven joint stays where it is: a free root on the ground, a passive joint at its end stop.

    Then gravity is felt in the joints that hang on it.
    """
    kind = v.jnt_type[j]
    if kind == FREE:
        return v.grounded[tree] != 0
    low, high = joint_limits(v, j)
    angle = v.qpos[v.jnt_qposadr[j]]
    return kind != BALL and (angle <= low + _AT_STOP or angle >= high - _AT_STOP)


@compiled
def list_undriven(v: Any) -> int:
    """List the degrees of freedom that accelerate as they must, in trees that full coupling drives; return how many.

    Also writes what `eliminate_undriven` needs of them: forces and implicit terms.
    """
    nv, h = v.sizes.nv, v.times.step
    for tree in range(v.sizes.ntree):
        v.tree_driven[tree] = 0
    for i in range(nv):
        v.undriven_index[i] = -1
        if v.law[v.dof_jntid[i]] == FULL:
            v.tree_driven[v.dof_tree[i]] = 1
    count = 0
    for i in range(nv):
        j, tree = v.dof_jntid[i], v.dof_tree[i]
        if v.law[j] == PASSIVE and v.tree_driven[tree] and not is_carried(v, j, tree):
            own = v.own_stiffness[j]
            v.implicit[i] = h * v.own_damping[i] + h * h * own
            v.force[i] = v.passive[i] - v.felt_bias[i] - h * own * v.qvel[i]
            v.undriven[count] = i
            v.undriven_index[i] = count
            count += 1
    return count
