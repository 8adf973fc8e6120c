"""Bodies on strings, compiled: at every control step all strings' forces come from one bounded least-squares problem.

A body under capture markers has a pose that goes with them. What that pose asks of every degree of freedom is Newton's,
Q = M·a + c, with the wanted acceleration a. Muscles give what is asked of the joints; the ground gives what feet that
stand on it can be given; strings give what is left: of a free root, and of joints that are not strong enough. Unknown
are the forces of strings f and, for each contact, how hard it pushes along the four edges of its friction pyramid λ:

    minimise |Q_root − (Jᵀf + Cᵀλ)_root|² + w·Σ(τ / strength)² + w_f·|f|² + w_λ·|λ|²,   τ = Q − Jᵀf − Cᵀλ in the joints

with |f| within each string's strength and λ ≥ 0. A joint whose τ is over its strength is then asked to have what is
over carried, and the problem is solved again. Strings that could only pull against each other gain nothing by it,
and nothing is integrated, so nothing winds up.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.adaptive.law import BETA
from stunt.control.core.engine import contact_at, engine_function
from stunt.control.core.full_coupling import multiply
from stunt.control.core.goals import quaternion_error
from stunt.control.core.programs import BEFORE, BETWEEN, STRINGS, entry
from stunt.control.core.views import views_at
from stunt.control.own.solver import solve_programme
from stunt.control.strings import layout as w
from stunt.maths.compiled import compiled
from stunt.maths.flat import exponential, product
from stunt.maths.pointers import address, floats, longs

mj_jac = engine_function("mj_jac", 5, 1)
"""Jacobians of a point (model, data, linear, angular, point: addresses; body)."""

_LEVER: Final = 0.3
"""A torque on the root counts as the force at this distance [m]."""
_JOINT, _OVER = 1e-3, 1.0
"""Weight of a joint's torque over its strength, and of what is beyond its strength."""
_STRONG: Final = 0.85
"""Share of its strength that a joint is asked for; the rest is its spring's."""
_STRING, _GROUND = 3e-2, 1e-5
"""Weight of a string's force and of the ground's, over the body's weight."""
_ROUNDS: Final = 3
_LEAVES: Final = 0.2
"""A point that the pose moves faster than this [m/s] is not counted on."""
_ROOT_LAM: Final = 40.0
"""A body is brought to its markers no faster than this [1/s]: a floor that is millimetres off is not fought."""
_LEAD: Final = (2.0 + BETA) / (1.0 + BETA)


@compiled
def sample(rows: Any, width: int, frames: int, frame: float, out: Any, o: int) -> None:
    """Write rows at a fractional frame: on the line between two, held outside."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    share = x - low
    a, b = low * width, min(low + 1, frames - 1) * width
    for k in range(width):
        out[o + k] = (1.0 - share) * rows[a + k] + share * rows[b + k]


@compiled
def ask_pose(t: Any, who: Any, time: float) -> None:
    """Write where the fitted body is at a time, how fast, and its acceleration; it rests before and after."""
    frame = (time - who.start) * who.fps
    sample(floats(who.poses), who.nq, who.frames, frame, t.goal, who.first_qpos)
    sample(floats(who.velocities), who.nv, who.frames, frame, t.pace, who.first_dof)
    sample(floats(who.accelerations), who.nv, who.frames, frame, t.urge, who.first_dof)
    if not 0.0 <= frame <= who.frames - 1.0:
        for i in range(who.first_dof, who.first_dof + who.nv):
            t.pace[i] = t.urge[i] = 0.0
    joints = longs(who.joints)
    for j in range(who.joint_count):
        if joints[4 * j + 3] == 3:
            unit(t.goal, joints[4 * j + 1])
    if who.root_dof >= 0:
        unit(t.goal, who.root_qpos + 3)


@compiled
def unit(values: Any, o: int) -> None:
    """Make the quaternion at values[o:o+4] one of unit length."""
    size = math.sqrt(values[o] ** 2 + values[o + 1] ** 2 + values[o + 2] ** 2 + values[o + 3] ** 2)
    for k in range(4):
        values[o + k] /= size


@entry(STRINGS, BEFORE)
def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs of all muscles: toward where the pose will be at a step's end, on average over the period."""
    v, t = views_at(table), w.strings_at(program)
    for n in range(t.count[0]):
        who = w.body_at(t.bodies, n)
        ask_pose(t, who, time + 0.5 * (v.times.period + v.times.step))
        set_friction(t, who, time)
        joints, lam = longs(who.joints), who.lam
        lead = _LEAD / lam  # the engine's damper only knows rest: a rest that leads makes up for its drag
        for j in range(who.joint_count):
            q, i = joints[4 * j + 1], joints[4 * j + 2]
            if joints[4 * j + 3] == 3:
                e, x, y, z = exponential(lead * t.pace[i], lead * t.pace[i + 1], lead * t.pace[i + 2])
                v.rest[q], v.rest[q + 1], v.rest[q + 2], v.rest[q + 3] = product(
                    t.goal[q], t.goal[q + 1], t.goal[q + 2], t.goal[q + 3], e, x, y, z
                )
            else:
                v.rest[q] = t.goal[q] + lead * t.pace[i]
            for k in range(i, i + joints[4 * j + 3]):
                v.goal_velocity[k] = t.pace[k]
                v.stiffness[k] = (1.0 + BETA) * v.moment[k] * lam * lam
                v.damping[k] = (2.0 + BETA) * v.moment[k] * lam


@compiled
def set_friction(t: Any, who: Any, time: float) -> None:
    """Let a foot that swings slide: markers tell to a centimetre at best how high it is lifted."""
    soles, rows, count = longs(who.soles), floats(who.friction), who.sole_count
    frame = min(max(int((time - who.start) * who.fps), 0), who.frames - 1)
    for k in range(count):
        t.sliding[3 * soles[k]] = rows[frame * count + k]


@entry(STRINGS, BETWEEN)
def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Find and pull all strings, and tell muscles what they carry; not before the first step, when time is negative."""
    if time < 0.0:
        return
    v, t = views_at(table), w.strings_at(program)
    for n in range(t.count[0]):
        who = w.body_at(t.bodies, n)
        ask_pose(t, who, time)
        want(v, t, who)
        strings = place_strings(t, who, time)
        points = strings + place_contacts(t, who, n + 1, strings, v.sizes.nv, model, data)
        size = lay_out(v, t, who, strings, points, model, data)
        share(v, t, who, strings, size)
        pull(v, t, who, strings, size, time)


@compiled
def want(v: Any, t: Any, who: Any) -> None:
    """Write what the pose asks of every degree of freedom: M·a + c."""
    nv, first = v.sizes.nv, who.first_dof
    if who.root_dof >= 0:
        lam, h, root, q = min(who.lam, _ROOT_LAM), v.times.period, who.root_dof, who.root_qpos
        quaternion_error(v.qpos, q + 3, t.goal, q + 3, t.point, 0)
        for k in range(6):
            e = t.goal[q + k] - v.qpos[q + k] if k < 3 else t.point[k - 3]
            de = t.pace[root + k] - v.qvel[root + k]
            # As an implicit spring with a double pole at λ would give it.
            t.urge[root + k] += (lam * lam * (e + h * de) + 2.0 * lam * de) / (1.0 + h * lam) ** 2
    multiply(nv, v.rownnz, v.rowadr, v.colind, v.felt_inertia, t.urge, t.product)
    for i in range(first, first + who.nv):
        t.wanted[i] = t.product[i] + v.felt_bias[i]


@compiled
def place_strings(t: Any, who: Any, time: float) -> int:
    """Write where strings are fastened, and note how far that is from their markers; return how many there are."""
    frame = (time - who.start) * who.fps
    for s in range(who.string_count):
        string = w.string_at(who.strings, s)
        site, off = string.site, 0.0
        sample(floats(string.path), 3, who.frames, frame, t.point, 0)
        for k in range(3):
            row = 9 * site + 3 * k
            place = t.xpos[3 * site + k] + t.xmat[row] * string.offset[0]
            place += t.xmat[row + 1] * string.offset[1] + t.xmat[row + 2] * string.offset[2]
            t.place[3 * s + k] = place
            off += (t.point[k] - place) ** 2
        t.owner[s] = string.body
        string.error = math.sqrt(off)
        string.squares += off
        string.steps += 1.0
        if off > string.worst:
            string.worst, string.worst_time = off, time
    return int(who.string_count)


@compiled
def place_contacts(t: Any, who: Any, number: int, first: int, nv: int, model: int, data: int) -> int:
    """Write where the body stands on something that the pose keeps still; return how many such contacts."""
    found = 0
    for c in range(t.ncon[0]):
        contact = contact_at(t.contacts[0], c)
        one, other = contact.geom[0], contact.geom[1]
        mine, theirs = t.geom_owner[one] == number, t.geom_owner[other] == number
        if mine == theirs or contact.dist > 0.0 or found >= w.CONTACTS:
            continue
        body, p = t.geom_body[one if mine else other], first + found
        for k in range(3):
            t.place[3 * p + k] = contact.pos[k]
        mj_jac(model, data, address(t.jacobian), 0, address(t.place) + 24 * p, body)
        pace = 0.0
        for k in range(3):
            along = 0.0
            for i in range(who.first_dof, who.first_dof + who.nv):
                along += t.jacobian[k * nv + i] * t.pace[i]
            pace += along * along
        if pace < _LEAVES * _LEAVES:
            t.owner[p] = body + (c << 32)
            found += 1
    return found


@compiled
def lay_out(v: Any, t: Any, who: Any, strings: int, points: int, model: int, data: int) -> int:
    """Write how every unknown acts on the body, in units of its weight; return how many there are."""
    nv, weight, size = v.sizes.nv, who.weight, 0
    for p in range(points):
        body = t.owner[p] & 0xFFFFFFFF
        mj_jac(model, data, address(t.jacobian), 0, address(t.place) + 24 * p, body)
        if p < strings:
            most = w.string_at(who.strings, p).limit / weight
            for k in range(3):
                for i in range(who.first_dof, who.first_dof + who.nv):
                    t.push[size * nv + i] = weight * t.jacobian[k * nv + i]
                t.upper[size], t.lower[size] = most, -most
                size += 1
            continue
        contact = contact_at(t.contacts[0], t.owner[p] >> 32)
        sign = 1.0 if t.geom_body[contact.geom[1]] == body else -1.0  # the normal points from the first to the second
        grip = contact.friction[0] / math.sqrt(2.0)
        for edge in range(w.EDGES):
            a, b = 1.0 if edge < 2 else -1.0, 1.0 if edge % 2 == 0 else -1.0
            for i in range(who.first_dof, who.first_dof + who.nv):
                total = 0.0
                for k in range(3):
                    way = contact.frame[k] + grip * (a * contact.frame[3 + k] + b * contact.frame[6 + k])
                    total += sign * way * t.jacobian[k * nv + i]
                t.push[size * nv + i] = 0.25 * weight * total
            t.upper[size], t.lower[size] = 40.0, 0.0
            size += 1
    return size


@compiled
def share(v: Any, t: Any, who: Any, strings: int, size: int) -> None:
    """Solve for the unknowns; again, while a joint's torque is over its strength."""
    first, root = who.first_dof, who.root_dof
    for i in range(first, first + who.nv):
        most = v.limit[i]
        t.weigh[i] = _JOINT / (most * most) if 0.0 < most < 1.0e9 else 0.0
        t.aim[i] = t.wanted[i]
    for k in range(6 if root >= 0 else 0):
        unit_force = who.weight if k < 3 else _LEVER * who.weight
        t.weigh[root + k] = 1.0 / (unit_force * unit_force)
    for _ in range(_ROUNDS):
        if not solve(v, t, who, strings, size):
            who.failed += 1
            for i in range(size):
                t.x[i] = 0.0
            return
        if not ask_again(v, t, who, size):
            return


@compiled
def solve(v: Any, t: Any, who: Any, strings: int, size: int) -> bool:
    """Set the least-squares problem up and solve it; return whether there is a solution."""
    nv, first, last = v.sizes.nv, who.first_dof, who.first_dof + who.nv
    for a in range(size):
        total = 0.0
        for i in range(first, last):
            total += t.weigh[i] * t.push[a * nv + i] * t.aim[i]
        t.linear_term[a] = -total
        for b in range(a + 1):
            total = 0.0
            for i in range(first, last):
                total += t.weigh[i] * t.push[a * nv + i] * t.push[b * nv + i]
            if a == b:
                total += _STRING if a < 3 * strings else _GROUND
            t.hessian[a * size + b] = total
            t.hessian[b * size + a] = total
        t.sense[a] = 0
    problem = t.problem
    problem.n, problem.m, problem.simple = size, size, size
    solve_programme(t.result_at[0], t.problem_at[0], 0)
    return bool(t.result.flag > 0)


@compiled
def left_over(v: Any, t: Any, size: int, i: int) -> float:
    """Return what strings and ground leave of what is asked of a degree of freedom: what its muscle has to give."""
    total = t.wanted[i]
    for a in range(size):
        total -= t.x[a] * t.push[a * v.sizes.nv + i]
    return float(total)


@compiled
def ask_again(v: Any, t: Any, who: Any, size: int) -> bool:
    """Ask for what joints lack to be carried; return whether any does."""
    joints, again = longs(who.joints), False
    for j in range(who.joint_count):
        i, axes, square = joints[4 * j + 2], joints[4 * j + 3], 0.0
        for k in range(i, i + axes):
            t.point[k - i] = left_over(v, t, size, k)
            square += t.point[k - i] ** 2
        most = _STRONG * v.limit[i]
        if square <= most * most or not 0.0 < most < 1.0e9:
            continue
        again = True
        part = most / math.sqrt(square)
        for k in range(i, i + axes):
            t.weigh[k] = _OVER / (most * most)
            t.aim[k] = t.wanted[k] - part * t.point[k - i]
    return again


@compiled
def pull(v: Any, t: Any, who: Any, strings: int, size: int, time: float) -> None:
    """Pull the strings, meter them, and tell every muscle what it carries beside gravity."""
    nv, h, first, weight = v.sizes.nv, v.times.period, who.first_dof, who.weight
    total, x, y, z = 0.0, 0.0, 0.0, 0.0
    for s in range(strings):
        string, square = w.string_at(who.strings, s), 0.0
        for k in range(3):
            square += (weight * t.x[3 * s + k]) ** 2
        long = math.sqrt(square)
        part = min(1.0, string.limit / long) if long > 0.0 else 1.0
        string.limited += 1.0 if part < 1.0 or long > 0.999 * string.limit else 0.0
        for k in range(3):
            t.x[3 * s + k] *= part
            string.force[k] = weight * t.x[3 * s + k]
            for i in range(first, first + who.nv):
                v.pull[i] += t.x[3 * s + k] * t.push[(3 * s + k) * nv + i]
        string.impulse += h * part * long
        string.peak = max(string.peak, part * long)
        total, x, y, z = total + part * long, x + string.force[0], y + string.force[1], z + string.force[2]
    who.pulled += h * total
    who.pulled_net += h * math.sqrt(x * x + y * y + z * z)
    who.seconds += h
    if who.root_dof >= 0:
        for a in range(3 * strings, size):
            who.carried += h * t.x[a] * t.push[a * nv + who.root_dof + 2]
    joints = longs(who.joints)
    for j in range(who.joint_count):
        for i in range(joints[4 * j + 2], joints[4 * j + 2] + joints[4 * j + 3]):
            v.feed_forward[i] = left_over(v, t, size, i) - v.felt_bias[i]
