"""What it costs that a performance is written down while it runs: with its journal against without."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Measurement
from benchmarks.timing import Job, interleaved, median_ratio, stopwatch
from stunt.record.journal import Journal
from stunt.record.take import Take
from stunt.script.file import script_from_data
from stunt.script.performance import Performance

FRAMES = 6000
SCENES = {
    "a body that stands": {"rate": 480, "seconds": FRAMES / 480, "characters": {"ada": {"body": "torso28"}}},
    "a body that is pushed about": {
        "rate": 480,
        "seconds": FRAMES / 480,
        "characters": {"ada": {"body": "torso28"}},
        "poses": {"up": {"r_elbow_flexion": 60}, "down": {"r_elbow_flexion": 5}},
        "performance": {"ada": {"beats": [{"pose": ("up", "down")[k % 2], "after": 0.4} for k in range(30)]}},
        "events": [{"push": "ada/thorax", "at": 0.4 * k + 0.2, "impulse": [2, 0, 0]} for k in range(30)],
    },
}
"""The cheapest performance there is, and one of which every number changes."""


def measure(quick: bool = False) -> list[Measurement]:
    """Perform scenes with and without a journal, from the first frame to the take; `quick` takes few pairs."""
    with tempfile.TemporaryDirectory() as folder:
        return [_measure(name, Path(folder), quick) for name in SCENES]


def _measure(name: str, folder: Path, quick: bool) -> Measurement:
    data = {**SCENES[name], "seconds": 1.0} if quick else SCENES[name]
    jobs: dict[str, Job] = {"with": lambda: _perform(data, folder / "journal"), "without": lambda: _perform(data)}
    interleaved([jobs], 1)  # compile and warm up
    seconds = interleaved([jobs], 2 if quick else 60)
    ratio = median_ratio(seconds["with"], seconds["without"])
    least = seconds["with"].min() / seconds["without"].min()
    frames = round(480 * float(data["seconds"]))  # type: ignore[arg-type]
    note = (
        f"{frames:,} frames and the take, {1e6 * seconds['without'].min() / frames:.0f} µs a frame; least {least:.3f}"
    )
    return Measurement(f"written down as it runs / not: {name}", ratio, "", 1.05, note)


def _perform(data: dict[str, object], path: Path | None = None) -> float:
    """Perform; return how long it took."""
    performance = Performance(script_from_data(data), foretell=False)
    if path is None:
        return stopwatch(lambda: performance.run(_idle))
    with open(path, "w+b", buffering=0) as file:
        journal = Journal(file)

        def work() -> Take:
            journal.follow(performance.stage, performance.recorder, performance.told)
            take = performance.run(_told(journal))
            journal.append()
            return take

        return stopwatch(work)


def _idle(time: float) -> None:
    pass


def _told(journal: Journal) -> Callable[[float], None]:
    return lambda time: journal.keep_up()
