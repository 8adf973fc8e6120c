"""Where feet go: the clip's footprints moved by the capture point's error, the clip's clock, and recovery steps.

The capture point ξ = c + ċ/ω is where a body would have to put its foot to come to rest. A swinging foot goes to the
clip's footprint plus what ξ is off, as that will have grown by the time it lands. Who stands and has ξ leave its soles
takes a step of its own: which foot, how fast and where are chosen together, by the capture point's error that is left.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.own import layout as w
from stunt.control.own.placement import LEAD, TIMES, weigh_step
from stunt.control.own.polygon import inside_by, outline
from stunt.control.own.sense import GRAVITY, sample
from stunt.maths.compiled import compiled
from stunt.maths.pointers import floats, grid

_HEIGHT = 0.07  # of a recovery step [m]
_SOON = 0.04  # seconds over which a footprint follows what is wanted
_STAND = 0.1  # seconds over which it follows where a foot really stands
_HASTE = (0.8, 1.0, 1.2)  # how a step under way may change what is left of it in a tick
_HALF = 0.5  # of a step: later it takes as long as it takes
_WAITS = 0.5  # seconds that a foot has to come down, since its step began and since the clip has it stand
_AIMED = 0.05  # seconds before it lands that it is aimed for the last time
_CHANGE = 0.3  # what changing it costs: nobody dithers
_STRETCHED = 0.985  # of its length: a leg is not asked to be longer
_LOWER = 0.2  # a body goes down by at most this for it [m]
_LANDS = 0.85  # of a swing: by then the foot is over its new footprint


@compiled
def support(t: Any, who: Any, x: float, y: float, only: int) -> float:
    """Return how far a point is inside what carries [m] (of one foot only: its number; −1: both); nearest in `spot`."""
    flat, hull = grid(t.flat, (w.MOST, 2)), grid(t.hull, (w.MOST + 1, 2))
    count = 0
    for p in range(who.points):
        if only < 0 or t.owner[p] // w.POINTS == only:
            flat[count, 0], flat[count, 1] = t.where[3 * p], t.where[3 * p + 1]
            count += 1
    if count < 3:
        t.spot[0], t.spot[1] = x, y
        return -0.3
    return float(inside_by(x, y, hull, outline(flat, count, hull), t.spot))


@compiled
def note_capture(t: Any, who: Any, omega: float, period: float) -> None:
    """Note the capture point, how fast it moves, and how far it is from the clip's and inside the support."""
    root = 3 * who.root_body
    for k in range(2):
        now = t.com[root + k] + t.com_velocity[root + k] / omega
        pace = (now - who.capture[k]) / period if who.ticked != 0 else 0.0
        who.capture_pace[k] = 0.6 * who.capture_pace[k] + 0.4 * pace if who.ticked != 0 else 0.0
        who.capture[k] = now
        who.error[k] = now - (t.middle[k] + who.com_off[k] + t.middle[3 + k] / omega)
    who.ticked = 1
    who.inside = support(t, who, who.capture[0], who.capture[1], -1)


@compiled
def time_to_land(t: Any, who: Any, end: float) -> float:
    """Return when a body in the air will be as low as the clip's is when it lands, from now [s]."""
    sample(floats(who.centre), w.CENTRE, who.frames, end * who.fps, 2, 1, t.spot, 0)
    root = 3 * who.root_body
    up = t.com_velocity[root + 2]
    square = up * up + 2.0 * GRAVITY * (t.com[root + 2] - t.spot[0])
    return (up + math.sqrt(square)) / GRAVITY if square > 0.0 else 0.02


@compiled
def set_clock(t: Any, who: Any, gains: Any, flying: bool, air: bool, air_end: float, left_air: float) -> None:
    """Set how fast the clip's clock goes: with the body's own speed, and so that landings meet."""
    who.rate = 1.0
    if who.free_clock == 0:
        return
    vx, vy, vz = t.middle[3], t.middle[4], t.middle[5]
    square = vx * vx + vy * vy
    if flying:
        who.rate = min(max((air_end - who.clip_time) / max(left_air, 0.01), 0.6), 1.6)
    elif square > 0.09 and not air and abs(vz) < 0.6:
        ahead = (who.error[0] * vx + who.error[1] * vy) / square
        ahead *= gains.clock * min(max((square - gains.clock_slow) / 0.25, 0.0), 1.0)
        who.rate = 1.0 + min(max(ahead, -gains.clock_most), gains.clock_most)


@compiled
def move_footprints(t: Any, who: Any, gains: Any, omega: float, flying: bool, left_air: float, period: float) -> None:
    """Move where each foot stands or goes, from where the clip has it."""
    root = 3 * who.root_body
    for i in range(w.FEET):
        a = 2 * i
        if who.stance[i] != 0:
            for k in range(2):
                here = t.xpos[3 * who.foot_body[i] + k] - t.foot[w.POSE * i + k]
                who.off[a + k] += (here - who.off[a + k]) * min(1.0, period / _STAND)
                who.off_from[a + k] = who.off_to[a + k] = who.off[a + k]
            who.was[i] = 1
            continue
        if who.planned[i] != 0:
            continue
        if who.was[i] != 0:
            who.was[i] = 0
            who.off_from[a], who.off_from[a + 1] = who.off[a], who.off[a + 1]
        if who.step_on[i] == 0 and who.left[i] > 0.03:
            wish(t, who, gains, i, omega, flying, left_air, root)
            for k in range(2):
                who.off_to[a + k] += (t.spot[k] - who.off_to[a + k]) * min(1.0, period / _SOON)
        share = min(max(who.since[i] / max(who.length[i] * _LANDS, 0.05), 0.0), 1.0)
        share = share * share * (3.0 - 2.0 * share)
        for k in range(2):
            who.off[a + k] = (1.0 - share) * who.off_from[a + k] + share * who.off_to[a + k]


@compiled
def wish(t: Any, who: Any, gains: Any, i: int, omega: float, flying: bool, left_air: float, root: int) -> None:
    """Write to `spot` how far from the clip's footprint a swinging foot should come down."""
    grown = math.exp(omega * min(who.left[i], gains.step_ahead)) * gains.step_gain
    for k in range(2):
        want = who.com_off[k] + who.inputs[w.STEP + 2 * i + k]
        if flying:
            drift = t.com_velocity[root + k] - t.middle[3 + k]
            want += who.error[k] + drift * min(left_air, 0.5) * gains.step_gain
        else:
            want += who.error[k] * grown
        t.spot[k] = want * gains.back - who.off_from[2 * i + k]
    far = math.hypot(t.spot[0], t.spot[1])
    share = min(1.0, gains.most_shift * who.scale / max(far, 1e-9))
    for k in range(2):
        t.spot[k] = who.off_from[2 * i + k] + t.spot[k] * share


@compiled
def follow_feet(t: Any, who: Any, gains: Any, period: float) -> None:
    """Let the centre of mass's path go where the feet are that carry it."""
    total, x, y = 0.0, 0.0, 0.0
    for i in range(w.FEET):
        if who.stance[i] == 0:
            continue
        far = math.hypot(t.middle[15] - t.foot[w.POSE * i], t.middle[16] - t.foot[w.POSE * i + 1])
        share = 1.0 / (0.03 + far)
        total, x, y = total + share, x + share * who.off[2 * i], y + share * who.off[2 * i + 1]
    if total > 0.0:
        part = min(1.0, period / gains.follow)
        who.com_off[0] += (x / total - who.com_off[0]) * part
        who.com_off[1] += (y / total - who.com_off[1]) * part


# ---- recovery steps


@compiled
def middle_of(t: Any, who: Any, i: int) -> tuple[float, float]:
    """Return the middle of a sole over the ground [m]."""
    x, y = 0.0, 0.0
    for n in range(who.point_count[i]):
        x += t.soles[3 * (i * w.POINTS + n)]
        y += t.soles[3 * (i * w.POINTS + n) + 1]
    return x / who.point_count[i], y / who.point_count[i]


@compiled
def ahead_of(t: Any, who: Any) -> tuple[float, float]:
    """Return which way the body faces along the ground."""
    at = 9 * who.root_body + who.front_axis
    x, y = who.front_sign * t.xmat[at], who.front_sign * t.xmat[at + 3]
    size = max(math.hypot(x, y), 1e-6)
    return x / size, y / size


@compiled
def step_cost(t: Any, who: Any, i: int, seconds: float, begun: bool, omega: float) -> float:
    """Return what a recovery step of a foot costs, its place at spot[2:4]."""
    o = 1 - i
    rows = grid(t.step, (6, 3))
    foot, stand, press, face, capture, found = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    foot[0], foot[1] = middle_of(t, who, i)
    stand[0], stand[1] = middle_of(t, who, o)
    face[0], face[1] = ahead_of(t, who)
    press[0], press[1] = stand[0], stand[1]
    if (
        support(t, who, who.capture[0], who.capture[1], o) > -0.29
        or math.hypot(t.spot[0] - who.capture[0], t.spot[1] - who.capture[1]) > 0.0
    ):  # the pressure goes to the sole's edge nearest to the capture point, a little inside
        for k in range(2):
            press[k] = stand[k] + 0.8 * (t.spot[k] - stand[k])
    capture[0], capture[1] = who.capture[0], who.capture[1]
    side = who.side_sign if i == 0 else -who.side_sign
    lead = 0.0 if begun else LEAD * math.sqrt(who.scale)
    cost = weigh_step(foot, stand, press, face, side, who.scale, capture, omega, seconds, lead, found)
    t.spot[2], t.spot[3] = found[0], found[1]
    return float(cost)


@compiled
def set_landing(t: Any, who: Any, gains: Any, i: int) -> None:
    """Aim a recovery step at spot[2:4], and a little below the ground: it ends when that is felt."""
    fx, fy = middle_of(t, who, i)
    at = 3 * who.foot_body[i]
    who.step_to[3 * i] = t.spot[2] + t.xpos[at] - fx
    who.step_to[3 * i + 1] = t.spot[3] + t.xpos[at + 1] - fy
    who.step_to[3 * i + 2] = who.floor + who.ankle_rest[i] - 0.5 * gains.reach_down * who.scale


@compiled
def aim_step(t: Any, who: Any, gains: Any, i: int, omega: float) -> None:
    """Aim a step that is under way anew, and let it take longer or shorter where that catches the body better."""
    left = who.step_length[i] - who.step_time[i]
    if left <= _AIMED:
        return
    phase = who.step_time[i] / who.step_length[i]
    best, seconds, x, y = math.inf, left, 0.0, 0.0
    for share in _HASTE:
        some = left * share
        if share != 1.0 and (phase > _HALF or some < _AIMED or some / (1.0 - phase) > TIMES[-1] * math.sqrt(who.scale)):
            continue
        cost = step_cost(t, who, i, some, True, omega) + (0.0 if share == 1.0 else _CHANGE)
        if cost < best:
            best, seconds, x, y = cost, some, t.spot[2], t.spot[3]
    t.spot[2], t.spot[3] = x, y
    set_landing(t, who, gains, i)
    who.step_length[i] = seconds / (1.0 - phase)
    who.step_time[i] = phase * who.step_length[i]


@compiled
def is_moving(t: Any, who: Any) -> bool:
    """Whether the clip goes somewhere: its own steps are what balances it."""
    speed = math.hypot(t.middle[3], t.middle[4])
    return bool(speed > 0.3 * math.sqrt(who.scale) and who.clip_time < (who.frames - 1.0) / who.fps)


@compiled
def recover(t: Any, who: Any, gains: Any, omega: float, live: bool, period: float) -> None:
    """Go on with recovery steps, or begin one where the capture point leaves the support and no planned step helps."""
    who.cool, who.calm = max(0.0, who.cool - period), max(0.0, who.calm - period)
    who.paused = 0
    if gains.capture == 0.0:
        return
    active = False
    for i in range(w.FEET):
        if who.step_on[i] == 0:
            continue
        active = True
        who.step_time[i] += period
        aim_step(t, who, gains, i, omega)
    end = (who.frames - 1.0) / who.fps
    moving = is_moving(t, who)
    if (active or who.calm > 0.0) and not moving and live and who.free_clock != 0:
        who.paused, who.rate = 1, 0.0
    if active or who.cool > 0.0:
        return
    inside = who.inside
    sx = who.capture[0] + min(max(who.capture_pace[0], -3.0), 3.0) * gains.trigger
    sy = who.capture[1] + min(max(who.capture_pace[1], -3.0), 3.0) * gains.trigger
    inside = min(inside, support(t, who, sx, sy, -1))
    first, last = 0, 1
    if who.planned[0] != 0 and who.planned[1] != 0:
        soon = min(who.left[0], who.left[1]) < 0.25 and who.calm <= 0.0
        if who.clip_time < end and (soon or moving):
            return  # the clip is about to step anyway
        if who.points < 3:
            return
        if who.stance[0] == 0 or who.stance[1] == 0:  # one carries; the other may step if it does not come down
            first = last = 0 if who.stance[0] == 0 else 1
            if who.calm > gains.rest - _WAITS or who.since[first] < _WAITS:
                return
    else:
        i = 0 if who.planned[0] == 0 else 1
        if who.stance[1 - i] == 0 or moving or who.left[i] < 0.3 or who.since[i] < 0.08:
            return
        first = last = i  # the clip holds a foot in the air for long: it is put down
        inside += 0.02 * who.scale
    if inside > -gains.margin * who.scale or math.hypot(who.error[0], who.error[1]) < gains.off * who.scale:
        return  # where the plan itself leaves the soles, it comes back by itself
    begin_step(t, who, gains, first, last, omega)


@compiled
def begin_step(t: Any, who: Any, gains: Any, first: int, last: int, omega: float) -> None:
    """Begin the best recovery step of some feet."""
    best, foot, seconds, x, y = math.inf, -1, 0.0, 0.0, 0.0
    for i in range(first, last + 1):
        for long in TIMES:
            scaled = long * math.sqrt(who.scale)
            cost = step_cost(t, who, i, scaled, False, omega)
            if cost < best:
                best, foot, seconds, x, y = cost, i, scaled, t.spot[2], t.spot[3]
    if foot < 0:
        return
    t.spot[2], t.spot[3] = x, y
    who.step_on[foot], who.step_time[foot], who.step_length[foot] = 1, 0.0, seconds
    for k in range(3):
        who.step_from[3 * foot + k] = t.xpos[3 * who.foot_body[foot] + k]
    for k in range(4):
        who.step_turn[4 * foot + k] = t.foot[w.POSE * foot + 3 + k]
    set_landing(t, who, gains, foot)
    who.steps += 1
    who.calm = gains.rest


@compiled
def lower(t: Any, who: Any, moving: bool, period: float) -> None:
    """Lower a body that stands until its legs reach where its feet are, or are about to be."""
    goal = 0.0
    for i in range(w.FEET):
        hip, foot = 3 * who.hip_body[i], 3 * who.foot_body[i]
        x, y = t.xpos[foot], t.xpos[foot + 1]
        if who.step_on[i] != 0:
            x, y = who.step_to[3 * i], who.step_to[3 * i + 1]
        # The hip goes as high as the clip has the root, but for how it is turned now.
        high = t.goal[2] + t.xpos[hip + 2] - t.xpos[3 * who.root_body + 2] - who.floor - who.ankle_rest[i]
        far = math.hypot(x - t.xpos[hip], y - t.xpos[hip + 1])
        reach = _STRETCHED * who.leg_long[i]
        goal = max(goal, high - math.sqrt(max(reach * reach - far * far, 0.0)))
    goal = 0.0 if moving else min(goal, _LOWER * who.scale)
    who.drop += (goal - who.drop) * min(1.0, period / 0.08)


@compiled
def step_pose(who: Any, i: int, out: Any, o: int) -> None:
    """Write place, turn, velocity and acceleration of a foot in a recovery step, as the clip's feet have them."""
    whole = who.step_length[i] * 0.95
    x = min(max(who.step_time[i] / whole, 0.0), 1.0)
    share = x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
    pace = 30.0 * x * x * (1.0 - x) ** 2 / whole
    urge = (60.0 * x - 180.0 * x * x + 120.0 * x**3) / (whole * whole)
    for k in range(3):
        way = who.step_to[3 * i + k] - who.step_from[3 * i + k]
        out[o + k] = who.step_from[3 * i + k] + share * way
        out[o + 7 + k], out[o + 10 + k], out[o + 13 + k] = pace * way, urge * way, 0.0
    high, turn = _HEIGHT * who.scale, math.pi / who.step_length[i]
    out[o + 2] += high * math.sin(math.pi * x) ** 2
    out[o + 9] += high * turn * math.sin(2.0 * math.pi * x)
    out[o + 12] += 2.0 * high * turn * turn * math.cos(2.0 * math.pi * x)
    for k in range(4):
        out[o + 3 + k] = who.step_turn[4 * i + k]
