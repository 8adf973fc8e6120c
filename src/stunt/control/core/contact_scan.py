"""Who touches whom, compiled: read after every control step from the engine's contacts, inside the inner loop.

Only a touch that is new and counts brings the loop back to Python (see `stunt.stage.contacts`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from stunt.control.core.engine import contact_at
from stunt.maths.compiled import compiled
from stunt.maths.pointers import AddressTable, layout

UPWARD: Final = 0.5
"""A contact carries weight if its normal is within 60° of the vertical."""
FORGET: Final = 0.1
"""A touch counts as new after this long without one [s]."""

SIZES: Final = layout(*((name, np.int64) for name in ("owners", "dofs", "trees", "root_dofs", "hits")))
"""How many there are (`root_dofs`: degrees of freedom of free roots), and whether hits are looked for."""
TABLE: Final = AddressTable(
    "Watch",
    (
        ("sizes", SIZES),
        ("owner", np.int64),  # of each geom
        ("geom_body", np.int32),
        ("body_dof", np.int64),  # the last degree of freedom of each body, or −1
        ("body_parent", np.int32),
        ("dof_parent", np.int32),
        ("dof_tree", np.int32),
        ("free_tree", np.int64),  # 1 where a tree has a free root
        ("static", np.int64),  # 1 where an owner carries others
        ("touch", np.uint8),  # who touches whom
        ("first", np.int64),  # by which contact
        ("planted", np.int64),
        ("grounded", np.int64),
        ("root_dofs", np.int64),
        ("ncon", np.int32),  # the engine's number of contacts
        ("contacts", np.int64),  # the address of the engine's contacts
        ("matters", np.uint8),  # pairs whose touch is a hit
        ("since", np.float64),  # when they last touched [s]
        ("new", np.int64),  # pairs that began to touch
    ),
)
watch_at = TABLE.reader()


@compiled
def scan_contacts(address: int, time: float) -> int:
    """Note touching owners, and the joints and trees that stand on something; return how many hits are new.

    Args:
        address: Of the watch's table.
        time: The clock [s].
    """
    t = watch_at(address)
    forget(t)
    count, sizes, planted, root_dofs = t.ncon[0], t.sizes, t.planted, t.root_dofs
    for number in range(count):
        contact = contact_at(t.contacts[0], number)
        if contact.dist <= 0.0:
            note_contact(t, number, contact.geom[0], contact.geom[1], contact.frame[2])
    for i in range(sizes.root_dofs):
        planted[root_dofs[i]] = 0
    return new_hits(t, time) if sizes.hits != 0 and count > 0 else 0


@compiled
def forget(t: Any) -> None:
    """Wipe what was noted the last time."""
    sizes, touch, planted, grounded = t.sizes, t.touch, t.planted, t.grounded
    for i in range(sizes.owners * sizes.owners):
        touch[i] = 0
    for i in range(sizes.dofs):
        planted[i] = 0
    for i in range(sizes.trees):
        grounded[i] = 0


@compiled
def note_contact(t: Any, number: int, geom: int, other: int, upward: float) -> None:
    """Note one contact: who touches whom, and what stands on scenery by it."""
    owner, static, touch, first, owners = t.owner, t.static, t.touch, t.first, t.sizes.owners
    one, two = owner[geom], owner[other]
    if one == two:
        return
    touch[one * owners + two] = touch[two * owners + one] = 1
    first[one * owners + two] = first[two * owners + one] = number
    if (static[one] == 0 and static[two] == 0) or abs(upward) < UPWARD:
        return
    note_standing(t, t.geom_body[other if static[one] != 0 else geom])


@compiled
def note_standing(t: Any, body: int) -> None:
    """Note that a body stands on something: the joints between it and its root carry the rest."""
    body_dof, planted, dof_parent = t.body_dof, t.planted, t.dof_parent
    while body > 0 and body_dof[body] < 0:
        body = t.body_parent[body]
    if body == 0:
        return
    dof = body_dof[body]
    tree = t.dof_tree[dof]
    if t.free_tree[tree] == 0:
        return
    t.grounded[tree] = 1
    while dof >= 0:
        planted[dof] = 1
        dof = dof_parent[dof]


@compiled
def new_hits(t: Any, time: float) -> int:
    """List pairs of owners that began to touch; return how many."""
    owners, touch, matters, since, new, count = t.sizes.owners, t.touch, t.matters, t.since, t.new, 0
    for pair in range(owners * owners):
        if matters[pair] != 0 and touch[pair] != 0:
            if time - since[pair] > FORGET:
                new[count] = pair
                count += 1
            since[pair] = time
    return count
