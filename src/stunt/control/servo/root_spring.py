"""The weak root spring (P3 eq. 6–8): the only help from outside, limited, breakable, and metered.

The root is pulled toward the clip's tilt. Its heading is taken out first (the twist of the error about the vertical),
then the torque's component along gravity; what is left is clamped at k_L, a share of m·g·h, and a fraction of it in the
air. Where more than k_U would be needed the spring is broken, and gives nothing until less than k_L is needed again. A
yaw torque and a force on the ground plane are separate and off by default.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.servo.law import YAW_PART, stun_share
from stunt.control.servo.memory import FREE, HOOK
from stunt.maths.compiled import compiled
from stunt.maths.flat import mix_quaternions, multiply_quaternions, world_difference
from stunt.maths.piecewise import frame_at
from stunt.maths.pointers import floats

OVERLOAD: Final = 0.25
"""Where more than k_U is needed for longer than this, on the ground, the spring breaks [s]. P3 (eq. 8) has it give
nothing whenever more is needed; but a landing, or a hand that meets a block, asks for more for a moment."""
FLIGHT: Final = 0.06
"""Before and after a moment, over which it is judged whether a motion is in the air then [s]."""
THUD: Final = 0.06
"""Within about so long what stops a body counts as one impact [s]."""
RECENT: Final = 0.5
"""Nobody is shaken by an impact longer ago than about this [s]."""
_TOUCH = 0.02  # of body weight: less net contact force counts as flying


@compiled
def sample_root(who: Any, frame: float, out: Any) -> None:
    """Write the root's orientation in the clip at a fractional frame: interpolated, held outside."""
    rows, width = floats(who.rows), 4 * (who.end_body - who.root_body)
    low, high, share = frame_at(who.frames, frame)
    mix_quaternions(rows, low * width, rows, high * width, share, out, 0)


@compiled
def gain_now(who: Any, time: float) -> float:
    """Return the factor on all gains of an actor: 1, or less while stunned (down fast, up slowly)."""
    since = time - who.stun_time
    if since < 0.0:
        return float(who.gain)
    share = stun_share(since, who.stun_from, who.stun_low, who.stun_down, who.stun_hold, who.stun_up)
    return float(who.gain * share)


@compiled
def root_errors(t: Any, who: Any, frame: float) -> float:
    """Write the tilt error to `error` and the wanted angular velocity to `spin`; return the heading error [rad]."""
    root, xquat, ahead = who.root_body, t.xquat, 0.5 * who.look * who.fps
    s = t.scratch
    now, before, after, turn, goal, spin = s.now, s.before, s.after, s.turn, s.goal, s.spin
    sample_root(who, frame, now)
    sample_root(who, frame - ahead, before)
    sample_root(who, frame + ahead, after)
    for k in range(4):
        turn[k] = xquat[4 * root + k] if k == 0 else -xquat[4 * root + k]
    multiply_quaternions(now, 0, turn, 0, goal, 0)
    yaw = 2.0 * math.atan2(goal[3], goal[0])
    if yaw > math.pi:
        yaw -= 2.0 * math.pi
    elif yaw < -math.pi:
        yaw += 2.0 * math.pi
    if who.root_mode != HOOK:
        turn[0], turn[1], turn[2], turn[3] = math.cos(-0.5 * yaw), 0.0, 0.0, math.sin(-0.5 * yaw)
        for orientation in (now, before, after):
            multiply_quaternions(turn, 0, orientation, 0, orientation, 0)
    world_difference(now, 0, xquat, 4 * root, s.error, 0)
    world_difference(after, 0, before, 0, spin, 0)
    for k in range(3):
        spin[k] /= who.look
    return yaw


@compiled
def root_torque(t: Any, who: Any, frame: float, gain: float, h: float, touching: bool) -> None:
    """Write the root's torque in the world (P3 eq. 6–8)."""
    root, cvel, error, wanted = who.root_body, t.cvel, t.scratch.error, t.scratch.spin
    yaw = root_errors(t, who, frame)
    k1, k2 = who.root_k1 * gain, who.root_k2 * gain
    for k in range(3):
        spin = cvel[6 * root + k]
        who.torque[k] = k1 * (error[k] - h * spin) + k2 * (wanted[k] - spin)
    who.root_error, who.heading = math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2), yaw
    across = math.sqrt(who.torque[0] ** 2 + who.torque[1] ** 2)
    who.needed = across / gain if gain > 0.0 else 0.0  # however strong it is now, by what would be needed it breaks
    if who.needed < who.mend_torque:
        who.snapped = 0
    elif who.broken > OVERLOAD:
        who.snapped = 1
    if who.root_mode == FREE:
        # Nothing holds it, but how far it leans and looks away is known: who lies there lets go, legs steer.
        for k in range(3):
            who.torque[k] = 0.0
        who.held_tilt = who.held_yaw = 0.0
        return
    if who.root_mode == HOOK:
        who.held_tilt = who.held_yaw = 1.0
        return
    who.torque[2] = 0.0
    share = min(1.0, who.torque_limit / across) if across > 0.0 and who.snapped == 0 else 0.0
    air = 1.0 if touching else who.air
    who.held_tilt, who.held_yaw = share, 0.0
    for k in range(2):
        who.torque[k] *= share * air
    if who.yaw_limit > 0.0 and share > 0.0:
        turn = YAW_PART * (k1 * yaw + k2 * (wanted[2] - cvel[6 * root + 2]))
        who.torque[2] = air * min(max(turn, -who.yaw_limit), who.yaw_limit)
        who.held_yaw = min(1.0, who.yaw_limit / max(abs(turn), 1e-9))


@compiled
def root_force(who: Any, frame: float, qpos: Any, qvel: Any) -> None:
    """Write the force on the root: toward the clip's path, along the ground unless it is a hook."""
    for k in range(3):
        who.force[k] = 0.0
    hook = who.root_mode == HOOK
    if not hook and who.force_limit <= 0.0:
        return
    path, (low, high, share) = floats(who.roots), frame_at(who.frames, frame)
    q, d = who.root_qpos, who.root_dof
    rate = who.hook_k if hook else 4.0
    size = 0.0
    for k in range(3 if hook else 2):
        here = path[3 * low + k] + share * (path[3 * high + k] - path[3 * low + k])
        pace = (path[3 * high + k] - path[3 * low + k]) * who.fps if frame < who.frames - 1.0 else 0.0
        pull = rate * rate * (here - qpos[q + k]) + 2.0 * rate * (pace - qvel[d + k])
        who.force[k] = who.whole_mass * pull
        size += who.force[k] ** 2
    size = math.sqrt(size)
    if not hook and size > who.force_limit:
        for k in range(2):
            who.force[k] *= who.force_limit / size


@compiled
def straying(who: Any, frame: float, qvel: Any) -> float:
    """Return how much faster than its motion's an actor's root goes over the ground, either way [m/s]."""
    path, (low, _, _), d = floats(who.roots), frame_at(who.frames, frame), who.root_dof
    after, total = min(low + 1, who.frames - 1), 0.0
    for k in range(2):
        total += (qvel[d + k] - (path[3 * after + k] - path[3 * low + k]) * who.fps) ** 2
    return math.sqrt(total)


@compiled
def clip_flies(who: Any, frame: float) -> bool:
    """Whether the motion itself is in the air: its root falls about as freely as anything."""
    path, wide = floats(who.roots), FLIGHT * who.fps
    total = 0.0
    for k in range(-1, 2):
        low, high, share = frame_at(who.frames, frame + k * wide)
        height = path[3 * low + 2] + share * (path[3 * high + 2] - path[3 * low + 2])
        total += height if k != 0 else -2.0 * height
    return total / (FLIGHT * FLIGHT) < -0.5 * who.weight / who.whole_mass


@compiled
def help_root(v: Any, t: Any, who: Any, time: float, gain: float) -> None:
    """Apply the root's help and meter it."""
    h, d, constraint = v.times.step, who.root_dof, t.constraint
    net = math.sqrt(constraint[d] ** 2 + constraint[d + 1] ** 2 + constraint[d + 2] ** 2)
    touching = net > _TOUCH * who.weight
    frame = (time - who.start) * who.fps
    who.touching = 1.0 if touching else 0.0
    stopping = v.qvel[who.root_dof + 2] < 0.0  # who is thrown up, out of what it began in, is struck by nothing
    who.thud += h * ((max(net - who.weight, 0.0) / who.whole_mass if stopping else 0.0) - who.thud / THUD)
    who.worst_thud = max(who.worst_thud * (1.0 - h / RECENT), who.thud)
    who.strays = straying(who, frame, v.qvel)
    who.adrift = who.adrift + h if not (touching or clip_flies(who, frame)) else 0.0
    for k in range(3):
        who.torque[k] = who.force[k] = 0.0
    root_torque(t, who, frame, gain, h, touching)
    if who.root_mode != FREE:
        root_force(who, frame, v.qpos, v.qvel)
    for k in range(3):
        v.applied[d + k] = who.force[k]
        c = 6 * (d + 3 + k)
        v.applied[d + 3 + k] = v.cdof[c] * who.torque[0] + v.cdof[c + 1] * who.torque[1] + v.cdof[c + 2] * who.torque[2]


@compiled
def meter_root(who: Any, h: float) -> None:
    """Add the last step's help to the meters."""
    torque = math.sqrt(who.torque[0] ** 2 + who.torque[1] ** 2 + who.torque[2] ** 2)
    force = math.sqrt(who.force[0] ** 2 + who.force[1] ** 2 + who.force[2] ** 2)
    who.torque_sum += torque
    who.torque_peak = max(who.torque_peak, torque)
    who.force_sum += force
    who.force_peak = max(who.force_peak, force)
    who.steps += 1.0
    who.whole = 0.0 if who.snapped != 0 else who.whole + h
    if who.snapped != 0 or who.needed >= who.break_torque:
        if who.touching != 0.0 or who.adrift > 0.0 or who.snapped != 0:  # not in the motion's own flight
            who.broken += h
    else:
        who.broken = 0.0
