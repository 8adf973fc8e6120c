"""A walk through a motion graph, made as time goes on: pose and velocities at any time, along any path."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stunt.errors import InvalidValueError
from stunt.maths.rotations import Floats
from stunt.motion.clips.clip import Clip
from stunt.motion.clips.clip_parts import ClipPose
from stunt.motion.graph.build import MotionGraph
from stunt.motion.graph.drawn_path import DrawnPath
from stunt.motion.graph.footlock import FootState, LockState, locked
from stunt.motion.graph.planar import Planar
from stunt.motion.graph.search import Here, Searcher, SearchSettings, progress
from stunt.motion.graph.search_kernel import NEAR
from stunt.motion.graph.weave import Piece, Weaver

FPS = 60.0
"""Frames per second of what a walker makes."""
AHEAD = 40.0  # how long a line without an end is laid out at a time [m]
FAR, ASIDE = 0.35, 0.9  # who is so far off its path [m], or faces past it [rad], makes a way back to it
TIGHTEST = 1.2  # turn on that way: radius [m]
BACK = 0.1  # where the two are no further apart it follows the path itself again [m]
URGED = 3.0  # times as much as on the path it costs there to lag: who stands beside it is not to stay
PAST = 4.0  # seconds of the past that are kept, for whoever asks a little late


class Entered(NamedTuple):
    """A clip a walk went over to: when [s], which, and how far apart the joints were [m]."""

    time: float
    clip: str
    cost: float


class WalkerState(NamedTuple):
    """Everything a walker is: plain values that are never changed, to be saved and put back."""

    here: Here  #: Where in the graph the made part ends
    ticks: int  #: How many of the graph's frames are made
    first: int  #: Number of the first kept frame, at `FPS`
    root: Floats  #: Kept frames [m], (F, 3)
    rotations: Floats  #: Kept frames, (F, J, 4)
    kinds: np.ndarray  #: What of each foot stands in them, (F, feet)
    feet: LockState  #: What the foot lock remembers
    path: DrawnPath | None  #: What it was told to follow; None: straight on
    line: DrawnPath  #: What it follows
    log: tuple[Entered, ...]  #: Clips that were entered


class MotionGraphWalker:
    """Walks through a motion graph.

    The same graph, settings, start and paths give the same walk, in whatever portions it is asked for.

    Attributes:
        graph: What it walks through.
        searcher: How it finds its way.
    """

    def __init__(
        self,
        graph: MotionGraph,
        path: DrawnPath | None = None,
        *,
        settings: SearchSettings | None = None,
        start: str | None = None,
        past: float = PAST,
    ) -> None:
        """Stand at the beginning of a path, in its direction.

        Args:
            graph: What to walk through.
            path: Where to; None: straight on from the origin along +x.
            settings: How to search.
            start: The clip to begin with; None: the first of which the graph has kept frames.
            past: How much of the past is kept [s].
        """
        self.graph, self._past = graph, past
        settings = settings or SearchSettings()
        self.searcher, self._weaver = Searcher(graph, settings), Weaver(graph)
        self._urged = Searcher(graph, replace(settings, lag=URGED * settings.lag))
        source = self._first_source(start)
        frame = int(np.argmax(graph.kept[source]))
        line = path if path is not None else _straight(Planar())
        here = Here(source, frame, _start_place(graph, source, frame, line), 0)
        feet = tuple(FootState() for _ in self._weaver.plants[source].sides)
        joints = len(graph.skeleton_clip.skeleton)
        begun = (Entered(0.0, graph.sources[source].name, 0.0),)
        empty = np.zeros((0, 3)), np.zeros((0, joints, 4)), np.zeros((0, len(feet)), np.int64)
        self._state = WalkerState(here, 0, 0, *empty, feet, path, line, begun)
        self._clip_of: tuple[WalkerState, Clip] | None = None

    def _first_source(self, start: str | None) -> int:
        if start is None:
            return next(number for number, kept in enumerate(self.graph.kept) if kept.any())
        number = self.graph.source_number(start)
        if not self.graph.kept[number].any():
            raise InvalidValueError("the clip to begin with", start, "one in the connected part of the graph")
        return number

    @property
    def path(self) -> DrawnPath | None:
        """What it follows."""
        return self._state.path

    @property
    def here(self) -> Here:
        """Where in the graph the made part ends."""
        return self._state.here

    @property
    def arrived(self) -> bool:
        """Whether what is made so far reaches the end of the path."""
        path = self._state.path
        return path is not None and self._state.here.mark >= len(self._state.line.samples) - 1 - NEAR

    @property
    def log(self) -> tuple[Entered, ...]:
        """Which clips were entered."""
        return self._state.log

    @property
    def made_until(self) -> float:
        """Up to when the walk is made [s]."""
        return (self._state.first + len(self._state.root) - 1) / FPS

    @property
    def begins(self) -> float:
        """The earliest time that is still kept [s]."""
        return self._state.first / FPS

    def pose_at(self, time: float) -> ClipPose:
        """Return the pose at a time since the start [s]; what is not made yet is made."""
        return self.clip_until(time).at(self._local(time))

    def velocities_at(self, time: float) -> tuple[Floats, Floats]:
        """Return the root's velocity [m/s] (3,) and the joints' [rad/s] (J, 3), as `Clip.velocities_at`."""
        return self.clip_until(time).velocities_at(self._local(time))

    def _local(self, time: float) -> float:
        if time < self.begins - 1e-9:
            raise InvalidValueError("a walker's time", time, f"at least {self.begins:.3f} s: it has gone on")
        return time - self.begins

    def clip_until(self, time: float) -> Clip:
        """Return what is made and kept, at least up to a time [s], as a clip that begins at `begins`."""
        if not (np.isfinite(time) and time < 1e6):
            raise InvalidValueError("a walker's time", time, "a number of seconds")
        while self.made_until <= time + 2.0 / FPS:  # two frames more, for velocities
            self._go_on(time)
        if self._clip_of is None or self._clip_of[0] is not self._state:
            made = self.graph.skeleton_clip.with_motion(self._state.root, self._state.rotations, shifts=None)
            self._clip_of = self._state, replace(made, name="walk", fps=FPS, loop=False)
        return self._clip_of[1]

    @property
    def plants(self) -> np.ndarray:
        """What of each foot stands in every kept frame (`plants.FREE`, `ANKLE`, `BALL`), (F, feet)."""
        return self._state.kinds

    def follow(self, path: DrawnPath | None) -> None:
        """Follow another path from where the walk is made to; None: straight on."""
        here = self._state.here
        line = path if path is not None else _straight(_whereabouts(self.graph, here))
        self._state = self._state._replace(path=path, line=line, here=here._replace(mark=0))

    def begin_at(self, source: int, frame: int, place: Planar) -> None:
        """Begin anew, at time 0, from a frame of a clip that lies somewhere on the ground.

        Args:
            source: Number of the clip.
            frame: One of its frames that belong to the graph.
            place: Where the clip lies.
        """
        if not self.graph.kept[source][frame]:
            raise InvalidValueError("the frame to begin with", frame, "one in the connected part of the graph")
        state = self._state
        line = state.path or state.line
        here = Here(source, frame, place, 0)
        at = _whereabouts(self.graph, here)
        begun = (Entered(0.0, self.graph.sources[source].name, 0.0),)
        feet = tuple(FootState() for _ in state.feet)
        self._state = WalkerState(
            here._replace(mark=line.nearest(at.x, at.y)), 0, 0, state.root[:0], state.rotations[:0], state.kinds[:0],
            feet, state.path, line, begun,
        )  # fmt: skip
        self._find_back()

    def move(self, by: Planar) -> None:
        """Move all that is made over the ground: who walks it is elsewhere, and goes on from there."""
        state = self._state
        moved = by.pose(ClipPose(state.root, state.rotations))
        self._state = state._replace(
            here=state.here._replace(place=by.then(state.here.place)), root=moved.root, rotations=moved.rotations,
            feet=tuple(foot.moved(by) for foot in state.feet),
        )  # fmt: skip
        self._find_back()

    def _find_back(self) -> None:
        """Follow a way back to the path, if it is too far off for the search to find one: it looks seconds ahead."""
        state, at = self._state, _whereabouts(self.graph, self._state.here)
        x, y, along = (float(value) for value in state.line.samples[state.here.mark])
        off, aside = math.hypot(at.x - x, at.y - y), abs(math.remainder(at.turn - along, math.tau))
        if state.path is not None and not self.arrived and (off > FAR or aside > ASIDE):
            line = state.path.way_back(at.x, at.y, at.turn, self._mark, TIGHTEST)
            self._state = state._replace(line=line, here=state.here._replace(mark=0))

    @property
    def _mark(self) -> int:
        """Number of the path's own sample that was reached: a way back ends as the path does."""
        state = self._state
        path = state.path or state.line
        return max(0, len(path.samples) - len(state.line.samples) + state.here.mark)

    def save(self) -> Any:
        """Return its state; it is never changed afterwards."""
        return self._state

    def restore(self, state: Any) -> None:
        """Put a saved state back."""
        self._state = state

    def _go_on(self, asked: float) -> None:
        """Search, and make what was decided."""
        state = self._state
        if state.path is None and state.here.mark > len(state.line.samples) // 2:
            further = _straight(Planar(*(float(value) for value in state.line.samples[state.here.mark])))
            self._state = state = state._replace(line=further, here=state.here._replace(mark=0))
        if state.path is not None and state.line is not state.path:
            mark = self._mark
            one, two = state.path.samples[mark], state.line.samples[state.here.mark]
            if math.dist(one[:2], two[:2]) < BACK and math.cos(one[2] - two[2]) > math.cos(ASIDE):
                self._state = state = state._replace(line=state.path, here=state.here._replace(mark=mark))
        searcher = self.searcher if state.path in (None, state.line) else self._urged
        way, _, _ = searcher.best(state.here, state.line)
        self._append(self._piece(state.here, way), asked)

    def _piece(self, here: Here, way: list[int]) -> Piece:
        """Return what to make of a way: up to the end of its first transition, or a commit's worth of playing on."""
        commit = self._commit_frames()
        way = way or self._forced(here, commit)
        if way and self.graph.transitions[way[0]].leave - here.frame <= commit:
            played = self.graph.transitions[way[0]].leave - here.frame
            return Piece(here.source, here.frame, here.place, played, way[0])
        return Piece(here.source, here.frame, here.place, commit, None)

    def _commit_frames(self) -> int:
        return max(1, round(self.searcher.settings.commit * self.graph.settings.fps))

    def _forced(self, here: Here, commit: int) -> list[int]:
        """Return the next transition where the clip does not go on long enough to play it, else nothing."""
        kept = self.graph.kept[here.source]
        if here.frame + commit < len(kept) and kept[here.frame + commit]:
            return []
        ahead = (k for k, t in enumerate(self.graph.transitions) if t.source == here.source and t.leave >= here.frame)
        return [next(ahead)]

    def _append(self, piece: Piece, asked: float) -> None:
        state, graph = self._state, self.graph
        fps, frames = graph.settings.fps, self._weaver.frames(piece)
        begin, stop = state.ticks / fps, (state.ticks + frames) / fps
        numbers = np.arange(state.first + len(state.root), int(np.floor(stop * FPS + 1e-6)) + 1)
        pose, kinds = self._weaver.poses(piece, numbers / FPS - begin)
        parts = graph.sources[0].parts
        pose, feet = locked(graph.skeleton_clip, parts, pose, kinds, state.feet, 1.0 / FPS)
        old = max(0, round(max(min(asked, stop) - self._past, 0.0) * FPS) - state.first)
        here, log = self._arrival(piece, stop)
        self._state = WalkerState(
            here._replace(mark=progress(state.line, pose.root[:, :2], state.here.mark)), state.ticks + frames,
            state.first + old, np.concatenate([state.root, pose.root])[old:],
            np.concatenate([state.rotations, pose.rotations])[old:], np.concatenate([state.kinds, kinds])[old:],
            feet, state.path, state.line, log,
        )  # fmt: skip

    def _arrival(self, piece: Piece, stop: float) -> tuple[Here, tuple[Entered, ...]]:
        """Return where a piece ends, and the log with it."""
        log = self._state.log
        if piece.transition is None:
            return Here(piece.source, piece.frame + piece.played, piece.place, 0), log
        transition = self.graph.transitions[piece.transition]
        place = self._weaver.target_place(piece, transition)
        entered = Entered(stop, self.graph.sources[transition.target].name, transition.cost)
        return Here(transition.target, transition.arrive, place, 0), (*log, entered)


def _start_place(graph: MotionGraph, source: int, frame: int, line: DrawnPath) -> Planar:
    """Return where a clip must lie so that a frame of it is at the beginning of a line and faces along it."""
    x, y, facing = (float(value) for value in graph.sources[source].ground_track[frame])
    return Planar(*(float(value) for value in line.samples[0])).then(Planar(x, y, facing).inverse())


def _whereabouts(graph: MotionGraph, here: Here) -> Planar:
    x, y, facing = (float(value) for value in graph.sources[here.source].ground_track[here.frame])
    return here.place.then(Planar(x, y, facing))


def _straight(at: Planar) -> DrawnPath:
    """Return a straight line from a place on, long enough to be made longer in time."""
    far = at.x + AHEAD * math.cos(at.turn), at.y + AHEAD * math.sin(at.turn)
    return DrawnPath.through([(at.x, at.y), far], tension=1.0)
