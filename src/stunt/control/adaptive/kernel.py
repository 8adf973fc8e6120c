"""The adaptive program, compiled: one controller per driven joint and per Cartesian component of a driven site.

Joints act through the board's springs (stiff terms are solved implicitly by the engine; gravity and the rest are
learned, never looked up). Sites act as pulls from outside, through the transposed Jacobian (`adaptive_site`).
"""

from __future__ import annotations

from typing import Any, Final

from stunt.control.adaptive.law import BETA, adapt, bare, drive, model_step
from stunt.control.adaptive.memory import TABLE, joint_at
from stunt.control.adaptive.site import pull_site
from stunt.control.core.programs import ADAPTIVE, BEFORE, BETWEEN, entry
from stunt.control.core.views import views_at
from stunt.maths.compiled import inlined
from stunt.maths.piecewise import evaluate

adaptive_at = TABLE.reader()
_MOST: Final = 1.0e6
_WIDE: Final = 16  # coefficients per piece
_LEAD: Final = (2.0 + BETA) / (1.0 + BETA)


@entry(ADAPTIVE, BEFORE)
def before(table: int, program: int, time: float, model: int, data: int) -> None:
    """Set the springs of all driven joints."""
    v, t = views_at(table), adaptive_at(program)
    known, often, slow = 0.0, 1.0 / v.times.period, 0.0
    for n in range(t.sizes.joints):
        joint = joint_at(t.joints, n)
        if joint.lam != known:  # joints mostly share their settling time
            known, slow = joint.lam, 1.0 / joint.lam
        drive_joint(v, t, joint, time, often, slow)


@inlined
def drive_joint(v: Any, t: Any, joint: Any, time: float, often: float, slow: float) -> None:
    """Advance one joint's model and gains, and write its spring and feed-forward to the board."""
    q, i, h, lam = joint.qpos, joint.dof, v.times.period, joint.lam
    x, velocity, moment = v.qpos[q], v.qvel[i], v.moment[i]
    xd, vd, ad = wanted(joint, t.breaks, t.coefficients, time)
    note(joint, xd - x, time)
    xm, vm = joint.model, joint.model_rate
    y = drive(xm - x, vm - velocity, lam)
    r = (ad * slow + 2.0 * joint.ratio * vd) * slow + xd
    # Frozen while at the limit and asked for more; the last step's force says which way the limit is.
    frozen = v.saturated[i] != 0 and v.torque[i] * y > 0.0
    later, later_rate = model_step(xm, vm, xd, vd, ad, h, joint.transition)
    joint.model, joint.model_rate = later, later_rate
    v.goal[q], v.goal_velocity[i] = xd, vd
    if joint.bare != 0:
        push = moment * bare(joint.gains, x, velocity, r, y, h, frozen)
        v.rest[q], v.stiffness[i], v.damping[i] = x, 0.0, 0.0
        v.feed_forward[i] = min(max(push, -_MOST), _MOST)
        return
    learned = adapt(joint.gains, 0, x, velocity * slow, r, y, lam, h, frozen)
    # λ²e + 2λė + βy toward where the model will be at the end of a step, on average over the period: that is where an
    # implicit spring is evaluated.
    share = 0.5 + 0.5 * v.times.step * often
    xr, vr = xm + share * (later - xm), vm + share * (later_rate - vm)
    stiffness, damping = (1.0 + BETA) * moment * lam * lam, (2.0 + BETA) * moment * lam
    # The engine's damper only knows rest; a spring whose rest leads by the damper's drag makes up for it.
    v.rest[q], v.stiffness[i], v.damping[i] = xr + vr * _LEAD * slow, stiffness, damping
    v.feed_forward[i] = moment * ((later_rate - vm) * often + learned)


@inlined
def wanted(joint: Any, breaks: Any, coefficients: Any, time: float) -> tuple[float, float, float]:
    """Return where a joint should be, how fast, and its acceleration; mostly on the same piece as a step ago."""
    first = joint.first
    if not joint.begin <= time < joint.until:
        count = joint.count
        piece, xd, vd, ad = evaluate(breaks, coefficients, first, count, joint.hint, 0, time)
        joint.hint = piece
        if breaks[first] <= time < breaks[first + count]:
            joint.begin, joint.until = breaks[first + piece], breaks[first + piece + 1]
        return xd, vd, ad
    t, c = time - joint.begin, _WIDE * (first + joint.hint)
    p, q, r, s = coefficients[c], coefficients[c + 1], coefficients[c + 2], coefficients[c + 3]
    return ((p * t + q) * t + r) * t + s, (3.0 * p * t + 2.0 * q) * t + r, 6.0 * p * t + 2.0 * q


@inlined
def note(joint: Any, error: float, time: float) -> None:
    """Add an error to what was measured of a joint."""
    joint.error = error
    joint.squares += error * error
    joint.steps += 1.0
    if abs(error) > joint.worst:
        joint.worst, joint.worst_time = abs(error), time


@entry(ADAPTIVE, BETWEEN)
def between(table: int, program: int, time: float, model: int, data: int) -> None:
    """Pull all driven sites; not before the first step, when nothing moves yet and time is negative."""
    if time < 0.0:
        return
    v, t = views_at(table), adaptive_at(program)
    for n in range(t.sizes.sites):
        pull_site(v, t, n, time, model, data)
