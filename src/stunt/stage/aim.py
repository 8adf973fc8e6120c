"""Throws: how things wait, which velocity makes them touch a target at a time, and how they leave what held them.

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

from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError
from stunt.stage.build import Prop
from stunt.stage.event_specs import Throw
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
_ROUNDS = 4  # the touch point depends on the direction of arrival, which depends on it: settles in two or three
_FAR = 3.0  # [m] the search for the touch starts this far out
_TOUCH = 1e-5  # [m]
_NEAR = 2e-3  # [m] what is nearer touches
_NOBODY = -(2**31)  # a bit of contact masks that nobody else has


def aim_point(stage: StageLoop, target: str, data: mujoco.MjData, place: Place = NOWHERE) -> tuple[Floats, int | None]:
    """Return where a target is [m]: a body's centre of mass and the body, or a site's point and None.

    Args:
        stage: The stage.
        target: `character/body`, `character/site` or a prop.
        data: Engine data with kinematics up to date (see `foreseen`).
        place: Where the target was written.
    """
    if not isinstance(target, str):
        raise InvalidValueError("target", target, "`character/body`, `character/site` or a prop's name", place)
    owner, _, part = target.partition("/")
    if not part:
        prop = stage.prop(owner, place)
        return data.xipos[prop.body].copy(), prop.body
    character = stage.character(owner, place)
    if part in character.sites:
        return data.site_xpos[character.sites[part]].copy(), None
    if part in character.bodies:
        body = character.bodies[part]
        return data.xipos[body].copy(), body
    raise UnknownNameError(f"body or site of '{owner}'", part, [*character.bodies, *character.sites], place)


def foreseen(stage: StageLoop, target: str, time: float) -> mujoco.MjData:
    """Return engine data with the target where it will be, as far as anybody knows; else where it is.

    Those who follow or play a clip know, and the stage's foresight knows of beats.
    """
    data = mujoco.MjData(stage.model)
    owner = target.partition("/")[0]
    known = stage.foresight is not None and owner in stage.built.characters
    data.qpos[:] = stage.foresight(owner, time) if known and stage.foresight is not None else stage.data.qpos
    if (actor := stage.actors.get(owner)) is not None and (expected := actor.expected_at(time)) is not None:
        data.qpos[actor.slices[0]] = expected
    mujoco.mj_kinematics(stage.model, data)
    mujoco.mj_comPos(stage.model, data)
    return data


def launch_velocity(stage: StageLoop, prop: Prop, start: Floats, event: Throw, steps: int) -> Floats:
    """Return the velocity [m/s] with which the prop's surface touches the target after `steps` physics steps.

    Exact for the engine's semi-implicit step, where N steps of gravity move a body by g·h²·N(N+1)/2. What else may be
    in the way is not looked at.
    """
    data = foreseen(stage, event.target, event.hits_at)
    point, body = aim_point(stage, event.target, data, event.place)
    lead = np.asarray(event.lead, dtype=float)
    h, gravity = stage.step_time, np.asarray(stage.scene.gravity)
    fall = gravity * h * h * steps * (steps + 1) / 2
    velocity = (point + lead - start - fall) / (steps * h)
    for _ in range(_ROUNDS):
        arriving = velocity + gravity * h * steps
        direction = arriving / max(float(np.linalg.norm(arriving)), 1e-9)
        back = _touch_distance(stage, data, prop, body, point, direction)
        velocity = (point + lead - back * direction - start - fall) / (steps * h)
    return velocity


def _touch_distance(
    stage: StageLoop, data: mujoco.MjData, prop: Prop, body: int | None, point: Floats, direction: Floats
) -> float:
    """Return how far before `point` the prop's centre is when it first touches, coming along `direction` [m].

    A site is a point on the skin: the prop's surface is to reach that point. For a body, the prop is slid in from afar
    by the distance that is certainly free, until its shape touches the body's.
    """
    model = stage.model
    own = np.flatnonzero(model.geom_bodyid == prop.body)
    if body is None:
        return float(model.geom_rbound[own].min())
    theirs = np.flatnonzero(model.geom_bodyid == body)
    shift = data.qpos[prop.qpos : prop.qpos + 3]
    back = _FAR
    for _ in range(60):
        shift[:] = point - back * direction
        mujoco.mj_kinematics(model, data)
        free = min(mujoco.mj_geomDistance(model, data, a, b, _FAR, None) for a in own for b in theirs)
        if free < _TOUCH or back <= 0.0:
            break
        back -= free
    return max(back, 0.0)


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
