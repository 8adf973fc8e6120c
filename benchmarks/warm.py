"""A worker that stays warm: it measures one row of its own checkout whenever it is asked.

`against.py` starts one per version with that checkout's folders on the path, and asks them in turn. It uses only what
every version's benchmarks have had, wherever they stood: `stunt.bench` once, `benchmarks` now.

Lines of JSON: first `{"stunt": file, "rows": [...]}`; then for each `{"row": name}` a `{"seconds": …, "steps": …}`.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

PACKAGES: Final = ("benchmarks", "stunt.bench")
"""Where a checkout may have its benchmarks."""
SECONDS, STATES, BURST = 5.0, 30, 32
"""Of the dance [s]; how many states along it control sets out from, and how many steps it takes from each."""
FRAME: Final = 1.0 / 60.0
CONTROL: Final = ((1, "full"), (5, "full"), (1, "compensated"), (1, "composite"), (1, "local"))
LOOP: Final = (1, 5)

Sample = Callable[[], tuple[float, int]]
"""Measures once: processor seconds over the scene, and how many physics steps they bought."""


def own_benchmarks() -> Any:
    """Return a finder of this checkout's benchmark modules.

    Raises:
        ModuleNotFoundError: It has none.
    """
    for package in PACKAGES:
        if importlib.util.find_spec(package) is not None:
            return lambda module: importlib.import_module(f"{package}.{module}")
    raise ModuleNotFoundError(f"no benchmarks here: neither {' nor '.join(PACKAGES)}")


def rows(own: Any) -> Iterator[tuple[str, Callable[[], Sample]]]:
    """Yield each row's name and what prepares it."""
    for count, coupling in CONTROL:
        yield f"control: {_who(count)}, {coupling}", lambda c=count, how=coupling: _control(own, c, how)  # type: ignore[misc]
    for count in LOOP:
        yield f"loop: {_who(count)}", lambda c=count: _loop(own, c)  # type: ignore[misc]


def _who(count: int) -> str:
    return "one human39" if count == 1 else f"{count} × human39"


def _control(own: Any, count: int, coupling: str) -> Sample:
    """Bursts of compiled steps from states along the dance, nobody else acting."""
    stage = own("dancers").dancers(count, coupling)
    states = own("dancers").states_along(stage, SECONDS, STATES)
    put, go, stopwatch = own("bare").put_controlled, own("bare").controlled_steps, own("timing").stopwatch

    def sample() -> tuple[float, int]:
        total = 0.0
        for state in states:
            put(stage, state)
            total += stopwatch(lambda: go(stage, BURST))
        return total, len(states) * BURST

    return sample


def _loop(own: Any, count: int) -> Sample:
    """The whole dance in frames of 1/60 s, as whoever steps a stage sees it."""
    stage = own("dancers").dancers(count, "full")
    begin, frames = stage.save(), round(SECONDS / FRAME)

    def play() -> None:
        for _ in range(frames):
            stage.step(FRAME)

    def sample() -> tuple[float, int]:
        stage.restore(begin)
        return own("timing").stopwatch(play), stage.tick_of(SECONDS)

    return sample


def serve() -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not get between the answers

    def answer(what: dict[str, Any]) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    import stunt

    known = dict(rows(own_benchmarks()))
    prepared: dict[str, Sample] = {}
    answer({"stunt": stunt.__file__, "rows": list(known)})
    for line in sys.stdin:
        name = json.loads(line)["row"]
        if name not in prepared:
            prepared[name] = known[name]()
            prepared[name]()  # the first time compiles and fills caches
        gc.collect()
        gc.disable()
        seconds, steps = prepared[name]()
        gc.enable()
        answer({"seconds": seconds, "steps": steps})


if __name__ == "__main__":
    serve()
