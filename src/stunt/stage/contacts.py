"""Who touches whom: hits for direction, support for control.

The inner loop reads the engine's contacts itself (`stunt.control.core.contact_scan`) and comes back here only
where a hit is new; going through the Python contact objects would cost more than the physics step.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.contact_scan import SIZES, TABLE, scan_contacts
from stunt.control.core.engine import contact_count, contact_pointer
from stunt.maths.pointers import address_of
from stunt.stage.build import Built

SCENERY: Final = 0
"""Owner number of the ground and of scenery nobody minds; characters follow from 1, then props that count or move."""


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
        push: The contact force on the body in that step [N], world; zero where there was no contact.
    """

    time: float
    character: str
    body: str
    by: str
    position: tuple[float, float, float]
    force: float
    push: tuple[float, float, float] = (0.0, 0.0, 0.0)


class ContactWatch:
    """Remembers who touched whom, and notices new touches.

    Attributes:
        table: Address of what the compiled loop reads and writes.
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
        specs = {name: prop.spec for name, prop in built.props.items()}
        noticed = [name for name, spec in specs.items() if spec.movable or spec.counts_as_hit or spec.stops]
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
        self._walls = [n for n, name in enumerate(self.owners) if name in specs and not self._counts[n]]
        self._walls = [n for n in self._walls if specs[str(self.owners[n])].stops]
        self.hittable = bool(self._matters.any())
        self._new = np.zeros(self.touch.size, np.int64)
        self._lay_table()

    def _lay_table(self) -> None:
        """Give the compiled loop the addresses of everything it reads and writes."""
        model, data = self._model, self._data
        sizes = (len(self.owners), self._planted.size, self._grounded.size, self._root_dofs.size, self.hittable)
        self._arrays: dict[str, NDArray[Any]] = {
            "sizes": np.array([sizes], SIZES), "owner": self._owner, "geom_body": model.geom_bodyid,
            "body_dof": self._body_dof, "body_parent": model.body_parentid, "dof_parent": model.dof_parentid,
            "dof_tree": model.dof_treeid, "free_tree": self._free_tree, "static": self._static, "touch": self.touch,
            "first": self._first, "planted": self._planted, "grounded": self._grounded, "root_dofs": self._root_dofs,
            "ncon": contact_count(data), "contacts": contact_pointer(data), "matters": self._matters,
            "since": self._since, "new": self._new,
        }  # fmt: skip
        self._table = TABLE.fill(**self._arrays)
        self.table = address_of(self._table)

    def mind(self, character: str, kinematic: bool, but: Collection[str] = ()) -> None:
        """Let walls and furniture that a character touches be hits, or no longer; not those that carry it."""
        who = self.owners.index(character)
        for wall in self._walls:
            self._matters[min(who, wall), max(who, wall)] = kinematic and self.owners[wall] not in but
        self.hittable = bool(self._matters.any())
        self._arrays["sizes"]["hits"] = self.hittable

    def _counts_as_hit(self, name: str | None) -> bool:
        if name is None:
            return False
        return name in self._built.characters or self._built.props[name].spec.counts_as_hit

    def look(self, time: float) -> list[Hit]:
        """Read the engine's contacts; return the hits that are new."""
        return self.hits(scan_contacts(self.table, time), time)

    def hits(self, count: int, time: float) -> list[Hit]:
        """Return the hits the compiled loop has just found."""
        pairs = (divmod(int(pair), len(self.owners)) for pair in self._new[:count])
        return [hit for one, two in pairs for hit in self._hits_of(one, two, time)]

    def _hits_of(self, one: int, two: int, time: float) -> list[Hit]:
        hits = []
        for who, by in ((one, two), (two, one)):
            name, other = self.owners[who], self.owners[by]
            if name in self._built.characters and (self._counts[by] or by in self._walls):
                index = int(self._first[one, two])
                geoms = self._data.contact.geom[index]
                geom = geoms[0] if self._owner[geoms[0]] == who else geoms[1]
                force = np.zeros(6)
                mujoco.mj_contactForce(self._model, self._data, index, force)
                frame = self._data.contact.frame[index].reshape(3, 3)  # from the first geom to the second
                px, py, pz = (float(f) * (1.0 if geom == geoms[1] else -1.0) for f in force[:3] @ frame)
                x, y, z = (float(value) for value in self._data.contact.pos[index])
                body = self._body_names[int(self._model.geom_bodyid[geom])]
                size = float(np.linalg.norm(force[:3]))
                hits.append(Hit(time, str(name), body, str(other), (x, y, z), size, (px, py, pz)))
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
        return {
            "touch": self.touch.copy(), "since": self._since.copy(), "first": self._first.copy(),
            "matters": self._matters.copy(),
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Put a saved state back."""
        self.touch[...] = state["touch"]
        self._since[...] = state["since"]
        self._first[...] = state["first"]
        self._matters[...] = state["matters"]
        self.hittable = bool(self._matters.any())
        self._arrays["sizes"]["hits"] = self.hittable

    def carry(self, old: ContactWatch) -> None:
        """Remember who touched whom in another scene, as far as they are in this one."""
        known = [name for name in old.owners if name in self.owners]  # in both scenes in this order
        mine, was = ([where.owners.index(name) for name in known] for where in (self, old))
        self.touch[np.ix_(mine, mine)] = old.touch[np.ix_(was, was)]
        self._since[np.ix_(mine, mine)] = old._since[np.ix_(was, was)]
