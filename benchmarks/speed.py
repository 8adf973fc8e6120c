"""How fast a whole performance plays: simulated seconds per second of YMCA, with and without recording."""

from __future__ import annotations

from benchmarks.dancers import dancers
from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, typical, wall_clock
from stunt.record.recorder import Recorder

_SECONDS = 5.0


def measure(quick: bool = False) -> list[Measurement]:
    """Measure at 480 and at 120 Hz."""
    seconds = 0.5 if quick else _SECONDS
    jobs = {f"{rate} {kind}": _job(rate, kind, seconds) for rate in (480, 120) for kind in ("plain", "recorded")}
    interleaved([jobs], 1)  # warm up
    times = interleaved([jobs], 2 if quick else 9)
    found = []
    for name in jobs:
        rate, kind = name.split()
        title = f"YMCA at {rate} Hz, {'recording' if kind == 'recorded' else 'not recording'}"
        found.append(Measurement(title, seconds / typical(times[name]), "× real time"))
    return found


def _job(rate: int, kind: str, seconds: float) -> Job:
    def job() -> float:
        stage = dancers(1, rate=float(rate))
        if kind == "recorded":
            Recorder(stage)
        return wall_clock(lambda: stage.step(seconds))

    return job
