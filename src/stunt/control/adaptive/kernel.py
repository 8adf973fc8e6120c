"""The adaptive program, compiled: one controller per driven joint and per Cartesian component of a driven site.

Joints act through the board's springs (stiff terms are solved implicitly by the engine; gravity and the rest are
learned, never looked up). Sites act as pulls from outside, through the transposed Jacobian (`adaptive_site`).

Driven sites: a marionette's strings, compiled.

One adaptive controller per Cartesian component asks for an acceleration of the site; the inertia the site has there,
Λ = (J·M⁻¹·Jᵀ)⁻¹, turns it into a force, and Jᵀ carries that to the joints. The force comes from outside the body, so it
goes to the board's `pull` and is metered.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.adaptive.law import BETA, adapt, bare, drive, model_step
from stunt.control.adaptive.memory import TABLE, joint_at, site_at
from stunt.control.adaptive.turns import LEAD, ball_at, drive_ball, lead_turn
from stunt.control.core.engine import mj_solveM, mju_mat2Quat
from stunt.control.core.programs import ADAPTIVE, BEFORE, BETWEEN, entry
from stunt.control.core.views import views_at
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import factor, solve
from stunt.maths.piecewise import evaluate
from stunt.maths.pointers import address

_SINGULAR: Final = 1.0e-4
"""Share of the largest mobility added to all: a stretched arm cannot be pulled longer, however hard."""


@compiled
def pull_site(v: Any, t: Any, n: int, time: float, model: int, data: int) -> None:
    """Advance one site's controllers and add its force to the board's `pull`."""
    site, s = site_at(t.sites, n), t.scratch
    rows = jacobian(v, t, site)
    site_rates(v, t, site, rows)
    row = 0
    if site.placed != 0:
        ask_position(v, t, site, time)
        row = 3
    if site.turned != 0:
        ask_orientation(v, t, site, time, row)
    mobility(v, t, site, rows, model, data)
    solve(s.matrix, 0, rows, s.ask, 0)
    apply(v, t, site, rows)


@compiled
def jacobian(v: Any, t: Any, site: Any) -> int:
    """Write the site's Jacobian, rows × nv: linear rows if it is placed, angular ones if it is turned; return rows."""
    out, chain, nv, com, s = t.jacobian, t.chains, v.sizes.nv, v.com, t.scratch
    root = 3 * v.body_rootid[site.body]
    rows = 3 * site.placed + 3 * site.turned
    for k in range(rows * nv):
        out[k] = 0.0
    for k in range(3):
        s.here[k] = t.xpos[3 * site.site + k] if site.site >= 0 else t.body_xpos[3 * site.body + k]
    r0, r1, r2 = s.here[0] - com[root], s.here[1] - com[root + 1], s.here[2] - com[root + 2]
    for link in range(site.links):
        i = chain[site.chain + link]
        w0, w1, w2 = v.cdof[6 * i], v.cdof[6 * i + 1], v.cdof[6 * i + 2]
        if site.placed != 0:
            out[i] = v.cdof[6 * i + 3] + w1 * r2 - w2 * r1
            out[nv + i] = v.cdof[6 * i + 4] + w2 * r0 - w0 * r2
            out[2 * nv + i] = v.cdof[6 * i + 5] + w0 * r1 - w1 * r0
        if site.turned != 0:
            base = 3 * site.placed * nv + i
            out[base], out[base + nv], out[base + 2 * nv] = w0, w1, w2
    return rows


@compiled
def site_rates(v: Any, t: Any, site: Any, rows: int) -> None:
    """Write J·q̇ to the scratch."""
    rate, out, chain, nv = t.scratch.rate, t.jacobian, t.chains, v.sizes.nv
    for row in range(rows):
        total = 0.0
        for link in range(site.links):
            i = chain[site.chain + link]
            total += out[row * nv + i] * v.qvel[i]
        rate[row] = total


@compiled
def steady(e: float, de: float, lam: float, h: float) -> float:
    """Return λ²e + 2λė + βy as an implicit spring would give it, so that it is stable at any rate."""
    k, d = (1.0 + BETA) * lam * lam, (2.0 + BETA) * lam
    return (k * (e + h * de) + d * de) / (1.0 + h * d + h * h * k)


@compiled
def ask_position(v: Any, t: Any, site: Any, time: float) -> None:
    """Ask for accelerations that bring the site to its path."""
    s, lam, h, off = t.scratch, site.lam, v.times.period, 0.0
    for k in range(3):
        site.hint, xd, vd, ad = evaluate(t.breaks, t.coefficients, site.first, site.count, site.hint, k, time)
        x, velocity = s.here[k], s.rate[k]
        off += (xd - x) ** 2
        xm, vm = site.model[k], site.model_rate[k]
        y = drive(xm - x, vm - velocity, lam)
        r = (ad + 2.0 * site.ratio * lam * vd) / (lam * lam) + xd
        # Positions count from where the site was first: the world's origin means nothing to a hand.
        origin = site.origin[k]
        learned = adapt(site.gains, 4 * k, x - origin, velocity / lam, r - origin, y, lam, h, site.frozen != 0)
        site.model[k], site.model_rate[k] = model_step(xm, vm, xd, vd, ad, h, site.transition)
        s.ask[k] = (site.model_rate[k] - vm) / h + steady(xm - x, vm - velocity, lam, h) + learned
    site.error = math.sqrt(off)
    site.squares += off
    site.steps += 1.0
    if off > site.worst:
        site.worst, site.worst_time = off, time


@compiled
def ask_orientation(v: Any, t: Any, site: Any, time: float, row: int) -> None:
    """Ask for angular accelerations that bring the site to its orientation."""
    s, h, worst = t.scratch, v.times.period, site.turn_worst
    frame = address(t.xmat) + 72 * site.site if site.site >= 0 else address(t.body_xmat) + 72 * site.body
    mju_mat2Quat(s.now.ctypes.data, frame)
    s.held[0], s.held[1], s.held[2] = 0.0, 0.0, 0.0
    lead_turn(t, site, time, row, h, site.frozen != 0)
    for k in range(3):
        s.ask[row + k] += steady(s.error[k], s.lag[k], site.lam, h) + s.learned[k]
    if site.placed == 0:
        site.steps += 1.0
        if site.turn_worst > worst:
            site.worst_time = time


@compiled
def mobility(v: Any, t: Any, site: Any, rows: int, model: int, data: int) -> None:
    """Write the factor of J·M⁻¹·Jᵀ to the scratch."""
    matrix, nv, chain, jac, solved = t.scratch.matrix, v.sizes.nv, t.chains, t.jacobian, t.solved
    mj_solveM(model, data, address(solved), address(jac), rows)
    for p in range(rows):
        for q in range(p + 1):
            total = 0.0
            for link in range(site.links):
                i = chain[site.chain + link]
                total += jac[p * nv + i] * solved[q * nv + i]
            matrix[p * rows + q] = total
            matrix[q * rows + p] = total
    for half in range(rows // 3):
        largest = 0.0
        for k in range(3 * half, 3 * half + 3):
            largest = max(largest, matrix[k * rows + k])
        for k in range(3 * half, 3 * half + 3):
            matrix[k * rows + k] += _SINGULAR * largest + 1e-9
    factor(matrix, 0, rows)


@compiled
def apply(v: Any, t: Any, site: Any, rows: int) -> None:
    """Clamp the force, meter it, and carry it to the joints."""
    ask, jac, chain = t.scratch.ask, t.jacobian, t.chains
    nv, h, size = v.sizes.nv, v.times.period, 0.0
    for row in range(min(rows, 3)):
        size += ask[row] ** 2
    size = math.sqrt(size)
    scale = min(1.0, site.limit / size) if size > 0.0 else 1.0
    site.frozen = 1 if scale < 1.0 else 0
    site.limited += 1.0 if scale < 1.0 else 0.0
    for k in range(6):
        site.force[k] = 0.0
    first = 0 if site.placed != 0 else 3
    for row in range(rows):
        site.force[first + row] = scale * ask[row]
        for link in range(site.links):
            i = chain[site.chain + link]
            v.pull[i] += scale * ask[row] * jac[row * nv + i]
    if site.placed != 0:
        site.impulse += h * scale * size
        site.peak = max(site.peak, scale * size)
    if site.turned != 0:
        site.twist += h * math.sqrt(site.force[3] ** 2 + site.force[4] ** 2 + site.force[5] ** 2)


adaptive_at = TABLE.reader()
_MOST: Final = 1.0e6
_WIDE: Final = 16  # coefficients per piece


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
    for n in range(t.sizes.balls):
        drive_ball(v, t, ball_at(t.balls, n), time)


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
    v.rest[q], v.stiffness[i], v.damping[i] = xr + vr * LEAD * slow, stiffness, damping
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
