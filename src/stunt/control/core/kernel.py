"""One control step, compiled: from goals on the board to springs and torques in the engine.

Three phases around the engine's two half-steps (see `stunt.control.loop.run`):

* `before`: springs for this step, from the moments of inertia of the step before;
* `between`: with inertia and bias of the present state known, full-coupling torques and feed-forward forces;
* `after`: how long springs were at their limits, for the record; those that were cut for the step are mended.

Joints are sorted by what drives them once per step, so that each law touches its own joints only.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.board import COMPENSATED, FULL, IMPEDANCE, LOCAL, PASSIVE, STANDING
from stunt.control.core.engine import BALL, FREE, SLIDE
from stunt.control.core.full_coupling import ask_accelerations, full_torques, joint_dofs, shortest
from stunt.control.core.goals import time_constant
from stunt.control.core.loads import feel_loads
from stunt.control.core.programs import AFTER, BEFORE, BETWEEN, call_programs
from stunt.control.core.springs import OVER, is_spring, link_moment, release_spring, spatial_moment, write_spring
from stunt.control.core.strength import mend_spring
from stunt.maths.compiled import inlined


@inlined
def before(v: Any, time: float, model: int, data: int) -> None:
    """Sort the joints and write this step's springs (see `stunt.control.core.springs`)."""
    call_programs(v, BEFORE, time, model, data)
    sort_joints(v)
    period, n = v.times.period, v.times.constants
    known, rate = 0.0, 0.0
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        v.sprung[j] = 1
        if v.law[j] != IMPEDANCE:
            lam = max(time_constant(time, v.goal_time[j], v.hold[j], period, n), shortest(v, v.jnt_dofadr[j]))
            if lam != known:  # joints on their way to the same beat share it
                known, rate = lam, 1.0 / lam
        write_spring(v, j, joint_dofs(v.jnt_type[j]), v.goal_time[j] - time, rate)


@inlined
def sort_joints(v: Any) -> None:
    """List the joints under full coupling and those with springs, and let go of those that no longer have any."""
    full = springs = compensated = changed = standing = 0
    for j in range(v.sizes.njnt):
        law, vadr = v.law[j], v.jnt_dofadr[j]
        spring = is_spring(law, v.planted[vadr] != 0) and v.tasked[j] == 0
        if spring:
            v.spring_joints[springs] = j
            springs += 1
            compensated += 1 if law == COMPENSATED else 0
        elif law == FULL:
            v.full_joints[full] = j
            full += 1
        standing += 1 if law == STANDING else 0
        if v.sprung[j] and not spring:
            release_spring(v, j, joint_dofs(v.jnt_type[j]))
            v.sprung[j] = 0
        if law != v.last_law[j]:
            changed, v.last_law[j] = 1, law
            if law == PASSIVE:
                for i in range(vadr, vadr + joint_dofs(v.jnt_type[j])):
                    v.applied[i] = 0.0
                    v.torque[i] = 0.0
                    v.saturated[i] = 0
    v.counts.full, v.counts.springs, v.counts.compensated, v.counts.law_changed = full, springs, compensated, changed
    v.counts.asked = full + standing
    for j in range(v.sizes.njnt if standing > 0 else 0):
        if v.law[j] == STANDING:
            v.full_joints[full] = j
            full += 1


@inlined
def between(v: Any, time: float, model: int, data: int) -> None:
    """Write torques and feed-forward forces for the present state."""
    feel_loads(v)
    update_moments(v)
    pulled = v.counts.strings > 0
    if pulled:
        for i in range(v.sizes.nv):
            v.applied[i] -= v.pull[i]
            v.pull[i] = 0.0
    if v.counts.asked > 0:
        ask_accelerations(v, time)
    call_programs(v, BETWEEN, time, model, data)
    if v.counts.full > 0:
        full_torques(v)
    if v.counts.springs > 0:
        spring_feed_forward(v)
    if pulled:
        for i in range(v.sizes.nv):
            v.applied[i] += v.pull[i]
    call_programs(v, AFTER, time, model, data)


@inlined
def update_moments(v: Any) -> None:
    """Note the moment of inertia springs scale by: own link, everything outboard, or everything inboard."""
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        vadr = v.jnt_dofadr[j]
        if v.jnt_type[j] != BALL and v.law[j] != LOCAL and v.planted[vadr] == 0:
            v.moment[vadr] = v.felt_inertia[v.rowadr[vadr] + v.rownnz[vadr] - 1]
            continue
        for i in range(vadr, vadr + joint_dofs(v.jnt_type[j])):
            body = v.dof_bodyid[i]
            if v.planted[i]:
                # A joint with the ground outboard of it moves the rest of the body instead.
                whole = spatial_moment(v, v.body_rootid[body], i)
                v.moment[i] = whole - spatial_moment(v, body, i) + v.dof_armature[i]
            elif v.law[j] == LOCAL and v.jnt_type[j] != SLIDE:
                v.moment[i] = v.dof_armature[i] + link_moment(v, i)
                if v.counts.held != 0:  # what is carried is felt by every joint it hangs on
                    last = v.rowadr[i] + v.rownnz[i] - 1
                    v.moment[i] += v.felt_inertia[last] - v.mass_matrix[last]
            else:
                v.moment[i] = v.felt_inertia[v.rowadr[i] + v.rownnz[i] - 1]


@inlined
def spring_feed_forward(v: Any) -> None:
    """Write the forces that go with the springs: bias, arrival velocity, and what the parents impose."""
    if v.counts.compensated > 0:
        impose_on_children(v)
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        vadr = v.jnt_dofadr[j]
        for i in range(vadr, vadr + joint_dofs(v.jnt_type[j])):
            if v.law[j] == IMPEDANCE:  # its damper wants rest
                push = v.feed_forward[i]
            else:
                push = v.damping[i] * (v.error_rate[i] + v.qvel[i])  # k_d·ω_ref: the engine's damper only knows rest
                push += v.product[i] if v.law[j] == COMPENSATED else 0.0
            # Passive forces (the model's own springs) are not part of the bias that must be carried.
            bias = v.felt_bias[i] if v.feed_bias[j] else 0.0
            v.carried[i] = v.felt_bias[i]
            v.applied[i] = min(max(v.scale[i] * push + bias, -v.limit[i]), v.limit[i])
            v.saturated[i] = 1 if v.scale[i] < 1.0 or abs(v.applied[i]) >= v.limit[i] else 0


@inlined
def impose_on_children(v: Any) -> None:
    """Write to `product` each compensated joint's torque against what inboard joints impose (P0 eq. 8 and 9).

    The printed eq. 9 is an acceleration and lacks the moment of inertia. Gravity's feed-forward accelerates nothing and
    is left out of eq. 8, as is the compensation itself, which only keeps up with the parents.
    """
    for i in range(v.sizes.nv):
        j, parent = v.dof_jntid[i], v.dof_parentid[i]
        for k in range(3):
            v.inboard[3 * i + k] = v.inboard[3 * parent + k] if parent >= 0 else 0.0
        v.product[i] = 0.0
        if v.law[j] != COMPENSATED or v.jnt_type[j] == SLIDE:
            continue
        torque = v.stiffness[i] * v.error[i] + v.damping[i] * v.error_rate[i]
        share, imposed = torque / v.moment[i], 0.0
        for k in range(3):
            imposed += v.inboard[3 * i + k] * v.cdof[6 * i + k]
            v.inboard[3 * i + k] += share * v.cdof[6 * i + k]
        v.product[i] = v.moment[i] * imposed


@inlined
def after(v: Any) -> None:
    """Note which springs were at their limits in the step; those that were cut for it are mended."""
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        vadr = v.jnt_dofadr[j]
        for i in range(vadr, vadr + joint_dofs(v.jnt_type[j])):
            v.saturated_steps[i] += v.saturated[i]
        if v.cut[j] != 0:
            mend_spring(v, j)


@inlined
def meter_strength(v: Any, time: float) -> None:
    """Note, after a physics step, how long every joint's torque was against its strength."""
    for j in range(v.sizes.njnt):
        i = v.jnt_dofadr[j]
        most = v.limit[i]
        if v.jnt_type[j] == FREE or not 0.0 < most < math.inf:
            continue
        square = v.torque[i] ** 2
        if v.jnt_type[j] == BALL:
            square = square + v.torque[i + 1] ** 2 + v.torque[i + 2] ** 2
        if square >= (0.999999 * v.peak_share[j] * most) ** 2:  # a root and a division only where it may be a peak
            share = math.sqrt(square) / most
            if share > v.peak_share[j]:
                v.peak_share[j], v.peak_time[j] = share, time
        if square > (OVER * most) ** 2:
            v.over_steps[j] += 1
