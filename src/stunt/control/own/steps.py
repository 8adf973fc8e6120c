"""Where feet go: the clip's footprints moved by the capture point's error, the clip's clock, and recovery steps.

The capture point ξ = c + ċ/ω is where a body would have to put its foot to come to rest. A swinging foot goes to the
clip's footprint plus what ξ is off, as that will have grown by the time it lands. Who stands and has ξ leave its soles
takes a step of its own: which foot, how fast and where are chosen together, by the capture point's error that is left.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.own import layout as w
from stunt.control.own.placement import clear_of_leg, reachable
from stunt.control.own.polygon import inside_by, outline
from stunt.control.own.sense import GRAVITY, sample
from stunt.maths.compiled import compiled
from stunt.maths.flat import product, rotated
from stunt.maths.pointers import floats, grid

_SOON = 0.04  # seconds over which a footprint follows what is wanted
_STAND = 0.1  # seconds over which it follows where a foot really stands
_GENTLE = 0.25  # seconds over which weight goes to one foot, and back
_LONG = 0.5  # seconds that both feet stand on
_WELL = 0.015  # a capture point is meant to be so far inside then [m]
_LAST, _FIRST = 0.06, 1.0  # who lands sooner, or later, is not judged [s]
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
def middle_of(t: Any, who: Any, i: int) -> tuple[float, float]:
    """Return the middle of a sole over the ground [m]."""
    x, y = 0.0, 0.0
    for n in range(who.point_count[i]):
        x += t.soles[3 * (i * w.POINTS + n)]
        y += t.soles[3 * (i * w.POINTS + n) + 1]
    return x / who.point_count[i], y / who.point_count[i]


@compiled
def sole_turned(t: Any, who: Any, i: int) -> tuple[float, float]:
    """Return how much farther off the middle of a sole is than the frame of its foot, where the clip turns that [m].

    A clip's foot turns on its ball and rolls over its toes, which moves its frame, far behind, by centimetres. The real
    one stays: it presses where the clip's does, however far its frame is off.
    """
    at, o, count = 3 * who.foot_body[i], w.POSE * i + 3, who.point_count[i]
    x, y, z = -t.xpos[at], -t.xpos[at + 1], -t.xpos[at + 2]
    for n in range(count):
        p = 3 * (i * w.POINTS + n)
        x, y, z = x + t.soles[p] / count, y + t.soles[p + 1] / count, z + t.soles[p + 2] / count
    q, f = 4 * who.foot_body[i], t.foot
    a, b, c, d = product(
        f[o], f[o + 1], f[o + 2], f[o + 3], t.xquat[q], -t.xquat[q + 1], -t.xquat[q + 2], -t.xquat[q + 3]
    )  # fmt: skip
    there = rotated(a, b, c, d, x, y, z)
    return x - there[0], y - there[1]


@compiled
def ahead_of(t: Any, who: Any) -> tuple[float, float]:
    """Return which way the body faces along the ground."""
    at = 9 * who.root_body + who.front_axis
    x, y = who.front_sign * t.xmat[at], who.front_sign * t.xmat[at + 3]
    size = max(math.hypot(x, y), 1e-6)
    return x / size, y / size


@compiled
def note_capture(t: Any, who: Any, omega: float, period: float) -> None:
    """Note the capture point, how fast it moves, and how far it is from the clip's and inside the support."""
    root = 3 * who.root_body
    for k in range(2):
        now = t.com[root + k] + t.com_velocity[root + k] / omega
        pace = (now - who.capture[k]) / period if who.ticked != 0 else 0.0
        who.capture_pace[k] = 0.6 * who.capture_pace[k] + 0.4 * pace if who.ticked != 0 else 0.0
        who.capture[k] = now
        who.error[k] = now - (t.middle[k] + who.ahead_off[k] + t.middle[3 + k] / omega)
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
    elif square > 0.09 * who.scale and not air and abs(vz) < 0.6 * who.tempo:
        ex, ey = who.error[0] + who.ahead_off[0] - who.press_off[0], who.error[1] + who.ahead_off[1] - who.press_off[1]
        ahead = (ex * vx + ey * vy) / square
        ahead *= gains.clock * min(max((square - gains.clock_slow) / (0.25 * who.scale), 0.0), 1.0)
        # Who falls to the side does not dawdle: what the next step has to catch grows while it is awaited.
        beside = abs(ex * vy - ey * vx) / math.sqrt(square)
        haste = min(max(beside / gains.hurry - 1.0, 0.0), 1.0)
        ahead = min(max(ahead, -gains.clock_most), gains.clock_most)
        who.rate = 1.0 + (ahead if ahead > 0.0 else ahead * (1.0 - haste))


@compiled
def move_footprints(t: Any, who: Any, gains: Any, omega: float, flying: bool, left_air: float, period: float) -> None:
    """Move where each foot stands or goes, from where the clip has it."""
    root = 3 * who.root_body
    for i in range(w.FEET):
        a = 2 * i
        if who.stance[i] != 0:
            turned_x, turned_y = sole_turned(t, who, i)
            for k in range(2):
                here, turned = t.xpos[3 * who.foot_body[i] + k] - t.foot[w.POSE * i + k], turned_y if k else turned_x
                who.off[a + k] += (here - who.off[a + k]) * min(1.0, period / (_STAND * who.tempo))
                who.sole_off[a + k] += (here + turned - who.sole_off[a + k]) * min(1.0, period / (_STAND * who.tempo))
                who.off_from[a + k] = who.off_to[a + k] = who.off[a + k]
            who.was[i] = 1
            continue
        if who.planned[i] != 0:
            continue
        if who.was[i] != 0:
            who.was[i] = 0
            who.off_from[a], who.off_from[a + 1] = who.off[a], who.off[a + 1]
        if who.step_on[i] == 0 and who.left[i] > 0.03 * who.tempo:
            wish(t, who, gains, i, omega, flying, left_air, root)
            for k in range(2):
                who.off_to[a + k] += (t.spot[k] - who.off_to[a + k]) * min(1.0, period / (_SOON * who.tempo))
        share = min(max(who.since[i] / max(who.length[i] * _LANDS, 0.05 * who.tempo), 0.0), 1.0)
        share = share * share * (3.0 - 2.0 * share)
        for k in range(2):
            who.off[a + k] = (1.0 - share) * who.off_from[a + k] + share * who.off_to[a + k]
        if who.step_on[i] == 0 and who.stance[1 - i] != 0:
            keep_clear(t, who, i, t.foot, w.POSE * i, who.off, a)
        for k in range(2):
            who.sole_off[a + k] = who.off[a + k]


@compiled
def wish(t: Any, who: Any, gains: Any, i: int, omega: float, flying: bool, left_air: float, root: int) -> None:
    """Write to `spot` how far from the clip's footprint a swinging foot should come down."""
    grown = math.exp(omega * min(who.left[i], gains.step_ahead)) * gains.step_gain
    away = math.hypot(who.press_off[0], who.press_off[1])
    keeps = max(0.0, 1.0 - gains.back / max(away, 1e-9))  # a step goes back by what ankles can make up for
    for k in range(2):
        off = who.error[k] + who.ahead_off[k]  # of the capture point from the clip's
        if flying:
            drift = t.com_velocity[root + k] - t.middle[3 + k]
            want = off + drift * min(left_air, 0.5 * who.tempo) * gains.step_gain
        else:
            want = who.press_off[k] * keeps + (off - who.press_off[k]) * grown
        want += who.inputs[w.STEP + 2 * i + k]
        t.spot[k] = want - who.off_from[2 * i + k]
    far = math.hypot(t.spot[0], t.spot[1])
    share = min(1.0, gains.most_shift / max(far, 1e-9))
    for k in range(2):
        t.spot[k] = who.off_from[2 * i + k] + t.spot[k] * share
    if who.stance[1 - i] != 0:  # where it lands
        frame = (who.clip_time + who.left[i]) * who.fps
        sample(floats(who.feet), 2 * w.POSE, who.frames, frame, w.POSE * i, 2, t.spot, 2)
        keep_clear(t, who, i, t.spot, 2, t.spot, 0)


@compiled
def keep_clear(t: Any, who: Any, i: int, clip: Any, c: int, off: Any, a: int) -> None:
    """Keep what is added at off[a:a+2] to where the clip has a swinging foot, clip[c:c+2], clear of the other leg."""
    hx, hy = ahead_of(t, who)
    side = who.side_sign if i == 0 else -who.side_sign
    other, at = w.POSE * (1 - i), 3 * who.foot_body[1 - i]
    own = side * ((clip[c + 1] - t.foot[other + 1]) * hx - (clip[c] - t.foot[other]) * hy)
    x, y = clip[c] - t.xpos[at], clip[c + 1] - t.xpos[at + 1]
    to_x, to_y = clear_of_leg(side, who.scale, x + off[a], y + off[a + 1], own, hx, hy)
    off[a], off[a + 1] = to_x - x, to_y - y


@compiled
def follow_feet(t: Any, who: Any, gains: Any, omega: float, live: bool, period: float) -> None:
    """Let the centre of mass go where the feet are, and are about to be, that carry it.

    With the pressure moved by z(t), a pendulum that stays bounded has its capture point moved by
    ∫ ω·exp(−ω·s)·z(t + s) ds and follows that at the rate ω. Each foot's part of the integral is in the plan.
    """
    total, later = 0.0, 0.0
    for i in range(w.FEET):
        total += t.middle[17 + i] + 1e-3 if who.stance[i] != 0 else 0.0
        later += t.middle[19 + i]
    if total == 0.0:  # in flight nothing carries
        for k in range(2):
            who.com_pace[k] = who.com_push[k] = 0.0
        return
    last = 0 if who.planned[1] != 0 and (who.planned[0] == 0 or who.left[0] > who.left[1]) else 1
    rows = grid(t.step, (6, 3))
    press, ahead, wanted = rows[0], rows[1], rows[2]
    for k in range(2):
        press[k] = ahead[k] = 0.0
        for i in range(w.FEET):
            if who.stance[i] != 0:
                press[k] += (t.middle[17 + i] + 1e-3) / total * who.sole_off[2 * i + k]
        for i in range(w.FEET):
            off = who.sole_off[2 * i + k] if who.stance[i] != 0 else press[k]
            ahead[k] += (t.middle[19 + i] + (1.0 - later if i == last else 0.0)) * off
        who.press_off[k] = press[k]
        wanted[k] = t.middle[k] + t.middle[3 + k] / omega + ahead[k]
    if who.closing != 0:  # over the foot that stays
        wanted[0], wanted[1] = middle_of(t, who, 2 - who.closing)
    elif stays(who, live):
        draw_in(t, who, wanted)
    slow = who.closing != 0 or who.settle > 0.0
    for k in range(2):
        drawn = wanted[k] - t.middle[k] - t.middle[3 + k] / omega - ahead[k]
        gone = (ahead[k] + drawn - who.ahead_off[k]) * min(
            1.0, period / (_GENTLE * who.tempo if slow else gains.follow)
        )
        who.ahead_off[k] += gone
        who.com_pace[k] = omega * (who.ahead_off[k] - who.com_off[k])
        push = omega * (gone / period - who.com_pace[k])
        who.com_push[k] = push if slow else omega * omega * (who.com_off[k] - press[k] - drawn)
        who.com_off[k] += who.com_pace[k] * period


@compiled
def stays(who: Any, live: bool) -> bool:
    """Whether both feet stand, and go on standing for a while."""
    if who.stance[0] == 0 or who.stance[1] == 0 or who.points < 3:
        return False
    return bool(not live or who.paused != 0 or min(who.left[0], who.left[1]) > _LONG * who.tempo)


@compiled
def draw_in(t: Any, who: Any, point: Any) -> None:
    """Move a point over the ground to where it is well inside what carries: feet are not where the plan has them."""
    lacks = _WELL * who.scale - support(t, who, point[0], point[1], -1)
    if lacks <= 0.0:
        return
    x, y = 0.0, 0.0
    for p in range(who.points):
        x, y = x + t.where[3 * p] / who.points, y + t.where[3 * p + 1] / who.points
    bx, by = t.spot[0], t.spot[1]  # the nearest place that carries
    far = math.hypot(x - bx, y - by)
    share = min(1.0, min(lacks, _WELL * who.scale) / max(far, 1e-6))
    point[0], point[1] = bx + share * (x - bx), by + share * (y - by)


@compiled
def is_moving(t: Any, who: Any) -> bool:
    """Whether the clip goes somewhere: its own steps are what balances it."""
    speed = math.hypot(t.middle[3], t.middle[4])
    return bool(speed > 0.3 * who.tempo and who.clip_time < (who.frames - 1.0) / who.fps)


@compiled
def next_to_land(who: Any) -> tuple[int, float]:
    """Return which foot the clip puts down next, and when [s]; −1 where none is known."""
    best, found = math.inf, -1
    for i in range(w.FEET):
        lands = who.clip_time + who.left[i]
        if who.planned[i] != 0:  # it lifts first
            if who.left[i] >= _FIRST * who.tempo:
                continue
            frame = int(lands * who.fps + 1.5)
            if frame >= who.frames:
                continue
            phases, at = floats(who.phases), 3 * (w.FEET * frame + i)
            if phases[at] > 0.5:
                continue
            lands = phases[at + 2]
        if lands < best:
            best, found = lands, i
    return found, best


@compiled
def missed_by(t: Any, who: Any, omega: float) -> float:
    """Return how far from where it should the clip's next step will come down, as far as its leg reaches [m].

    Until then the clip's capture point moves as round one pressure, which the plan implies. The body's own is off; the
    foot that stands makes up for that as far as its sole goes, and what is left then is the step's. Zero where nobody
    can tell, and where the body flies.
    """
    i, lands = next_to_land(who)
    left = lands - who.clip_time
    if i < 0 or who.stance[1 - i] == 0 or left < _LAST * who.tempo or left > _FIRST * who.tempo:
        return 0.0
    if who.planned[1 - i] == 0 or who.clip_time + who.left[1 - i] < lands:
        return 0.0  # there is a flight between
    then = t.scratch
    grows = math.exp(omega * left / max(who.rate, 0.1))
    sample(floats(who.centre), w.CENTRE, who.frames, lands * who.fps, 0, 5, then, 0)
    sample(floats(who.feet), 2 * w.POSE, who.frames, lands * who.fps, w.POSE * i, 2, then, 5)
    for k in range(2):  # where its capture point should be then, and the pressure that takes it there
        then[8 + k] = then[k] + then[3 + k] / omega + who.press_off[k]
        then[10 + k] = (who.capture[k] * grows - then[8 + k]) / (grows - 1.0)
    press_within(t, who, 1 - i, then[10], then[11])
    for k in range(2):
        ends = t.spot[k] + (who.capture[k] - t.spot[k]) * grows
        then[12 + k] = then[5 + k] + who.press_off[k] + ends - then[8 + k]
    hx, hy = ahead_of(t, who)
    side, stand = who.side_sign if i == 0 else -who.side_sign, 3 * who.foot_body[1 - i]
    x, y = reachable(side, who.scale, then[12], then[13], t.xpos[stand], t.xpos[stand + 1], hx, hy)
    return math.hypot(then[12] - x, then[13] - y)


@compiled
def press_within(t: Any, who: Any, i: int, x: float, y: float) -> None:
    """Write to `spot` the place under a sole that is nearest to where the pressure should be."""
    flat, hull, count = grid(t.flat, (w.MOST, 2)), grid(t.hull, (w.MOST + 1, 2)), who.point_count[i]
    for n in range(count):
        for k in range(2):
            flat[n, k] = t.soles[3 * (i * w.POINTS + n) + k]
    inside_by(x, y, hull, outline(flat, count, hull), t.spot)
