"""The weak root spring (P3 eq. 6–8): the only help from outside, limited, breakable, and metered.

The root is pulled toward the clip's tilt. Its heading is taken out first (the twist of the error about the vertical),
then the torque's component along gravity; what is left is clamped at a share of m·g·h, zero when the tilt is wrong by
more than the breaking angle, and a fraction of it in the air. A yaw torque and a force on the ground plane are separate
and off by default.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from stunt.control.servo import layout as w
from stunt.keys import Choice, Number, key, spec
from stunt.maths.compiled import compiled
from stunt.maths.flat import multiply_quaternions, world_difference
from stunt.maths.pointers import floats

_TOUCH = 0.02  # of body weight: less net contact force counts as flying


_LARGEST = 100.0  # more of anything would be another kind of help


@spec("the root's help")
class RootSpring:
    """How the root is helped: the one place of its defaults.

    Attributes:
        omega: Natural frequency on the whole body's moment of inertia [1/s].
        breaks: Tilt error at which it lets go [rad].
        air: Factor while nothing is touched.
    """

    kind: Literal["weak", "hook", "none", "own"] = key(
        default="weak", name="assist", kind=Choice("assistance", ("weak", "hook", "none", "own")),
        help="what holds the root upright: a weak spring, a meat-hook (it goes where the clip's goes), nothing, or "
        "nothing but its own feet, which balance it",
    )  # fmt: skip
    omega: float = 20.0
    limit: float = key(
        default=0.3, kind=Number(0.0, _LARGEST, unit="m·g·h"), help="largest root torque (mass × gravity × hip height)"
    )
    breaks: float = 1.2
    air: float = 0.3
    yaw: float = key(
        default=0.0, kind=Number(0.0, _LARGEST, unit="m·g·h"), help="largest root torque about the vertical"
    )
    force: float = key(
        default=0.0, kind=Number(0.0, _LARGEST, unit="m·g"), help="largest root force along the ground (body weights)"
    )
    clock: Literal["free", "clip"] = key(
        default="free", kind=Choice("clock", ("free", "clip")),
        help="on own feet: whether the clip's time may give where balance asks for it, or is kept",
    )  # fmt: skip


@compiled
def sample_rows(rows: Any, width: int, which: int, frames: int, frame: float, out: Any, o: int) -> None:
    """Write orientation `which` of rows of `width` quaternions at a fractional frame: interpolated, held outside."""
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    share = x - low
    a = 4 * (low * width + which)
    b = 4 * (min(low + 1, frames - 1) * width + which)
    dot = 0.0
    for k in range(4):
        dot += rows[a + k] * rows[b + k]
    sign = 1.0 if dot >= 0.0 else -1.0
    norm = 0.0
    for k in range(4):
        out[o + k] = (1.0 - share) * rows[a + k] + share * sign * rows[b + k]
        norm += out[o + k] * out[o + k]
    norm = 1.0 / math.sqrt(norm)
    for k in range(4):
        out[o + k] *= norm


@compiled
def gain_now(who: Any, time: float) -> float:
    """Return the factor on all gains of an actor: 1, or less while stunned (down fast, up slowly)."""
    since = time - who.stun_time
    if since < 0.0:
        return float(who.gain)
    low = who.stun_low
    if since < who.stun_down:
        share = 1.0 - (1.0 - low) * since / who.stun_down
    elif since < who.stun_down + who.stun_hold:
        share = low
    else:
        up = (since - who.stun_down - who.stun_hold) / max(who.stun_up, 1e-9)
        share = min(1.0, low + (1.0 - low) * up)
    return float(who.gain * share)


@compiled
def root_errors(who: Any, frame: float, xquat: Any, x: Any) -> float:
    """Write the tilt error at x[0:3] and the wanted angular velocity at x[3:6]; return the heading error [rad]."""
    root, rows, width = who.root_body, floats(who.rows), who.end_body - who.root_body
    ahead = 0.5 * who.look * who.fps
    sample_rows(rows, width, 0, who.frames, frame, x, 6)
    sample_rows(rows, width, 0, who.frames, frame - ahead, x, 26)
    sample_rows(rows, width, 0, who.frames, frame + ahead, x, 10)
    for k in range(4):
        x[14 + k] = xquat[4 * root + k] if k == 0 else -xquat[4 * root + k]
    multiply_quaternions(x, 6, x, 14, x, 18)
    yaw = 2.0 * math.atan2(x[21], x[18])
    if yaw > math.pi:
        yaw -= 2.0 * math.pi
    elif yaw < -math.pi:
        yaw += 2.0 * math.pi
    if who.root_mode != w.HOOK:
        x[14], x[15], x[16], x[17] = math.cos(-0.5 * yaw), 0.0, 0.0, math.sin(-0.5 * yaw)
        multiply_quaternions(x, 14, x, 6, x, 18)
        multiply_quaternions(x, 14, x, 10, x, 22)
        multiply_quaternions(x, 14, x, 26, x, 6)
    else:
        for k in range(4):
            x[18 + k], x[22 + k], x[6 + k] = x[6 + k], x[10 + k], x[26 + k]
    world_difference(x, 18, xquat, 4 * root, x, 0)
    world_difference(x, 22, x, 6, x, 3)
    for k in range(3):
        x[3 + k] /= who.look
    return yaw


@compiled
def root_torque(who: Any, frame: float, gain: float, h: float, xquat: Any, cvel: Any, touching: bool, x: Any) -> None:
    """Write the root's torque in the world (P3 eq. 6–8); x is scratch of 32."""
    root = who.root_body
    yaw = root_errors(who, frame, xquat, x)
    k1, k2 = who.root_k1 * gain, who.root_k2 * gain
    for k in range(3):
        spin = cvel[6 * root + k]
        who.torque[k] = k1 * (x[k] - h * spin) + k2 * (x[3 + k] - spin)
    angle = math.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)
    who.root_error, who.heading = angle, yaw
    if who.root_mode == w.FREE:
        # Nothing holds it, but how far it leans and looks away is known: who lies there lets go, legs steer.
        for k in range(3):
            who.torque[k] = 0.0
        who.held_tilt = who.held_yaw = 0.0
        return
    if who.root_mode == w.HOOK:
        who.held_tilt = who.held_yaw = 1.0
        return
    who.torque[2] = 0.0
    size = math.sqrt(who.torque[0] ** 2 + who.torque[1] ** 2)
    share = min(1.0, who.torque_limit / size) if size > 0.0 else 0.0
    air = 1.0 if touching else who.air
    if angle > who.break_angle:
        share = 0.0
    who.held_tilt, who.held_yaw = share, 0.0
    for k in range(2):
        who.torque[k] *= share * air
    if who.yaw_limit > 0.0 and share > 0.0:
        turn = w.YAW_PART * (k1 * yaw + k2 * (x[5] - cvel[6 * root + 2]))
        who.torque[2] = air * min(max(turn, -who.yaw_limit), who.yaw_limit)
        who.held_yaw = min(1.0, who.yaw_limit / max(abs(turn), 1e-9))


@compiled
def root_force(who: Any, frame: float, qpos: Any, qvel: Any) -> None:
    """Write the force on the root: toward the clip's path, along the ground unless it is a hook."""
    for k in range(3):
        who.force[k] = 0.0
    hook = who.root_mode == w.HOOK
    if not hook and who.force_limit <= 0.0:
        return
    frames, path = who.frames, floats(who.roots)
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    high = min(low + 1, frames - 1)
    q, d = who.root_qpos, who.root_dof
    rate = who.hook_k if hook else 4.0
    size = 0.0
    for k in range(3 if hook else 2):
        here = path[3 * low + k] + (x - low) * (path[3 * high + k] - path[3 * low + k])
        pace = (path[3 * high + k] - path[3 * low + k]) * who.fps if x < frames - 1.0 else 0.0
        pull = rate * rate * (here - qpos[q + k]) + 2.0 * rate * (pace - qvel[d + k])
        who.force[k] = who.whole_mass * pull
        size += who.force[k] ** 2
    size = math.sqrt(size)
    if not hook and size > who.force_limit:
        for k in range(2):
            who.force[k] *= who.force_limit / size


@compiled
def help_root(v: Any, who: Any, time: float, gain: float, xquat: Any, cvel: Any, constraint: Any, x: Any) -> None:
    """Apply the root's help and meter it."""
    h, d = v.times.step, who.root_dof
    net = math.sqrt(constraint[d] ** 2 + constraint[d + 1] ** 2 + constraint[d + 2] ** 2)
    touching = net > _TOUCH * who.weight
    who.touching = 1.0 if touching else 0.0
    frame = (time - who.start) * who.fps
    for k in range(3):
        who.torque[k] = who.force[k] = 0.0
    root_torque(who, frame, gain, h, xquat, cvel, touching, x)
    if who.root_mode != w.FREE:
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
    who.broken = who.broken + h if who.root_error > who.break_angle else 0.0
