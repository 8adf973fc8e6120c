"""Bodies on their own feet, compiled: one whole-body programme for each at every control step.

Torques are found between the engine's half-steps, with inertia, bias and contacts of the present state known, and held
until the next control step. The root gets nothing, which is looked after at every physics step.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.board import IMPEDANCE, STANDING
from stunt.control.core.engine import BALL, engine_function
from stunt.control.core.goals import quaternion_error
from stunt.control.core.programs import BETWEEN, EACH_STEP, OWN_FEET, entry
from stunt.control.core.views import views_at
from stunt.control.own import layout as w
from stunt.control.own.programme import is_own, solve
from stunt.control.own.recovery import close_feet, lower, recover
from stunt.control.own.sense import (
    ask_clip,
    choose_points,
    feel_ground,
    find_stance,
    pendulum_rate,
    place_points,
    pose_error,
    weigh,
)
from stunt.control.own.steps import follow_feet, is_moving, move_footprints, note_capture, set_clock, time_to_land
from stunt.maths.compiled import compiled
from stunt.maths.pointers import floats, grid, longs

mj_subtreeVel = engine_function("mj_subtreeVel", 2)
"""Velocity of the centre of mass and angular momentum of every body with all below it (model, data: addresses)."""

_BEFORE, _AFTER = 0.4, 0.15  # of a flight momentum matters from so long before it to so long after it [s]
_TIPPED = 0.95  # capture point so far from the clip's, and from the nearer foot, of a grown-up [m]
_LEAN = math.radians(60.0)
_OFF = 0.25  # hips off the clip's by more than this share of their height


@entry(OWN_FEET, BETWEEN)
def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Find the torques of all bodies on their own feet."""
    v, t = views_at(table), w.own_at(program)
    known = False
    for number in range(t.count[0]):
        who = w.actor_at(t.actors, number)
        if who.active == 0:
            continue
        if who.wait > 0:  # torques are held
            who.wait -= 1
            continue
        who.wait = who.stride - 1
        if not known:
            mj_subtreeVel(model, data)
            known = True
        tick(v, t, who, number, model, data)


@compiled
def tick(v: Any, t: Any, who: Any, number: int, model: int, data: int) -> None:
    """Find one body's torques and write them; the clip's clock goes on."""
    first = who.root_dof
    gains, period = w.gains_at(t.gains, number), v.times.period * who.stride
    live = ask_clip(t, who)
    weigh(v, t, who)
    omega = pendulum_rate(t, who)
    frame = min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    flights = floats(who.flight)
    begins, ends = flights[2 * frame], flights[2 * frame + 1]
    air = live and begins - 0.02 * who.tempo <= who.clip_time < ends
    near_air = live and begins - _BEFORE * who.tempo < who.clip_time < ends + _AFTER * who.tempo
    feel_ground(t, who, number)
    place_points(t, who)
    find_stance(t, who, gains, live, air)
    choose_points(t, who, gains, live)
    flying = air and who.points == 0
    note_capture(t, who, omega, period)
    left_air = time_to_land(t, who, ends) if flying else 0.0
    set_clock(t, who, gains, flying, air, ends, left_air)
    who.rate *= 1.0 + who.inputs[w.CLOCK]
    move_footprints(t, who, gains, omega, flying, left_air, period)
    recover(t, who, gains, omega, live, period)
    close_feet(t, who, gains, live, period)
    follow_feet(t, who, gains, omega, live, period)
    lower(t, who, is_moving(t, who), period)
    feel_pushes(v, t, who, gains, period)
    pose_error(v, t, who)
    judge(v, t, who, period)
    listen(t, who)
    take_tasks(v, t, who)
    if solve(v, t, who, gains, flying, air, near_air, period, model, data):
        who.failed = 0
        note_told(t, who)
    else:
        who.failed += 1
        who.fails += 1
    for k in range(4):
        who.off_last[k] = who.off[k]
    for d in range(6):
        v.applied[first + d] = 0.0
    for d in range(first + 6, first + who.nv):
        if is_own(v, d):
            v.applied[d] = v.torque[d] = t.tau[d]
    who.clip_time += who.rate * period
    who.late += (1.0 - who.rate) * period
    who.ticks += 1


@compiled
def listen(t: Any, who: Any) -> None:
    """Add what is asked beside the clip: of the whole body, and of how joints and root are turned."""
    for k in range(3):
        t.middle[k] += who.inputs[w.PLACE + k]
        t.middle[3 + k] += who.inputs[w.PACE + k]
        t.middle[9 + k] += who.inputs[w.SPIN + k]
    for d in range(3, who.nv):
        t.error[d] += t.turned[who.root_dof + d]


@compiled
def take_tasks(v: Any, t: Any, who: Any) -> None:
    """Ask joints that other laws lead for the accelerations these give them; legs follow what was planned for them."""
    first, leg_of = who.root_dof + 6, longs(who.leg_of)
    for d in range(first, who.root_dof + who.nv):
        j = v.dof_jntid[d]
        if v.tasked[j] == 0:
            continue
        law = v.law[j]
        led = leg_of[d - first] < 0 and (law == STANDING or law == IMPEDANCE)
        t.task_weight[d] = w.TASK * who.scale**2 if led else 0.0
        if led:
            t.task_urge[d] = v.acceleration[d] if law == STANDING else spring_urge(v, t, d, j)


@compiled
def feel_pushes(v: Any, t: Any, who: Any, gains: Any, period: float) -> None:
    """Find what parts of the body that touch push the joints between them by, and count it to what is there anyway.

    That is what those joints' motion takes beyond what they were told to do, felt over a while. An arm that lies on the
    ribs is pushed off them right beside its shoulder, where a millimetre is some degrees. Legs meet and part too fast.
    """
    root, n, leg_of = who.root_dof, who.nv, longs(who.leg_of)
    for d in range(n):
        t.error[d] = (v.qvel[root + d] - t.went[root + d]) / period - t.told[root + d]
        t.went[root + d] = v.qvel[root + d]
    for d in range(6, n):
        came = -t.pushed[root + d]
        if t.between[root + d] != 0 and leg_of[d - 6] < 0 and who.failed == 0:
            came = 0.0
            for k in range(n):
                came += t.inertia[d * n + k] * t.error[k]
        most = gains.push_most * v.limit[root + d]
        felt = t.pushed[root + d] + came * min(1.0, period / gains.feels)
        t.pushed[root + d] = min(max(felt, -most), most)
        t.bias[d] -= t.pushed[root + d]


@compiled
def note_told(t: Any, who: Any) -> None:
    """Note the accelerations that were solved for, the root's too."""
    joints, size = who.nv - 6, who.nv - 6 + w.SIDES * who.points
    mover = grid(t.mover, (6, size))
    for k in range(6):
        t.told[who.root_dof + k] = t.still[k]
        for i in range(size):
            t.told[who.root_dof + k] += mover[k, i] * t.x[i]
    for j in range(joints):
        t.told[who.root_dof + 6 + j] = t.x[j]


@compiled
def spring_urge(v: Any, t: Any, d: int, j: int) -> float:
    """Return the acceleration that a joint's given spring gives it at the end of a tick, alone.

    That is the implicit step of `m·a = K(rest − q) − Dω + f − c`, as the engine would take it: what gravity and the
    rest of the body's motion do to the joint is part of it, so that a spring sags as it should.
    """
    q, k, h = v.jnt_qposadr[j], d - v.jnt_dofadr[j], v.times.tick
    error = v.rest[q] - v.qpos[q]
    if v.jnt_type[j] == BALL:
        quaternion_error(v.qpos, q, v.rest, q, t.scratch, 0)
        error = t.scratch[k]
    stiff, damping, most = v.stiffness[d], v.damping[d], v.limit[d]
    bias = v.felt_bias[d] - v.passive[d]
    fed = bias if v.feed_bias[j] != 0 else 0.0
    pull = stiff * (error - h * v.qvel[d]) - damping * v.qvel[d] + v.feed_forward[d]
    scale = 1.0
    if abs(pull + fed) > most:  # as any spring it is weakened, not cut off (see `write_spring`)
        scale = min(1.0, max(most - fed if pull > 0.0 else most + fed, 0.0) / abs(pull))
    v.scale[d] = scale
    moment = v.moment[d] = v.felt_inertia[v.rowadr[d] + v.rownnz[d] - 1]
    return float((scale * pull + fed - bias) / (moment + scale * (h * damping + h * h * stiff)))


@compiled
def past_feet(t: Any, who: Any) -> float:
    """Return how far the capture point is from the nearer foot [m]."""
    far = math.inf
    for i in range(w.FEET):
        foot = 3 * who.foot_body[i]
        far = min(far, math.hypot(who.capture[0] - t.xpos[foot], who.capture[1] - t.xpos[foot + 1]))
    return far


@compiled
def judge(v: Any, t: Any, who: Any, period: float) -> None:
    """Count for how long nothing has been able to save the body, and say why."""
    lean = math.sqrt(t.error[3] ** 2 + t.error[4] ** 2 + t.error[5] ** 2)
    high = t.goal[2] - who.floor
    off = abs(v.qpos[who.root_qpos + 2] - t.goal[2])
    why = 0
    if who.failed >= w.FAILS:
        why = w.LOST
    elif off > _OFF * max(high, 0.3 * who.scale) or lean > _LEAN:
        why = w.SUNK if lean <= _LEAN else w.TIPPED
    elif past_feet(t, who) > _TIPPED * who.scale and math.hypot(who.error[0], who.error[1]) > _TIPPED * who.scale:
        why = w.TIPPED
    if why == 0:
        who.doomed = 0.0
        return
    who.doomed += period
    who.why = why


@entry(OWN_FEET, EACH_STEP)
def each_step(table: int, program: int, time: float, model: int, data: int) -> None:
    """See that control puts nothing on a root."""
    v, t = views_at(table), w.own_at(program)
    for number in range(t.count[0]):
        who = w.actor_at(t.actors, number)
        if who.active == 0 or who.helped != 0:
            continue
        for d in range(who.root_dof, who.root_dof + 6):
            who.outside = max(who.outside, abs(v.applied[d]))
