"""Impacts: impulses at contacts that approach, solved at once (P1's first stage of a collision), compiled.

M(v⁺ − v⁻) = JᵀR with three rows of J per contact, the normal first. With A = J·M⁻¹·Jᵀ everything happens in contact
space, where c = J·v:

*Compression.* Impulses R that end the approach: R_n ≥ 0, c_n ≥ 0, one of them zero; tangential impulses zero
(frictionless), such that nothing slides (infinite friction), or within Coulomb's cone against the sliding. Solved
contact by contact (block Gauss–Seidel), all together, so that none pulls. It never adds energy: for the first two kinds
each update lowers it, and for Coulomb friction a final scaling sees to it.

*Restitution.* The normal impulses of the compression come back, times s·e, each contact's own e; friction answers as
before. Without friction s = 1, which for one contact is Newton's c_n⁺ = −e·c_n⁻. With friction s is such that the
energy given back is e² of the work that compression did (Stronge's energetic coefficient; of several contacts, each e²
weighs as much as the work done there), so energy cannot grow even when friction reverses a slide.

Whatever still approaches afterwards is compressed once more. Memory is flat; k contacts have 3k rows.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.maths.compiled import compiled

FRICTIONLESS: Final = 0
INFINITE: Final = 1
COULOMB: Final = 2
FRICTIONS: Final = {"none": FRICTIONLESS, "infinite": INFINITE, "coulomb": COULOMB}
_SWEEPS: Final = 400
_SLIDE_SWEEPS: Final = 60
_EXACT: Final = 1.0e-11
"""A sweep that changes no contact velocity by more than this [m/s] is the last."""
_LEAST: Final = 0.1  # share of A_nn kept in the sliding solve: below it a contact would jam (Painlevé's paradox)


@compiled
def change(a: Any, n: int, i: int, d0: float, d1: float, d2: float, r: Any, c: Any) -> float:
    """Add an impulse to contact i; update all contact velocities; return the largest change at its own rows."""
    p = 3 * i
    r[p] += d0
    r[p + 1] += d1
    r[p + 2] += d2
    for q in range(n):
        row = q * n + p
        c[q] += a[row] * d0 + a[row + 1] * d1 + a[row + 2] * d2
    own = a[p * n + p] * abs(d0)
    return own + a[(p + 1) * n + p + 1] * abs(d1) + a[(p + 2) * n + p + 2] * abs(d2)


@compiled
def stick(a: Any, n: int, i: int, c: Any) -> tuple[float, float, float]:
    """Return the impulse that stops contact i dead: −A_ii⁻¹·c."""
    p = 3 * i
    a00, a01, a02 = a[p * n + p], a[p * n + p + 1], a[p * n + p + 2]
    a11, a12, a22 = a[(p + 1) * n + p + 1], a[(p + 1) * n + p + 2], a[(p + 2) * n + p + 2]
    # The tangential block first: it may be singular where a limb can only move along the normal.
    det = a11 * a22 - a12 * a12
    if det <= 1e-12 * (a11 + a22) ** 2 + 1e-30:
        return -c[p] / a00, 0.0, 0.0
    b1, b2 = (a22 * a01 - a12 * a02) / det, (a11 * a02 - a12 * a01) / det
    e1, e2 = (a22 * c[p + 1] - a12 * c[p + 2]) / det, (a11 * c[p + 2] - a12 * c[p + 1]) / det
    left = max(a00 - a01 * b1 - a02 * b2, 1e-9 * a00)
    d0 = -(c[p] - a01 * e1 - a02 * e2) / left
    return d0, -e1 - b1 * d0, -e2 - b2 * d0


@compiled
def press(a: Any, n: int, i: int, r: Any, c: Any) -> float:
    """Update contact i without friction."""
    p = 3 * i
    wanted = max(0.0, r[p] - c[p] / a[p * n + p])
    return change(a, n, i, wanted - r[p], -r[p + 1], -r[p + 2], r, c)


@compiled
def grip(a: Any, n: int, i: int, r: Any, c: Any) -> float:
    """Update contact i with infinite friction: it sticks, or lets go altogether."""
    p = 3 * i
    d0, d1, d2 = stick(a, n, i, c)
    if r[p] + d0 <= 0.0:
        return change(a, n, i, -r[p], -r[p + 1], -r[p + 2], r, c)
    return change(a, n, i, d0, d1, d2, r, c)


@compiled
def rub(a: Any, n: int, i: int, mu: float, r: Any, c: Any) -> float:
    """Update contact i with Coulomb friction: it sticks, slides, or lets go."""
    p = 3 * i
    d0, d1, d2 = stick(a, n, i, c)
    normal, t1, t2 = r[p] + d0, r[p + 1] + d1, r[p + 2] + d2
    if normal > 0.0 and t1 * t1 + t2 * t2 <= mu * mu * normal * normal:
        return change(a, n, i, d0, d1, d2, r, c)
    # Velocities as they would be without this contact's impulse.
    free0 = c[p] - a[p * n + p] * r[p] - a[p * n + p + 1] * r[p + 1] - a[p * n + p + 2] * r[p + 2]
    if free0 >= 0.0:
        return change(a, n, i, -r[p], -r[p + 1], -r[p + 2], r, c)
    normal, t1, t2 = slide(a, n, p, mu, r, c, free0)
    return change(a, n, i, normal - r[p], t1 - r[p + 1], t2 - r[p + 2], r, c)


@compiled
def slide(a: Any, n: int, p: int, mu: float, r: Any, c: Any, free0: float) -> tuple[float, float, float]:
    """Return the impulse of a sliding contact: no normal velocity left, friction against the slide it leaves."""
    q = p + 1
    free1 = c[q] - a[q * n + p] * r[p] - a[q * n + q] * r[q] - a[q * n + q + 1] * r[q + 1]
    free2 = c[q + 1] - a[(q + 1) * n + p] * r[p] - a[(q + 1) * n + q] * r[q] - a[(q + 1) * n + q + 1] * r[q + 1]
    s1, s2 = free1, free2
    normal, t1, t2 = 0.0, 0.0, 0.0
    for _ in range(6):
        speed = math.sqrt(s1 * s1 + s2 * s2)
        u1, u2 = (s1 / speed, s2 / speed) if speed > 1e-14 else (0.0, 0.0)
        give = a[p * n + p] - mu * (a[p * n + q] * u1 + a[p * n + q + 1] * u2)
        normal = max(0.0, -free0 / max(give, _LEAST * a[p * n + p]))
        t1, t2 = -mu * normal * u1, -mu * normal * u2
        s1 = free1 + a[q * n + p] * normal + a[q * n + q] * t1 + a[q * n + q + 1] * t2
        s2 = free2 + a[(q + 1) * n + p] * normal + a[(q + 1) * n + q] * t1 + a[(q + 1) * n + q + 1] * t2
        # Halfway between: a slide that turns round would otherwise flip for ever.
        s1, s2 = 0.5 * (s1 + speed * u1), 0.5 * (s2 + speed * u2)
    return normal, t1, t2


@compiled
def energy(a: Any, n: int, before: Any, r: Any) -> float:
    """Return the kinetic energy that impulses add to contact velocities `before`: R·c + ½·Rᵀ·A·R [J]."""
    total = 0.0
    for p in range(n):
        half = 0.0
        for q in range(n):
            half += a[p * n + q] * r[q]
        total += r[p] * (before[p] + 0.5 * half)
    return total


@compiled
def velocities(a: Any, n: int, before: Any, r: Any, c: Any) -> None:
    """Write the contact velocities after the impulses."""
    for p in range(n):
        c[p] = before[p]
        for q in range(n):
            c[p] += a[p * n + q] * r[q]


@compiled
def compress(a: Any, k: int, before: Any, mu: Any, kind: int, r: Any, c: Any) -> None:
    """Find the compression's impulses R and the velocities after it."""
    n = 3 * k
    for p in range(n):
        r[p], c[p] = 0.0, before[p]
    for _ in range(_SWEEPS):
        moved = 0.0
        for i in range(k):
            if kind == FRICTIONLESS:
                moved = max(moved, press(a, n, i, r, c))
            elif kind == INFINITE:
                moved = max(moved, grip(a, n, i, r, c))
            else:
                moved = max(moved, rub(a, n, i, mu[i], r, c))
        if moved < _EXACT:
            break
    calm(a, n, before, r)
    velocities(a, n, before, r, c)


@compiled
def calm(a: Any, n: int, before: Any, r: Any) -> None:
    """Scale impulses down if they would add energy; no scaling takes them out of their cones."""
    if energy(a, n, before, r) <= 0.0:
        return
    along, square = 0.0, 0.0
    for p in range(n):
        half = 0.0
        for q in range(n):
            half += a[p * n + q] * r[q]
        along += r[p] * before[p]
        square += r[p] * half
    share = min(1.0, max(0.0, -along / square)) if square > 0.0 else 0.0
    for p in range(n):
        r[p] *= share


@compiled
def rebound(a: Any, k: int, c: Any, mu: Any, kind: int, e: Any, first: Any, s: float, r: Any, spare: Any) -> None:
    """Write the impulses of a restitution with normals s·e·R_n; friction keeps against the slide.

    Args:
        a: A, flat (3k × 3k).
        k: Contacts.
        c: Contact velocities after the compression.
        mu: Friction coefficients.
        kind: Of friction.
        e: Restitution of each contact.
        first: The compression's impulses.
        s: Times that of the normal impulses.
        r: Written: the impulses.
        spare: Scratch (3k).
    """
    n = 3 * k
    for p in range(n):
        r[p] = s * e[p // 3] * first[p] if p % 3 == 0 else 0.0
    if kind == FRICTIONLESS:
        return
    velocities(a, n, c, r, spare)
    for _ in range(_SLIDE_SWEEPS):
        moved = 0.0
        for i in range(k):
            if first[3 * i] > 0.0:
                moved = max(moved, brake(a, n, i, math.inf if kind == INFINITE else mu[i] * r[3 * i], r, spare))
        if moved < _EXACT:
            return


@compiled
def brake(a: Any, n: int, i: int, most: float, r: Any, c: Any) -> float:
    """Update a contact's tangential impulse, the normal one given, within a disc of radius `most`."""
    p = 3 * i + 1
    a11, a12, a22 = a[p * n + p], a[p * n + p + 1], a[(p + 1) * n + p + 1]
    if math.isinf(most):
        det = a11 * a22 - a12 * a12
        if det <= 1e-12 * (a11 + a22) ** 2 + 1e-30:
            return 0.0
        d1, d2 = -(a22 * c[p] - a12 * c[p + 1]) / det, -(a11 * c[p + 1] - a12 * c[p]) / det
        return change(a, n, i, 0.0, d1, d2, r, c)
    give = a11 + a22 + 1e-30  # at least the block's largest eigenvalue: a projected gradient step lowers the energy
    t1, t2 = r[p] - c[p] / give, r[p + 1] - c[p + 1] / give
    size = math.sqrt(t1 * t1 + t2 * t2)
    if size > most:
        t1, t2 = t1 * most / size, t2 * most / size
    return change(a, n, i, 0.0, t1 - r[p], t2 - r[p + 1], r, c)


@compiled
def restore(a: Any, k: int, before: Any, c: Any, mu: Any, kind: int, e: Any, first: Any, r: Any, spare: Any) -> None:
    """Find the restitution's impulses: e² of the compression's normal work comes back."""
    n = 3 * k
    if kind == FRICTIONLESS:
        rebound(a, k, c, mu, kind, e, first, 1.0, r, spare)
        return
    work = stored = 0.0
    for i in range(k):
        done = -0.5 * first[3 * i] * (before[3 * i] + c[3 * i])
        work, stored = work + done, stored + e[i] * e[i] * done
    share = min(1.0, max(0.0, stored / work)) if work > 0.0 else 0.0
    wanted = share * max(0.0, min(work, -energy(a, n, before, first)))
    s = 1.0
    for turn in range(8):
        rebound(a, k, c, mu, kind, e, first, s, r, spare)
        got = energy(a, n, c, r)
        if got <= wanted and (turn >= 5 or got >= wanted * (1.0 - 1e-9) or got <= 0.0):
            return
        if got <= 0.0:
            return
        s *= math.sqrt(wanted / got) * (1.0 - 1e-10 if turn < 4 else 0.999)
    for p in range(n):
        r[p] = 0.0


@compiled
def collide(
    a: Any, k: int, before: Any, mu: Any, kind: int, e: Any, total: Any, r: Any, c: Any, first: Any, spare: Any
) -> float:
    """Solve one impact.

    Args:
        a: J·M⁻¹·Jᵀ, flat (3k × 3k).
        k: Contacts.
        before: Contact velocities J·v⁻, (3k,); changed to J·v⁺.
        mu: Friction coefficient of each contact, (k,).
        kind: FRICTIONLESS, INFINITE or COULOMB.
        e: Coefficient of restitution of each contact, 0–1, (k,).
        total: Written: the impulses R [N·s], (3k,).
        r: Scratch, (3k,); as are `c`, `first` and `spare`.
        c: Scratch.
        first: Scratch.
        spare: Scratch.

    Returns:
        Kinetic energy added [J]; never positive.
    """
    n, added, most = 3 * k, 0.0, 0.0
    for p in range(n):
        total[p] = 0.0
        most = max(most, e[p // 3])
    for turn in range(3):
        # What friction cannot settle (more sticking contacts than freedoms), normal impulses alone can.
        compress(a, k, before, mu, kind if turn < 2 else FRICTIONLESS, first, c)
        added += energy(a, n, before, first)
        for p in range(n):
            total[p] += first[p]
        if turn == 0 and most > 0.0:
            restore(a, k, before, c, mu, kind, e, first, r, spare)
            added += energy(a, n, c, r)
            for p in range(n):
                total[p] += r[p]
            velocities(a, n, c, r, spare)
            for p in range(n):
                before[p] = spare[p]
        else:
            for p in range(n):
                before[p] = c[p]
        approaching = False
        for i in range(k):
            approaching = approaching or before[3 * i] < -1e-9
        if not approaching:
            break
    return added
