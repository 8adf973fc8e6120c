"""The quadratic programme of one tick: joint accelerations and contact forces, with nothing on the root.

Unknown are the accelerations of the joints and, for each carrying point, how hard it pushes along the four edges of its
friction pyramid. The root's six rows of M·a + h = Jᵀf have no torque in them: they are solved for the root's
acceleration, which leaves it as a linear function of the unknowns. What is wanted (posture, pelvis, centre of mass,
angular momentum, feet, contacts that stay) are weighted squares; torques within strength and forces that push are
limits. A joint with three axes is as strong as its torque is long: where the length is over, the plane that touches the
sphere there becomes a limit too, and the programme is solved again.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.core.board import PASSIVE, STANDING
from stunt.control.core.engine import BALL, engine_function
from stunt.control.core.goals import joint_limits
from stunt.control.own import layout as w
from stunt.control.own.recovery import step_pose
from stunt.control.own.sense import GRAVITY
from stunt.control.own.solver import solve_programme
from stunt.maths.compiled import compiled
from stunt.maths.flat import world_difference
from stunt.maths.pointers import address, floats, grid, longs

mj_jac = engine_function("mj_jac", 5, 1)
"""Jacobians of a point (model, data, linear, angular, point: addresses; body)."""
mj_jacDot = engine_function("mj_jacDot", 5, 1)
"""How fast they change, likewise."""

_FORCE = 100.0 / 66.0  # unit of contact forces, by mass [N/kg]: the programme's numbers stay of one size
_HIGH = 0.06  # a point comes down as if it were at most so high [m]
_LEVER = 0.1  # at which a twist counts like a push [m]
_ENDLESS = 1.0e4
_NEAR_STOP = 0.01  # a joint comes to rest so far before its end stop [rad]
_GIVEN = 1e-3  # tolerance of a torque that another law gives, of a joint's strength
_ROUNDS: Final = 3
"""Times the programme is solved again for torques that are too long."""
_TOLERANCE = 1.01


@compiled
def is_own(v: Any, d: int) -> bool:
    """Whether a degree of freedom's torque is the programme's to find: no other law drives its joint."""
    j = v.dof_jntid[d]
    return bool(v.law[j] == PASSIVE or v.law[j] == STANDING or v.tasked[j] != 0)


@compiled
def invert_root(t: Any, n: int) -> None:
    """Write the inverse of the root's 6 × 6 block of the inertia matrix (Gauss-Jordan; it is positive)."""
    matrix, out, a = grid(t.inertia, (n, n)), grid(t.root, (6, 6)), grid(t.scratch, (6, 6))
    for i in range(6):
        for k in range(6):
            a[i, k] = matrix[i, k]
            out[i, k] = 1.0 if i == k else 0.0
    for i in range(6):
        pivot = 1.0 / a[i, i]
        for k in range(6):
            a[i, k] *= pivot
            out[i, k] *= pivot
        for j in range(6):
            if j == i:
                continue
            part = a[j, i]
            for k in range(6):
                a[j, k] -= part * a[i, k]
                out[j, k] -= part * out[i, k]


@compiled
def own_jacobian(t: Any, who: Any, total: int, place: int, body: int, model: int, data: int) -> None:
    """Write the Jacobians of a point at an address on a body, and how fast they change, for all of the scene."""
    mj_jac(model, data, address(t.linear), address(t.angular), place, body)
    mj_jacDot(model, data, address(t.linear_dot), address(t.angular_dot), place, body)


@compiled
def hold_contacts(v: Any, t: Any, who: Any, gains: Any, model: int, data: int) -> None:
    """Write the Jacobians of the points that carry, and the accelerations that keep them where they are."""
    total, first, n = v.sizes.nv, who.root_dof, who.nv
    jacobian, at = grid(t.jacobian, (3 * w.MOST, n)), address(t.where)
    linear, dot = grid(t.linear, (3, total)), grid(t.linear_dot, (3, total))
    for p in range(who.points):
        point = t.owner[p]
        own_jacobian(t, who, total, at + 24 * p, who.point_owner[point], model, data)
        for k in range(3):
            pace, drift = 0.0, 0.0
            for d in range(n):
                jacobian[3 * p + k, d] = linear[k, first + d]
                pace += linear[k, first + d] * v.qvel[first + d]
                drift += dot[k, first + d] * v.qvel[first + d]
            goal = -gains.k_contact * pace - drift
            if k < 2:
                goal -= gains.k_anchor**2 * (t.where[3 * p + k] - who.anchor[2 * point + k])
            else:
                goal -= gains.k_press**2 * (t.where[3 * p + 2] - who.floor + gains.sink)
            t.hold[3 * p + k] = goal


@compiled
def edge(number: int, axis: int, grip: float) -> float:
    """Return a component of one of the four edges of a friction pyramid."""
    if axis == 2:
        return 0.5
    sign = (1.0 if number < 2 else -1.0) if axis == 0 else (1.0 if number % 2 == 0 else -1.0)
    return 0.5 * sign * grip


@compiled
def eliminate_root(t: Any, who: Any, gains: Any) -> None:
    """Write contact forces in the joints' space, and the root's acceleration as a function of what is unknown."""
    n, points = who.nv, who.points
    joints, edges = n - 6, w.SIDES * points
    size, unit = joints + edges, _FORCE * who.mass
    grip = who.friction * gains.grip / math.sqrt(2.0)
    matrix, jacobian = grid(t.inertia, (n, n)), grid(t.jacobian, (3 * w.MOST, n))
    forces, root, mover = grid(t.forces, (n, w.SIDES * w.MOST)), grid(t.root, (6, 6)), grid(t.mover, (6, size))
    for p in range(points):
        for s in range(w.SIDES):
            for d in range(n):
                push = 0.0
                for k in range(3):
                    push += jacobian[3 * p + k, d] * edge(s, k, grip)
                forces[d, w.SIDES * p + s] = push * unit
    for i in range(6):
        for j in range(joints):
            total = 0.0
            for k in range(6):
                total -= root[i, k] * matrix[k, 6 + j]
            mover[i, j] = total
        for j in range(edges):
            total = 0.0
            for k in range(6):
                total += root[i, k] * forces[k, j]
            mover[i, joints + j] = total
        total = 0.0
        for k in range(6):
            total -= root[i, k] * t.bias[k]
        t.still[i] = total


@compiled
def add_row(t: Any, size: int, row: Any, goal: float, weight: float) -> None:
    """Add weight·(row·x − goal)² to the programme; only the upper half of the matrix is written."""
    hessian = grid(t.hessian, (size, size))
    for i in range(size):
        part = weight * row[i]
        if part != 0.0:
            for k in range(i, size):
                hessian[i, k] += part * row[k]
            t.linear_term[i] -= part * goal


@compiled
def ask(t: Any, who: Any, size: int, jacobian: Any, line: int, first: int, goal: float, weight: float) -> None:
    """Ask for an acceleration J·a = goal, for a line of a Jacobian whose columns for this body begin at `first`."""
    joints, mover, row = who.nv - 6, grid(t.mover, (6, size)), t.row
    for i in range(size):
        row[i] = jacobian[line, first + 6 + i] if i < joints else 0.0
    for k in range(6):
        part = jacobian[line, first + k]
        if part != 0.0:
            goal -= part * t.still[k]
            for i in range(size):
                row[i] += part * mover[k, i]
    add_row(t, size, row, goal, weight)


@compiled
def ask_posture(v: Any, t: Any, who: Any, gains: Any, size: int, flying: bool) -> None:
    """Ask for the clip's pose, joint by joint, and the turn of the pelvis."""
    joints, first = who.nv - 6, who.root_dof
    weights, leg_of, hessian = floats(who.weights), longs(who.leg_of), grid(t.hessian, (size, size))
    rate = gains.k_joint
    for j in range(joints):
        d = 6 + j
        pull = rate * rate * t.error[d] + 2.0 * rate * (t.pace[d] - v.qvel[first + d])
        goal = t.urge[d] + t.share[first + d] * pull
        goal = min(max(goal, -gains.hardest), gains.hardest)
        weight = weights[j]
        leg = leg_of[j]
        if leg >= 0 and who.stance[leg] == 0:
            weight = gains.w_air_leg if flying else gains.w_swing_leg
        if t.task_weight[first + d] > 0.0:  # whoever moves this joint has said how
            weight, goal = t.task_weight[first + d], min(max(t.task_urge[first + d], -gains.hardest), gains.hardest)
        if not is_own(v, first + d):  # another law's spring has it
            weight = 0.0
        hessian[j, j] += weight
        t.linear_term[j] -= weight * goal
    rate, weight = gains.k_pelvis, gains.w_air_pelvis if flying else gains.w_pelvis
    mover = grid(t.mover, (6, size))
    for d in range(3, 6):
        goal = t.urge[d] + rate * rate * t.error[d] + 2.0 * rate * (t.pace[d] - v.qvel[first + d])
        for i in range(size):
            t.row[i] = mover[d, i]
        add_row(t, size, t.row, goal - t.still[d], weight)


@compiled
def ask_whole_body(t: Any, who: Any, gains: Any, size: int, near_air: bool) -> None:
    """Ask for the acceleration of the centre of mass and the change of angular momentum: both are the contacts'."""
    joints, points, root, row = who.nv - 6, who.points, 3 * who.root_body, t.row
    unit, grip = _FORCE * who.mass, who.friction * gains.grip / math.sqrt(2.0)
    for k in range(3):
        goal = t.middle[6 + k]
        if k < 2:
            goal += gains.k_com_p * (t.middle[k] + who.com_off[k] - t.com[root + k])
            goal += gains.k_com_d * (t.middle[3 + k] + who.com_pace[k] - t.com_velocity[root + k]) + who.com_push[k]
        else:
            rate = gains.k_height
            goal += rate * rate * (t.middle[2] - who.drop - t.com[root + 2])
            goal += 2.0 * rate * (t.middle[5] - t.com_velocity[root + 2])
            goal = max(goal, -0.8 * GRAVITY) + GRAVITY
        for i in range(joints):
            row[i] = 0.0
        for p in range(points):
            for s in range(w.SIDES):
                row[joints + w.SIDES * p + s] = edge(s, k, grip) * unit / who.mass
        add_row(t, size, row, goal, gains.w_com if k < 2 else gains.w_height)
    weight = gains.w_momentum_air if near_air else gains.w_momentum
    weight *= math.exp(who.inputs[w.HEED])
    for k in range(3):
        goal = t.middle[12 + k] + gains.k_momentum * (t.middle[9 + k] - t.momentum[root + k])
        a, b = (k + 1) % 3, (k + 2) % 3
        for p in range(points):
            u, z = t.where[3 * p + a] - t.com[root + a], t.where[3 * p + b] - t.com[root + b]
            for s in range(w.SIDES):
                row[joints + w.SIDES * p + s] = (u * edge(s, b, grip) - z * edge(s, a, grip)) * unit
        add_row(t, size, row, goal, weight)


@compiled
def ask_contacts(t: Any, who: Any, gains: Any, size: int) -> None:
    """Ask points that carry to stay, their forces to be small, and feet not to squeeze the ground between them."""
    joints, points = who.nv - 6, who.points
    jacobian, hessian = grid(t.jacobian, (3 * w.MOST, who.nv)), grid(t.hessian, (size, size))
    for line in range(3 * points):
        ask(t, who, size, jacobian, line, 0, t.hold[line], gains.w_contact)
    for i in range(joints, size):
        hessian[i, i] += gains.w_force
    for foot in range(w.FEET):
        if who.stance[foot] != 0:
            ask_shear(t, who, gains, size, foot)


@compiled
def ask_shear(t: Any, who: Any, gains: Any, size: int, foot: int) -> None:
    """Ask a foot not to push along the ground or twist on it, but back to where it came down.

    A foot on a soft contact creeps against the friction it feels: so that it comes back, the ground's force on it has
    to point away from where it came down.
    """
    joints, points, row = who.nv - 6, who.points, t.row
    grip, unit = who.friction * gains.grip / math.sqrt(2.0), _FORCE * who.mass
    x, y, gx, gy, count = 0.0, 0.0, 0.0, 0.0, 0
    for p in range(points):
        q = t.owner[p]
        if q // w.POINTS == foot:
            x, y, count = x + t.where[3 * p], y + t.where[3 * p + 1], count + 1
            gx += t.where[3 * p] - who.anchor[2 * q]
            gy += t.where[3 * p + 1] - who.anchor[2 * q + 1]
    if count == 0:
        return
    x, y, gx, gy = x / count, y / count, gx / count, gy / count
    turned, spread = 0.0, 1e-9
    for p in range(points):
        q = t.owner[p]
        if q // w.POINTS == foot:
            rx, ry = t.where[3 * p] - x, t.where[3 * p + 1] - y
            ax, ay = t.where[3 * p] - who.anchor[2 * q] - gx, t.where[3 * p + 1] - who.anchor[2 * q + 1] - gy
            turned, spread = turned + rx * ay - ry * ax, spread + rx * rx + ry * ry
    pull, lever = gains.k_pull * who.mass, _LEVER * who.scale
    for k in range(3):
        for i in range(size):
            row[i] = 0.0
        for p in range(points):
            if t.owner[p] // w.POINTS != foot:
                continue
            rx, ry = (t.where[3 * p] - x) / lever, (t.where[3 * p + 1] - y) / lever
            for s in range(w.SIDES):
                i = joints + w.SIDES * p + s
                row[i] = edge(s, k, grip) if k < 2 else rx * edge(s, 1, grip) - ry * edge(s, 0, grip)
        if k < 2:
            add_row(t, size, row, pull * (gx if k == 0 else gy) / unit, gains.w_shear)
        else:
            add_row(t, size, row, pull * lever * turned / spread / unit, gains.w_twist)


@compiled
def ask_down(v: Any, t: Any, who: Any, gains: Any, size: int, model: int, data: int) -> None:
    """Ask points that should carry, and are in the air, to come down: a foot on its edge is no support."""
    total, first, rate = v.sizes.nv, who.root_dof, gains.k_down
    linear, dot = grid(t.linear, (3, total)), grid(t.linear_dot, (3, total))
    for h in range(who.hovers):
        p = t.hover[h]
        high = t.soles[3 * p + 2] - who.floor
        if high < gains.near:
            continue
        own_jacobian(t, who, total, address(t.soles) + 24 * p, who.point_owner[p], model, data)
        pace, drift = 0.0, 0.0
        for d in range(first, first + who.nv):
            pace += linear[2, d] * v.qvel[d]
            drift += dot[2, d] * v.qvel[d]
        goal = -rate * rate * min(high, _HIGH * who.scale) - 2.0 * rate * pace - drift
        ask(t, who, size, linear, 2, first, goal, gains.w_down)


@compiled
def lift_swing(t: Any, who: Any, gains: Any, i: int) -> None:
    """Lift a swinging foot a little over the clip's way, which glides over the floor by a centimetre."""
    o, turn = w.POSE * i, math.pi / max(who.length[i], 0.05 * who.tempo)
    phase = min(max(who.since[i] * turn, 0.0), math.pi)
    high, rate = gains.clear, who.rate
    t.foot[o + 2] += high * math.sin(phase) ** 2
    t.foot[o + 9] += high * turn * rate * math.sin(2.0 * phase)
    t.foot[o + 12] += 2.0 * high * (turn * rate) ** 2 * math.cos(2.0 * phase)


@compiled
def spare_roll(t: Any, who: Any, i: int, angular: Any, dot: Any) -> None:
    """Ask little of a foot's turn about the axis that its leg has no joint for: what it is off, and its Jacobians."""
    body, o, axis = who.foot_body[i], w.POSE * i + 13, t.spot
    for k in range(3):
        axis[k] = 0.0
        for m in range(3):
            axis[k] += t.xmat[9 * body + 3 * k + m] * who.roll_axis[3 * i + m]
    lean = axis[0] * t.scratch[0] + axis[1] * t.scratch[1] + axis[2] * t.scratch[2]
    spin = axis[0] * t.foot[o] + axis[1] * t.foot[o + 1] + axis[2] * t.foot[o + 2]
    for k in range(3):
        t.scratch[k] -= (1.0 - w.ROLL) * axis[k] * lean
        t.foot[o + k] -= (1.0 - w.ROLL) * axis[k] * spin
    for d in range(who.root_dof, who.root_dof + who.nv):
        about = axis[0] * angular[0, d] + axis[1] * angular[1, d] + axis[2] * angular[2, d]
        changes = axis[0] * dot[0, d] + axis[1] * dot[1, d] + axis[2] * dot[2, d]
        for k in range(3):
            angular[k, d] -= (1.0 - w.ROLL) * axis[k] * about
            dot[k, d] -= (1.0 - w.ROLL) * axis[k] * changes


@compiled
def ask_feet(
    v: Any, t: Any, who: Any, gains: Any, size: int, flying: bool, air: bool, period: float, model: int, data: int
) -> None:  # fmt: skip
    """Ask feet for their turn, and those that swing for their place."""
    total, first, root = v.sizes.nv, who.root_dof, 3 * who.root_body
    linear, angular = grid(t.linear, (3, total)), grid(t.angular, (3, total))
    linear_dot, angular_dot = grid(t.linear_dot, (3, total)), grid(t.angular_dot, (3, total))
    for i in range(w.FEET):
        body, o = who.foot_body[i], w.POSE * i
        own_jacobian(t, who, total, address(t.xpos) + 24 * body, body, model, data)
        if who.step_on[i] != 0:
            step_pose(who, i, t.foot, o)
        else:
            for k in range(2):
                t.foot[o + k] += who.off[2 * i + k]
                if who.stance[i] == 0:
                    t.foot[o + 7 + k] += (who.off[2 * i + k] - who.off_last[2 * i + k]) / period
            if who.halted != 0 and who.planned[i] != 0:  # wherever the clip has it
                t.foot[o + 2] = who.floor + who.ankle_rest[i]
                for k in range(7, 13):
                    t.foot[o + k] = 0.0
            if flying:  # relative to the body that really flies
                t.foot[o + 2] += t.com[root + 2] - t.middle[2]
                t.foot[o + 9] += t.com_velocity[root + 2] - t.middle[5]
            elif who.planned[i] == 0 and not air and who.length[i] < 2.0:
                lift_swing(t, who, gains, i)
            elif who.planned[i] != 0 and who.stance[i] == 0:
                t.foot[o + 2] -= gains.reach_down  # late: it goes down until it feels the ground
        world_difference(t.foot, o + 3, t.xquat, 4 * body, t.scratch, 0)
        if who.roll_axis[3 * i] ** 2 + who.roll_axis[3 * i + 1] ** 2 + who.roll_axis[3 * i + 2] ** 2 > 0.0:
            spare_roll(t, who, i, angular, angular_dot)
        weight = gains.w_turn * (gains.stance_turn if who.stance[i] != 0 else 1.0) * (0.4 if flying else 1.0)
        rate = gains.k_turn
        if who.held[i] != 0 or who.halted != 0:
            for k in range(3):
                t.foot[o + 13 + k] = 0.0
                t.scratch[k] = t.scratch[k] if who.halted != 0 else 0.0
        for k in range(3):
            pace, drift = 0.0, 0.0
            for d in range(first, first + who.nv):
                pace += angular[k, d] * v.qvel[d]
                drift += angular_dot[k, d] * v.qvel[d]
            goal = rate * rate * t.scratch[k] + 2.0 * rate * (t.foot[o + 13 + k] - pace) - drift
            ask(t, who, size, angular, k, first, goal, weight)
        if who.stance[i] != 0:
            continue
        rate = gains.k_foot
        for k in range(3):
            pace, drift = 0.0, 0.0
            for d in range(first, first + who.nv):
                pace += linear[k, d] * v.qvel[d]
                drift += linear_dot[k, d] * v.qvel[d]
            goal = t.foot[o + 10 + k] + rate * rate * (t.foot[o + k] - t.xpos[3 * body + k])
            goal += 2.0 * rate * (t.foot[o + 7 + k] - pace) - drift
            ask(t, who, size, linear, k, first, goal, gains.w_foot)


@compiled
def limit_torques(v: Any, t: Any, who: Any, gains: Any, size: int) -> None:
    """Write the joints' torques as a function of the unknowns, ask for small ones, and limit them by strength."""
    n, joints = who.nv, who.nv - 6
    edges, first = size - joints, who.root_dof
    matrix, mover = grid(t.inertia, (n, n)), grid(t.mover, (6, size))
    forces, limits = grid(t.forces, (n, w.SIDES * w.MOST)), grid(t.limits, (joints + w.PLANES, size))
    for j in range(joints):
        d = 6 + j
        still = t.bias[d]
        for i in range(joints):
            limits[j, i] = matrix[d, 6 + i]
        for i in range(edges):
            limits[j, joints + i] = -forces[d, i]
        for k in range(6):
            part = matrix[d, k]
            still += part * t.still[k]
            if part != 0.0:
                for i in range(size):
                    limits[j, i] += part * mover[k, i]
        add_row(t, size, limits[j], -still, gains.w_torque)
        most = min(v.limit[first + d], 1.0e6)
        t.upper[size + j], t.lower[size + j] = most - still, -most - still
        if not is_own(v, first + d):  # as it is: what the programme would rather have is not asked
            given = spring_torque(v, first + d)
            t.upper[size + j], t.lower[size + j] = given + _GIVEN * most - still, given - _GIVEN * most - still
        t.error[d] = still  # kept for the torques that come of it
    for i in range(size):
        t.upper[i] = _ENDLESS if i < joints else 1.0e3
        t.lower[i] = -_ENDLESS if i < joints else 0.0
    for i in range(joints):
        if is_own(v, first + 6 + i):
            keep_off_stops(v, t, gains, first + 6 + i, i)


@compiled
def keep_off_stops(v: Any, t: Any, gains: Any, d: int, i: int) -> None:
    """Limit a hinge's acceleration so that it comes to rest before its end stop, whose push cannot be foreseen.

    A joint at its stop is driven by it too: an ankle that leans on it pushes the whole body over.
    """
    j = v.dof_jntid[d]
    low, high = joint_limits(v, j)
    if v.jnt_type[j] == BALL:
        return
    q, stop, brake = v.qpos[v.jnt_qposadr[j]], gains.k_stop**2, 2.0 * gains.k_stop * v.qvel[d]
    t.upper[i] = min(max(stop * (high - _NEAR_STOP - q) - brake, -gains.hardest), _ENDLESS)
    t.lower[i] = max(min(stop * (low + _NEAR_STOP - q) - brake, gains.hardest), -_ENDLESS)


@compiled
def spring_torque(v: Any, d: int) -> float:
    """Return what another law's spring and its feed-forward do in a degree of freedom: the programme counts on it."""
    torque = v.scale[d] * (v.stiffness[d] * v.error[d] + v.damping[d] * v.error_rate[d] + v.feed_forward[d])
    if v.feed_bias[v.dof_jntid[d]] != 0:
        torque += v.felt_bias[d]
    return min(max(torque, -v.limit[d]), v.limit[d])


@compiled
def solve_once(t: Any, size: int, rows: int) -> bool:
    """Solve the programme with so many rows of limits; return whether there is a solution."""
    problem, result = t.problem, t.result
    problem.n, problem.m, problem.simple = size, size + rows, size
    for i in range(size + rows):
        t.sense[i] = 0
    solve_programme(t.result_at[0], t.problem_at[0], 0)
    return bool(result.flag > 0)


@compiled
def torques(t: Any, who: Any, size: int) -> None:
    """Write the torques that go with the solution."""
    joints = who.nv - 6
    limits = grid(t.limits, (joints + w.PLANES, size))
    for j in range(joints):
        total = t.error[6 + j]
        for i in range(size):
            total += limits[j, i] * t.x[i]
        t.bias[6 + j] = total


@compiled
def touch_spheres(v: Any, t: Any, who: Any, size: int, planes: int) -> int:
    """Add a plane for every joint whose torque is too long; return how many there are now."""
    joints, first = who.nv - 6, who.root_dof
    limits, table = grid(t.limits, (joints + w.PLANES, size)), longs(who.joints)
    for j in range(who.joint_count):
        d = table[3 * j + 2]
        if table[3 * j] != 3 or planes >= w.PLANES:
            continue
        long = math.sqrt(t.bias[d] ** 2 + t.bias[d + 1] ** 2 + t.bias[d + 2] ** 2)
        most = v.limit[first + d]
        if long <= most * _TOLERANCE:
            continue
        line, still = joints + planes, 0.0
        for i in range(size):
            limits[line, i] = 0.0
        for k in range(3):
            part = t.bias[d + k] / long
            still += part * t.error[d + k]
            for i in range(size):
                limits[line, i] += part * limits[d - 6 + k, i]
        t.upper[size + line], t.lower[size + line] = most - still, -1.0e6
        planes += 1
    return planes


@compiled
def keep_strength(v: Any, t: Any, who: Any) -> None:
    """Shorten what is still too long, write the torques down, and meter them."""
    first, table = who.root_dof, longs(who.joints)
    for j in range(who.joint_count):
        d, axes = table[3 * j + 2], table[3 * j]
        square = 0.0
        for k in range(axes):
            square += t.bias[d + k] ** 2
        share = math.sqrt(square) / max(v.limit[first + d], 1e-9)
        if share > _TOLERANCE:
            who.cut += 1
        part = 1.0 / share if share > 1.0 else 1.0
        who.worst = max(who.worst, min(share, 1.0))
        who.joint_ticks += 1.0
        for k in range(axes if is_own(v, first + d) else 0):
            t.tau[first + d + k] = t.bias[d + k] * part
            v.saturated[first + d + k] = 1 if share > 0.999 or v.scale[first + d + k] < 1.0 else 0
            v.saturated_steps[first + d + k] += v.saturated[first + d + k]


@compiled
def solve(
    v: Any, t: Any, who: Any, gains: Any, flying: bool, air: bool, near_air: bool, period: float, model: int, data: int
) -> bool:  # fmt: skip
    """Set the programme up and solve it; torques are in `tau`; return whether there was a solution."""
    n, points = who.nv, who.points
    joints = n - 6
    size = joints + w.SIDES * points
    invert_root(t, n)
    hold_contacts(v, t, who, gains, model, data)
    eliminate_root(t, who, gains)
    hessian = grid(t.hessian, (size, size))
    for i in range(size):
        t.linear_term[i] = 0.0
        for k in range(size):
            hessian[i, k] = 1e-7 if i == k else 0.0
    ask_posture(v, t, who, gains, size, flying)
    if points > 0:
        ask_whole_body(t, who, gains, size, near_air)
        ask_contacts(t, who, gains, size)
        ask_down(v, t, who, gains, size, model, data)
    ask_feet(v, t, who, gains, size, flying, air, period, model, data)
    limit_torques(v, t, who, gains, size)
    for i in range(size):
        for k in range(i):
            hessian[i, k] = hessian[k, i]
    if not solve_once(t, size, joints):
        return False
    torques(t, who, size)
    planes = 0
    for _ in range(_ROUNDS):
        more = touch_spheres(v, t, who, size, planes)
        if more == planes:
            break
        planes = more
        who.resolves += 1
        if not solve_once(t, size, joints + planes):
            break
        torques(t, who, size)
    keep_strength(v, t, who)
    return True
