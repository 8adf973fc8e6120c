"""What control adds to the bare step of the same integrator, from the same states, on the same contacts."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.bare import Bare, controlled_steps, note_steps, put_controlled
from benchmarks.dancers import dancers, states_along
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch, typical
from stunt.drive.beats.spec import Coupling
from stunt.stage.loop import StageLoop

BAR: Final = 10.0
"""Percent over the bare step."""
_BURST = 32  # steps between looks at the clock
_SECONDS = 5.0  # of the dance, beats and holds included
_LEVELS: Final[tuple[Coupling, ...]] = ("compensated", "composite", "local")


def measure(quick: bool = False) -> list[Measurement]:
    """Measure one and five dancers under full coupling, and one under each of the other levels."""
    found = [_measure(1, "full", quick), _measure(5, "full", quick)]
    return found + [_measure(1, coupling, quick) for coupling in _LEVELS]


def _measure(count: int, coupling: Coupling, quick: bool) -> Measurement:
    who = "one human39" if count == 1 else f"{count} × human39"
    return cost_of(f"control over the bare step: {who}, {coupling}", dancers(count, coupling), _SECONDS, quick)


def cost_of(what: str, stage: StageLoop, seconds_long: float, quick: bool) -> Measurement:
    """Measure what control costs on a stage, from states along its first seconds."""
    states = states_along(stage, seconds_long, 5 if quick else 30)
    bare = Bare(stage)
    jobs = [_jobs(stage, bare, state) for state in states]
    interleaved(jobs, 1)  # warm up
    seconds = interleaved(jobs, 3 if quick else 21)
    over = 100.0 * (median_ratio(seconds["controlled"], seconds["bare"]) - 1.0)
    step = 1e6 * typical(seconds["bare"]) / (len(states) * _BURST)
    return Measurement(what, over, "%", BAR, f"bare step {step:.1f} µs")


def _jobs(stage: StageLoop, bare: Bare, state: dict[str, Any]) -> dict[str, Job]:
    rows = note_steps(stage, state, _BURST)

    def bare_job() -> float:
        bare.put(state)
        return stopwatch(lambda: bare.steps(rows))

    def controlled_job() -> float:
        put_controlled(stage, state)
        return stopwatch(lambda: controlled_steps(stage, _BURST))

    return {"bare": bare_job, "controlled": controlled_job}
