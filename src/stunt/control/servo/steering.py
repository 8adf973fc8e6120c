"""Steering by the legs: back to the clip's place and heading without anything pulling from outside.

Targets are lifted from the actual root, so whatever place and heading a body has lost stays lost: it goes on beside its
path. A foot that swings can land where the clip's own foot does instead. The whole leg is turned about its hip so that
the foot comes down nearer to the clip's place, pointing the clip's way; once it stands, the leg goes back to what the
clip asks for and takes the hips along. P3 leaves this to a torque and a force on the root.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.maths.compiled import compiled
from stunt.maths.flat import multiply_quaternions
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
    turn = min(max(who.heading, -TURN), TURN)
    for k in range(count):
        thigh, foot = legs[3 * k], legs[3 * k + 1]
        air = swing[low * count + k] + share * (swing[high * count + k] - swing[low * count + k])
        rate = min(1.0, h / (air * SWINGING + (1.0 - air) * STANDING))
        tall = max(xpos[3 * thigh + 2] - xpos[3 * foot + 2], _SHORTEST)
        steer[3 * thigh] += rate * (air * keep * off_y / tall - steer[3 * thigh])
        steer[3 * thigh + 1] += rate * (-air * keep * off_x / tall - steer[3 * thigh + 1])
        steer[3 * thigh + 2] += rate * (air * turn - steer[3 * thigh + 2])


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
    half_x = 0.5 * across * steer[3 * thigh]
    half_y = 0.5 * across * steer[3 * thigh + 1]
    half_z = 0.5 * about * steer[3 * thigh + 2]
    turn[0], turn[1], turn[2], turn[3] = 1.0, half_x, half_y, half_z
    norm = 1.0 / math.sqrt(1.0 + half_x * half_x + half_y * half_y + half_z * half_z)
    for k in range(4):
        turn[k] *= norm
    multiply_quaternions(turn, 0, goal, 0, goal, 0)
