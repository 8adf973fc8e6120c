"""The adaptive program, compiled: one controller per driven joint and per Cartesian component of a driven site.

Memory is laid out by `stunt.control.adaptive_program.AdaptiveProgram`; here rows of it are read and written by the
offsets below. Joints act through the board's springs (stiff terms are solved implicitly by the engine; gravity and the
rest are learned, never looked up). Sites act as pulls from outside, through the transposed Jacobian.
"""

from __future__ import annotations

from typing import Any, Final

from stunt.compiled import compiled, inlined
from stunt.control.adaptive import BETA, adapt, bare, drive, model_step
from stunt.control.adaptive_site import pull_site
from stunt.control.pieces import evaluate
from stunt.control.views import floats, longs

# Entries of the table.
T_SIZES, T_JOINT_INT, T_JOINT, T_SITE_INT, T_SITE, T_BREAKS, T_COEFFICIENTS = 0, 1, 2, 3, 4, 5, 6
# A joint's integers.
J_JOINT, J_QPOS, J_DOF, J_BARE, J_FIRST, J_COUNT, J_HINT, J_INTS = 0, 1, 2, 3, 4, 5, 6, 7
# A joint's numbers: λ, model position and velocity, four gains, what was measured, its model's transition and damping.
J_LAMBDA, J_XM, J_VM, J_GAINS = 0, 1, 2, 3
J_SQUARES, J_STEPS, J_WORST, J_WORST_TIME, J_ERROR, J_PHI, J_RATIO = 7, 8, 9, 10, 11, 12, 16
J_BEGIN, J_UNTIL, J_FLOATS = 17, 18, 19  # when the present piece of its path begins and ends; empty where none is known
_MOST: Final = 1.0e6
_WIDE: Final = 16  # coefficients per piece
_LEAD: Final = (2.0 + BETA) / (1.0 + BETA)


@inlined
def adaptive_before(v: Any, address: int, time: float) -> None:
    """Set the springs of all driven joints.

    Args:
        v: Views.
        address: Of the program's table.
        time: Now [s].
    """
    table = longs(address)
    sizes, ints, numbers = longs(table[T_SIZES]), longs(table[T_JOINT_INT]), floats(table[T_JOINT])
    breaks, coefficients = floats(table[T_BREAKS]), floats(table[T_COEFFICIENTS])
    known, often, slow = 0.0, 1.0 / v.times.period, 0.0
    for n in range(sizes[0]):
        lam = numbers[n * J_FLOATS + J_LAMBDA]
        if lam != known:  # joints mostly share their settling time
            known, slow = lam, 1.0 / lam
        drive_joint(v, ints, n * J_INTS, numbers, n * J_FLOATS, breaks, coefficients, time, often, slow)


@inlined
def drive_joint(
    v: Any, ints: Any, a: int, f: Any, b: int, breaks: Any, coefficients: Any, time: float, often: float, slow: float
) -> None:
    """Advance one joint's model and gains, and write its spring and feed-forward to the board."""
    q, i, h, lam = ints[a + J_QPOS], ints[a + J_DOF], v.times.period, f[b + J_LAMBDA]
    x, velocity, moment = v.qpos[q], v.qvel[i], v.moment[i]
    xd, vd, ad = wanted(ints, a, f, b, breaks, coefficients, time)
    note(f, b, xd - x, time)
    xm, vm = f[b + J_XM], f[b + J_VM]
    y = drive(xm - x, vm - velocity, lam)
    r = (ad * slow + 2.0 * f[b + J_RATIO] * vd) * slow + xd
    # Frozen while at the limit and asked for more; the last step's force says which way the limit is.
    frozen = v.saturated[i] != 0 and v.torque[i] * y > 0.0
    later, later_rate = model_step(xm, vm, xd, vd, ad, h, f, b + J_PHI)
    f[b + J_XM], f[b + J_VM] = later, later_rate
    v.goal[q], v.goal_velocity[i] = xd, vd
    if ints[a + J_BARE]:
        push = moment * bare(f, b + J_GAINS, x, velocity, r, y, h, frozen)
        v.rest[q], v.stiffness[i], v.damping[i] = x, 0.0, 0.0
        v.feed_forward[i] = min(max(push, -_MOST), _MOST)
        return
    learned = adapt(f, b + J_GAINS, x, velocity * slow, r, y, lam, h, frozen)
    # λ²e + 2λė + βy toward where the model will be at the end of a step, on average over the period: that is where an
    # implicit spring is evaluated.
    share = 0.5 + 0.5 * v.times.step * often
    xr, vr = xm + share * (later - xm), vm + share * (later_rate - vm)
    stiffness, damping = (1.0 + BETA) * moment * lam * lam, (2.0 + BETA) * moment * lam
    # The engine's damper only knows rest; a spring whose rest leads by the damper's drag makes up for it.
    v.rest[q], v.stiffness[i], v.damping[i] = xr + vr * _LEAD * slow, stiffness, damping
    v.feed_forward[i] = moment * ((later_rate - vm) * often + learned)


@inlined
def wanted(
    ints: Any, a: int, f: Any, b: int, breaks: Any, coefficients: Any, time: float
) -> tuple[float, float, float]:
    """Return where a joint should be, how fast, and its acceleration; mostly on the same piece as a step ago."""
    first = ints[a + J_FIRST]
    if not f[b + J_BEGIN] <= time < f[b + J_UNTIL]:
        count = ints[a + J_COUNT]
        piece, xd, vd, ad = evaluate(breaks, coefficients, first, count, ints[a + J_HINT], 0, time)
        ints[a + J_HINT] = piece
        if breaks[first] <= time < breaks[first + count]:
            f[b + J_BEGIN], f[b + J_UNTIL] = breaks[first + piece], breaks[first + piece + 1]
        return xd, vd, ad
    t, c = time - f[b + J_BEGIN], _WIDE * (first + ints[a + J_HINT])
    p, q, r, s = coefficients[c], coefficients[c + 1], coefficients[c + 2], coefficients[c + 3]
    return ((p * t + q) * t + r) * t + s, (3.0 * p * t + 2.0 * q) * t + r, 6.0 * p * t + 2.0 * q


@inlined
def note(f: Any, b: int, error: float, time: float) -> None:
    """Add an error to what was measured of a joint."""
    f[b + J_ERROR] = error
    f[b + J_SQUARES] += error * error
    f[b + J_STEPS] += 1.0
    if abs(error) > f[b + J_WORST]:
        f[b + J_WORST], f[b + J_WORST_TIME] = abs(error), time


@compiled
def adaptive_between(v: Any, address: int, time: float, model: int, data: int) -> None:
    """Pull all driven sites.

    Args:
        v: Views.
        address: Of the program's table.
        time: Now [s]; negative before the first step, when nothing moves yet.
        model: Address of the MjModel.
        data: Address of the MjData.
    """
    if time < 0.0:
        return
    table = longs(address)
    sizes = longs(table[T_SIZES])
    for n in range(sizes[1]):
        pull_site(v, table, n, time, model, data)
