"""What a body feels that it carries, compiled: inertia and bias with everything its hands hold, as heavy as believed.

Pushes that are known (P4: "other known forces") are part of the bias too.

A thing held is welded to its holder, a tree of its own to the engine: the holder's rows of M and of the bias know
nothing of it. As part of the limb, with its spatial inertia I about the tree's centre, it adds sᵢᵀ·I·sⱼ to M and
sᵢᵀ·(I·(A − g) + V ×* I·V) to the bias, with motion axes s, velocity V and acceleration A at rest of the joints; all of
that stands in M's own sparsity. Laws read the sums; what the thing really weighs, only the engine knows. While nothing
is held, what they read is the engine's own memory.
"""

from __future__ import annotations

from typing import Any, Final

from stunt.control.core.views import TABLE, views_at
from stunt.maths.compiled import compiled, inlined
from stunt.maths.pointers import longs

_INERTIA: Final = tuple(TABLE.names.index(f"{whose}_inertia") for whose in ("felt", "loaded"))
_BIAS: Final = tuple(TABLE.names.index(f"{whose}_bias") for whose in ("felt", "loaded"))
_OWN: Final = (TABLE.names.index("mass_matrix"), TABLE.names.index("bias"))


@compiled
def choose_felt(table: int) -> None:
    """Let laws see the engine's inertia and bias while nothing is held, and while something is, those with it.

    What is held changes between two calls of the inner loop only.

    Args:
        table: Address of the board's table; whoever has its views reads them anew.
    """
    v, entries = views_at(table), longs(table)
    v.counts.held = v.counts.known
    for n in range(v.counts.loads):
        v.counts.held += 1 if v.eq_active[v.load_grip[n]] != 0 else 0
    held = v.counts.held > 0
    entries[_INERTIA[0]] = entries[_INERTIA[1]] if held else entries[_OWN[0]]
    entries[_BIAS[0]] = entries[_BIAS[1]] if held else entries[_OWN[1]]


@inlined
def feel_loads(v: Any) -> None:
    """Write inertia and bias as laws see them, where they are not the engine's."""
    if v.counts.held == 0:
        return
    for k in range(v.sizes.nm):
        v.felt_inertia[k] = v.mass_matrix[k]
    for i in range(v.sizes.nv):
        v.felt_bias[i] = v.bias[i]
    for n in range(v.counts.loads):
        if v.eq_active[v.load_grip[n]] != 0:
            feel_load(v, n)
    if v.counts.known > 0:
        feel_pushes(v, v.felt_bias, -1.0)


@compiled
def feel_pushes(v: Any, out: Any, sign: float) -> None:
    """Add to `out`, (nv,), the joint torques of all pushes that are known, times a sign."""
    for body in range(v.sizes.nbody):
        p = 6 * body
        f0, f1, f2 = sign * v.known_push[p], sign * v.known_push[p + 1], sign * v.known_push[p + 2]
        m0, m1, m2 = sign * v.known_push[p + 3], sign * v.known_push[p + 4], sign * v.known_push[p + 5]
        push_chain(v, out, v.last_dof[body], v.xipos, 3 * body, f0, f1, f2)
        i = v.last_dof[body]
        while i >= 0:
            out[i] += v.cdof[6 * i] * m0 + v.cdof[6 * i + 1] * m1 + v.cdof[6 * i + 2] * m2
            i = v.dof_parentid[i]


@compiled
def feel_load(v: Any, n: int) -> None:
    """Add one thing that is held."""
    body, holder, mass = v.load_body[n], v.eq_body[v.load_grip[n]], v.load_mass[n]
    share = mass / v.body_mass[body]
    root, s = 3 * v.body_rootid[holder], v.load_scratch
    r0, r1, r2 = (
        v.xipos[3 * body] - v.com[root],
        v.xipos[3 * body + 1] - v.com[root + 1],
        v.xipos[3 * body + 2] - v.com[root + 2],
    )
    first = v.last_dof[holder]
    for k in range(6):
        s[k] = 0.0  # acceleration at rest of the joints: turning, then of the centre
    i = first
    while i >= 0:
        for k in range(6):
            s[k] += v.cdof_dot[6 * i + k] * v.qvel[i]
        i = v.dof_parentid[i]
    c = 6 * holder
    w0, w1, w2 = v.cvel[c], v.cvel[c + 1], v.cvel[c + 2]
    u0, u1, u2 = (
        v.cvel[c + 3] + w1 * r2 - w2 * r1,
        v.cvel[c + 4] + w2 * r0 - w0 * r2,
        v.cvel[c + 5] + w0 * r1 - w1 * r0,
    )
    # Force and torque that the thing's centre needs to go on with its holder and not fall.
    f0 = mass * (s[3] + s[1] * r2 - s[2] * r1 + w1 * u2 - w2 * u1 - v.gravity[0])
    f1 = mass * (s[4] + s[2] * r0 - s[0] * r2 + w2 * u0 - w0 * u2 - v.gravity[1])
    f2 = mass * (s[5] + s[0] * r1 - s[1] * r0 + w0 * u1 - w1 * u0 - v.gravity[2])
    turn_inertia(v, body, share, s[0], s[1], s[2], 6)
    n0, n1, n2 = s[6], s[7], s[8]
    turn_inertia(v, body, share, w0, w1, w2, 6)
    n0, n1, n2 = n0 + w1 * s[8] - w2 * s[7], n1 + w2 * s[6] - w0 * s[8], n2 + w0 * s[7] - w1 * s[6]
    push_chain(v, v.felt_bias, first, v.xipos, 3 * body, f0, f1, f2)
    i = first
    while i >= 0:
        d = 6 * i
        a0, a1, a2 = v.cdof[d], v.cdof[d + 1], v.cdof[d + 2]
        p0 = v.cdof[d + 3] + a1 * r2 - a2 * r1
        p1 = v.cdof[d + 4] + a2 * r0 - a0 * r2
        p2 = v.cdof[d + 5] + a0 * r1 - a1 * r0
        v.felt_bias[i] += a0 * n0 + a1 * n1 + a2 * n2
        turn_inertia(v, body, share, a0, a1, a2, 6)
        for k in range(v.rowadr[i], v.rowadr[i] + v.rownnz[i]):  # a row holds the joint and all inboard of it
            e = 6 * v.colind[k]
            b0, b1, b2 = v.cdof[e], v.cdof[e + 1], v.cdof[e + 2]
            q0 = v.cdof[e + 3] + b1 * r2 - b2 * r1
            q1 = v.cdof[e + 4] + b2 * r0 - b0 * r2
            q2 = v.cdof[e + 5] + b0 * r1 - b1 * r0
            v.felt_inertia[k] += mass * (p0 * q0 + p1 * q1 + p2 * q2) + b0 * s[6] + b1 * s[7] + b2 * s[8]
        i = v.dof_parentid[i]


@compiled
def push_chain(v: Any, out: Any, dof: int, point: Any, p: int, f0: float, f1: float, f2: float) -> None:
    """Add to `out`, (nv,), the joint torques of a force at a point of the world (`point[p:p+3]`).

    Args:
        v: Views.
        out: Torques.
        dof: The outermost degree of freedom that feels it; so do all inboard of it.
        point: Where.
        p: Index into `point`.
        f0: Force, x.
        f1: Force, y.
        f2: Force, z.
    """
    if dof < 0:
        return
    c = 3 * v.body_rootid[v.dof_bodyid[dof]]
    r0, r1, r2 = point[p] - v.com[c], point[p + 1] - v.com[c + 1], point[p + 2] - v.com[c + 2]
    m0, m1, m2 = r1 * f2 - r2 * f1, r2 * f0 - r0 * f2, r0 * f1 - r1 * f0
    i = dof
    while i >= 0:
        s = 6 * i
        out[i] += v.cdof[s] * m0 + v.cdof[s + 1] * m1 + v.cdof[s + 2] * m2
        out[i] += v.cdof[s + 3] * f0 + v.cdof[s + 4] * f1 + v.cdof[s + 5] * f2
        i = v.dof_parentid[i]


@inlined
def turn_inertia(v: Any, body: int, share: float, x: float, y: float, z: float, out: int) -> None:
    """Write a share of a body's moment of inertia times a vector of the world to the scratch, from `out` on."""
    r, s = 9 * body, v.load_scratch
    s[out] = s[out + 1] = s[out + 2] = 0.0
    for k in range(3):
        along = v.ximat[r + k] * x + v.ximat[r + 3 + k] * y + v.ximat[r + 6 + k] * z
        along *= share * v.body_inertia[3 * body + k]
        for axis in range(3):
            s[out + axis] += v.ximat[r + 3 * axis + k] * along
