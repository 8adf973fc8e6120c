"""Motions as bodies play them: frames that are never moved, and where they are placed.

A looping motion goes on round after round without being laid out; the compiled loop knows how far one round goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stunt.control.worldspace_program import Data
from stunt.direction.motion_rows import Motion, repeated
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.track_kernel import lay_rows
from stunt.rotations import Floats

Place = tuple[float, float, float]
"""Where a motion is placed on the ground: x, y [m], heading [rad]."""
NOWHERE: Place = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Track:
    """A motion ready to be played.

    Attributes:
        layout: Of the body's coordinates.
        base: Its frames, positions and velocities, (F, nq + nv), two at least. The last frame of a looping motion is
            its first one, a round later.
        opening: Its first frame when nothing went before, (nq + nv,).
        fps: Frames per second.
        loop: Whether it begins again.
        step: How far one round goes.
    """

    layout: Layout
    base: Floats
    opening: Floats
    fps: float
    loop: bool
    step: Place

    @staticmethod
    def of(layout: Layout, motion: Motion) -> Track:
        """Return a motion's track."""
        cycle = len(motion.qpos) - 1
        if not motion.loop or cycle < 1:
            frames = layout.frames(motion)
            base = frames if cycle > 0 else np.repeat(frames, 2, axis=0)
            return Track(layout, np.ascontiguousarray(base), frames[0], motion.fps, False, NOWHERE)
        step = _between(motion.qpos[0], motion.qpos[-1])
        frames = layout.frames(repeated(motion, (2 * cycle + 2) / motion.fps))
        # Seen from the second round, so that no frame is the motion's very first.
        back = inverse(step)
        base = np.empty((cycle + 1, frames.shape[1]))
        lay_rows(frames[cycle : 2 * cycle + 1], False, 0, *back, *NOWHERE, layout.nq, base)
        return Track(layout, base, frames[0], motion.fps, True, step)

    @property
    def round(self) -> int:
        """How many frames one round has; of a motion that does not loop, all it goes on for."""
        return len(self.base) - 1

    def ahead_rows(self) -> Floats:
        """Return what there is to follow from any frame of a round on: two rounds, or all there is, unplaced."""
        return self.laid(0, 2 * self.round + 1 if self.loop else len(self.base), NOWHERE)

    def place_at(self, frame: int, qpos: Floats) -> Place:
        """Return where to place it so that one of its frames is where a state is and faces."""
        return _between(self.base[frame], qpos)

    def laid(self, first: int, count: int, at: Place, *, opens: bool = False) -> Floats:
        """Return frames from one on, placed, (count, nq + nv); `opens`: nothing went before."""
        out = np.empty((count, self.base.shape[1]))
        lay_rows(self.base, self.loop, first, *at, *self.step, self.layout.nq, out)
        if opens and first == 0:
            lay_rows(self.opening[None], False, 0, *at, *NOWHERE, self.layout.nq, out[:1])
        return out

    def ahead(self, first: int) -> int:
        """Return how many frames there are from one on: of a looping motion as many as one likes."""
        return 1 << 30 if self.loop else len(self.base) - first


@dataclass(frozen=True, eq=False)
class Playing:
    """What a body plays, and since when.

    Attributes:
        track: The motion.
        lead: Frames of its own before the motion's, (L, nq + nv): a blend from what went before.
        first: Which frame of the motion goes with the lead's first.
        at: Where the motion was placed when it began.
        since: When its first frame was [s].
    """

    track: Track
    lead: Floats
    first: int
    at: Place
    since: float

    @property
    def data(self) -> Data:
        """As the compiled loop takes it."""
        track = self.track
        return Data(self.lead, track.base, track.fps, self.first, track.loop, self.at, track.step)

    def frame(self, time: float) -> int:
        """Return the last frame at or before a time, counted from the first one played."""
        return int((time - self.since) * self.track.fps + 1e-6)

    def left(self, time: float) -> float:
        """Return how much is still to come [s]."""
        return (self.track.ahead(self.first) - 1) / self.track.fps - (time - self.since)

    def in_round(self, first: int, rounds: int) -> int | None:
        """Return which frame of the present round a frame is; None while the lead is played."""
        return self.first + first - rounds * self.track.round if first >= len(self.lead) - 1 else None

    def frames(self, first: int, count: int, rounds: int, at: Place) -> Floats:
        """Return frames from one on, counted from the first one played, as many as there are up to `count`.

        Args:
            first: Which.
            count: How many.
            rounds: How many rounds the compiled loop has gone.
            at: Where it has placed the present one.
        """
        count = max(2, min(count, self.track.ahead(self.first) - first))
        own = self.lead[first : min(first + count, len(self.lead) - 1)]
        start = self.first + first + len(own) - rounds * self.track.round
        rest = self.track.laid(start, count - len(own), at)
        return np.concatenate([own, rest]) if len(own) else rest


def _between(one: Floats, two: Floats) -> Place:
    """Return what takes one root to another over the ground."""
    turn = heading_of(two) - heading_of(one)
    cos, sin, x, y = math.cos(turn), math.sin(turn), float(one[0]), float(one[1])
    return float(two[0]) - cos * x + sin * y, float(two[1]) - sin * x - cos * y, turn


def heading_of(qpos: Floats) -> float:
    """Return which way a root faces [rad]: `rotations.heading` of one state, without arrays."""
    return math.remainder(2.0 * math.atan2(float(qpos[6]), float(qpos[3])), 2.0 * math.pi)


def inverse(place: Place) -> Place:
    """Return the placement that undoes another."""
    x, y, turn = place
    cos, sin = math.cos(turn), math.sin(turn)
    return -cos * x - sin * y, sin * x - cos * y, -turn


def moved(place: Place, shift: Floats) -> Place:
    """Return a placement moved on [m]."""
    return place[0] + float(shift[0]), place[1] + float(shift[1]), place[2]
