"""Where feet go: the clip's footprints moved by the capture point's error, the clip's clock, and recovery steps.

The capture point ξ = c + ċ/ω is where a body would have to put its foot to come to rest. A swinging foot goes to the
clip's footprint plus what ξ is off, as that will have grown by the time it lands. Who stands and has ξ leave its soles
takes a step of its own: which foot, how fast and where are chosen together, by the capture point's error that is left.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.own import layout as w
from stunt.control.own.polygon import inside_by, outline
from stunt.control.own.sense import GRAVITY, sample
from stunt.maths.compiled import compiled
from stunt.maths.pointers import floats, grid

_TIMES: Final = (0.20, 0.24, 0.28, 0.32, 0.38)
"""How long a recovery step may take [s]."""
_HEIGHT = 0.07  # of a recovery step [m]
_SOON = 0.04  # seconds over which a footprint follows what is wanted
_STAND = 0.1  # seconds over which it follows where a foot really stands
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
        want = who.com_off[k]
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
def reachable(
    who: Any, gains: Any, i: int, x: float, y: float, sx: float, sy: float, hx: float, hy: float
) -> tuple[float, float]:  # fmt: skip
    """Return the nearest place to (x, y) where a foot can be put, seen from the one that stands at (sx, sy).

    An ellipse; feet side by side do not cross, feet apart fore and aft may.
    """
    side = who.side_sign if i == 0 else -who.side_sign
    ox, oy = -hy * side, hx * side
    along, out = (x - sx) * hx + (y - sy) * hy, (x - sx) * ox + (y - sy) * oy
    size = who.scale
    reach = (0.85 if along > 0.0 else 0.60) * size
    far = math.hypot(along / reach, out / (0.65 * size))
    if far > 1.0:
        along, out = along / far, out / far
    apart = min(max((abs(along) - 0.15 * size) / (0.2 * size), 0.0), 1.0)
    out = max(out, (1.0 - apart) * 0.13 * size - apart * gains.cross * size)
    return sx + along * hx + out * ox, sy + along * hy + out * oy


@compiled
def step_cost(
    t: Any, who: Any, gains: Any, i: int, seconds: float, fixed: bool, omega: float, lead: float
) -> float:  # fmt: skip
    """Return what a recovery step of a foot costs, its place at spot[2:4]: what the capture point is off after it."""
    o = 1 - i
    sx, sy = middle_of(t, who, o)
    fx, fy = middle_of(t, who, i)
    hx, hy = ahead_of(t, who)
    xi, yi = who.capture[0], who.capture[1]
    cx, cy = sx, sy
    if support(t, who, xi, yi, o) > -0.29 or math.hypot(t.spot[0] - xi, t.spot[1] - yi) > 0.0:
        # The pressure goes to the sole's edge nearest to the capture point, a little inside.
        cx, cy = sx + 0.8 * (t.spot[0] - sx), sy + 0.8 * (t.spot[1] - sy)
    grown = math.exp(omega * (seconds + lead))
    x, y = cx + (xi - cx) * grown, cy + (yi - cy) * grown
    ux, uy = reachable(who, gains, i, x, y, sx, sy, hx, hy)
    miss, go, size = math.hypot(x - ux, y - uy), math.hypot(ux - fx, uy - fy), who.scale
    late = 0.0 if fixed else max(0.0, go / (3.2 * size) + 0.08 - seconds)
    near = 0.0
    for share in (0.3, 0.5, 0.7):  # past the leg that stands
        px, py = fx - sx + share * (ux - fx), fy - sy + share * (uy - fy)
        if abs(px * hx + py * hy) < 0.2 * size:
            near = max(near, 0.10 * size - math.hypot(px, py))
    side = who.side_sign if i == 0 else -who.side_sign
    crosses = max(0.0, 0.05 * size - ((ux - sx) * -hy + (uy - sy) * hx) * side)
    t.spot[2], t.spot[3] = ux, uy
    return float(
        (miss / (0.05 * size)) ** 2 + (late / 0.03) ** 2 + (near / (0.05 * size)) ** 2 + (crosses / (0.1 * size)) ** 2
        + (go / (0.6 * size)) ** 2 + ((seconds - 0.3) / 0.3) ** 2
    )  # fmt: skip


@compiled
def set_landing(t: Any, who: Any, i: int) -> None:
    """Aim a recovery step at spot[2:4]."""
    fx, fy = middle_of(t, who, i)
    at = 3 * who.foot_body[i]
    who.step_to[3 * i] = t.spot[2] + t.xpos[at] - fx
    who.step_to[3 * i + 1] = t.spot[3] + t.xpos[at + 1] - fy
    who.step_to[3 * i + 2] = who.floor + who.ankle_rest[i]


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
        left = who.step_length[i] - who.step_time[i]
        if left > 0.05:
            step_cost(t, who, gains, i, left, True, omega, 0.0)
            set_landing(t, who, i)
    speed = math.hypot(t.middle[3], t.middle[4])
    end = (who.frames - 1.0) / who.fps
    moving = speed > 0.3 * math.sqrt(who.scale) and who.clip_time < end
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
        lands = who.stance[0] == 0 or who.stance[1] == 0
        if who.points < 3 or (lands and who.calm <= 0.0):
            return  # a foot that is about to land is no foot to lift
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
        for long in _TIMES:
            scaled = long * math.sqrt(who.scale)
            cost = step_cost(t, who, gains, i, scaled, False, omega, 0.02)
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
    set_landing(t, who, foot)
    who.steps += 1
    who.calm = gains.rest


@compiled
def lower(t: Any, who: Any, period: float) -> None:
    """Lower the body while a foot is far from under it."""
    far, busy = 0.0, who.calm > 0.0
    for i in range(w.FEET):
        hip, foot = 3 * who.hip_body[i], 3 * who.foot_body[i]
        x, y = t.xpos[foot], t.xpos[foot + 1]
        if who.step_on[i] != 0:
            x, y, busy = who.step_to[3 * i], who.step_to[3 * i + 1], True
        far = max(far, math.hypot(x - t.xpos[hip], y - t.xpos[hip + 1]))
    goal = min(max((far - 0.42 * who.scale) * 0.45, 0.0), 0.16 * who.scale) if busy else 0.0
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
