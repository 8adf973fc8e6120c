"""The weak root spring (P3 eq. 6–8): the only help from outside, limited, breakable, and metered.

The root is pulled toward the clip's tilt. Its heading is taken out first (the twist of the error about the vertical),
then the torque's component along gravity; what is left is clamped at a share of m·g·h, zero when the tilt is wrong by
more than the breaking angle, and a fraction of it in the air. A yaw torque and a force on the ground plane are separate
and off by default.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from stunt.control.core.views import floats
from stunt.control.servo import layout as w
from stunt.keys import Choice, Number, key, spec
from stunt.maths.compiled import compiled
from stunt.maths.flat import multiply_quaternions, world_difference

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

    kind: Literal["weak", "hook", "none"] = key(
        default="weak", name="assist", kind=Choice("assistance", ("weak", "hook", "none")),
        help="what holds the root upright: a weak spring, a meat-hook (it goes where the clip's goes), or nothing",
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
def gain_now(f: Any, n: int, time: float) -> float:
    """Return the factor on all gains of an actor: 1, or less while stunned (down fast, up slowly)."""
    since = time - f[n + w.STUN_TIME]
    if since < 0.0:
        return float(f[n + w.GAIN])
    low = f[n + w.STUN_LOW]
    if since < f[n + w.STUN_DOWN]:
        share = 1.0 - (1.0 - low) * since / f[n + w.STUN_DOWN]
    elif since < f[n + w.STUN_DOWN] + f[n + w.STUN_HOLD]:
        share = low
    else:
        up = (since - f[n + w.STUN_DOWN] - f[n + w.STUN_HOLD]) / max(f[n + w.STUN_UP], 1e-9)
        share = min(1.0, low + (1.0 - low) * up)
    return float(f[n + w.GAIN] * share)


@compiled
def root_errors(a: Any, i: int, f: Any, n: int, frame: float, xquat: Any, x: Any) -> float:
    """Write the tilt error at x[0:3] and the wanted angular velocity at x[3:6]; return the heading error [rad]."""
    root, rows, width = a[i + w.ROOT_BODY], floats(a[i + w.ROWS]), a[i + w.END_BODY] - a[i + w.ROOT_BODY]
    ahead = 0.5 * f[n + w.LOOK] * f[n + w.FPS]
    sample_rows(rows, width, 0, a[i + w.FRAMES], frame, x, 6)
    sample_rows(rows, width, 0, a[i + w.FRAMES], frame - ahead, x, 26)
    sample_rows(rows, width, 0, a[i + w.FRAMES], frame + ahead, x, 10)
    for k in range(4):
        x[14 + k] = xquat[4 * root + k] if k == 0 else -xquat[4 * root + k]
    multiply_quaternions(x, 6, x, 14, x, 18)
    yaw = 2.0 * math.atan2(x[21], x[18])
    if yaw > math.pi:
        yaw -= 2.0 * math.pi
    elif yaw < -math.pi:
        yaw += 2.0 * math.pi
    if a[i + w.ROOT_MODE] != w.HOOK:
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
        x[3 + k] /= f[n + w.LOOK]
    return yaw


@compiled
def root_torque(
    a: Any, i: int, f: Any, n: int, frame: float, gain: float, h: float, xquat: Any, cvel: Any, touching: bool, x: Any
) -> None:
    """Write the root's torque in the world at f[TORQUE:] (P3 eq. 6–8); x is scratch of 32."""
    root = a[i + w.ROOT_BODY]
    yaw = root_errors(a, i, f, n, frame, xquat, x)
    k1, k2 = f[n + w.ROOT_K1] * gain, f[n + w.ROOT_K2] * gain
    for k in range(3):
        spin = cvel[6 * root + k]
        f[n + w.TORQUE + k] = k1 * (x[k] - h * spin) + k2 * (x[3 + k] - spin)
    angle = math.sqrt(x[0] ** 2 + x[1] ** 2 + x[2] ** 2)
    f[n + w.ROOT_ERROR], f[n + w.HEADING] = angle, yaw
    if a[i + w.ROOT_MODE] == w.FREE:
        # Nothing holds it, but how far it leans and looks away is known: who lies there lets go, legs steer.
        for k in range(3):
            f[n + w.TORQUE + k] = 0.0
        f[n + w.HELD_TILT] = f[n + w.HELD_YAW] = 0.0
        return
    if a[i + w.ROOT_MODE] == w.HOOK:
        f[n + w.HELD_TILT] = f[n + w.HELD_YAW] = 1.0
        return
    f[n + w.TORQUE + 2] = 0.0
    size = math.sqrt(f[n + w.TORQUE] ** 2 + f[n + w.TORQUE + 1] ** 2)
    share = min(1.0, f[n + w.TORQUE_LIMIT] / size) if size > 0.0 else 0.0
    air = 1.0 if touching else f[n + w.AIR]
    if angle > f[n + w.BREAK_ANGLE]:
        share = 0.0
    f[n + w.HELD_TILT], f[n + w.HELD_YAW] = share, 0.0
    for k in range(2):
        f[n + w.TORQUE + k] *= share * air
    if f[n + w.YAW_LIMIT] > 0.0 and share > 0.0:
        turn = w.YAW_PART * (k1 * yaw + k2 * (x[5] - cvel[6 * root + 2]))
        f[n + w.TORQUE + 2] = air * min(max(turn, -f[n + w.YAW_LIMIT]), f[n + w.YAW_LIMIT])
        f[n + w.HELD_YAW] = min(1.0, f[n + w.YAW_LIMIT] / max(abs(turn), 1e-9))


@compiled
def root_force(a: Any, i: int, f: Any, n: int, frame: float, qpos: Any, qvel: Any) -> None:
    """Write the force on the root at f[FORCE:]: toward the clip's path, along the ground unless it is a hook."""
    for k in range(3):
        f[n + w.FORCE + k] = 0.0
    hook = a[i + w.ROOT_MODE] == w.HOOK
    if not hook and f[n + w.FORCE_LIMIT] <= 0.0:
        return
    frames, path = a[i + w.FRAMES], floats(a[i + w.ROOTS])
    x = min(max(frame, 0.0), frames - 1.0)
    low = int(min(x, max(frames - 2.0, 0.0)))
    high = min(low + 1, frames - 1)
    q, d = a[i + w.ROOT_QPOS], a[i + w.ROOT_DOF]
    rate = f[n + w.HOOK_K] if hook else 4.0
    size = 0.0
    for k in range(3 if hook else 2):
        here = path[3 * low + k] + (x - low) * (path[3 * high + k] - path[3 * low + k])
        pace = (path[3 * high + k] - path[3 * low + k]) * f[n + w.FPS] if x < frames - 1.0 else 0.0
        pull = rate * rate * (here - qpos[q + k]) + 2.0 * rate * (pace - qvel[d + k])
        f[n + w.FORCE + k] = f[n + w.WHOLE_MASS] * pull
        size += f[n + w.FORCE + k] ** 2
    size = math.sqrt(size)
    if not hook and size > f[n + w.FORCE_LIMIT]:
        for k in range(2):
            f[n + w.FORCE + k] *= f[n + w.FORCE_LIMIT] / size


@compiled
def help_root(
    v: Any, a: Any, i: int, f: Any, n: int, time: float, gain: float, xquat: Any, cvel: Any, constraint: Any, x: Any
) -> None:
    """Apply the root's help and meter it."""
    h, d = v.times[0], a[i + w.ROOT_DOF]
    net = math.sqrt(constraint[d] ** 2 + constraint[d + 1] ** 2 + constraint[d + 2] ** 2)
    touching = net > _TOUCH * f[n + w.WEIGHT]
    f[n + w.TOUCHING] = 1.0 if touching else 0.0
    frame = (time - f[n + w.START]) * f[n + w.FPS]
    for k in range(3):
        f[n + w.TORQUE + k] = f[n + w.FORCE + k] = 0.0
    root_torque(a, i, f, n, frame, gain, h, xquat, cvel, touching, x)
    if a[i + w.ROOT_MODE] != w.FREE:
        root_force(a, i, f, n, frame, v.qpos, v.qvel)
    for k in range(3):
        v.applied[d + k] = f[n + w.FORCE + k]
        c = 6 * (d + 3 + k)
        v.applied[d + 3 + k] = (
            v.cdof[c] * f[n + w.TORQUE]
            + v.cdof[c + 1] * f[n + w.TORQUE + 1]
            + v.cdof[c + 2] * f[n + w.TORQUE + 2]
        )


@compiled
def meter_root(f: Any, n: int, h: float) -> None:
    """Add the last step's help to the meters."""
    torque = math.sqrt(f[n + w.TORQUE] ** 2 + f[n + w.TORQUE + 1] ** 2 + f[n + w.TORQUE + 2] ** 2)
    force = math.sqrt(f[n + w.FORCE] ** 2 + f[n + w.FORCE + 1] ** 2 + f[n + w.FORCE + 2] ** 2)
    f[n + w.TORQUE_SUM] += torque
    f[n + w.TORQUE_PEAK] = max(f[n + w.TORQUE_PEAK], torque)
    f[n + w.FORCE_SUM] += force
    f[n + w.FORCE_PEAK] = max(f[n + w.FORCE_PEAK], force)
    f[n + w.STEPS] += 1.0
    f[n + w.BROKEN] = f[n + w.BROKEN] + h if f[n + w.ROOT_ERROR] > f[n + w.BREAK_ANGLE] else 0.0
