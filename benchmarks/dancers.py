"""The stage the benchmarks measure on: dancers side by side, all performing YMCA, nobody recording."""

from __future__ import annotations

import dataclasses
from typing import Any

from stunt.drive.beats.performer import Performer
from stunt.drive.beats.spec import Coupling, Script
from stunt.examples import example
from stunt.script.file import load_script
from stunt.stage.loop import StageLoop
from stunt.stage.scene import Scene

_APART = 1.8  # [m] between neighbours, so that nobody hits anybody


def ymca(rate: float = 480.0) -> Script:
    """Return the YMCA example at a rate [Hz], physics and control alike."""
    script = load_script(example("ymca").path)
    return dataclasses.replace(script, scene=dataclasses.replace(script.scene, physics_hz=rate, control_hz=rate))


def dancers(count: int, coupling: Coupling = "full", rate: float = 480.0) -> StageLoop:
    """Return a stage with so many dancers on it, each with its performer."""
    script = ymca(rate)
    (name,) = script.parts
    first = script.scene.characters[name]
    start = dict(script.poses[first.start].angles) if isinstance(first.start, str) else first.start
    cast = {f"{name}{k}": dataclasses.replace(first, start=start, at=(0.0, k * _APART, 0.0)) for k in range(count)}
    stage = StageLoop(Scene(characters=cast, physics_hz=rate, control_hz=rate))
    part = dataclasses.replace(script.parts[name], coupling=coupling)
    for who in cast:
        Performer(stage, who, part=part)
    return stage


def states_along(stage: StageLoop, seconds: float, count: int) -> list[dict[str, Any]]:
    """Play and return saved states, evenly spread."""
    stride = max(1, round(seconds / count / stage.step_time))
    states = []
    for _ in range(count):
        stage.advance(stride)
        states.append(stage.save())
    return states
