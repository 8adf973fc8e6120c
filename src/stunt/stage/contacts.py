"""Who touches whom: hits for direction, support for control.

Works on the engine's contact arrays in one compiled pass; going through the Python contact objects would cost more than
the physics step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.compiled import compiled
from stunt.control.views import bytes_, ints, longs
from stunt.stage.build import Built

SCENERY: Final = 0
"""Owner number of the ground and of scenery nobody minds; characters follow from 1, then props that count or move."""
_UPWARD = 0.5  # a contact carries weight if its normal is within 60° of the vertical
_FORGET = 0.1  # a touch counts as new after this long without one [s]


@dataclass(frozen=True)
class Hit:
    """A character was touched by something that counts.

    Attributes:
        time: When [s].
        character: Who.
        body: Which of its bodies, by its own name.
        by: Name of the prop or the other character.
        position: Where [m], world.
        force: Contact force magnitude in that step [N].
    """

    time: float
    character: str
    body: str
    by: str
    position: tuple[float, float, float]
    force: float


@compiled
def _scan(geoms: Any, dist: Any, normals: Any, count: int, table: Any) -> None:
    """Mark touching owner pairs, and the joints and trees that stand on something.

    Args:
        geoms: Geoms of each contact, (count, 2).
        dist: Distance of each contact [m], (count,).
        normals: Frame of each contact, (count, 9).
        count: How many contacts there are.
        table: Addresses of the watch's arrays: handing over each of them would cost more than the scan.
    """
    sizes, owner, geom_body, body_dof = longs(table[0]), longs(table[1]), ints(table[2]), longs(table[3])
    body_parent, dof_parent, dof_tree = ints(table[4]), ints(table[5]), ints(table[6])
    free_tree, static, touch, first = longs(table[7]), longs(table[8]), bytes_(table[9]), longs(table[10])
    planted, grounded, root_dofs = longs(table[11]), longs(table[12]), longs(table[13])
    owners = sizes[0]
    for i in range(owners * owners):
        touch[i] = 0
    for i in range(sizes[1]):
        planted[i] = 0
    for i in range(sizes[2]):
        grounded[i] = 0
    for c in range(count):
        if dist[c] > 0.0:
            continue
        one, two = owner[geoms[c, 0]], owner[geoms[c, 1]]
        if one == two:
            continue
        touch[one * owners + two] = touch[two * owners + one] = 1
        first[one * owners + two] = first[two * owners + one] = c
        if not static[one] and not static[two]:
            continue
        if abs(normals[c, 2]) < _UPWARD:
            continue
        body = geom_body[geoms[c, 1] if static[one] else geoms[c, 0]]
        while body > 0 and body_dof[body] < 0:
            body = body_parent[body]
        if body == 0:
            continue
        dof = body_dof[body]
        tree = dof_tree[dof]
        if not free_tree[tree]:
            continue
        grounded[tree] = 1
        while dof >= 0:
            planted[dof] = 1
            dof = dof_parent[dof]
    for i in range(sizes[3]):
        planted[root_dofs[i]] = 0


class ContactWatch:
    """Remembers who touched whom, and notices new touches.

    Attributes:
        carries: Whether anyone stands on the ground on their own: laws of joints ask which of them carry the body.
        hittable: Whether there is anyone, and anything, for a hit to happen between.
    """

    def __init__(self, built: Built, data: mujoco.MjData, planted: NDArray[np.int64], grounded: NDArray[np.int64]):
        """Prepare the look-up tables.

        Args:
            built: The compiled scene.
            data: Its data.
            planted: The board's array, written here.
            grounded: Likewise.
        """
        model = built.model
        self._built, self._model, self._data = built, model, data
        self._planted, self._grounded = planted, grounded
        noticed = [name for name, prop in built.props.items() if prop.spec.movable or prop.spec.counts_as_hit]
        self.owners = [None, *built.characters, *noticed]
        self._static = np.array(
            [name is None or (name in built.props and not built.props[name].spec.movable) for name in self.owners],
            np.int64,
        )
        self._owner = np.zeros(model.ngeom, np.int64)
        body_names = {}
        for number, name in enumerate(self.owners):
            if name is None:
                continue
            bodies = built.characters[name].bodies if name in built.characters else {name: built.props[name].body}
            body_names.update({body: own for own, body in bodies.items()})
            self._owner[np.isin(model.geom_bodyid, list(bodies.values()))] = number
        self._body_names = body_names
        # Which body of each body's chain carries degrees of freedom, and its last one.
        self._body_dof = np.where(model.body_dofnum > 0, model.body_dofadr + model.body_dofnum - 1, -1).astype(np.int64)
        free = [c.root.dof for c in built.characters.values() if c.root is not None]
        self._free_tree = np.zeros(max(1, model.ntree), np.int64)
        self._free_tree[[model.dof_treeid[dof] for dof in free]] = 1
        self._root_dofs = np.array([dof + k for dof in free for k in range(6)], np.int64)
        self.touch = np.zeros((len(self.owners),) * 2, np.int8)
        self._first = np.zeros_like(self.touch, np.int64)
        self._since = np.full(self.touch.shape, -np.inf)
        self.carries = bool(free)
        self._counts = [self._counts_as_hit(name) for name in self.owners]
        people = np.array([name in built.characters for name in self.owners])
        hits = np.outer(people, self._counts)
        self._matters = np.triu(hits | hits.T, 1)
        self.hittable = bool(self._matters.any())
        sizes = (len(self.owners), planted.size, grounded.size, self._root_dofs.size)
        self._arrays = (
            np.array(sizes, np.int64), self._owner, model.geom_bodyid, self._body_dof, model.body_parentid,
            model.dof_parentid, model.dof_treeid, self._free_tree, self._static, self.touch, self._first, planted,
            grounded, self._root_dofs,
        )  # fmt: skip
        self._table = np.array([array.ctypes.data for array in self._arrays], np.int64)

    def _counts_as_hit(self, name: str | None) -> bool:
        if name is None:
            return False
        return name in self._built.characters or self._built.props[name].spec.counts_as_hit

    def look(self, time: float) -> list[Hit]:
        """Read the engine's contacts; return the hits that are new."""
        contact = self._data.contact
        count = self._data.ncon
        if count == 0 and not self.touch.any():
            if self._root_dofs.size:
                self._planted[:] = 0
                self._grounded[:] = 0
            return []
        _scan(contact.geom, contact.dist, contact.frame, count, self._table)
        return self._new_hits(time) if self.hittable else []

    def _new_hits(self, time: float) -> list[Hit]:
        touching = self._matters & (self.touch != 0)
        if not touching.any():
            return []
        hits = []
        for one, two in np.argwhere(touching):
            if time - self._since[one, two] > _FORGET:
                hits.extend(self._hits_of(int(one), int(two), time))
            self._since[one, two] = time
        return hits

    def _hits_of(self, one: int, two: int, time: float) -> list[Hit]:
        hits = []
        for who, by in ((one, two), (two, one)):
            name, other = self.owners[who], self.owners[by]
            if name in self._built.characters and self._counts[by]:
                index = int(self._first[one, two])
                geoms = self._data.contact.geom[index]
                geom = geoms[0] if self._owner[geoms[0]] == who else geoms[1]
                force = np.zeros(6)
                mujoco.mj_contactForce(self._model, self._data, index, force)
                x, y, z = (float(value) for value in self._data.contact.pos[index])
                body = self._body_names[int(self._model.geom_bodyid[geom])]
                hits.append(Hit(time, str(name), body, str(other), (x, y, z), float(np.linalg.norm(force[:3]))))
        return hits

    def touching(self, character: str, body: str | None = None, other: str | None = None) -> bool:
        """Whether a character (one body of it, or any) touches something (one prop, or anything not itself)."""
        data, built = self._data, self._built
        own = built.characters[character]
        wanted = None if body in (None, "any") else own.body(body)
        geoms = data.contact.geom[: data.ncon]
        for index, pair in enumerate(geoms):
            if data.contact.dist[index] > 0.0:
                continue
            for mine, theirs in ((pair[0], pair[1]), (pair[1], pair[0])):
                if int(mine) not in own.geoms or int(theirs) in own.geoms:
                    continue
                if wanted is not None and self._model.geom_bodyid[mine] != wanted:
                    continue
                if other is None or self._model.geom_bodyid[theirs] == built.props[other].body:
                    return True
        return False

    def save(self) -> dict[str, Any]:
        """Return what must survive a restore."""
        return {"touch": self.touch.copy(), "since": self._since.copy(), "first": self._first.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.touch[...] = state["touch"]
        self._since[...] = state["since"]
        self._first[...] = state["first"]
