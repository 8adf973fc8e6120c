"""What the stage's own loop adds: crew, beats and contact watch, for a user who steps it 60 times a second."""

from __future__ import annotations

from typing import Any

from benchmarks.bare import Bare, controlled_steps, note_steps, put_controlled
from benchmarks.dancers import dancers, states_along
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch, typical
from stunt.stage.loop import StageLoop

_BURST = 8  # 1/60 s at 480 Hz
_SCENE = 6.0  # [s]
_SCENE_BAR = 1.18


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five dancers, and a whole scene of beats against the bare step."""
    return [*(_measure(count, quick) for count in (1, 5)), _measure_scene(quick)]


def _measure_scene(quick: bool) -> Measurement:
    """Compare every frame of YMCA, beats and all, with the bare engine on the same way."""
    stage = dancers(1)
    frames = [stage.save()]
    for _ in range(12 if quick else round(_SCENE * 60)):
        stage.advance(_BURST)
        frames.append(stage.save())
    rows = [note_steps(stage, state, _BURST) for state in frames]
    bare, whole, alone = Bare(stage), 0.0, 0.0
    for repeat in range(2 if quick else 6):
        for state, steps in zip(frames, rows, strict=True):
            bare.put(state)
            lone = stopwatch(lambda steps=steps: bare.steps(steps))
            stage.restore(state)
            put_controlled(stage, state)
            full = stopwatch(lambda: stage.step(1.0 / 60.0))
            if repeat:  # the first round warms up
                whole, alone = whole + full, alone + lone
    note = f"mean over {len(frames)} frames of YMCA, one human39 at 480 Hz"
    return Measurement("Beats: Stage.step(1/60) over the bare steps", whole / alone, "×", _SCENE_BAR, note)


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
