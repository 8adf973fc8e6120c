"""`stunt bench`: measure, and say which bars are met."""

from __future__ import annotations

import argparse
import json as json_text
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

import mujoco
import numpy
from rich.console import Console
from rich.table import Table

import stunt
from benchmarks import (
    against,
    batch,
    control_cost,
    crowd,
    dynamo,
    environments,
    journal,
    loop_cost,
    motion_graph,
    scaling,
    similarity,
    speed,
    studio,
    supervisor,
    tension,
    tracking,
    trajectories,
    video,
)
from benchmarks.result import Measurement
from stunt.errors import InvalidValueError, StuntError, UnknownNameError

BENCHMARKS: Final[dict[str, Callable[[bool], list[Measurement]]]] = {
    "control": control_cost.measure,
    "scaling": scaling.measure,
    "loop": loop_cost.measure,
    "speed": speed.measure,
    "tension": tension.measure,
    "trajectories": trajectories.measure,
    "tracking": tracking.measure,
    "dynamo": dynamo.measure,
    "supervisor": supervisor.measure,
    "crowd": crowd.measure,
    "journal": journal.measure,
    "video": video.measure,
    "gym": environments.measure,
    "similarity": similarity.measure,
    "motion_graph": motion_graph.measure,
    "batch": batch.measure,
}
"""What is measured where nothing is named."""
ON_REQUEST: Final[dict[str, Callable[[bool], list[Measurement]]]] = {
    "studio": studio.measure,
    "batch_ray": batch.measure_ray,
}
"""What is measured only when it is named: it needs a browser, or Ray."""


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are Stunt's errors."""

    def error(self, message: str) -> NoReturn:
        """Complain."""
        raise StuntError(f"{message} (see 'stunt bench --help')")


def run(arguments: Sequence[str] | None = None, json: bool = False, quick: bool = False) -> int:
    """Measure and print.

    Args:
        arguments: Names of benchmarks (none is all), and options as on the command line.
        json: Print only JSON; the same as `--json`.
        quick: Few repeats, to see that it works and not to compare; the same as `--quick`.

    Returns:
        0 if every bar is met (against another version: if nothing is slower), else 1.

    Raises:
        UnknownNameError: There is no benchmark of that name.
    """
    chosen = _parse(arguments or ())
    json, quick = json or chosen.json, quick or chosen.quick
    if chosen.against is not None:
        return _run_against(chosen, json)
    found: dict[str, list[Measurement]] = {}
    # Progress goes to the other stream, so that `--json` stays pure.
    with Console(stderr=True).status("Measuring …") as status:
        for name in chosen.names or BENCHMARKS:
            status.update(f"Measuring {name} …")
            found[name] = tracking.measure(quick, chosen.clips) if name == "tracking" else _all()[name](quick)
    console = Console(highlight=False)
    if json:
        console.out(json_text.dumps(report(found, quick), indent=2))
    else:
        console.print(table(found))
    return 0 if all(m.ok is not False for group in found.values() for m in group) else 1


def _run_against(chosen: argparse.Namespace, json: bool) -> int:
    rows = against.compare(chosen.against, chosen.names, pairs=chosen.pairs)
    console = Console(highlight=False)
    if json:
        console.out(json_text.dumps([{**asdict(row), "worse": row.worse} for row in rows], indent=2))
    else:
        console.print(against.table(rows, chosen.against))
    return int(any(row.worse for row in rows))


def _all() -> dict[str, Callable[[bool], list[Measurement]]]:
    return {**BENCHMARKS, **ON_REQUEST}


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(prog="stunt bench", description="Measure what Stunt costs on this machine.", allow_abbrev=False)
    known = ", ".join((*BENCHMARKS, *ON_REQUEST))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {known} (default: all)")
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON, and nothing else")
    parser.add_argument("--quick", action="store_true", help="few repeats: to see that it works, not to compare")
    where = "a clip or a folder of clips for 'tracking' to measure on instead of Stunt's own"
    parser.add_argument("--clips", action="append", default=[], metavar="CLIP|DIR", help=where)
    with_whom = f"another checkout of Stunt: measure {' and '.join(against.GROUPS)} of both, interleaved"
    parser.add_argument("--against", type=Path, metavar="DIR", help=with_whom)
    most = f"how many pairs with --against (default: {against.PAIRS}, which is also the fewest)"
    parser.add_argument("--pairs", type=int, default=against.PAIRS, metavar="N", help=most)
    chosen = parser.parse_args(list(arguments))
    if chosen.pairs < against.PAIRS:
        raise InvalidValueError("--pairs", chosen.pairs, f"at least {against.PAIRS}: fewer tell no interval")
    for name in chosen.names:
        if name not in _all():
            raise UnknownNameError("benchmark", name, _all())
    return chosen


def report(found: dict[str, list[Measurement]], quick: bool) -> dict[str, Any]:
    """Return the measurements and what they were taken on, as JSON-able data."""
    return {
        "schema_version": 1,
        "stunt": stunt.__version__,
        "mujoco": mujoco.__version__,
        "numpy": numpy.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "quick": quick,
        "benchmarks": {name: [{**asdict(m), "ok": m.ok} for m in group] for name, group in found.items()},
    }


def table(found: dict[str, list[Measurement]]) -> Table:
    """Return the measurements as a table for people."""
    result = Table(title="Stunt benchmarks", caption="medians of interleaved repeats, ratios within this run")
    result.add_column("what")
    for heading in ("measured", "bar", ""):
        result.add_column(heading, justify="right", no_wrap=True)
    result.add_column("on", style="dim")
    for group in found.values():
        for m in group:
            verdict = {True: "[green]✓[/]", False: "[red]✗[/]", None: ""}[m.ok]
            bar = "" if m.bar is None else f"≤ {m.bar:g} {m.unit}".rstrip()
            result.add_row(m.name, f"{_shown(m.value)} {m.unit}".rstrip(), bar, verdict, m.note)
        result.add_section()
    return result


def _shown(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
