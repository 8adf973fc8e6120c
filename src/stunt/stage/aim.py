"""Aiming: which velocity makes a thrown prop touch a target at a time."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, Place, UnknownNameError
from stunt.stage.build import Prop
from stunt.stage.loop import Stage
from stunt.stage.scene import Throw

Floats = NDArray[np.float64]
_ROUNDS = 4  # the touch point depends on the direction of arrival, which depends on it: settles in two or three


def aim_point(stage: Stage, target: str, time: float, place: Place = NOWHERE) -> tuple[Floats, int | None]:
    """Return where a target will be [m], and its body if it is one (a site is a point on the skin).

    Uses the stage's foresight, where a performance has set one; otherwise the target is taken to stay where it is.
    """
    owner, _, part = target.partition("/")
    data = _foreseen(stage, owner, time, place)
    if not part:
        prop = stage.prop(owner, place)
        return data.xpos[prop.body].copy(), prop.body
    character = stage.character(owner, place)
    if part in character.sites:
        return data.site_xpos[character.sites[part]].copy(), None
    if part in character.bodies:
        body = character.bodies[part]
        return data.xipos[body].copy(), body
    raise UnknownNameError(f"body or site of '{owner}'", part, [*character.bodies, *character.sites], place)


def _foreseen(stage: Stage, owner: str, time: float, place: Place) -> mujoco.MjData:
    data = mujoco.MjData(stage.model)
    data.qpos[:] = stage.data.qpos
    if stage.foresight is not None and owner in stage.built.characters:
        data.qpos[:] = stage.foresight(owner, time)
    mujoco.mj_kinematics(stage.model, data)
    mujoco.mj_comPos(stage.model, data)
    return data


def launch_velocity(stage: Stage, prop: Prop, start: Floats, event: Throw, steps: int) -> Floats:
    """Return the velocity [m/s] with which the prop's surface touches the target after `steps` physics steps.

    Exact for the engine's semi-implicit step, where N steps of gravity move a body by g·h²·N(N+1)/2.
    """
    point, body = aim_point(stage, event.target, event.hits_at, event.place)
    point = point + np.asarray(event.lead)
    h, gravity = stage.step_time, np.asarray(stage.scene.gravity)
    fall = gravity * h * h * steps * (steps + 1) / 2
    center = point
    velocity = (center - start - fall) / (steps * h)
    for _ in range(_ROUNDS):
        arriving = velocity + gravity * h * steps
        direction = arriving / max(float(np.linalg.norm(arriving)), 1e-9)
        center = point - direction * (_reach(stage, prop) + _depth(stage, body, point, direction, event))
        velocity = (center - start - fall) / (steps * h)
    return velocity


def _reach(stage: Stage, prop: Prop) -> float:
    """Return how far the prop's surface lies from its centre, roughly: exact for a sphere [m]."""
    model = stage.model
    sphere = mujoco.mjtGeom.mjGEOM_SPHERE
    sizes = [
        model.geom_size[g][0] if model.geom_type[g] == sphere else model.geom_size[g].min()
        for g in np.flatnonzero(model.geom_bodyid == prop.body)
    ]
    return float(max(sizes))


def _depth(stage: Stage, body: int | None, point: Floats, direction: Floats, event: Throw) -> float:
    """Return how far the target's skin lies from `point`, toward the thrower [m]; a site is on the skin."""
    if body is None:
        return 0.0
    owner = event.target.partition("/")[0]
    data = _foreseen(stage, owner, event.hits_at, event.place)
    mujoco.mj_camlight(stage.model, data)
    away = 2.0
    nearest = 0.0
    for geom in np.flatnonzero(stage.model.geom_bodyid == body):
        kind = stage.model.geom_type[geom]
        if kind in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_PLANE):
            continue
        distance = mujoco.mju_rayGeom(
            data.geom_xpos[geom], data.geom_xmat[geom], stage.model.geom_size[geom],
            point - event_offset(event) - away * direction, direction, kind, None,
        )  # fmt: skip
        if distance >= 0.0:
            nearest = max(nearest, away - distance)
    return nearest


def event_offset(event: Throw) -> Floats:
    """Return the lead as an array: geometry is foreseen without it."""
    return np.asarray(event.lead, dtype=float)
