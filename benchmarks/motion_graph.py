"""How fast walks through a motion graph are made, and how fast the graph."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.result import Measurement
from benchmarks.timing import stopwatch
from stunt.library.own_walks import own_walk_graph
from stunt.motion.graph.along import walk_along
from stunt.motion.graph.drawn_path import DrawnPath

BAR = 2.0  # times real time
_PATHS = {
    "a wave": ((0, 0), (3, 0), (6, 2), (9, 2), (12, 0)),
    "corners": ((0, 0), (4, 0), (4, 4), (8, 4), (8, 0)),
    "there and back": ((0, 0), (4, 0), (6, 2), (4, 4), (0, 4), (-2, 2), (0, 0.5)),
}


def measure(quick: bool = False) -> list[Measurement]:
    """Walk along three paths through the package's own walks, and make their graph with and without its cache."""
    with tempfile.TemporaryDirectory() as folder:
        own_walk_graph(cache=Path(folder))
        cold = min(stopwatch(own_walk_graph) for _ in range(1 if quick else 3))
        warm = min(stopwatch(lambda: own_walk_graph(cache=Path(folder))) for _ in range(1 if quick else 3))
    graph = own_walk_graph()
    note = f"{len(graph.sources)} clips, {graph.seconds:.0f} s of motion, {len(graph.transitions)} transitions"
    found = [
        Measurement("motion graph: made", cold, "s", None, note),
        Measurement("the same, distance maps from the disk", warm, "s", None, note),
    ]
    walk_along(graph, DrawnPath.through(_PATHS["a wave"]))
    for name, points in list(_PATHS.items())[: 1 if quick else None]:
        path = DrawnPath.through(points)
        walked = walk_along(graph, path)
        seconds = min(stopwatch(lambda path=path: walk_along(graph, path)) for _ in range(1 if quick else 3))  # type: ignore[misc]
        slowness = 1e3 * seconds / walked.clip.duration
        note = f"{1e3 / slowness:.0f} times real time; {path.length:.0f} m, mean distance {walked.distance:.3f} m"
        found.append(Measurement(f"walk along a path: {name}", slowness, "ms per second", 1e3 / BAR, note))
    return found
