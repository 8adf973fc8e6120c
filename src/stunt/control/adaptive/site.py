"""Driven sites: a marionette's strings, compiled.

One adaptive controller per Cartesian component asks for an acceleration of the site; the inertia the site has there,
Λ = (J·M⁻¹·Jᵀ)⁻¹, turns it into a force, and Jᵀ carries that to the joints. The force comes from outside the body, so it
goes to the board's `pull` and is metered.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.adaptive.law import BETA, adapt, drive, model_step
from stunt.control.adaptive.memory import site_at
from stunt.control.core.engine import mj_solveM, mju_mat2Quat
from stunt.maths.compiled import compiled
from stunt.maths.flat import factor, solve, turn, world_difference
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
    out, chain, nv, xpos, com = t.jacobian, t.chains, v.sizes.nv, t.xpos, t.com
    place, root = 3 * site.site, 3 * v.body_rootid[site.body]
    rows = 3 * site.placed + 3 * site.turned
    for k in range(rows * nv):
        out[k] = 0.0
    r0, r1, r2 = xpos[place] - com[root], xpos[place + 1] - com[root + 1], xpos[place + 2] - com[root + 2]
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
    s, xpos, lam, h, off = t.scratch, t.xpos, site.lam, v.times.period, 0.0
    for k in range(3):
        site.hint, xd, vd, ad = evaluate(t.breaks, t.coefficients, site.first, site.count, site.hint, k, time)
        x, velocity = xpos[3 * site.site + k], s.rate[k]
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
def wanted_orientation(t: Any, site: Any, time: float) -> None:
    """Write the desired orientation, its angular velocity and acceleration to the scratch."""
    s, length = t.scratch, 0.0
    for k in range(4):
        site.turn_hint, s.wanted[k], s.wanted_spin[k], s.wanted_push[k] = evaluate(
            t.breaks, t.coefficients, site.turn_first, site.turn_count, site.turn_hint, k, time
        )
        length += s.wanted[k] ** 2
    length = math.sqrt(max(length, 1e-12))
    for k in range(4):
        s.wanted[k] /= length
    spin_of(s.wanted_spin, s.wanted, length)  # ω = 2·q̇⊗q*
    spin_of(s.wanted_push, s.wanted, length)  # ω̇ = 2·q̈⊗q*


@compiled
def spin_of(change: Any, quat: Any, length: float) -> None:
    """Replace the change of a quaternion of some length by the vector 2·q̇⊗q* of the unit one."""
    w, x, y, z = change[0] / length, change[1] / length, change[2] / length, change[3] / length
    e, i, j, k = quat[0], -quat[1], -quat[2], -quat[3]
    change[0] = 2.0 * (w * i + x * e + y * k - z * j)
    change[1] = 2.0 * (w * j - x * k + y * e + z * i)
    change[2] = 2.0 * (w * k + x * j - y * i + z * e)


@compiled
def ask_orientation(v: Any, t: Any, site: Any, time: float, row: int) -> None:
    """Ask for angular accelerations that bring the site to its orientation."""
    s, lam, h = t.scratch, site.lam, v.times.period
    mju_mat2Quat(s.now.ctypes.data, address(t.xmat) + 72 * site.site)
    wanted_orientation(t, site, time)
    world_difference(s.wanted, 0, s.now, 0, s.error, 0)
    off = s.error[0] ** 2 + s.error[1] ** 2 + s.error[2] ** 2
    site.turn_error = math.sqrt(off)
    site.turn_squares += off
    site.turn_worst = max(site.turn_worst, off)
    if site.placed == 0:
        site.steps += 1.0
        if off >= site.turn_worst:
            site.worst_time = time
    world_difference(site.model_turn, 0, s.now, 0, s.error, 0)
    world_difference(site.model_turn, 0, s.wanted, 0, s.model_error, 0)  # how far the model is from the path
    for k in range(3):
        wd, ad, wm = s.wanted_spin[k], s.wanted_push[k], site.model_spin[k]
        later, rate = model_step(s.model_error[k], wm - wd, 0.0, 0.0, 0.0, h, site.transition)
        spin, de = s.rate[row + k], wm - s.rate[row + k]
        y = drive(s.error[k], de, lam)
        # An orientation has no zero to scale by: only spin and the constant are regressors.
        learned = adapt(site.turn_gains, 4 * k, 0.0, spin / lam, 0.0, y, lam, h, site.frozen != 0)
        site.model_spin[k] = wd + h * ad + rate
        s.ask[row + k] = (site.model_spin[k] - wm) / h + steady(s.error[k], de, lam, h) + learned
        s.model_later[k] = later
        s.path_later[k] = h * (wd + 0.5 * h * ad)
    for k in range(4):
        site.model_turn[k] = s.wanted[k]
    turn(s.path_later, 0, site.model_turn, 0, s.spare, 0)
    turn(s.model_later, 0, site.model_turn, 0, s.spare, 0)


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
