"""Steering by the legs: back to the clip's place and heading without anything pulling from outside.

Targets are lifted from the actual root, so whatever place and heading a body has lost stays lost: it goes on beside its
path. A foot that swings can land where the clip's own foot does instead. The whole leg is turned about its hip so that
the foot comes down nearer to the clip's place, pointing the clip's way; once it stands, the leg goes back to what the
clip asks for and takes the hips along. P3 leaves this to a torque and a force on the root.

Most headings are lost on standing feet: the clip turns them a little, and a sole that holds turns back the hips.
So it holds where that takes the hips to where they have to go, else it gives way and turns as the clip's does. Where
both feet stand and the heading is far off, they shuffle: each in turn slips toward it, and turns the hips coming back.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.maths.compiled import compiled
from stunt.maths.flat import mix_quaternions, multiply_quaternions
from stunt.maths.piecewise import frame_at
from stunt.maths.pointers import floats, longs

SHIFT: Final = 0.05
"""How far a foot is put from where it would land [m]."""
TURN: Final = 0.08
"""How far it is turned [rad]."""
SWINGING: Final = 0.06
"""Time within which a swinging leg goes over to its new landing place [s]."""
STANDING: Final = 0.15
"""Time within which a standing one comes back, and the hips with it [s]."""
GIVES: Final = (0.5, 2.0)
"""A sole gives way as the clip turns it by the first of these [rad/s]; from the second on that is its own business."""
ASIDE: Final = (0.02, 0.1)
"""Headings from which on soles begin to give way, and do [rad]."""
PIVOT: Final = 0.3
"""Sliding friction of one that gives way; against turning it holds `PIVOT_TWIST` of what it did."""
PIVOT_TWIST: Final = 0.2
SHUFFLES: Final = (0.1, 0.2)
"""Headings from which on both feet begin to shuffle, and do [rad]."""
STROKE: Final = 0.1
"""How far a shuffling foot is turned to either side [rad]; `SHUFFLE_HZ` times a second, the feet by turns."""
SHUFFLE_HZ: Final = 2.0
SHUFFLE_SLIP: Final = 0.05
"""Sliding friction of a shuffling foot on its way to where the clip looks."""
LEANS: Final = (0.05, 0.1)
"""Who leans so far from the clip's tilt has other worries: it shuffles less, and not at all [rad]."""
SHUFFLING: Final = 0.03
"""Time within which a foot follows its shuffle [s]."""
HOLDS: Final = 0.5
"""A sole that the motion gives less friction swings."""
_AROUND = 0.04  # before and after a moment, over which it is measured how fast the clip turns a foot [s]
_SHORTEST = 0.3  # of a leg: nearer to the hip a foot is not moved sideways by turning the leg [m]


@compiled
def steer_legs(v: Any, t: Any, who: Any, time: float) -> None:
    """Go on turning the legs of an actor: in the swing toward the clip's place, in the stance back."""
    xpos, steer, legs, swing = t.xpos, t.steer, longs(who.legs), floats(who.swing)
    count, h = who.leg_count, v.times.step
    low, high, share = frame_at(who.frames, (time + h - who.start) * who.fps)
    path, q = floats(who.roots), who.root_qpos
    off_x = path[3 * low] + share * (path[3 * high] - path[3 * low]) - v.qpos[q]
    off_y = path[3 * low + 1] + share * (path[3 * high + 1] - path[3 * low + 1]) - v.qpos[q + 1]
    size = math.sqrt(off_x * off_x + off_y * off_y)
    keep = min(1.0, SHIFT / size) if size > 0.0 else 0.0
    turn, shuffles = min(max(who.heading, -TURN), TURN), shuffling(who, (time + h - who.start) * who.fps)
    for k in range(count):
        thigh, foot = legs[3 * k], legs[3 * k + 1]
        air = swing[low * count + k] + share * (swing[high * count + k] - swing[low * count + k])
        rate = min(1.0, h / (air * SWINGING + (1.0 - air) * STANDING))
        tall = max(xpos[3 * thigh + 2] - xpos[3 * foot + 2], _SHORTEST)
        steer[4 * thigh] += rate * (air * keep * off_y / tall - steer[4 * thigh])
        steer[4 * thigh + 1] += rate * (-air * keep * off_x / tall - steer[4 * thigh + 1])
        if shuffles > 0.0 and air < 0.5:
            rate = min(1.0, h / SHUFFLING)
        change = rate * (air * turn + (1.0 - air) * shuffles * shuffled(who, k, time) - steer[4 * thigh + 2])
        steer[4 * thigh + 2] += change
        steer[4 * thigh + 3] = change / h


@compiled
def share_between(value: float, low: float, high: float) -> float:
    """Return 0 below a value, 1 above another, and in proportion in between."""
    return min(1.0, max(0.0, (value - low) / (high - low)))


@compiled
def shuffling(who: Any, frame: float) -> float:
    """Return how much an actor shuffles, 0 to 1: all its feet stand, and it looks aside."""
    grips, count = floats(who.friction), who.sole_count
    low, _, _ = frame_at(who.frames, frame)
    for k in range(count):
        if grips[2 * low * count + k] < HOLDS:
            return 0.0
    upright = 1.0 - share_between(who.root_error, LEANS[0], LEANS[1])
    return upright * share_between(abs(who.heading), SHUFFLES[0], SHUFFLES[1])


@compiled
def shuffled(who: Any, leg: int, time: float) -> float:
    """Return how far a leg is turned in a shuffle [rad]: a triangle, the legs by turns."""
    phase = SHUFFLE_HZ * (time - who.start) + 0.5 * (leg % 2)
    return STROKE * (4.0 * abs(phase - math.floor(phase + 0.5)) - 1.0)


@compiled
def pivot_of(t: Any, who: Any, body: int, frame: float) -> float:
    """Return how fast the motion turns a body about the vertical [rad/s], counterclockwise."""
    rows, s, width, wide = floats(who.rows), t.scratch, 4 * (who.end_body - who.root_body), _AROUND * who.fps
    own = 4 * (body - who.root_body)
    for turn, at in ((s.before, frame - wide), (s.after, frame + wide)):
        low, high, share = frame_at(who.frames, at)
        mix_quaternions(rows, low * width, rows, high * width, share, s.now, 0)
        mix_quaternions(rows, low * width + own, rows, high * width + own, share, s.goal, 0)
        multiply_quaternions(s.now, 0, s.goal, 0, turn, 0)
    for k in range(1, 4):
        s.before[k] = -s.before[k]
    multiply_quaternions(s.after, 0, s.before, 0, s.turn, 0)
    angle = 2.0 * math.atan2(s.turn[3], s.turn[0])
    angle -= 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
    return angle / (2.0 * _AROUND)


@compiled
def hold_soles(t: Any, who: Any, time: float) -> None:
    """Let a foot that swings slide (the clip lifts it less than uneven ground would need) and one that turns turn.

    A standing one turns as the motion has it where holding would take the hips farther from the clip's heading.
    """
    soles, rows, count = longs(who.soles), floats(who.friction), who.sole_count
    at = (time - who.start) * who.fps
    frame = min(max(int(at), 0), who.frames - 1)
    aside = share_between(abs(who.heading), ASIDE[0], ASIDE[1]) if who.leg_count > 0 else 0.0
    aside *= 1.0 - share_between(who.root_error, LEANS[0], LEANS[1])
    for k in range(count):
        c, slide, twist = 3 * soles[k], rows[2 * frame * count + k], rows[(2 * frame + 1) * count + k]
        body = t.geom_body[soles[k]]
        if aside > 0.0 and t.leg[body] != 0:
            own = t.steer[4 * abs(t.leg[body]) + 3]
            rate = pivot_of(t, who, body, at) + own
            if rate * who.heading > 0.0:
                give = aside * share_between(abs(rate), 0.0, GIVES[0])
                give *= 1.0 - share_between(abs(rate), GIVES[1], 2.0 * GIVES[1])
                slide += give * (min(slide, SHUFFLE_SLIP if own * who.heading > 0.0 else PIVOT) - slide)
                twist += give * (PIVOT_TWIST - 1.0) * twist
        t.sliding[c], t.sliding[c + 1] = slide, twist


@compiled
def steer_target(steer: Any, leg: Any, b: int, hang: int, own: bool, goal: Any, turn: Any) -> None:
    """Turn a leg's target in the world, thigh and shank wholly, the foot only about the vertical.

    Where targets hang on the actual parent (`own`), turning the thigh takes the leg along, and the foot is turned back.
    """
    if not own:
        turn_target(steer, abs(leg[b]), 1.0 if leg[b] > 0 else 0.0, 1.0, goal, turn)
    elif leg[b] == b:
        turn_target(steer, b, 1.0, 1.0, goal, turn)
    elif leg[b] < 0 and leg[hang] > 0:
        turn_target(steer, -leg[b], -1.0, 0.0, goal, turn)


@compiled
def turn_target(steer: Any, thigh: int, across: float, about: float, goal: Any, turn: Any) -> None:
    """Turn a target by shares of a leg's turn across and about the vertical; `turn` is scratch."""
    half_x = 0.5 * across * steer[4 * thigh]
    half_y = 0.5 * across * steer[4 * thigh + 1]
    half_z = 0.5 * about * steer[4 * thigh + 2]
    turn[0], turn[1], turn[2], turn[3] = 1.0, half_x, half_y, half_z
    norm = 1.0 / math.sqrt(1.0 + half_x * half_x + half_y * half_y + half_z * half_z)
    for k in range(4):
        turn[k] *= norm
    multiply_quaternions(turn, 0, goal, 0, goal, 0)
