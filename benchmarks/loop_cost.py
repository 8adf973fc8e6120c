"""What the stage's own loop adds: crew, beats and contact watch, for a user who steps it 60 times a second."""

from __future__ import annotations

from typing import Any

from benchmarks.bare import controlled_steps, put_controlled
from benchmarks.dancers import dancers, states_along
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch, typical
from stunt.stage.loop import StageLoop

_BURST = 8  # 1/60 s at 480 Hz


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five dancers."""
    return [_measure(count, quick) for count in (1, 5)]


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
