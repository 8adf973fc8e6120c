"""Through a motion graph after an opponent: how near to be, which way to face, and where blows land.

The same branch and bound as along a path (`search`), with another cost per frame: being too near to the opponent or too
far from it, facing past it, leaving the ring, and — while a blow is wanted — waiting for it and missing with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np

from stunt.errors import InvalidValueError, UnknownNameError
from stunt.keys import MOMENT, NAME, Choice, Number, key, spec
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.search import Here, Searcher
from stunt.motion.graph.search_kernel import search_opponent
from stunt.motion.graph.walker import MotionGraphWalker
from stunt.motion.graph.weave import Piece

LIMBS = ("l_hand", "r_hand", "l_foot", "r_foot")


@spec("blow '{}'")
class Blow:
    """A moment of a clip in which a limb is where it should hit, by name."""

    name: str
    clip: str = key(kind=NAME, otherwise=str, help="which clip of the graph (its own name)")
    time: float = key(kind=MOMENT, name="at", help="when in it")
    limb: str = key(kind=Choice("limb", LIMBS), help="what hits")
    aim: str = key(default="head", kind=Choice("aim", ("head", "thorax")), help="what of the opponent it goes for")
    short: float = key(
        default=0.18, kind=Number(0.0, 1.0, unit="m"),
        help="how far short of its aim's middle wrist or ankle end: fist, and half of what it hits",
    )  # fmt: skip


@dataclass(frozen=True)
class Pursuit:
    """What a fighter wants now."""

    opponent: tuple[float, float]  #: Where the opponent is over the ground [m]
    aim: tuple[float, float] = (0.0, 0.0)  #: Where what a blow goes for is over the ground [m]
    nearest: float = 0.9  #: Nearer than this is too near [m]
    farthest: float = 1.3  #: Farther than this is too far [m]
    facing: float = math.radians(32.0)  #: How far to the left of the hips it fights [rad]
    short: float = 0.18  #: How far short of the aim's middle a wrist or an ankle ends [m]
    middle: tuple[float, float] = (0.0, 0.0)  #: Of the ring [m]
    ring: float = 2.5  #: Its radius [m]
    blow: str = ""  #: Name of the blow it wants; empty: none


@dataclass(frozen=True)
class PursuitSettings:
    """What counts, and how far the search looks; costs are per frame of the graph [m²]."""

    horizon: float = 2.6  #: How far ahead [s]
    commit: float = 0.3  #: How much of the best way is taken before searching again [s]
    too_near: float = 4.0  #: Per square metre too near
    too_far: float = 0.6  #: Per square metre too far
    facing: float = 0.06  #: Per square radian off
    outside: float = 6.0  #: Per square metre outside the ring
    centre: float = 0.0004  #: Per square metre from the ring's middle
    waiting: float = 0.06  #: Of a frame before the wanted blow
    miss: float = 70.0  #: Of a blow, per square metre by which it misses
    change: float = 30.0  #: Of a transition, per square metre of its own cost
    hop: float = 0.05  #: Of any transition
    hope: float = 0.02  #: What a frame still to come is thought to cost
    branches: int = 600  #: Most branches looked at

    @property
    def weights(self) -> np.ndarray:
        """As the compiled search reads them."""
        return np.array([
            self.too_near, self.too_far, self.facing, self.outside, self.centre, self.waiting, self.miss
        ])  # fmt: skip

    @property
    def prices(self) -> np.ndarray:
        """What transitions and frames to come cost, likewise."""
        return np.array([self.change, self.hop, self.hope])


@dataclass(frozen=True, eq=False)
class PursuitSearcher:
    """A graph with its blows laid out in arrays for the search."""

    graph: MotionGraph  #: The graph
    blows: tuple[Blow, ...]  #: What it can strike with
    dear: dict[str, float] = field(default_factory=dict)  #: What playing clips costs in itself, per frame, by name [m²]
    settings: PursuitSettings = PursuitSettings()  #: What counts

    def __post_init__(self) -> None:
        for blow in self.blows:
            source = self.graph.sources[self.graph.source_number(blow.clip)]
            if blow.limb not in source.parts:
                raise InvalidValueError(f"the limb of blow '{blow.name}'", blow.limb, "a part the skeleton has")
            if not 0.0 <= blow.time <= source.clip.duration:
                within = f"a time within '{blow.clip}', which takes {source.clip.duration:g} s"
                raise InvalidValueError(f"the time of blow '{blow.name}'", blow.time, within)

    @cached_property
    def plain(self) -> Searcher:
        """The tables all searches share."""
        return Searcher(self.graph)

    def frame_of(self, blow: Blow) -> int:
        """Return the frame of its clip in which a blow lands."""
        return round(blow.time * self.graph.settings.fps)

    @cached_property
    def _tables(self) -> tuple[Any, Any, Any]:
        starts, sources = self.plain.starts, self.graph.sources
        limbs, blows, price = np.zeros((starts[-1], 3)), np.full(starts[-1], -1.0), np.zeros(starts[-1])
        for number, blow in enumerate(self.blows):
            k, frame = self.graph.source_number(blow.clip), self.frame_of(blow)
            places = sources[k].clip.world_at(sources[k].times[frame : frame + 1]).positions[0]
            limbs[starts[k] + frame, :2] = places[sources[k].parts[blow.limb], :2]
            blows[starts[k] + frame] = number
        for name, cost in self.dear.items():
            k = self.graph.source_number(name)
            price[starts[k] : starts[k + 1]] = cost
        return limbs, blows, price

    def blow(self, name: str) -> Blow:
        """Return a blow by name, or say which there are."""
        known = {one.name: one for one in self.blows}
        if name not in known:
            raise UnknownNameError("blow", name, known)
        return known[name]

    def reach(self, name: str) -> float:
        """Return from how far away a blow reaches its aim's middle [m], over the ground."""
        blow = self.blow(name)
        k, frame = self.graph.source_number(blow.clip), self.frame_of(blow)
        limb = self._tables[0][self.plain.starts[k] + frame, :2]
        return float(np.linalg.norm(limb - self.graph.sources[k].ground_track[frame, :2])) + blow.short

    def best(self, here: Here, goal: Pursuit) -> tuple[list[int], float, int]:
        """Return the best way on: numbers of its transitions in order, its cost per frame, branches looked at."""
        settings, fps = self.settings, self.graph.settings.fps
        horizon = max(1, round(settings.horizon * fps))
        way = np.empty(horizon + 1, np.int64)
        names = [blow.name for blow in self.blows]
        wanted = np.array([
            *goal.opponent, *goal.aim, goal.nearest, goal.farthest, goal.facing, goal.short, *goal.middle, goal.ring,
            names.index(goal.blow) if goal.blow else -1.0,
        ])  # fmt: skip
        limbs, blows, price = self._tables
        if goal.blow:
            striking = self.blows[names.index(goal.blow)].clip
            price = price.copy()
            k = self.graph.source_number(striking)
            price[self.plain.starts[k] : self.plain.starts[k + 1]] = 0.0
        task = (settings.weights, np.empty((0, 3)), 0, wanted, limbs, blows, price)
        at = np.array([here.place.x, here.place.y, here.place.turn])
        length, cost, looked = search_opponent(
            *self.plain.tables, task, self.plain.starts[here.source] + here.frame, at, 0, horizon, settings.prices,
            settings.branches, way,
        )  # fmt: skip
        return [int(number) for number in way[:length]], cost / horizon, looked


@dataclass(frozen=True)
class Landed:
    """A blow in what is made: when it should land [s], and which."""

    time: float
    blow: str


class PursuitWalker(MotionGraphWalker):
    """Goes through a motion graph after an opponent.

    Attributes:
        pursuit: How it finds its way.
        goal: What it wants from here on.
        landed: The blows in what is made, the latest last.
    """

    def __init__(self, searcher: PursuitSearcher, goal: Pursuit, start: str | None = None) -> None:
        """Stand at the origin.

        Args:
            searcher: How to find the way.
            goal: What it wants at first.
            start: The clip to begin with.
        """
        self.pursuit, self.goal = searcher, goal
        self.landed: tuple[Landed, ...] = ()
        super().__init__(searcher.graph, start=start)

    def next_piece(self) -> None:
        """Search, and make what was decided."""
        self._go_on(self.made_until)

    def _go_on(self, asked: float) -> None:
        way, _, _ = self.pursuit.best(self._state.here, self.goal)
        self._append(self._piece(self._state.here, way), asked)

    def _commit_frames(self) -> int:
        return max(1, round(self.pursuit.settings.commit * self.graph.settings.fps))

    def _append(self, piece: Piece, asked: float) -> None:
        begin = self._state.ticks
        self.landed = (*self.landed, *self._blows_of(piece, begin))[-_REMEMBERED:]
        super()._append(piece, asked)

    def _blows_of(self, piece: Piece, begin: int) -> list[Landed]:
        """Return the blows of a piece, with their times since the walk's beginning."""
        fps, found = self.graph.settings.fps, []
        for blow in self.pursuit.blows:
            source, frame = self.graph.source_number(blow.clip), self.pursuit.frame_of(blow)
            if source == piece.source and piece.frame < frame <= piece.frame + piece.played:
                found.append(Landed((begin + frame - piece.frame) / fps, blow.name))
            if piece.transition is None:
                continue
            entered, span = self.graph.transitions[piece.transition], 2 * self.graph.settings.half
            if source == entered.target and entered.arrive - span / 2 < frame <= entered.arrive:
                found.append(Landed((begin + piece.played + span - (entered.arrive - frame)) / fps, blow.name))
        return found

    def save(self) -> Any:
        """Return its state; it is never changed afterwards."""
        return super().save(), self.goal, self.landed

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        walk, self.goal, self.landed = state
        super().restore(walk)


_REMEMBERED: Final = 4
