"""Steps that nobody planned: those that catch a body, and those that close its feet again, compiled.

Who stands and has the capture point leave the soles takes a step. Afterwards the feet go back to where the clip has
them, one at a time, when the body has come to rest: its weight goes over one foot, and the other steps.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.own import layout as w
from stunt.control.own.placement import LEAD, TIMES, reachable, weigh_step
from stunt.control.own.steps import ahead_of, is_moving, middle_of, missed_by, support
from stunt.maths.compiled import compiled
from stunt.maths.pointers import floats, grid

_HEIGHT = 0.07  # of a recovery step [m]
_FAST = 3.0  # a capture point is taken to move at most so fast [m/s]
_HASTE = (0.8, 1.0, 1.2)  # how a step under way may change what is left of it in a tick
_HALF = 0.5  # of a step: later it takes as long as it takes
_WAITS = 0.5  # seconds that a foot has to come down, since its step began and since the clip has it stand
_AIMED = 0.05  # seconds before it lands that it is aimed for the last time
_CHANGE = 0.3  # what changing it costs: nobody dithers
_STRETCHED = 0.985  # of its length: a leg is not asked to be longer
_BENT = 0.95  # nor longer than this while who was stopped on their way goes where it must
_LOWER = 0.2  # a body goes down by at most this for it [m]
_HOME = 0.04  # feet this near to where the clip has them are closed [m]
_SAFE = 0.01  # a body whose capture point is so far inside is at rest [m]
_OVER = 0.005  # a foot that is stood on alone has the capture point so far inside [m]
_SHIFTS = 1.5  # seconds that weight may take to get over a foot
_CLOSES = 1.8  # seconds that the clip has to leave for a closing step
_SLOW = 0.42  # seconds that such a step takes
_STRIDE = 0.3  # how far it goes at most [m]
_SETTLES = 0.6  # seconds in which the weight goes back between the feet


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
    lead = 0.0 if begun else LEAD * who.tempo
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
    who.step_to[3 * i + 2] = who.floor + who.ankle_rest[i] - 0.5 * gains.reach_down


@compiled
def aim_step(t: Any, who: Any, gains: Any, i: int, omega: float) -> None:
    """Aim a step that is under way anew, and let it take longer or shorter where that catches the body better."""
    left = who.step_length[i] - who.step_time[i]
    if left <= _AIMED * who.tempo:
        return
    phase = who.step_time[i] / who.step_length[i]
    best, seconds, x, y = math.inf, left, 0.0, 0.0
    for share in _HASTE:
        some = left * share
        if share != 1.0 and (
            phase > _HALF or some < _AIMED * who.tempo or some / (1.0 - phase) > TIMES[-1] * who.tempo
        ):
            continue
        cost = step_cost(t, who, i, some, True, omega) + (0.0 if share == 1.0 else _CHANGE)
        if cost < best:
            best, seconds, x, y = cost, some, t.spot[2], t.spot[3]
    t.spot[2], t.spot[3] = x, y
    set_landing(t, who, gains, i)
    who.step_length[i] = seconds / (1.0 - phase)
    who.step_time[i] = phase * who.step_length[i]


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
        if who.closing == 0:
            aim_step(t, who, gains, i, omega)
    end = (who.frames - 1.0) / who.fps
    moving = is_moving(t, who)
    unsafe = active and who.closing == 0 or who.calm > 0.0
    if who.halted != 0:
        start_again(who, gains, unsafe, live)
    if (unsafe and not moving or who.halted != 0) and live and who.free_clock != 0:
        who.paused = 1
        who.rate = 1.0 if who.halted != 0 and not both_planned(who) else 0.0
    if active or who.cool > 0.0:
        return
    inside, fast = who.inside, _FAST * who.tempo
    sx = who.capture[0] + min(max(who.capture_pace[0], -fast), fast) * gains.trigger
    sy = who.capture[1] + min(max(who.capture_pace[1], -fast), fast) * gains.trigger
    inside = min(inside, support(t, who, sx, sy, -1))
    first, last = 0, 1
    if moving and who.halted != 2 and who.free_clock != 0 and who.points > 2:
        if math.hypot(who.error[0], who.error[1]) > gains.off and missed_by(t, who, omega) > gains.misses:
            who.halted = 1
            begin_step(t, who, gains, 1 if who.planned[1] == 0 else 0, 0 if who.planned[0] == 0 else 1, omega)
            return
    if who.planned[0] != 0 and who.planned[1] != 0:
        soon = min(who.left[0], who.left[1]) < 0.25 * who.tempo and who.calm <= 0.0 and who.halted == 0
        if who.clip_time < end and (soon or moving):
            return  # the clip is about to step anyway
        if who.points < 3:
            return
        if who.stance[0] == 0 or who.stance[1] == 0:  # one carries; the other may step if it does not come down
            first = last = 0 if who.stance[0] == 0 else 1
            if who.calm > gains.rest - _WAITS * who.tempo or who.since[first] < _WAITS * who.tempo:
                return
    else:
        i = 0 if who.planned[0] == 0 else 1
        if who.stance[1 - i] == 0 or moving or who.left[i] < 0.3 * who.tempo or who.since[i] < 0.08 * who.tempo:
            return
        if math.hypot(who.error[0], who.error[1]) * math.exp(omega * who.left[i]) < gains.most_shift:
            return  # the clip's own step, moved, catches it
        first = last = i  # the clip holds a foot in the air for long: it is put down
        inside += 0.02 * who.scale
    if inside > -gains.margin or math.hypot(who.error[0], who.error[1]) < gains.off:
        return  # where the plan itself leaves the soles, it comes back by itself
    begin_step(t, who, gains, first, last, omega)


@compiled
def both_planned(who: Any) -> bool:
    """Whether the clip has both feet stand now."""
    frame = min(int(max(who.clip_time, 0.0) * who.fps), who.frames - 1)
    phases, at = floats(who.phases), 3 * w.FEET * frame
    return bool(phases[at] > 0.5 and phases[at + 3] > 0.5)


@compiled
def start_again(who: Any, gains: Any, unsafe: bool, live: bool) -> None:
    """Let a clip that was stopped on its way go on: from where it has both feet stand, when the body is in its place.

    At rest on whole soles, the body first brings its weight to where the clip's capture point is: from there the next
    step goes on as the clip does.
    """
    stands = not unsafe and both_planned(who) and who.stance[0] != 0 and who.stance[1] != 0
    if not live or stands and who.halted == 2 and math.hypot(who.error[0], who.error[1]) < gains.arrives:
        who.halted = 0
    elif unsafe:
        who.halted = 1
    elif stands:
        who.halted = 2


@compiled
def begin_step(t: Any, who: Any, gains: Any, first: int, last: int, omega: float) -> None:
    """Begin the best recovery step of some feet."""
    best, foot, seconds, x, y = math.inf, -1, 0.0, 0.0, 0.0
    for i in range(first, last + 1):
        for long in TIMES:
            scaled = long * who.tempo
            cost = step_cost(t, who, i, scaled, False, omega)
            if cost < best:
                best, foot, seconds, x, y = cost, i, scaled, t.spot[2], t.spot[3]
    if foot < 0:
        return
    t.spot[2], t.spot[3] = x, y
    start_step(t, who, gains, foot, seconds)
    who.steps += 1
    who.calm, who.open, who.closing = gains.rest, 1, 0


@compiled
def start_step(t: Any, who: Any, gains: Any, foot: int, seconds: float) -> None:
    """Begin a step of a foot to spot[2:4], turned as the clip has it."""
    who.step_on[foot], who.step_time[foot], who.step_length[foot] = 1, 0.0, seconds
    for k in range(3):
        who.step_from[3 * foot + k] = t.xpos[3 * who.foot_body[foot] + k]
    for k in range(4):
        who.step_turn[4 * foot + k] = t.foot[w.POSE * foot + 3 + k]
    set_landing(t, who, gains, foot)


@compiled
def can_close(t: Any, who: Any, live: bool) -> bool:
    """Whether a body is at rest on both feet, and the clip leaves it the time to close them."""
    if who.open == 0 or who.stance[0] == 0 or who.stance[1] == 0 or who.points < 5 or is_moving(t, who):
        return False
    soon = min(who.left[0], who.left[1]) < _CLOSES * who.tempo
    return bool(not (live and soon) and who.calm <= 0.0 and who.inside > _SAFE * who.scale)


@compiled
def close_feet(t: Any, who: Any, gains: Any, live: bool, period: float) -> None:
    """Bring feet back to where the clip has them after recovery steps: weight over one, then the other steps."""
    who.settle = max(0.0, who.settle - period)
    if who.step_on[0] != 0 or who.step_on[1] != 0:
        return
    if who.closing == 0:
        far0 = math.hypot(who.sole_off[0], who.sole_off[1])
        far1 = math.hypot(who.sole_off[2], who.sole_off[3])
        if who.open != 0 and max(far0, far1) < _HOME * who.scale:
            who.open = 0
        if who.settle <= 0.0 and can_close(t, who, live):
            who.closing, who.shifts = 1 if far0 >= far1 else 2, 0.0
        return
    who.shifts += period
    i = who.closing - 1
    if who.stance[1 - i] == 0 or who.shifts > _SHIFTS * who.tempo or is_moving(t, who):
        who.closing, who.settle = 0, _SETTLES * who.tempo
        return
    if support(t, who, who.capture[0], who.capture[1], 1 - i) < _OVER * who.scale:
        return
    sx, sy = middle_of(t, who, 1 - i)
    fx, fy = middle_of(t, who, i)
    hx, hy = ahead_of(t, who)
    x, y = -who.sole_off[2 * i], -who.sole_off[2 * i + 1]
    share = min(1.0, _STRIDE * who.scale / max(math.hypot(x, y), 1e-9))
    side = who.side_sign if i == 0 else -who.side_sign
    t.spot[2], t.spot[3] = reachable(side, who.scale, fx + share * x, fy + share * y, sx, sy, hx, hy)
    start_step(t, who, gains, i, _SLOW * who.tempo)
    who.closings += 1


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
        reach = (_BENT if who.halted != 0 else _STRETCHED) * who.leg_long[i]
        goal = max(goal, high - math.sqrt(max(reach * reach - far * far, 0.0)))
    goal = 0.0 if moving and who.halted == 0 else min(goal, _LOWER * who.scale)
    who.drop += (goal - who.drop) * min(1.0, period / (0.08 * who.tempo))


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
    for k in range(4 if who.halted == 0 else 0):  # who was stopped steps on flat soles, as `out` has them
        out[o + 3 + k] = who.step_turn[4 * i + k]
