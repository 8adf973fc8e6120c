"""The impact stage, compiled: find contacts that are new and approaching, solve them, change the velocities.

Positions do not move. All contacts that touch take part, so that an impulse travels through whatever it meets: figure
and world, two figures, or limbs of one figure. M is used through the engine's sparse factor.
"""

from __future__ import annotations

from typing import Any, Final

from stunt.compiled import compiled
from stunt.control.engine import mj_fwdVelocity, mj_solveM
from stunt.control.impact import collide
from stunt.control.views import floats, ints, longs

MOST: Final = 40
"""Contacts that take part in one impact at most."""
REMEMBERED: Final = 256
"""Contacts remembered from the step before."""
# Entries of the table.
T_NUMBERS, T_COUNTS, T_NCON, T_CONTACT, T_OFFSETS, T_LAST, T_LAST_NUMBER, T_ROWS, T_SOLVED, T_MATRIX = range(10)
T_VELOCITY, T_FRICTION, T_TOTAL, T_SCRATCH, T_CHOSEN, T_COM, T_GEOM_BODY, T_LAST_DOF, T_DOF_PARENT = range(10, 19)
# Numbers: settings, then what was measured.
N_RESTITUTION, N_STEP, N_SLOWEST, N_ENERGY, N_IMPULSE, NUMBERS = 0, 1, 2, 3, 4, 5
# Counts: kind of friction, remembered contacts, impacts so far, contacts of the last one.
C_KIND, C_LAST, C_IMPACTS, C_SIZE, COUNTS = 0, 1, 2, 3, 4
# Offsets of a contact's fields in bytes.
O_SIZE, O_POSITION, O_FRAME, O_FRICTION, O_GEOMS, OFFSETS = 0, 1, 2, 3, 4, 5
_NEAR: Final = 0.05
"""A contact of the same two geoms within this distance [m] in the step before is the same one."""


@compiled
def strike(v: Any, table: Any, model: int, data: int) -> None:
    """Solve the impacts of this step, if there are any."""
    counts, ncon = longs(table[T_COUNTS]), ints(table[T_NCON])[0]
    if ncon == 0:
        counts[C_LAST] = 0
        return
    rows, struck = gather(v, table, ncon)
    remember(table, ncon)
    if not struck:
        return
    solve_impact(v, table, rows, model, data)
    mj_fwdVelocity(model, data)


@compiled
def gather(v: Any, table: Any, ncon: int) -> tuple[int, bool]:
    """Choose the contacts that touch within this step; return how many, and whether one is new and approaching."""
    numbers, chosen, offsets = floats(table[T_NUMBERS]), longs(table[T_CHOSEN]), longs(table[T_OFFSETS])
    velocity, nv = floats(table[T_VELOCITY]), v.sizes.nv
    count, struck = 0, False
    for number in range(ncon):
        if count >= MOST:
            break
        contact = longs(table[T_CONTACT])[0] + number * offsets[O_SIZE]
        gap = floats(contact)[0]
        if write_rows(v, table, contact, count) < 1e-12:
            continue  # two bodies that cannot move against each other
        speed = row_speed(v, table, 3 * count, nv)
        # Half a step ahead is nearest to the moment of touch, early or late.
        if gap > 0.0 and gap + 0.5 * numbers[N_STEP] * speed > 0.0:
            continue
        velocity[3 * count] = speed
        velocity[3 * count + 1] = row_speed(v, table, 3 * count + 1, nv)
        velocity[3 * count + 2] = row_speed(v, table, 3 * count + 2, nv)
        floats(table[T_FRICTION])[count] = floats(contact + offsets[O_FRICTION])[0]
        chosen[count] = number
        count += 1
        if speed < -numbers[N_SLOWEST] and is_new(table, contact):
            struck = True
    return count, struck


@compiled
def row_speed(v: Any, table: Any, row: int, nv: int) -> float:
    """Return one row of J times the velocities."""
    rows, total = floats(table[T_ROWS]), 0.0
    for i in range(nv):
        total += rows[row * nv + i] * v.qvel[i]
    return total


@compiled
def write_rows(v: Any, table: Any, contact: int, number: int) -> float:
    """Write a contact's three rows of J: the velocity of its second geom relative to its first, in its frame.

    Returns:
        The square of the normal row.
    """
    offsets, rows, nv = longs(table[T_OFFSETS]), floats(table[T_ROWS]), v.sizes.nv
    for i in range(3 * number * nv, 3 * (number + 1) * nv):
        rows[i] = 0.0
    geoms, bodies = ints(contact + offsets[O_GEOMS]), ints(table[T_GEOM_BODY])
    for side in range(2):
        if geoms[side] >= 0:
            add_body(v, table, contact, bodies[geoms[side]], 2.0 * side - 1.0, number)
    square = 0.0
    for i in range(3 * number * nv, (3 * number + 1) * nv):
        square += rows[i] * rows[i]
    return square


@compiled
def add_body(v: Any, table: Any, contact: int, body: int, sign: float, number: int) -> None:
    """Add one body's motion at the contact to the rows."""
    offsets, rows, nv = longs(table[T_OFFSETS]), floats(table[T_ROWS]), v.sizes.nv
    frame, point = floats(contact + offsets[O_FRAME]), floats(contact + offsets[O_POSITION])
    com, parent = floats(table[T_COM]), ints(table[T_DOF_PARENT])
    i = longs(table[T_LAST_DOF])[body]
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
        i = parent[i]


@compiled
def is_new(table: Any, contact: int) -> bool:
    """Whether no contact of the step before was here between the same geoms."""
    last, counts, offsets = floats(table[T_LAST]), longs(table[T_COUNTS]), longs(table[T_OFFSETS])
    geoms, point = ints(contact + offsets[O_GEOMS]), floats(contact + offsets[O_POSITION])
    for n in range(counts[C_LAST]):
        if last[5 * n] == geoms[0] and last[5 * n + 1] == geoms[1]:
            away = 0.0
            for k in range(3):
                away += (last[5 * n + 2 + k] - point[k]) ** 2
            if away < _NEAR * _NEAR:
                return False
    return True


@compiled
def remember(table: Any, ncon: int) -> None:
    """Keep the contacts that touch now for the next step."""
    last, counts, offsets = floats(table[T_LAST]), longs(table[T_COUNTS]), longs(table[T_OFFSETS])
    kept = 0
    for number in range(ncon):
        contact = longs(table[T_CONTACT])[0] + number * offsets[O_SIZE]
        if floats(contact)[0] > 0.0 or kept >= REMEMBERED:
            continue
        geoms, point = ints(contact + offsets[O_GEOMS]), floats(contact + offsets[O_POSITION])
        last[5 * kept], last[5 * kept + 1] = geoms[0], geoms[1]
        for k in range(3):
            last[5 * kept + 2 + k] = point[k]
        kept += 1
    counts[C_LAST] = kept


@compiled
def solve_impact(v: Any, table: Any, k: int, model: int, data: int) -> None:
    """Find the impulses and change the velocities by M⁻¹·Jᵀ·R."""
    nv, n = v.sizes.nv, 3 * k
    rows, solved, a = floats(table[T_ROWS]), floats(table[T_SOLVED]), floats(table[T_MATRIX])
    numbers, counts, total = floats(table[T_NUMBERS]), longs(table[T_COUNTS]), floats(table[T_TOTAL])
    mj_solveM(model, data, table[T_SOLVED], table[T_ROWS], n)
    for p in range(n):
        for q in range(p + 1):
            value = 0.0
            for i in range(nv):
                value += rows[p * nv + i] * solved[q * nv + i]
            a[p * n + q] = value
            a[q * n + p] = value
    scratch = table[T_SCRATCH]
    size = 8 * 3 * MOST
    added = collide(
        a, k, floats(table[T_VELOCITY]), floats(table[T_FRICTION]), counts[C_KIND], numbers[N_RESTITUTION], total,
        floats(scratch), floats(scratch + size), floats(scratch + 2 * size), floats(scratch + 3 * size),
    )  # fmt: skip
    for p in range(n):
        for i in range(nv):
            v.qvel[i] += total[p] * solved[p * nv + i]
    counts[C_IMPACTS] += 1
    counts[C_SIZE] = k
    numbers[N_ENERGY] += added
    for contact in range(k):
        numbers[N_IMPULSE] = max(numbers[N_IMPULSE], total[3 * contact])
