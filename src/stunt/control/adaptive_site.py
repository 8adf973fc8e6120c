"""Driven sites: a marionette's strings, compiled.

One adaptive controller per Cartesian component asks for an acceleration of the site; the inertia the site has there,
Λ = (J·M⁻¹·Jᵀ)⁻¹, turns it into a force, and Jᵀ carries that to the joints. The force comes from outside the body, so it
goes to the board's `pull` and is metered.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.compiled import compiled
from stunt.control.adaptive import BETA, adapt, drive, model_step
from stunt.control.engine import mj_solveM, mju_mat2Quat
from stunt.control.pieces import evaluate
from stunt.control.small import factor, solve, turn, world_difference
from stunt.control.views import floats, longs

# More entries of the program's table (the first are in `stunt.control.adaptive_kernel`).
_T_SITE_INT, _T_SITE, _T_BREAKS, _T_COEFFICIENTS = 3, 4, 5, 6
T_CHAIN, T_XPOS, T_XMAT, T_COM, T_JACOBIAN, T_SOLVED, T_SCRATCH, TABLE = 7, 8, 9, 10, 11, 12, 13, 14
# A site's integers.
S_SITE, S_BODY, S_PLACED, S_TURNED, S_FIRST, S_COUNT, S_HINT, S_FIRST_TURN, S_COUNT_TURN, S_HINT_TURN = range(10)
S_CHAIN, S_LINKS, S_FROZEN, S_INTS = 10, 11, 12, 13
# A site's numbers: model, gains (three of position, three of orientation, four each), then what was measured.
S_LAMBDA, S_LIMIT, S_XM, S_VM, S_QM, S_WM, S_ORIGIN, S_GAINS = 0, 1, 2, 5, 8, 12, 15, 18
S_SQUARES, S_STEPS, S_WORST, S_WORST_TIME, S_TURN_SQUARES, S_TURN_WORST = 42, 43, 44, 45, 46, 47
S_IMPULSE, S_PEAK, S_FORCE, S_LIMITED, S_TWIST_IMPULSE, S_ERROR, S_TURN_ERROR = 48, 49, 50, 56, 57, 58, 59
S_PHI, S_RATIO, S_FLOATS = 60, 64, 65  # the model's transition and damping
# Scratch: asked accelerations (6), error (6), rate (6), present orientation (4), desired (4), matrix (36), spare (16).
_ASK, _ERROR, _RATE, _NOW, _WANTED, _MATRIX, _SPARE, SCRATCH = 0, 6, 12, 18, 22, 26, 62, 80
_SINGULAR: Final = 1.0e-4
"""Share of the largest mobility added to all: a stretched arm cannot be pulled longer, however hard."""


@compiled
def pull_site(v: Any, table: Any, n: int, time: float, model: int, data: int) -> None:
    """Advance one site's controllers and add its force to the board's `pull`."""
    ints, f, s = longs(table[_T_SITE_INT]), floats(table[_T_SITE]), floats(table[T_SCRATCH])
    a, b = n * S_INTS, n * S_FLOATS
    rows = jacobian(v, table, ints, a)
    site_rates(v, table, ints, a, rows)
    row = 0
    if ints[a + S_PLACED]:
        ask_position(v, table, ints, a, f, b, time)
        row = 3
    if ints[a + S_TURNED]:
        ask_orientation(v, table, ints, a, f, b, time, row)
    mobility(v, table, ints, a, rows, model, data)
    solve(s, _MATRIX, rows, s, _ASK)
    apply(v, table, ints, a, f, b, rows)


@compiled
def jacobian(v: Any, table: Any, ints: Any, a: int) -> int:
    """Write the site's Jacobian, rows × nv: linear rows if it is placed, angular ones if it is turned; return rows."""
    out, chain, nv = floats(table[T_JACOBIAN]), longs(table[T_CHAIN]), v.sizes.nv
    xpos, com = floats(table[T_XPOS]), floats(table[T_COM])
    site, root = 3 * ints[a + S_SITE], 3 * v.body_rootid[ints[a + S_BODY]]
    placed = ints[a + S_PLACED]
    rows = 3 * placed + 3 * ints[a + S_TURNED]
    for k in range(rows * nv):
        out[k] = 0.0
    r0, r1, r2 = xpos[site] - com[root], xpos[site + 1] - com[root + 1], xpos[site + 2] - com[root + 2]
    for link in range(ints[a + S_LINKS]):
        i = chain[ints[a + S_CHAIN] + link]
        w0, w1, w2 = v.cdof[6 * i], v.cdof[6 * i + 1], v.cdof[6 * i + 2]
        if placed:
            out[i] = v.cdof[6 * i + 3] + w1 * r2 - w2 * r1
            out[nv + i] = v.cdof[6 * i + 4] + w2 * r0 - w0 * r2
            out[2 * nv + i] = v.cdof[6 * i + 5] + w0 * r1 - w1 * r0
        if ints[a + S_TURNED]:
            base = 3 * placed * nv + i
            out[base], out[base + nv], out[base + 2 * nv] = w0, w1, w2
    return rows


@compiled
def site_rates(v: Any, table: Any, ints: Any, a: int, rows: int) -> None:
    """Write J·q̇ to the scratch."""
    s, out, chain, nv = floats(table[T_SCRATCH]), floats(table[T_JACOBIAN]), longs(table[T_CHAIN]), v.sizes.nv
    for row in range(rows):
        total = 0.0
        for link in range(ints[a + S_LINKS]):
            i = chain[ints[a + S_CHAIN] + link]
            total += out[row * nv + i] * v.qvel[i]
        s[_RATE + row] = total


@compiled
def steady(e: float, de: float, lam: float, h: float) -> float:
    """Return λ²e + 2λė + βy as an implicit spring would give it, so that it is stable at any rate."""
    k, d = (1.0 + BETA) * lam * lam, (2.0 + BETA) * lam
    return (k * (e + h * de) + d * de) / (1.0 + h * d + h * h * k)


@compiled
def ask_position(v: Any, table: Any, ints: Any, a: int, f: Any, b: int, time: float) -> None:
    """Ask for accelerations that bring the site to its path."""
    s, xpos = floats(table[T_SCRATCH]), floats(table[T_XPOS])
    breaks, coefficients = floats(table[_T_BREAKS]), floats(table[_T_COEFFICIENTS])
    lam, h, off = f[b + S_LAMBDA], v.times.period, 0.0
    frozen = ints[a + S_FROZEN] != 0
    for k in range(3):
        ints[a + S_HINT], xd, vd, ad = evaluate(
            breaks, coefficients, ints[a + S_FIRST], ints[a + S_COUNT], ints[a + S_HINT], k, time
        )
        x, velocity = xpos[3 * ints[a + S_SITE] + k], s[_RATE + k]
        off += (xd - x) ** 2
        xm, vm = f[b + S_XM + k], f[b + S_VM + k]
        y = drive(xm - x, vm - velocity, lam)
        r = (ad + 2.0 * f[b + S_RATIO] * lam * vd) / (lam * lam) + xd
        # Positions count from where the site was first: the world's origin means nothing to a hand.
        origin = f[b + S_ORIGIN + k]
        learned = adapt(f, b + S_GAINS + 4 * k, x - origin, velocity / lam, r - origin, y, lam, h, frozen)
        f[b + S_XM + k], f[b + S_VM + k] = model_step(xm, vm, xd, vd, ad, h, f, b + S_PHI)
        s[_ASK + k] = (f[b + S_VM + k] - vm) / h + steady(xm - x, vm - velocity, lam, h) + learned
    f[b + S_ERROR] = math.sqrt(off)
    f[b + S_SQUARES] += off
    f[b + S_STEPS] += 1.0
    if off > f[b + S_WORST]:
        f[b + S_WORST], f[b + S_WORST_TIME] = off, time


@compiled
def wanted_orientation(v: Any, table: Any, ints: Any, a: int, time: float) -> None:
    """Write desired orientation to the scratch, its angular velocity and acceleration to the spare part."""
    s, breaks, coefficients = floats(table[T_SCRATCH]), floats(table[_T_BREAKS]), floats(table[_T_COEFFICIENTS])
    first, count = ints[a + S_FIRST_TURN], ints[a + S_COUNT_TURN]
    length = 0.0
    for k in range(4):
        ints[a + S_HINT_TURN], s[_WANTED + k], s[_SPARE + k], s[_SPARE + 4 + k] = evaluate(
            breaks, coefficients, first, count, ints[a + S_HINT_TURN], k, time
        )
        length += s[_WANTED + k] ** 2
    length = math.sqrt(max(length, 1e-12))
    for k in range(4):
        s[_WANTED + k] /= length
    for c in range(2):  # ω = 2·q̇⊗q*, and ω̇ = 2·q̈⊗q*
        p = _SPARE + 4 * c
        w, x, y, z = s[p] / length, s[p + 1] / length, s[p + 2] / length, s[p + 3] / length
        e, i, j, k = s[_WANTED], -s[_WANTED + 1], -s[_WANTED + 2], -s[_WANTED + 3]
        s[p] = 2.0 * (w * i + x * e + y * k - z * j)
        s[p + 1] = 2.0 * (w * j - x * k + y * e + z * i)
        s[p + 2] = 2.0 * (w * k + x * j - y * i + z * e)


@compiled
def ask_orientation(v: Any, table: Any, ints: Any, a: int, f: Any, b: int, time: float, row: int) -> None:
    """Ask for angular accelerations that bring the site to its orientation."""
    s, lam, h = floats(table[T_SCRATCH]), f[b + S_LAMBDA], v.times.period
    mju_mat2Quat(table[T_SCRATCH] + 8 * _NOW, table[T_XMAT] + 72 * ints[a + S_SITE])
    wanted_orientation(v, table, ints, a, time)
    world_difference(s, _WANTED, s, _NOW, s, _ERROR)
    off = s[_ERROR] ** 2 + s[_ERROR + 1] ** 2 + s[_ERROR + 2] ** 2
    f[b + S_TURN_ERROR] = math.sqrt(off)
    f[b + S_TURN_SQUARES] += off
    f[b + S_TURN_WORST] = max(f[b + S_TURN_WORST], off)
    if not ints[a + S_PLACED]:
        f[b + S_STEPS] += 1.0
        if off >= f[b + S_TURN_WORST]:
            f[b + S_WORST_TIME] = time
    world_difference(f, b + S_QM, s, _NOW, s, _ERROR)
    world_difference(f, b + S_QM, s, _WANTED, s, _ERROR + 3)  # how far the model is from the path
    for k in range(3):
        wd, ad, wm = s[_SPARE + k], s[_SPARE + 4 + k], f[b + S_WM + k]
        later, rate = model_step(s[_ERROR + 3 + k], wm - wd, 0.0, 0.0, 0.0, h, f, b + S_PHI)
        spin, de = s[_RATE + row + k], wm - s[_RATE + row + k]
        y = drive(s[_ERROR + k], de, lam)
        # An orientation has no zero to scale by: only spin and the constant are regressors.
        gains = b + S_GAINS + 12 + 4 * k
        learned = adapt(f, gains, 0.0, spin / lam, 0.0, y, lam, h, ints[a + S_FROZEN] != 0)
        f[b + S_WM + k] = wd + h * ad + rate
        s[_ASK + row + k] = (f[b + S_WM + k] - wm) / h + steady(s[_ERROR + k], de, lam, h) + learned
        s[_SPARE + 8 + k] = later
        s[_SPARE + 12 + k] = h * (wd + 0.5 * h * ad)
    for k in range(4):
        f[b + S_QM + k] = s[_WANTED + k]
    turn(s, _SPARE + 12, f, b + S_QM, s, _SPARE)
    turn(s, _SPARE + 8, f, b + S_QM, s, _SPARE)


@compiled
def mobility(v: Any, table: Any, ints: Any, a: int, rows: int, model: int, data: int) -> None:
    """Write the factor of J·M⁻¹·Jᵀ to the scratch."""
    s, nv, chain = floats(table[T_SCRATCH]), v.sizes.nv, longs(table[T_CHAIN])
    jac, solved = floats(table[T_JACOBIAN]), floats(table[T_SOLVED])
    mj_solveM(model, data, table[T_SOLVED], table[T_JACOBIAN], rows)
    for p in range(rows):
        for q in range(p + 1):
            total = 0.0
            for link in range(ints[a + S_LINKS]):
                i = chain[ints[a + S_CHAIN] + link]
                total += jac[p * nv + i] * solved[q * nv + i]
            s[_MATRIX + p * rows + q] = total
            s[_MATRIX + q * rows + p] = total
    for half in range(rows // 3):
        largest = 0.0
        for k in range(3 * half, 3 * half + 3):
            largest = max(largest, s[_MATRIX + k * rows + k])
        for k in range(3 * half, 3 * half + 3):
            s[_MATRIX + k * rows + k] += _SINGULAR * largest + 1e-9
    factor(s, _MATRIX, rows)


@compiled
def apply(v: Any, table: Any, ints: Any, a: int, f: Any, b: int, rows: int) -> None:
    """Clamp the force, meter it, and carry it to the joints."""
    s, jac, chain = floats(table[T_SCRATCH]), floats(table[T_JACOBIAN]), longs(table[T_CHAIN])
    nv, h, size = v.sizes.nv, v.times.period, 0.0
    for row in range(min(rows, 3)):
        size += s[_ASK + row] ** 2
    size = math.sqrt(size)
    scale = min(1.0, f[b + S_LIMIT] / size) if size > 0.0 else 1.0
    ints[a + S_FROZEN] = 1 if scale < 1.0 else 0
    f[b + S_LIMITED] += 1.0 if scale < 1.0 else 0.0
    for k in range(6):
        f[b + S_FORCE + k] = 0.0
    first = 0 if ints[a + S_PLACED] else 3
    for row in range(rows):
        f[b + S_FORCE + first + row] = scale * s[_ASK + row]
        for link in range(ints[a + S_LINKS]):
            i = chain[ints[a + S_CHAIN] + link]
            v.pull[i] += scale * s[_ASK + row] * jac[row * nv + i]
    if ints[a + S_PLACED]:
        f[b + S_IMPULSE] += h * scale * size
        f[b + S_PEAK] = max(f[b + S_PEAK], scale * size)
    if ints[a + S_TURNED]:
        g = b + S_FORCE + 3
        f[b + S_TWIST_IMPULSE] += h * math.sqrt(f[g] ** 2 + f[g + 1] ** 2 + f[g + 2] ** 2)
