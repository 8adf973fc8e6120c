"""Who touches whom, compiled: read after every control step from the engine's contacts, inside the inner loop.

Only a touch that is new and counts brings the loop back to Python (see `stunt.stage.contacts`).
"""

from __future__ import annotations

from typing import Any, Final

from stunt.control.core.views import bytes_, floats, ints, longs
from stunt.maths.compiled import compiled

UPWARD: Final = 0.5
"""A contact carries weight if its normal is within 60° of the vertical."""
FORGET: Final = 0.1
"""A touch counts as new after this long without one [s]."""

# Entries of the table.
(
    T_SIZES, T_OWNER, T_GEOM_BODY, T_BODY_DOF, T_BODY_PARENT, T_DOF_PARENT, T_DOF_TREE, T_FREE_TREE, T_STATIC, T_TOUCH,
    T_FIRST, T_PLANTED, T_GROUNDED, T_ROOT_DOFS, T_NCON, T_CONTACT, T_OFFSETS, T_MATTERS, T_SINCE, T_NEW,
) = range(20)  # fmt: skip
TABLE: Final = 20
# Sizes: owners, degrees of freedom, trees, degrees of freedom of free roots, whether hits are looked for.
S_OWNERS, S_DOFS, S_TREES, S_ROOTS, S_HITS = range(5)
# Offsets of a contact's fields in bytes, as `stunt.control.impact.memory.contact_offsets` has them.
_SIZE, _FRAME, _GEOMS = 0, 2, 4


@compiled
def scan_contacts(address: int, time: float) -> int:
    """Note touching owners, and the joints and trees that stand on something; return how many hits are new.

    Args:
        address: Of the watch's table.
        time: The clock [s].
    """
    table = longs(address)
    forget(table)
    offsets, count = longs(table[T_OFFSETS]), ints(table[T_NCON])[0]
    for number in range(count):
        contact = longs(table[T_CONTACT])[0] + number * offsets[_SIZE]
        if floats(contact)[0] <= 0.0:
            note_contact(table, number, ints(contact + offsets[_GEOMS]), floats(contact + offsets[_FRAME])[2])
    sizes, planted, root_dofs = longs(table[T_SIZES]), longs(table[T_PLANTED]), longs(table[T_ROOT_DOFS])
    for i in range(sizes[S_ROOTS]):
        planted[root_dofs[i]] = 0
    return new_hits(table, time) if sizes[S_HITS] != 0 and count > 0 else 0


@compiled
def forget(table: Any) -> None:
    """Wipe what was noted the last time."""
    sizes, touch = longs(table[T_SIZES]), bytes_(table[T_TOUCH])
    planted, grounded = longs(table[T_PLANTED]), longs(table[T_GROUNDED])
    for i in range(sizes[S_OWNERS] * sizes[S_OWNERS]):
        touch[i] = 0
    for i in range(sizes[S_DOFS]):
        planted[i] = 0
    for i in range(sizes[S_TREES]):
        grounded[i] = 0


@compiled
def note_contact(table: Any, number: int, geoms: Any, upward: float) -> None:
    """Note one contact: who touches whom, and what stands on scenery by it."""
    owner, geom_body, static = longs(table[T_OWNER]), ints(table[T_GEOM_BODY]), longs(table[T_STATIC])
    touch, first, owners = bytes_(table[T_TOUCH]), longs(table[T_FIRST]), longs(table[T_SIZES])[S_OWNERS]
    one, two = owner[geoms[0]], owner[geoms[1]]
    if one == two:
        return
    touch[one * owners + two] = touch[two * owners + one] = 1
    first[one * owners + two] = first[two * owners + one] = number
    if (static[one] == 0 and static[two] == 0) or abs(upward) < UPWARD:
        return
    note_standing(table, geom_body[geoms[1] if static[one] != 0 else geoms[0]])


@compiled
def note_standing(table: Any, body: int) -> None:
    """Note that a body stands on something: the joints between it and its root carry the rest."""
    body_dof, body_parent = longs(table[T_BODY_DOF]), ints(table[T_BODY_PARENT])
    dof_parent, dof_tree = ints(table[T_DOF_PARENT]), ints(table[T_DOF_TREE])
    planted, grounded = longs(table[T_PLANTED]), longs(table[T_GROUNDED])
    while body > 0 and body_dof[body] < 0:
        body = body_parent[body]
    if body == 0:
        return
    dof = body_dof[body]
    tree = dof_tree[dof]
    if longs(table[T_FREE_TREE])[tree] == 0:
        return
    grounded[tree] = 1
    while dof >= 0:
        planted[dof] = 1
        dof = dof_parent[dof]


@compiled
def new_hits(table: Any, time: float) -> int:
    """List pairs of owners that began to touch; return how many."""
    owners, touch, matters = longs(table[T_SIZES])[S_OWNERS], bytes_(table[T_TOUCH]), bytes_(table[T_MATTERS])
    since, new, count = floats(table[T_SINCE]), longs(table[T_NEW]), 0
    for pair in range(owners * owners):
        if matters[pair] != 0 and touch[pair] != 0:
            if time - since[pair] > FORGET:
                new[count] = pair
                count += 1
            since[pair] = time
    return count
