"""Two versions against each other: both stay warm and are asked in turn, pair by pair, within one run.

What a machine does besides moves both of a pair; so the ratio of the means over a scene, with the interval in which it
lies, says which version is faster, where two runs one after the other would say what the machine was doing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from stunt.errors import StuntError, UnknownNameError

HERE: Final = Path(__file__).parents[1]
PAIRS: Final = 20
"""Fewest pairs from which an interval is told."""
GROUPS: Final = ("control", "loop")
"""What can be compared."""
_SHARE = 0.95  # of the resampled ratios lie in the interval
_RESAMPLES = 10_000
_SEED = 15
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One row, measured in both versions.

    Attributes:
        name: What was measured.
        step: Mean over the scene of this version's step [µs].
        other: And of the other's.
        ratio: Of the two means; below 1 this version is faster.
        low: Lower end of the ratio's 95 % interval.
        high: And upper.
        pairs: How many pairs were measured.
    """

    name: str
    step: float
    other: float
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def worse(self) -> bool:
        """Whether this version is slower beyond what chance explains."""
        return self.low > 1.0


def interval(ours: Floats, theirs: Floats, *, seed: int = _SEED) -> tuple[float, float, float]:
    """Return the ratio of means and its 95 % interval, by drawing whole pairs again.

    Args:
        ours: Seconds of each pair, (n,).
        theirs: Of the other version, measured beside it, (n,).
        seed: Of the drawing.
    """
    drawn = np.random.default_rng(seed).integers(len(ours), size=(_RESAMPLES, len(ours)))
    ratios = ours[drawn].mean(axis=1) / theirs[drawn].mean(axis=1)
    low, high = np.quantile(ratios, [0.5 - 0.5 * _SHARE, 0.5 + 0.5 * _SHARE])
    return float(ours.mean() / theirs.mean()), float(low), float(high)


class Worker:
    """A version in a process of its own (see `warm.py`)."""

    def __init__(self, checkout: Path) -> None:
        """Start it and wait until it has everything imported.

        Raises:
            StuntError: There is no Stunt with benchmarks, or it does not start.
        """
        self.checkout = checkout.resolve()
        if not (self.checkout / "src" / "stunt" / "__init__.py").is_file():
            raise StuntError(f"'{checkout}' is no checkout of Stunt: it has no 'src/stunt'.")
        path = os.pathsep.join((str(self.checkout / "src"), str(self.checkout)))
        self._process = subprocess.Popen(
            # -P: the worker's own folder must not stand before the checkout's.
            [sys.executable, "-P", str(Path(__file__).with_name("warm.py"))], env={**os.environ, "PYTHONPATH": path},
            cwd=self.checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        told = self._read()
        if not Path(told["stunt"]).is_relative_to(self.checkout):
            self.close()
            raise StuntError(f"'{checkout}' was to be measured, and Stunt came from '{told['stunt']}'.")
        self.rows: list[str] = told["rows"]

    def sample(self, row: str) -> tuple[float, int]:
        """Measure a row once: processor seconds over its scene, and physics steps in them."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"row": row}) + "\n")
        self._process.stdin.flush()
        told = self._read()
        return float(told["seconds"]), int(told["steps"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.close()
            raise StuntError(f"the benchmarks of '{self.checkout}' stopped; what they said stands above.")
        told: dict[str, Any] = json.loads(line)
        return told

    def close(self) -> None:
        """Let it end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()


def compare(other: Path, groups: Sequence[str] = (), *, pairs: int = PAIRS) -> list[Compared]:
    """Measure this checkout and another, a pair at a time.

    Args:
        other: The other checkout's folder.
        groups: Which of `GROUPS`; none is all.
        pairs: How many pairs per row.

    Raises:
        UnknownNameError: There is no such group.
        StuntError: A checkout cannot be measured.
    """
    for group in groups:
        if group not in GROUPS:
            raise UnknownNameError("benchmark that compares versions", group, GROUPS)
    workers: list[Worker] = []
    try:
        for checkout in (HERE, Path(other)):
            workers.append(Worker(checkout))
        common = [row for row in workers[0].rows if row in workers[1].rows]
        chosen = [row for row in common if row.partition(":")[0] in (groups or GROUPS)]
        found = {row: np.empty((pairs, 2)) for row in chosen}
        steps = {row: [worker.sample(row)[1] for worker in workers] for row in chosen}  # and warms everything up
        with Console(stderr=True).status("Measuring …") as status:
            for pair in range(pairs):
                status.update(f"Measuring pair {pair + 1} of {pairs} …")
                for number, row in enumerate(chosen):
                    # Who comes first finds a colder cache; they take turns.
                    for k in (0, 1) if (pair + number) % 2 == 0 else (1, 0):
                        found[row][pair, k] = workers[k].sample(row)[0] / steps[row][k]
    finally:
        for worker in workers:
            worker.close()
    return [_compared(row, seconds) for row, seconds in found.items()]


def _compared(name: str, seconds: Floats) -> Compared:
    ours, theirs = seconds.T
    return Compared(name, 1e6 * float(ours.mean()), 1e6 * float(theirs.mean()), *interval(ours, theirs), len(ours))


def table(rows: Sequence[Compared], other: Path) -> Table:
    """Return the rows as a table for people."""
    caption = f"means over a scene, processor time per physics step, {rows[0].pairs if rows else 0} interleaved pairs"
    made = Table(title=f"This checkout against {other}", caption=caption)
    made.add_column("what")
    for heading in ("here [µs]", "there [µs]", "ratio", "95 % interval", ""):
        made.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        verdict = "[red]slower[/]" if row.worse else "[green]faster[/]" if row.high < 1.0 else "as fast"
        between = f"{row.low:.3f} … {row.high:.3f}"
        made.add_row(row.name, f"{row.step:.2f}", f"{row.other:.2f}", f"{row.ratio:.3f}", between, verdict)
    return made
