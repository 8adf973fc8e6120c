"""The impact stage, compiled: find contacts that are new and approaching, solve them, change the velocities.

Positions do not move. All contacts that touch take part, so that an impulse travels through whatever it meets: figure
and world, two figures, or limbs of one figure. M is used through the engine's sparse factor.
"""

from __future__ import annotations

import math
from typing import Any, Final

from stunt.control.core.engine import contact_at, mj_fwdVelocity, mj_solveM
from stunt.control.core.programs import CONTACTS, IMPACT, entry
from stunt.control.core.views import views_at
from stunt.control.impact.law import collide
from stunt.control.impact.memory import MOST, REMEMBERED, TABLE, remembered_at
from stunt.maths.compiled import compiled
from stunt.maths.pointers import address

impact_at = TABLE.reader()
_NEAR: Final = 0.05
"""A contact of the same two geoms within this distance [m] in the step before is the same one."""


@entry(IMPACT, CONTACTS)
def strike(table: int, program: int, time: float, model: int, data: int) -> None:
    """Solve the impacts of this step, if there are any."""
    v, t = views_at(table), impact_at(program)
    ncon = t.ncon[0]
    if ncon == 0:
        t.state.remembered = 0
        return
    rows, struck = gather(v, t, ncon)
    remember(t, ncon)
    if struck:
        solve_impact(v, t, rows, model, data)
        mj_fwdVelocity(model, data)


@compiled
def gather(v: Any, t: Any, ncon: int) -> tuple[int, bool]:
    """Choose the contacts that touch within this step; return how many, and whether one is new and approaching."""
    state, velocity, nv = t.state, t.velocity, v.sizes.nv
    count, struck = 0, False
    for number in range(ncon):
        if count >= MOST:
            break
        contact = contact_at(t.contacts[0], number)
        if write_rows(v, t, contact, count) < 1e-12:
            continue  # two bodies that cannot move against each other
        speed = row_speed(v, t, 3 * count, nv)
        # Half a step ahead is nearest to the moment of touch, early or late.
        if contact.dist > 0.0 and contact.dist + 0.5 * state.step * speed > 0.0:
            continue
        velocity[3 * count] = speed
        velocity[3 * count + 1] = row_speed(v, t, 3 * count + 1, nv)
        velocity[3 * count + 2] = row_speed(v, t, 3 * count + 2, nv)
        t.friction[count] = contact.friction[0]
        t.bounce[count] = bounce(t, contact)
        t.chosen[count] = number
        count += 1
        if speed < -state.slowest and is_new(t, contact):
            struck = True
    return count, struck


@compiled
def bounce(t: Any, contact: Any) -> float:
    """Return a contact's restitution: the scene's, or what its things say; of two, equally stiff, the mean of e²."""
    total, said = 0.0, 0
    for side in range(2):
        own = t.geom_bounce[contact.geom[side]] if contact.geom[side] >= 0 else -1.0
        if own >= 0.0:
            total, said = total + own * own, said + 1
    return math.sqrt(total / said) if said > 0 else float(t.state.restitution)


@compiled
def row_speed(v: Any, t: Any, row: int, nv: int) -> float:
    """Return one row of J times the velocities."""
    rows, total = t.rows, 0.0
    for i in range(nv):
        total += rows[row * nv + i] * v.qvel[i]
    return total


@compiled
def write_rows(v: Any, t: Any, contact: Any, number: int) -> float:
    """Write a contact's three rows of J: the velocity of its second geom relative to its first, in its frame.

    Returns:
        The square of the normal row.
    """
    rows, bodies, nv = t.rows, t.geom_body, v.sizes.nv
    for i in range(3 * number * nv, 3 * (number + 1) * nv):
        rows[i] = 0.0
    for side in range(2):
        if contact.geom[side] >= 0:
            add_body(v, t, contact, bodies[contact.geom[side]], 2.0 * side - 1.0, number)
    square = 0.0
    for i in range(3 * number * nv, (3 * number + 1) * nv):
        square += rows[i] * rows[i]
    return square


@compiled
def add_body(v: Any, t: Any, contact: Any, body: int, sign: float, number: int) -> None:
    """Add one body's motion at the contact to the rows."""
    rows, com, nv = t.rows, v.com, v.sizes.nv
    frame, point = contact.frame, contact.pos
    i = v.last_dof[body]
    root = 3 * v.body_rootid[body]
    r0, r1, r2 = point[0] - com[root], point[1] - com[root + 1], point[2] - com[root + 2]
    while i >= 0:
        w0, w1, w2 = v.cdof[6 * i], v.cdof[6 * i + 1], v.cdof[6 * i + 2]
        j0 = v.cdof[6 * i + 3] + w1 * r2 - w2 * r1
        j1 = v.cdof[6 * i + 4] + w2 * r0 - w0 * r2
        j2 = v.cdof[6 * i + 5] + w0 * r1 - w1 * r0
        for k in range(3):
            row = (3 * number + k) * nv + i
            rows[row] += sign * (frame[3 * k] * j0 + frame[3 * k + 1] * j1 + frame[3 * k + 2] * j2)
        i = v.dof_parentid[i]


@compiled
def is_new(t: Any, contact: Any) -> bool:
    """Whether no contact of the step before was here between the same geoms."""
    for n in range(t.state.remembered):
        last = remembered_at(t.last, n)
        if last.geoms[0] == contact.geom[0] and last.geoms[1] == contact.geom[1]:
            away = 0.0
            for k in range(3):
                away += (last.point[k] - contact.pos[k]) ** 2
            if away < _NEAR * _NEAR:
                return False
    return True


@compiled
def remember(t: Any, ncon: int) -> None:
    """Keep the contacts that touch now for the next step."""
    kept = 0
    for number in range(ncon):
        contact = contact_at(t.contacts[0], number)
        if contact.dist > 0.0 or kept >= REMEMBERED:
            continue
        last = remembered_at(t.last, kept)
        for k in range(2):
            last.geoms[k] = contact.geom[k]
        for k in range(3):
            last.point[k] = contact.pos[k]
        kept += 1
    t.state.remembered = kept


@compiled
def solve_impact(v: Any, t: Any, k: int, model: int, data: int) -> None:
    """Find the impulses and change the velocities by M⁻¹·Jᵀ·R."""
    nv, n = v.sizes.nv, 3 * k
    rows, solved, a, total, state = t.rows, t.solved, t.matrix, t.total, t.state
    mj_solveM(model, data, address(solved), address(rows), n)
    for p in range(n):
        for q in range(p + 1):
            value = 0.0
            for i in range(nv):
                value += rows[p * nv + i] * solved[q * nv + i]
            a[p * n + q] = value
            a[q * n + p] = value
    added = collide(a, k, t.velocity, t.friction, state.friction, t.bounce, total, t.again, t.after, t.first, t.spare)
    for p in range(n):
        for i in range(nv):
            v.qvel[i] += total[p] * solved[p * nv + i]
    state.impacts += 1
    state.involved = k
    state.energy += added
