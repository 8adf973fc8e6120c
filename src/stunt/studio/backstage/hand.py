"""The mouse's hand on the stage: a pull is a row of short pushes, so that a script can keep and replay it exactly.

What the hand does to the stage, as a script would write it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import InvalidValueError
from stunt.stage.event_specs import Push
from stunt.stage.loop import StageLoop

MOST_IMPULSE = 300.0
"""Largest push of the hand [N·s]."""
THINGS: dict[str, dict[str, Any]] = {
    "ball": {"shape": "sphere", "radius": 0.11, "mass": 0.6, "color": [0.9, 0.45, 0.12]},
    "crate": {"shape": "box", "size": [0.32, 0.32, 0.32], "mass": 6, "color": [0.62, 0.44, 0.26]},
}
"""What can be thrown."""
_FLIGHT = 0.6  # [s]
_FROM = 3.2  # [m]


def push_touch(
    target: str, at: float, impulse: Sequence[float], point: Sequence[float] | None = None
) -> dict[str, Any]:
    """Return a push: `target` is `character/body` or a prop, `impulse` in the world [N·s], `point` on the body [m].

    Raises:
        InvalidValueError: It is not finite, or larger than a hand's.
    """
    touch: dict[str, Any] = {"push": str(target), "at": _time(at), "impulse": _vector(impulse, MOST_IMPULSE)}
    if point is not None:
        touch["point"] = [round(value, 3) for value in _vector(point, 10.0)]
    return touch


def throw_touch(what: str, target: str, at: float, taken: Sequence[str], side: Sequence[float]) -> dict[str, Any]:
    """Return a throw of a new thing, which lies on the ground until then.

    Args:
        what: `ball` or `crate`.
        target: `character/body` to hit.
        at: When it leaves [s].
        taken: Names of things there are already.
        side: Where it comes from: a point on the ground [m], x and y.
    """
    thing = THINGS[what]
    name = next(n for n in (f"{what}{k or ''}" for k in range(1000)) if n not in taken)
    x, y, _ = _vector((*side, 0.0), 1000.0)
    height = thing["radius"] if what == "ball" else thing["size"][2] / 2
    prop = {**thing, "at": [round(x, 2), round(y, 2), round(height + 0.001, 3)]}
    start = _time(at)
    return {"throw": name, "target": str(target), "at": start, "hits_at": round(start + _FLIGHT, 4), "prop": prop}


def _time(at: float) -> float:
    if not (math.isfinite(at) and 0.0 <= at < 3600.0):
        raise InvalidValueError("at", at, "a time of the performance [s]")
    return round(float(at), 4)


def _vector(values: Sequence[float], most: float) -> list[float]:
    vector = [round(float(value), 4) for value in values]
    if len(vector) != 3 or not all(math.isfinite(value) and abs(value) <= most for value in vector):
        raise InvalidValueError("vector", list(values), f"three numbers up to {most:g}")
    return vector


Floats = NDArray[np.float64]
PERIOD = 1.0 / 30.0
"""How long the force of a pull stays the same [s]."""
MOST = 600.0
"""Largest force of the hand [N]."""
_DAMPING = 0.7


@dataclass
class Pull:
    """A pull under way."""

    target: str  #: `character/body` or a prop's name, as a script says it
    body: int  #: Its number in the model
    point: Floats  #: Where it is held, in the body's frame [m]
    goal: Floats  #: Where the hand is, in the world [m]


def now_of(stage: StageLoop) -> float:
    """Return the stage's time as a script may write it: rounded down, so that it names the same step again [s]."""
    return math.floor(stage.time * 1e6 + 1e-3) / 1e6


def push_of(pull: Pull, stage: StageLoop) -> Push:
    """Return the push that pulls for one period from now on: a damped spring to the hand, sized to the body's tree."""
    model, data = stage.model, stage.data
    rotation = data.xmat[pull.body].reshape(3, 3)
    here = data.xpos[pull.body] + rotation @ pull.point
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, pull.body, velocity, 0)
    speed = velocity[3:] + np.cross(velocity[:3], here - data.xpos[pull.body])
    mass = min(max(4.0 * float(model.body_subtreemass[pull.body]), 1.0), 40.0)
    stiffness = mass * 60.0
    force = stiffness * (pull.goal - here) - 2.0 * _DAMPING * math.sqrt(stiffness * mass) * 0.5 * speed
    size = float(np.linalg.norm(force))
    force = force * min(1.0, MOST / size) if size > 0.0 else force
    steps = max(1, round(PERIOD / stage.step_time))
    return Push(
        pull.target, now_of(stage), force=_rounded(force, 1), duration=round(steps * stage.step_time, 6),
        point=_rounded(pull.point, 3),
    )  # fmt: skip


def event_data(push: Push) -> dict[str, Any]:
    """Return a push as a script writes it."""
    data: dict[str, Any] = {"push": push.target, "at": push.at}
    for key in ("impulse", "force", "point"):
        if (value := getattr(push, key)) is not None:
            data[key] = list(value)
    data["duration"] = push.duration
    return data


def find_body(stage: StageLoop, target: str) -> int:
    """Return a body by `character/body` or prop name; raises UnknownNameError where there is none."""
    owner, _, part = target.partition("/")
    if part:
        return stage.character(owner).body(part)
    return stage.prop(target).body


def pull_from(stage: StageLoop, data: Mapping[str, Any]) -> Pull:
    """Make a pull of what the page sent."""
    target = str(data["target"])
    return Pull(target, find_body(stage, target), np.array(data["point"], float), np.array(data["goal"], float))


def _rounded(vector: Floats, digits: int) -> tuple[float, float, float]:
    x, y, z = (round(float(value), digits) for value in vector)
    return x, y, z
