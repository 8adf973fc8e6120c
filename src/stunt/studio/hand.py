"""The mouse's hand on the stage: a pull is a row of short pushes, so that a script can keep and replay it exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.stage.loop import Stage
from stunt.stage.scene import Push

Floats = NDArray[np.float64]
PERIOD = 1.0 / 30.0
"""How long the force of a pull stays the same [s]."""
MOST = 600.0
"""Largest force of the hand [N]."""
_DAMPING = 0.7


@dataclass
class Pull:
    """A pull under way.

    Attributes:
        target: `character/body` or a prop's name, as a script says it.
        body: Its number in the model.
        point: Where it is held, in the body's frame [m].
        goal: Where the hand is, in the world [m].
    """

    target: str
    body: int
    point: Floats
    goal: Floats


def now_of(stage: Stage) -> float:
    """Return the stage's time as a script may write it: rounded down, so that it names the same step again [s]."""
    return math.floor(stage.time * 1e6 + 1e-3) / 1e6


def push_of(pull: Pull, stage: Stage) -> Push:
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


def find_body(stage: Stage, target: str) -> int:
    """Return a body by `character/body` or prop name; raises UnknownNameError where there is none."""
    owner, _, part = target.partition("/")
    if part:
        return stage.character(owner).body(part)
    return stage.prop(target).body


def pull_from(stage: Stage, data: Mapping[str, Any]) -> Pull:
    """Make a pull of what the page sent."""
    target = str(data["target"])
    return Pull(target, find_body(stage, target), np.array(data["point"], float), np.array(data["goal"], float))


def _rounded(vector: Floats, digits: int) -> tuple[float, float, float]:
    x, y, z = (round(float(value), digits) for value in vector)
    return x, y, z
