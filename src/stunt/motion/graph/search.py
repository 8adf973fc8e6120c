"""The best way through a motion graph along a path, a few seconds ahead: branch and bound.

A branch is a sequence of transitions. Its cost adds up over its frames: how far the root is from where it should be on
the path, how far it faces off the path's direction, how much it lags behind the wanted speed, and what the transitions
cost. No term is negative, so a branch that already costs more than the best one found to the horizon is cut off.
The most hopeful branch is tried first: the first one that gets through is mostly good, and cuts off most of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from stunt.maths.rotations import Floats
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.drawn_path import SPACING, DrawnPath
from stunt.motion.graph.planar import Planar, eased
from stunt.motion.graph.search_kernel import reached, search_path

FINEST = 30.0  # slowest rate at which progress is looked at [1/s]
_FASTEST = 8.0  # along a path [m/s]; what jumps ahead farther than this is taking a short cut


@dataclass(frozen=True)
class SearchSettings:
    """What counts, and how far the search looks."""

    horizon: float = 3.0  #: How far ahead [s]
    commit: float = 0.5  #: How much of the best way is taken before searching again [s]
    speed: float | None = None  #: Wanted speed along the path [m/s]; None: as fast as the clips walk
    facing: float = 0.02  #: Cost of facing a radian off the path's direction [m²]
    lag: float = 0.05  #: Cost of not getting ahead at all [m²]
    change: float = 60.0  #: Cost of a transition, per square metre of its own cost; what is unlike is avoided
    hop: float = 0.05  #: Cost of any transition [m²]; without need nothing is left
    #: What a frame still to come is thought to cost [m²]: the larger, the sooner one branch is followed to the horizon
    #: before others are tried.
    hope: float = 0.01
    branches: int = 2500  #: Most branches looked at, so that a search ends in time


class Here(NamedTuple):
    """Where a walk is: a frame of a clip, the clip's place on the ground, and how far along the path."""

    source: int  #: Number of the clip
    frame: int  #: Which of its frames
    place: Planar  #: Where the clip lies
    mark: int  #: Number of the path's sample that was reached


@dataclass(frozen=True, eq=False)
class Searcher:
    """A graph laid out in arrays for the search."""

    graph: MotionGraph  #: The graph
    settings: SearchSettings = SearchSettings()  #: What counts

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of each clip's first frame when all are counted through, (C + 1,)."""
        return np.concatenate([[0], np.cumsum([source.frames for source in self.graph.sources])]).astype(np.int64)

    @cached_property
    def speed(self) -> float:
        """The speed that is asked for [m/s]: as set, or what the moving frames of the clips do at the median."""
        if self.settings.speed is not None:
            return self.settings.speed
        fps = self.graph.settings.fps
        paces = [np.linalg.norm(np.diff(s.ground_track[:, :2], axis=0), axis=1) * fps for s in self.graph.sources]
        pace = np.concatenate(paces)
        return float(np.median(pace[pace > 0.4])) if (pace > 0.4).any() else 0.0

    @cached_property
    def tables(self) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any]:
        """Frames and transitions as the compiled searches read them (`search_kernel.search_path`)."""
        graph, starts = self.graph, self.starts
        tracks = np.concatenate([source.ground_track for source in graph.sources])
        kept = np.concatenate(graph.kept)
        ends = np.repeat(starts[1:], np.diff(starts))  # past the last frame of each frame's clip
        leave = np.array([starts[t.source] + t.leave for t in graph.transitions], np.int64)
        arrive = np.array([starts[t.target] + t.arrive for t in graph.transitions], np.int64)
        moves = np.array([(t.move.x, t.move.y, t.move.turn) for t in graph.transitions])
        cost = np.array([t.cost for t in graph.transitions])
        first = np.searchsorted(leave, np.arange(starts[-1] + 1)).astype(np.int64)
        half = graph.settings.half
        share = eased(np.arange(2 * half + 1) / (2 * half))
        return tracks, kept, ends, first, arrive, moves, cost, share

    def best(self, here: Here, path: DrawnPath) -> tuple[list[int], float, int]:
        """Return the best way on: numbers of its transitions in order, its cost per frame, branches looked at.

        An empty list: nothing is better than playing on for the whole horizon.
        """
        settings, fps = self.settings, self.graph.settings.fps
        at = np.array([here.place.x, here.place.y, here.place.turn])
        horizon = max(1, round(settings.horizon * fps))
        ahead = max(self.speed / fps / SPACING, 1e-9)  # samples per frame
        weights = np.array([settings.facing, settings.lag, ahead])
        prices = np.array([settings.change, settings.hop, settings.hope])
        way, nobody = np.empty(horizon + 1, np.int64), np.empty(0)
        task = (weights, path.samples, _jump(fps), nobody, np.empty((0, 3)), nobody, nobody)
        length, cost, looked = search_path(
            *self.tables, task, self.starts[here.source] + here.frame, at, here.mark, horizon, prices,
            settings.branches, way,
        )  # fmt: skip
        return [int(number) for number in way[:length]], cost / horizon, looked


def progress(path: DrawnPath, places: Floats, mark: int) -> int:
    """Return which sample of a path was reached after going through places (n, 2), from a sample on."""
    return int(reached(path.samples, np.ascontiguousarray(places), mark, _jump(FINEST)))


def _jump(fps: float) -> int:
    return max(2, round(_FASTEST / fps / SPACING))
