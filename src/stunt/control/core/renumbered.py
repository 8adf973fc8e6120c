"""Where what two compiled scenes both have is in each: how what is known by number goes on when the cast changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

Numbered = Literal["body", "geom", "site", "joint", "dof", "qpos", "tree", "weld"]


class Renumbered:
    """Numbers of a scene before and after a change of cast. Bodies are known by name, what they have by its order.

    Attributes:
        pairs: By kind: numbers before, and the same things' numbers after, (n,) each.
    """

    def __init__(self, before: mujoco.MjModel, after: mujoco.MjModel) -> None:
        """Look everything up that is in both."""
        one, two = _bodies(before), _bodies(after)
        bodies = [(one[name], two[name]) for name in one if name in two]
        joints = _of_bodies(bodies, before.jnt_bodyid, after.jnt_bodyid)
        spans = ((_span(before, a), _span(after, b)) for a, b in joints)
        places, dofs = [], []
        for (qpos, nq, dof, nv), (new_qpos, _, new_dof, _) in spans:
            places += [(qpos + k, new_qpos + k) for k in range(nq)]
            dofs += [(dof + k, new_dof + k) for k in range(nv)]
        welds = {after.equality(number).name: number for number in range(after.neq)}
        self.pairs: dict[Numbered, NDArray[np.int64]] = {
            "body": _both(bodies), "joint": _both(joints), "dof": _both(dofs), "qpos": _both(places),
            "geom": _both(_of_bodies(bodies, before.geom_bodyid, after.geom_bodyid)),
            "site": _both(_of_bodies(bodies, before.site_bodyid, after.site_bodyid)),
            "tree": _both({(int(before.dof_treeid[a]), int(after.dof_treeid[b])) for a, b in dofs}),
            "weld": _both(
                (n, welds[name]) for n in range(before.neq) if (name := before.equality(n).name) in welds
            ),
        }  # fmt: skip
        self._known = {kind: dict(pairs.T.tolist()) for kind, pairs in self.pairs.items()}

    def carry(self, kind: Numbered, old: NDArray[Any], new: NDArray[Any]) -> None:
        """Put what is known of each thing, by its number in the first axis, where it is now."""
        before, after = self.pairs[kind]
        new[after] = old[before]

    def carried(self, kind: Numbered, old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of what is known of all things now, with what was known before of those that were there."""
        result = new.copy()
        self.carry(kind, old, result)
        return result

    def number(self, kind: Numbered, old: int) -> int:
        """Return a thing's number now; −1: it is not there any more."""
        return int(self._known[kind].get(int(old), -1))


def _bodies(model: mujoco.MjModel) -> dict[object, int]:
    """Return all bodies by name; one without by what it hangs on, and its place there."""
    keys: dict[int, object] = {}
    for body in range(model.nbody):
        parent = int(model.body_parentid[body])
        nameless = (keys.get(parent), sum(int(model.body_parentid[b]) == parent for b in range(body)))
        keys[body] = model.body(body).name or nameless
    return {key: body for body, key in keys.items()}


def _of_bodies(bodies: Iterable[tuple[int, int]], before: Any, after: Any) -> list[tuple[int, int]]:
    """Return pairs of what bodies have, in its order, from the body of each thing before and after."""
    found: list[tuple[int, int]] = []
    for one, two in bodies:
        pairs = zip(np.flatnonzero(before == one).tolist(), np.flatnonzero(after == two).tolist(), strict=False)
        found += pairs
    return found


def _span(model: mujoco.MjModel, joint: int) -> tuple[int, int, int, int]:
    """Return where a joint's coordinates begin and how many they are, and the same of its degrees of freedom."""
    qpos, dof = np.append(model.jnt_qposadr, model.nq), np.append(model.jnt_dofadr, model.nv)
    return int(qpos[joint]), int(qpos[joint + 1] - qpos[joint]), int(dof[joint]), int(dof[joint + 1] - dof[joint])


def _both(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2).T
