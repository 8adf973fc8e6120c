"""Aiming: which velocity makes a thrown prop touch a target at a time."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import NOWHERE, InvalidValueError, Place, UnknownNameError
from stunt.stage.build import Prop
from stunt.stage.event_specs import Throw
from stunt.stage.loop import StageLoop

Floats = NDArray[np.float64]
_ROUNDS = 4  # the touch point depends on the direction of arrival, which depends on it: settles in two or three
_FAR = 3.0  # [m] the search for the touch starts this far out
_TOUCH = 1e-5  # [m]


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
