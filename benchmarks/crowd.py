"""A crowd on one stage: fifty people walking and being pushed, whole frames against real time and the bare engine."""

from __future__ import annotations

import copy
import importlib.util
import time
from pathlib import Path
from typing import Any, Final

import mujoco
import numpy as np

from benchmarks.bare import put_engine
from benchmarks.result import Measurement
from benchmarks.supervisor import MASKS
from stunt.stage.loop import StageLoop

PEOPLE, FORCES = 50, 20
FEW: Final = (8, 3)
"""So many of either, to see that it works."""
SECONDS: Final = 60.0
EVERY: Final = 30
"""Every so many frames the bare engine takes the same steps."""
_PROGRAM = Path(__file__).parents[1] / "examples" / "crowd.py"
_clock = time.thread_time


def measure(quick: bool = False) -> list[Measurement]:
    """Measure the example's scene, thinking and pushing included."""
    program = plaza()
    people, forces = FEW if quick else (PEOPLE, FORCES)
    scene = program.Plaza(people, forces)
    stage, cost, bare, both, fewest = scene.stage, list[float](), 0.0, 0.0, people
    for _ in range(30):  # load what is compiled
        scene.step()
    engine = _Engine(stage)
    for number in range(round((1.0 if quick else SECONDS) / program.FRAME)):
        compared = number % EVERY == 0
        alone = engine.steps(stage, round(program.FRAME / stage.step_time)) if compared else 0.0
        began = _clock()
        scene.step()
        cost.append((_clock() - began) / program.FRAME)
        bare, both = bare + alone, both + (cost[-1] * program.FRAME if compared else 0.0)
        fewest = min(fewest, len(scene.crowd.under_forces))
    what = f"{people} people walking, {len(scene.pushed)} pushes, at least {fewest} under forces, 120 Hz"
    note = "processor time of a whole step(1/60) over 1/60 s"
    over = "the same steps by `mj_step` alone, from the same states with everybody awake"
    return [
        Measurement(f"a crowd over real time, mean: {what}", float(np.mean(cost)), "×", 1.0, note),
        Measurement("a crowd over real time, 99 of 100 frames", float(np.quantile(cost, 0.99)), "×", 1.0, note),
        Measurement("a crowd over the bare engine", both / bare, "×", None, over),
    ]


def plaza() -> Any:
    """Return the example's program."""
    spec = importlib.util.spec_from_file_location("crowd_example", _PROGRAM)
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


class _Engine:
    """The engine alone."""

    def __init__(self, stage: StageLoop) -> None:
        self._model = copy.deepcopy(stage.model)
        self._data = mujoco.MjData(self._model)

    def steps(self, stage: StageLoop, count: int) -> float:
        """Return how long it takes for some steps from where a stage is [s]."""
        for name in MASKS:
            getattr(self._model, name)[...] = getattr(stage.model, name)
        put_engine(self._model, self._data, stage.save())
        began = _clock()
        mujoco.mj_step(self._model, self._data, nstep=count)
        return _clock() - began
