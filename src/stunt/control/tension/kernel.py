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
from stunt.control.core.views import bytes_, floats, ints, longs
from stunt.control.tension import layout as at
from stunt.control.tension.law import ball_room, critical_share, curve_progress, least_tension, warped
from stunt.maths.compiled import compiled, inlined

_W = at.WIDTH
_MODE, _START, _END, _RATE, _WARP = at.MODE, at.START, at.END, at.RATE, at.WARP
_KNOTS, _COMPENSATE, _RATIO, _SHIFT, _SPAN = at.KNOTS, at.COMPENSATE, at.RATIO, at.SHIFT, at.SPAN
_T0, _T1, _A0, _A1, _F0, _F1 = at.TENSION0, at.TENSION1, at.ANGLE0, at.ANGLE1, at.FORCE0, at.FORCE1
_R0, _R1, _LOW, _HIGH, _SLACKED = at.REST0, at.REST1, at.LOW, at.HIGH, at.SLACKED
_SL0, _SL1, _SH0, _SH1 = at.SLACK_LOW0, at.SLACK_LOW1, at.SLACK_HIGH0, at.SLACK_HIGH1
_GL, _GH, _ANGLE, _FORCE = at.GAIN_LOW, at.GAIN_HIGH, at.ANGLE, at.FORCE
_RAISED, _ASKED, _P = at.RAISED, at.ASKED, at.PROGRESS
_CURVE, _BALL0, _BALL1, _SETTLED = at.CURVE, at.BALL0, at.BALL1, at.SETTLED
_PROPS, _SOLES = at.PROPS, at.SOLES
_SAMPLING, _LINE = at.SAMPLING, at.LINE
_HAND_OVER = at.HAND_OVER
_INSIDE = 0.02  # the asked angle stays so far inside the set-points [rad]


@compiled
def push_chain(v: Any, out: Any, dof: int, root: Any, point: Any, p: int, f0: float, f1: float, f2: float) -> None:
    """Add to `out` the joint torques of a force at a point (`point[p:p+3]`), for a dof and all inboard of it.

    Args:
        v: Views.
        out: (nv,).
        dof: The outermost degree of freedom that feels it.
        root: Centre of mass of each body's subtree; the engine's motion axes refer to the tree root's.
        point: Where, in the world.
        p: Index into `point`.
        f0: Force, x.
        f1: Force, y.
        f2: Force, z.
    """
    if dof < 0:
        return
    c = 3 * v.body_rootid[v.dof_bodyid[dof]]
    r0, r1, r2 = point[p] - root[c], point[p + 1] - root[c + 1], point[p + 2] - root[c + 2]
    m0, m1, m2 = r1 * f2 - r2 * f1, r2 * f0 - r0 * f2, r0 * f1 - r1 * f0
    i = dof
    while i >= 0:
        s = 6 * i
        out[i] += v.cdof[s] * m0 + v.cdof[s + 1] * m1 + v.cdof[s + 2] * m2
        out[i] += v.cdof[s + 3] * f0 + v.cdof[s + 4] * f1 + v.cdof[s + 5] * f2
        i = v.dof_parentid[i]


@inlined
def gravity_torque(cdof: Any, crb: Any, body: int, i: int, world: Any) -> float:
    """Return gravity's torque on degree of freedom i of a body, from the composite of everything outboard [N·m].

    Takes the engine's arrays one by one: handing all views on would cost more than the torque.
    """
    s, c = 6 * i, 10 * body
    g0, g1, g2 = world[0], world[1], world[2]
    m0, m1, m2, mass = crb[c + 6], crb[c + 7], crb[c + 8], crb[c + 9]
    turn = cdof[s] * (m1 * g2 - m2 * g1) + cdof[s + 1] * (m2 * g0 - m0 * g2) + cdof[s + 2] * (m0 * g1 - m1 * g0)
    return turn + mass * (cdof[s + 3] * g0 + cdof[s + 4] * g1 + cdof[s + 5] * g2)


@inlined
def loads(v: Any, world: Any, out: Any, last_dof: Any, active: Any, holder: Any, root: Any) -> bool:
    """Write what the ground and things carried, at the weight they are believed to have, do to each joint.

    Motion of other limbs is left out on purpose: that they pull at a loose joint is what looseness looks like.

    Returns:
        Whether there is any such load.
    """
    props, soles = int(world[_PROPS]), int(world[_SOLES])
    found = soles > 0
    for k in range(props):
        found = found or active[int(world[_PROPS + 1 + 3 * k])] != 0
    if not found:
        return False
    for i in range(v.sizes.nv):
        out[i] = 0.0
    for k in range(props):
        grip, body = int(world[_PROPS + 1 + 3 * k]), int(world[_PROPS + 2 + 3 * k])
        mass = world[_PROPS + 3 + 3 * k]
        if active[grip]:
            push_chain(
                v, out, last_dof[holder[grip]], root, v.xipos, 3 * body, mass * world[0], mass * world[1],
                mass * world[2],
            )  # fmt: skip
    for k in range(soles):
        f = _SOLES + 1 + 7 * k
        push_chain(v, out, last_dof[int(world[f])], root, world, f + 4, world[f + 1], world[f + 2], world[f + 3])
    return True


@inlined
def share_of_time(rows: Any, r: int, time: float) -> float:
    """Return how much of a transition's time has passed, 0 to 1."""
    if time >= rows[r + _END]:
        return 1.0
    return max(0.0, (time - rows[r + _START]) * rows[r + _RATE])


@inlined
def progress(rows: Any, r: int, u: float) -> float:
    """Return the progress of a row's curve at a share of its time."""
    if u >= 1.0:
        return 1.0
    if rows[r + _WARP] != 0.0:
        u = warped(u, rows[r + _WARP])
    if rows[r + _KNOTS] == 2.0:
        # One segment over all of [0, 1]: s(a) + … in powers of u.
        a, b = rows[r + _CURVE + 2], rows[r + _CURVE + 5]
        return u * (a + u * (3.0 - 2.0 * a - b + u * (a + b - 2.0)))
    return curve_progress(rows, r + _CURVE, int(rows[r + _KNOTS]), u)


@inlined
def along(first: float, last: float, share: float) -> float:
    """Return the point on a line."""
    return first + (last - first) * share


@compiled
def raise_tension(rows: Any, r: int, tension: float, least: float) -> float:
    """Return a tension no less than what springs that only pull need; note where it had to be raised."""
    if tension >= least:
        return tension
    if least > rows[r + _RAISED]:
        rows[r + _RAISED], rows[r + _ASKED] = least, tension
    return least


@inlined
def line_gains(rows: Any, r: int, p: float, inside: float) -> tuple[float, float, float, float]:
    """Return gains on the straight line between the start and end gains; the motion is warped by what it is.

    Also the angle and the torque they are for: (k_L, k_H, θ, F).
    """
    low, high, span = rows[r + _LOW], rows[r + _HIGH], rows[r + _SPAN]
    k0, k1 = rows[r + _T0] * span, rows[r + _T1] * span
    gain_low = max(along(k0 * (high - rows[r + _R0]), k1 * (high - rows[r + _R1]), p), 0.0)
    gain_high = max(along(k0 * (rows[r + _R0] - low), k1 * (rows[r + _R1] - low), p), 0.0)
    force = along(rows[r + _F0], rows[r + _F1], inside)
    return gain_low, gain_high, along(rows[r + _A0], rows[r + _A1], p), force


@inlined
def isoangle_gains(rows: Any, r: int, u: float, p: float, force: float) -> tuple[float, float, float, float]:
    """Return gains on the isoangle line of the moment's angle, at the moment's tension: (k_L, k_H, θ, F)."""
    low, high, span = rows[r + _LOW], rows[r + _HIGH], rows[r + _SPAN]
    angle = along(rows[r + _A0], rows[r + _A1], p) + rows[r + _SHIFT]
    angle = min(max(angle, low + _INSIDE), high - _INSIDE)
    tension = max(along(rows[r + _T0], rows[r + _T1], u), 0.0)
    up, down = tension * (high - angle) + force, tension * (angle - low) - force
    if up < 0.0 or down < 0.0:
        tension = raise_tension(rows, r, tension, least_tension(force, angle, low, high))
        up, down = tension * (high - angle) + force, tension * (angle - low) - force
    return max(up * span, 0.0), max(down * span, 0.0), angle, force


@inlined
def hinge_spring(rows: Any, r: int, time: float, force: float) -> tuple[float, float, float]:
    """Write a hinge's or slide's gains, and return the one spring they amount to: stiffness, rest, angle asked for.

    Args:
        rows: The program's rows.
        r: Where the joint's row begins.
        time: The moment the spring is for [s].
        force: External torque of this moment, where it is sampled [N·m].
    """
    u = share_of_time(rows, r, time)
    p = progress(rows, r, u)
    inside = min(max(p, 0.0), 1.0)
    mode = rows[r + _MODE]
    if mode == _LINE:
        gain_low, gain_high, angle, force = line_gains(rows, r, p, inside)
    else:
        if mode != _SAMPLING:
            force = along(rows[r + _F0], rows[r + _F1], inside)
        gain_low, gain_high, angle, force = isoangle_gains(rows, r, u, p, force * rows[r + _COMPENSATE])
    if rows[r + _SLACKED] != 0.0:
        gain_low *= along(rows[r + _SL0], rows[r + _SL1], u)
        gain_high *= along(rows[r + _SH0], rows[r + _SH1], u)
    tension = gain_low + gain_high
    rest = (gain_low * rows[r + _LOW] + gain_high * rows[r + _HIGH]) / tension if tension > 1e-12 else angle
    rows[r + _GL], rows[r + _GH], rows[r + _P] = gain_low, gain_high, p
    rows[r + _ANGLE], rows[r + _FORCE] = angle, force
    return tension, rest, angle


@compiled
def turned(q: Any, a: int, x: float, y: float, z: float, out: Any, o: int) -> None:
    """Write q ⊗ exp(rotation vector) to `out[o:o+4]`."""
    angle = math.sqrt(x * x + y * y + z * z)
    f = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    w, x, y, z = math.cos(0.5 * angle), f * x, f * y, f * z
    a0, a1, a2, a3 = q[a], q[a + 1], q[a + 2], q[a + 3]
    out[o] = a0 * w - a1 * x - a2 * y - a3 * z
    out[o + 1] = a0 * x + a1 * w + a2 * z - a3 * y
    out[o + 2] = a0 * y - a1 * z + a2 * w + a3 * x
    out[o + 3] = a0 * z + a1 * y - a2 * x + a3 * w


@compiled
def between_balls(rows: Any, r: int, share: float, scratch: Any, out: Any, o: int) -> None:
    """Write the orientation a share of the way from the row's first to its second, to `out[o:o+4]`."""
    quaternion_error(rows, r + _BALL0, rows, r + _BALL1, scratch, 8)
    turned(rows, r + _BALL0, share * scratch[8], share * scratch[9], share * scratch[10], out, o)


@compiled
def drive_ball(v: Any, rows: Any, scratch: Any, external: Any, j: int, time: float) -> None:
    """Set a ball joint's spring; its torque goes with the rotation vector, so shares of tension are progress."""
    i, q = v.jnt_dofadr[j], v.jnt_qposadr[j]
    r = _W * i
    u = share_of_time(rows, r, time)
    p = progress(rows, r, u)
    inside = min(max(p, 0.0), 1.0)
    tension = max(along(rows[r + _T0], rows[r + _T1], u), 0.0)
    share = p
    if rows[r + _MODE] == _LINE:
        # The springs of both ends change along a straight line; their balance runs ahead toward the tighter one.
        near, far = max((1.0 - p) * rows[r + _T0], 0.0), max(p * rows[r + _T1], 0.0)
        tension = near + far
        share = far / max(tension, 1e-12)
    between_balls(rows, r, share, scratch, scratch, 0)
    size = 0.0
    for k in range(3):
        force = external[i + k]
        if rows[r + _MODE] != _SAMPLING:
            force = along(rows[r + _W * k + _F0], rows[r + _W * k + _F1], inside)
        force *= rows[r + _COMPENSATE]
        rows[r + _W * k + _FORCE] = force
        size += force * force
    size = math.sqrt(size)
    turn = 2.0 * math.acos(min(1.0, abs(scratch[0])))
    tension = raise_tension(rows, r, tension, size / ball_room(rows[r + _HIGH], turn))
    f = -1.0 / tension if tension > 1e-12 else 0.0
    turned(
        scratch, 0, f * rows[r + _FORCE], f * rows[r + _W + _FORCE], f * rows[r + 2 * _W + _FORCE], v.rest, q
    )  # fmt: skip
    moment = (v.moment[i] + v.moment[i + 1] + v.moment[i + 2]) / 3.0
    for k in range(4):
        v.goal[q + k] = scratch[k]
    for k in range(3):
        v.stiffness[i + k] = tension
        v.damping[i + k] = critical_share(tension, moment, rows[r + _RATIO])
        v.feed_forward[i + k] = 0.0
        rows[r + _W * k + _GL] = rows[r + _W * k + _GH] = 0.5 * tension
    rows[r + _P] = p


@inlined
def antagonist_before(v: Any, address: int, time: float) -> None:
    """Set the springs of all joints under tension.

    Args:
        v: Views.
        address: The program's table.
        time: Now [s].
    """
    table = longs(address)
    rows, external, scratch = floats(table[0]), floats(table[2]), floats(table[3])
    # An implicit spring is evaluated where the period ends, so that is the moment its curve is read for.
    ahead = time + v.times.period
    for j in range(v.sizes.njnt):
        i = v.jnt_dofadr[j]
        r = _W * i
        # Predicted gains do not change once the transition is over.
        if rows[r] == 0.0 or rows[r + _SETTLED] != 0.0 or v.law[j] != IMPEDANCE:
            continue
        if v.jnt_type[j] == BALL:
            drive_ball(v, rows, scratch, external, j, ahead)
            continue
        q = v.jnt_qposadr[j]
        stiffness, v.rest[q], v.goal[q] = hinge_spring(rows, r, ahead, external[i])
        v.stiffness[i], v.feed_forward[i] = stiffness, 0.0
        v.damping[i] = critical_share(stiffness, v.moment[i], rows[r + _RATIO])
        if rows[r + _MODE] != _SAMPLING and ahead >= rows[r + _END]:
            rows[r + _SETTLED] = 1.0


@inlined
def antagonist_between(v: Any, address: int) -> None:
    """Feel the external torques of the present state, for the springs of the next step.

    Args:
        v: Views.
        address: The program's table.
    """
    table = longs(address)
    rows, world, external, carried = floats(table[0]), floats(table[1]), floats(table[2]), floats(table[11])
    loaded = loads(v, world, carried, longs(table[4]), bytes_(table[5]), ints(table[6]), floats(table[7]))
    for i in range(v.sizes.nv):
        r = _W * (v.jnt_dofadr[v.dof_jntid[i]])
        if rows[r] == 0.0 or rows[r + _MODE] != _SAMPLING:
            continue
        external[i] = gravity_torque(v.cdof, v.crb, v.dof_bodyid[i], i, world)
        if loaded:
            external[i] += carried[i]


@inlined
def antagonist_after(v: Any, address: int, time: float) -> None:
    """Hand joints from one law to another without a jump: the difference in torque fades out.

    Args:
        v: Views, with this step's torques written.
        address: The program's table.
        time: Now [s].
    """
    table = longs(address)
    last, start, jump, until = longs(table[8]), floats(table[9]), floats(table[10]), floats(table[12])
    if v.counts.law_changed == 0 and time >= until[0]:
        return
    if until[0] == math.inf:  # the first step: all laws are new
        until[0] = time
    for i in range(v.sizes.nv):
        law = v.law[v.dof_jntid[i]]
        if last[i] != law:
            changed_hands(v, last, start, jump, i, law, time)
            until[0] = time + _HAND_OVER
        if time - start[i] < _HAND_OVER and law != PASSIVE:
            s = (time - start[i]) / _HAND_OVER
            fade = 1.0 - s * s * (3.0 - 2.0 * s)
            v.applied[i] = min(max(v.applied[i] + fade * jump[i], -v.limit[i]), v.limit[i])


@compiled
def changed_hands(v: Any, last: Any, start: Any, jump: Any, i: int, law: int, time: float) -> None:
    """Note the jump in torque of a degree of freedom whose law is new."""
    if last[i] >= 0 and law != PASSIVE and v.jnt_type[v.dof_jntid[i]] != FREE:
        now = v.applied[i]
        if law != FULL or v.planted[i] != 0:
            now += v.scale[i] * (v.stiffness[i] * v.error[i] - v.damping[i] * v.qvel[i])
        start[i], jump[i] = time, v.torque[i] - now
    last[i] = law
