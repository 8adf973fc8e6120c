"""The antagonist program, compiled: from transitions and external torques to springs, at every control step.

The two springs of a joint go to the engine as one: stiffness K = k_L + k_H about the angle where they balance, which is
the same torque to the last bit that counts (see `tests/control/test_antagonist.py`).
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.board import FULL, IMPEDANCE, PASSIVE
from stunt.control.core.engine import BALL, FREE
from stunt.control.core.goals import quaternion_error
from stunt.control.core.loads import feel_pushes, push_chain
from stunt.control.core.programs import AFTER, ANTAGONIST, BEFORE, BETWEEN, entry
from stunt.control.core.views import views_at
from stunt.control.tension.law import ball_room, critical_share, curve_progress, least_tension, warped
from stunt.control.tension.memory import HAND_OVER, LINE, SAMPLING, TABLE, row_at, sole_at
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import exponential, product

tension_at = TABLE.reader()
_INSIDE = 0.02  # the asked angle stays so far inside the set-points [rad]


@inlined
def gravity_torque(cdof: Any, crb: Any, body: int, i: int, gravity: Any) -> float:
    """Return gravity's torque on degree of freedom i of a body, from the composite of everything outboard [N·m].

    Takes the engine's arrays one by one: handing all views on would cost more than the torque.
    """
    s, c = 6 * i, 10 * body
    g0, g1, g2 = gravity[0], gravity[1], gravity[2]
    m0, m1, m2, mass = crb[c + 6], crb[c + 7], crb[c + 8], crb[c + 9]
    turn = cdof[s] * (m1 * g2 - m2 * g1) + cdof[s + 1] * (m2 * g0 - m0 * g2) + cdof[s + 2] * (m0 * g1 - m1 * g0)
    return turn + mass * (cdof[s + 3] * g0 + cdof[s + 4] * g1 + cdof[s + 5] * g2)


@inlined
def loads(v: Any, t: Any) -> bool:
    """Write what the ground, known pushes and things carried, as heavy as believed, do to each joint.

    Motion of other limbs is left out on purpose: that they pull at a loose joint is what looseness looks like.

    Returns:
        Whether there is any such load.
    """
    world, out, gravity = t.world, t.carried, v.gravity
    found = world.soles > 0 or v.counts.known > 0
    for n in range(v.counts.loads):
        found = found or v.eq_active[v.load_grip[n]] != 0
    if not found:
        return False
    for i in range(v.sizes.nv):
        out[i] = 0.0
    for n in range(v.counts.loads):
        if v.eq_active[v.load_grip[n]]:
            dof, mass, at = v.last_dof[v.eq_body[v.load_grip[n]]], v.load_mass[n], 3 * v.load_body[n]
            push_chain(v, out, dof, v.xipos, at, mass * gravity[0], mass * gravity[1], mass * gravity[2])
    if v.counts.known > 0:
        feel_pushes(v, out, 1.0)
    for k in range(world.soles):
        sole = sole_at(t.soles, k)
        force = sole.force
        push_chain(v, out, v.last_dof[sole.body], sole.point, 0, force[0], force[1], force[2])
    return True


@inlined
def share_of_time(row: Any, time: float) -> float:
    """Return how much of a transition's time has passed, 0 to 1."""
    if time >= row.end:
        return 1.0
    return max(0.0, (time - row.start) * row.rate)


@inlined
def progress(row: Any, u: float) -> float:
    """Return the progress of a row's curve at a share of its time."""
    if u >= 1.0:
        return 1.0
    if row.warp != 0.0:
        u = warped(u, row.warp)
    if row.knots == 2:
        # One segment over all of [0, 1]: s(a) + … in powers of u.
        a, b = row.curve[2], row.curve[5]
        return u * (a + u * (3.0 - 2.0 * a - b + u * (a + b - 2.0)))
    return curve_progress(row.curve, 0, row.knots, u)


@inlined
def along(first: float, last: float, share: float) -> float:
    """Return the point on a line."""
    return first + (last - first) * share


@compiled
def raise_tension(row: Any, tension: float, least: float) -> float:
    """Return a tension no less than what springs that only pull need; note where it had to be raised."""
    if tension >= least:
        return tension
    if least > row.raised:
        row.raised, row.asked = least, tension
    return least


@inlined
def line_gains(row: Any, p: float, inside: float) -> tuple[float, float, float, float]:
    """Return gains on the straight line between the start and end gains; the motion is warped by what it is.

    Also the angle and the torque they are for: (k_L, k_H, θ, F).
    """
    low, high, span = row.low, row.high, row.span
    k0, k1 = row.tension0 * span, row.tension1 * span
    gain_low = max(along(k0 * (high - row.rest0), k1 * (high - row.rest1), p), 0.0)
    gain_high = max(along(k0 * (row.rest0 - low), k1 * (row.rest1 - low), p), 0.0)
    force = along(row.force0, row.force1, inside)
    return gain_low, gain_high, along(row.angle0, row.angle1, p), force


@inlined
def isoangle_gains(row: Any, u: float, p: float, force: float) -> tuple[float, float, float, float]:
    """Return gains on the isoangle line of the moment's angle, at the moment's tension: (k_L, k_H, θ, F)."""
    low, high, span = row.low, row.high, row.span
    angle = along(row.angle0, row.angle1, p) + row.shift
    angle = min(max(angle, low + _INSIDE), high - _INSIDE)
    tension = max(along(row.tension0, row.tension1, u), 0.0)
    up, down = tension * (high - angle) + force, tension * (angle - low) - force
    if up < 0.0 or down < 0.0:
        tension = raise_tension(row, tension, least_tension(force, angle, low, high))
        up, down = tension * (high - angle) + force, tension * (angle - low) - force
    return max(up * span, 0.0), max(down * span, 0.0), angle, force


@inlined
def hinge_spring(row: Any, time: float, force: float) -> tuple[float, float, float]:
    """Write a hinge's or slide's gains, and return the one spring they amount to: stiffness, rest, angle asked for.

    Args:
        row: The joint's record.
        time: The moment the spring is for [s].
        force: External torque of this moment, where it is sampled [N·m].
    """
    u = share_of_time(row, time)
    p = progress(row, u)
    inside = min(max(p, 0.0), 1.0)
    mode = row.mode
    if mode == LINE:
        gain_low, gain_high, angle, force = line_gains(row, p, inside)
    else:
        if mode != SAMPLING:
            force = along(row.force0, row.force1, inside)
        gain_low, gain_high, angle, force = isoangle_gains(row, u, p, force * row.compensate)
    if row.slacked != 0:
        gain_low *= along(row.slack_low0, row.slack_low1, u)
        gain_high *= along(row.slack_high0, row.slack_high1, u)
    tension = gain_low + gain_high
    rest = (gain_low * row.low + gain_high * row.high) / tension if tension > 1e-12 else angle
    row.gain_low, row.gain_high, row.progress = gain_low, gain_high, p
    row.angle, row.force = angle, force
    return tension, rest, angle


@compiled
def turned(q: Any, a: int, x: float, y: float, z: float, out: Any, o: int) -> None:
    """Write q ⊗ exp(rotation vector) to `out[o:o+4]`."""
    w, x, y, z = exponential(x, y, z)
    out[o], out[o + 1], out[o + 2], out[o + 3] = product(q[a], q[a + 1], q[a + 2], q[a + 3], w, x, y, z)


@compiled
def between_balls(row: Any, share: float, scratch: Any) -> None:
    """Write the orientation a share of the way from the row's first to its second, to the scratch."""
    error = scratch.error
    quaternion_error(row.ball0, 0, row.ball1, 0, error, 0)
    turned(row.ball0, 0, share * error[0], share * error[1], share * error[2], scratch.turn, 0)


@compiled
def drive_ball(v: Any, t: Any, j: int, time: float) -> None:
    """Set a ball joint's spring; its torque goes with the rotation vector, so shares of tension are progress."""
    i, q, scratch, external = v.jnt_dofadr[j], v.jnt_qposadr[j], t.scratch, t.external
    row = row_at(t.rows, i)
    u = share_of_time(row, time)
    p = progress(row, u)
    inside = min(max(p, 0.0), 1.0)
    tension = max(along(row.tension0, row.tension1, u), 0.0)
    share = p
    if row.mode == LINE:
        # The springs of both ends change along a straight line; their balance runs ahead toward the tighter one.
        near, far = max((1.0 - p) * row.tension0, 0.0), max(p * row.tension1, 0.0)
        tension = near + far
        share = far / max(tension, 1e-12)
    between_balls(row, share, scratch)
    size = 0.0
    for k in range(3):
        own = row_at(t.rows, i + k)
        force = external[i + k]
        if row.mode != SAMPLING:
            force = along(own.force0, own.force1, inside)
        force *= row.compensate
        own.force = force
        size += force * force
    size = math.sqrt(size)
    turn = 2.0 * math.acos(min(1.0, abs(scratch.turn[0])))
    tension = raise_tension(row, tension, size / ball_room(row.high, turn))
    f = -1.0 / tension if tension > 1e-12 else 0.0
    second, third = row_at(t.rows, i + 1), row_at(t.rows, i + 2)
    turned(scratch.turn, 0, f * row.force, f * second.force, f * third.force, v.rest, q)
    moment = (v.moment[i] + v.moment[i + 1] + v.moment[i + 2]) / 3.0
    for k in range(4):
        v.goal[q + k] = scratch.turn[k]
    for k in range(3):
        v.stiffness[i + k] = tension
        v.damping[i + k] = critical_share(tension, moment, row.ratio)
        v.feed_forward[i + k] = 0.0
        own = row_at(t.rows, i + k)
        own.gain_low = own.gain_high = 0.5 * tension
    row.progress = p


@entry(ANTAGONIST, BEFORE)
def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs of all joints under tension."""
    v, t = views_at(table), tension_at(program)
    # An implicit spring is evaluated where the period ends, so that is the moment its curve is read for.
    ahead = time + v.times.period
    for i in range(v.sizes.nv):
        if t.last_law[i] != v.law[v.dof_jntid[i]]:
            t.hand_torque[i] = v.torque[i]  # before any law writes its own
    for j in range(v.sizes.njnt):
        i = v.jnt_dofadr[j]
        row = row_at(t.rows, i)
        # Predicted gains do not change once the transition is over.
        if row.active == 0 or row.settled != 0 or v.law[j] != IMPEDANCE:
            continue
        if v.jnt_type[j] == BALL:
            drive_ball(v, t, j, ahead)
            continue
        q = v.jnt_qposadr[j]
        stiffness, v.rest[q], v.goal[q] = hinge_spring(row, ahead, t.external[i])
        v.stiffness[i], v.feed_forward[i] = stiffness, 0.0
        v.damping[i] = critical_share(stiffness, v.moment[i], row.ratio)
        if row.mode != SAMPLING and ahead >= row.end:
            row.settled = 1


@entry(ANTAGONIST, BETWEEN)
def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Feel the external torques of the present state, for the springs of the next step."""
    v, t = views_at(table), tension_at(program)
    external, carried, gravity = t.external, t.carried, v.gravity
    loaded, known = loads(v, t), v.counts.known > 0
    if known:
        for i in range(v.sizes.nv):
            t.pushed[i] = 0.0
        feel_pushes(v, t.pushed, 1.0)
    for i in range(v.sizes.nv):
        j = v.dof_jntid[i]
        row = row_at(t.rows, v.jnt_dofadr[j])
        if row.active == 0:
            continue
        if row.mode != SAMPLING:
            if v.law[j] == IMPEDANCE:
                # Gains were predicted before: what is known to push now, the springs lean against as they stand.
                v.feed_forward[i] = -t.pushed[i] if known and row.compensate != 0 else 0.0
            continue
        external[i] = gravity_torque(v.cdof, v.crb, v.dof_bodyid[i], i, gravity)
        if loaded:
            external[i] += carried[i]


@entry(ANTAGONIST, AFTER)
def after(table: int, program: int, time: float, model: int, data: int) -> None:
    """Hand joints from one law to another without a jump: the difference in torque fades out."""
    v, t = views_at(table), tension_at(program)
    last, start, jump, until = t.last_law, t.hand_start, t.hand_torque, t.fading_until
    if v.counts.law_changed == 0 and time >= until[0]:
        return
    if until[0] == math.inf:  # the first step: all laws are new
        until[0] = time
    for i in range(v.sizes.nv):
        law = v.law[v.dof_jntid[i]]
        if last[i] != law:
            changed_hands(v, last, start, jump, i, law, time)
            until[0] = time + HAND_OVER
        if time - start[i] < HAND_OVER and law != PASSIVE and v.tasked[v.dof_jntid[i]] == 0:
            s = (time - start[i]) / HAND_OVER
            fade = 1.0 - s * s * (3.0 - 2.0 * s)
            torque = min(max(v.applied[i] - v.pull[i] + fade * jump[i], -v.limit[i]), v.limit[i])
            v.applied[i] = torque + v.pull[i]
            if law == FULL and v.planted[i] == 0:  # a spring's torque is noted when the step is taken
                v.torque[i] = torque


@compiled
def changed_hands(v: Any, last: Any, start: Any, jump: Any, i: int, law: int, time: float) -> None:
    """Note the jump in torque of a degree of freedom whose law is new."""
    if last[i] >= 0 and law != PASSIVE and v.jnt_type[v.dof_jntid[i]] != FREE:
        now = v.applied[i]
        if law != FULL or v.planted[i] != 0:
            now += v.scale[i] * (v.stiffness[i] * v.error[i] - v.damping[i] * v.qvel[i])
        start[i], jump[i] = time, jump[i] - now
    last[i] = law
