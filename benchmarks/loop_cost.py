"""What the stage's own loop adds: crew, beats and contact watch, for a user who steps it 60 times a second."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.bare import Bare, Notes, controlled_steps, put_controlled
from benchmarks.dancers import dancers, states_along
from benchmarks.result import Measurement
from benchmarks.timing import Floats, Job, interleaved, median_ratio, stopwatch, typical
from stunt.stage.loop import StageLoop

_BURST = 8  # 1/60 s at 480 Hz
_SCENE = 6.0  # [s]
_SCENE_BAR = 1.18


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five dancers, and a whole scene of beats against the bare step."""
    return [*(_measure(count, quick) for count in (1, 5)), _measure_scene(quick)]


def _measure_scene(quick: bool) -> Measurement:
    """Compare a whole scene of beats, frame by frame, with the bare engine on the same way."""
    frames = 12 if quick else round(_SCENE * 60)
    rows, start = _written(frames)
    ratios = [_ratio(rows, start) for _ in range(2 if quick else 7)][1:]  # the first round warms up
    note = f"mean over {frames} frames of YMCA, one human39 at 480 Hz; median of {len(ratios)} rounds"
    return Measurement("Beats: Stage.step(1/60) over the bare steps", float(np.median(ratios)), "×", _SCENE_BAR, note)


def _written(frames: int) -> tuple[list[Floats], dict[str, Any]]:
    """Return what control writes for every step of every frame, and the state all begins with."""
    stage = dancers(1)
    stage.advance(1)
    start, notes = stage.save(), Notes(stage)
    rows = [np.array([notes.of(lambda: stage.advance(1)) for _ in range(_BURST)]) for _ in range(frames)]
    return rows, start


def _ratio(rows: list[Floats], start: dict[str, Any]) -> float:
    """Play the scene and the bare steps, a frame of each in turn; return how much longer the scene takes."""
    stage = dancers(1)
    stage.restore(start)
    bare, whole, alone = Bare(stage), 0.0, 0.0
    bare.put(start)
    for burst in rows:
        whole += stopwatch(lambda: stage.step(1.0 / 60.0))
        alone += stopwatch(lambda steps=burst: bare.steps(steps))  # type: ignore[misc]
    assert np.allclose(stage.data.qpos, bare.data.qpos, atol=1e-9), "both go the same way"
    return whole / alone


def _measure(count: int, quick: bool) -> Measurement:
    stage = dancers(count)
    states = states_along(stage, 5.0, 5 if quick else 30)
    jobs = [_jobs(stage, state) for state in states]
    interleaved(jobs, 1)  # warm up
    seconds = interleaved(jobs, 3 if quick else 11)
    whole, steps = typical(seconds["stage"]), typical(seconds["steps"])
    who = "one human39" if count == 1 else f"{count} × human39"
    over = 100.0 * (median_ratio(seconds["stage"], seconds["steps"]) - 1.0)
    note = f"{over:.0f} % over the {_BURST} controlled steps inside"
    beyond = 1e6 * (whole - steps) / len(states)
    return Measurement(f"Stage.step(1/60) beyond its steps: {who}", beyond, "µs", None, note)


def _jobs(stage: StageLoop, state: dict[str, Any]) -> dict[str, Job]:
    def stage_job() -> float:
        stage.restore(state)
        put_controlled(stage, state)
        return stopwatch(lambda: stage.step(1.0 / 60.0))

    def steps_job() -> float:
        stage.restore(state)
        put_controlled(stage, state)
        return stopwatch(lambda: controlled_steps(stage, _BURST))

    return {"stage": stage_job, "steps": steps_job}
