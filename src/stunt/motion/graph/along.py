"""A whole walk along a drawn path, and how well it went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stunt.errors import StuntError
from stunt.motion.clips.clip import Clip
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.plants import slide
from stunt.motion.graph.search import SearchSettings
from stunt.motion.graph.walker import Entered, MotionGraphWalker

_SLOWEST = 0.1  # what gets ahead slower than this never arrives [m/s]
_PORTION = 0.5  # seconds made at a time


@dataclass(frozen=True, eq=False)
class Walked:
    """A walk along a path."""

    clip: Clip  #: The motion
    path: DrawnPath  #: What it was to follow
    arrival: float  #: When it reached the path's end [s]
    entered: tuple[Entered, ...]  #: Which clips it went through
    plants: np.ndarray  #: What of each foot stands in every frame, (F, feet)
    parts: dict[str, int]  #: Which joint is which part

    @property
    def distance(self) -> float:
        """Mean distance of the root from the path until it arrived [m]."""
        frames = round(self.arrival * self.clip.fps) + 1
        return float(self.path.distances(self.clip.root[:frames, :2]).mean())

    @property
    def slides(self) -> np.ndarray:
        """How far feet slip while they stand, plant by plant [m]."""
        return slide(self.clip.world, self.parts, self.plants)[0]


def walk_along(
    graph: MotionGraph,
    path: DrawnPath,
    *,
    settings: SearchSettings | None = None,
    start: str | None = None,
    stay: float = 1.0,
) -> Walked:
    """Walk along a path to its end.

    Args:
        graph: What to walk through.
        path: Where.
        settings: How to search.
        start: The clip to begin with.
        stay: How long the walk goes on after its arrival [s].

    Raises:
        StuntError: The clips do not get there.
    """
    walker = MotionGraphWalker(graph, path, settings=settings, start=start, past=np.inf)
    patience = path.length / _SLOWEST + 10.0
    time = 0.0
    while not walker.arrived:
        time += _PORTION
        walker.clip_until(time)
        if time > patience:
            names = ", ".join(source.name for source in graph.sources)
            raise StuntError(f"no walk through {names} gets to the end of the path in {patience:.0f} s.")
    arrival = walker.made_until
    clip = walker.clip_until(arrival + stay)
    return Walked(clip, path, arrival, walker.log, walker.plants, graph.sources[0].parts)
