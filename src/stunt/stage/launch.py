"""How things wait, and how they leave what they lie on or are held by.

A prop that is to be thrown, and that nothing carries, hangs on a thread until its time comes. What is thrown or struck
off the ground leaves it freely: a convex friction cone turns sliding into lifting (a push of 12 m/s along the floor
would come out as 9.5 m/s along it and 2.7 m/s up), so the contacts of what leaves are out until it is clear of all it
lay on or in.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.stage.build import Prop
from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]
THREAD: Final = 1.0
"""Length of the thread a waiting prop hangs on [m]."""
LONGEST: Final = 0.3
"""After so long what left collides again, wherever it is [s]."""
OFF: Final = 0.05
"""A push leads off the ground if at least this share of it does."""
ARM: Final = 0.15
"""So far from all of a thrower what it threw is clear of it [m]."""
_NEAR = 2e-3  # [m] what is nearer touches
_NOBODY = -(2**31)  # a bit of contact masks that nobody else has


def touching(stage: StageLoop, prop: Prop) -> list[tuple[int, Floats]]:
    """Return the geoms a prop touches where it is now, with the way off each, (3,)."""
    model, data = stage.model, mujoco.MjData(stage.model)
    data.qpos[:] = stage.data.qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    found = []
    for k in range(data.ncon):
        contact = data.contact[k]
        own = [int(model.geom_bodyid[geom]) == prop.body for geom in contact.geom]
        if own[0] != own[1] and contact.dist < _NEAR:
            way = np.array(contact.frame[:3])  # from the first geom to the second
            found.append((int(contact.geom[0 if own[1] else 1]), way if own[1] else -way))
    return found


class Leaving:
    """Props that are leaving something: without contacts until they are clear of it."""

    def __init__(self, stage: StageLoop) -> None:
        """Begin with none."""
        self._stage = stage
        self._masks: dict[str, tuple[NDArray[np.int32], NDArray[np.int32]]] = {}
        # Geoms, tick at which to give up, and how far from them is clear [m].
        self._from: dict[str, tuple[frozenset[int], int, float]] = {}

    def __bool__(self) -> bool:
        """Whether anything is leaving."""
        return bool(self._from)

    def leave(self, prop: Prop, geoms: frozenset[int], end: int | None = None, clear: float = 0.0) -> None:
        """Let a prop leave geoms, until it is so far from them [m]; until a tick at most."""
        self._let_collide(prop)
        if geoms:
            stage, own = self._stage, self._geoms(prop)
            self._from[prop.name] = geoms, end or stage.tick + max(1, round(LONGEST / stage.step_time)), clear
            self._masks[prop.name] = stage.model.geom_contype[own].copy(), stage.model.geom_conaffinity[own].copy()
            stage.model.geom_contype[own], stage.model.geom_conaffinity[own] = _NOBODY, 0

    def look(self) -> None:
        """Let those collide again who are clear of what they left."""
        for name, (geoms, end, clear) in list(self._from.items()):
            prop = self._stage.prop(name)
            self._let_collide(prop)
            if self._stage.tick < end and self._is_near(prop, geoms, clear):
                self.leave(prop, geoms, end, clear)

    def _is_near(self, prop: Prop, geoms: frozenset[int], clear: float) -> bool:
        if not clear:
            return not geoms.isdisjoint(geom for geom, _ in touching(self._stage, prop))
        model, data = self._stage.model, self._stage.data
        mujoco.mj_kinematics(model, data)
        pairs = ((a, b) for a in self._geoms(prop) for b in geoms)
        return any(mujoco.mj_geomDistance(model, data, a, b, clear, None) < clear for a, b in pairs)

    def _geoms(self, prop: Prop) -> NDArray[np.int64]:
        return np.flatnonzero(self._stage.model.geom_bodyid == prop.body)

    def _let_collide(self, prop: Prop) -> None:
        if self._from.pop(prop.name, None) is not None:
            own, (contype, conaffinity) = self._geoms(prop), self._masks.pop(prop.name)
            self._stage.model.geom_contype[own] = contype
            # Who came to push it meanwhile has added its bit.
            self._stage.model.geom_conaffinity[own] |= conaffinity

    def save(self) -> Any:
        """Return what must survive a restore."""
        return dict(self._from)

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        for name in list(self._from):
            self._let_collide(self._stage.prop(name))
        for name, (geoms, end, clear) in state.items():
            self.leave(self._stage.prop(name), geoms, end, clear)


def hang(stage: StageLoop, prop: Prop) -> None:
    """Hang a prop on a thread, where it is."""
    model, data = stage.model, stage.data
    place = data.qpos[prop.qpos : prop.qpos + 7]
    turned, up = np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(turned, place[3:])
    mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, THREAD]), turned)
    model.eq_obj1id[prop.grip], model.eq_obj2id[prop.grip] = 0, prop.body
    # The thread's upper end, in the prop and in the world; the prop may turn about it.
    model.eq_data[prop.grip, :11] = [*up, *place[:2], place[2] + THREAD, *place[3:], 0.0]
    data.eq_active[prop.grip] = 1
