"""Rows a servo follows: placed on the ground, entered late, or held.

Frames of a motion placed over the ground, compiled (see `tracks`).

Motions as bodies play them: frames that are never moved, and where they are placed.

A looping motion goes on round after round without being laid out; the compiled loop knows how far one round goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from stunt.control.servo.memory import PlayedFrames, ServoTargets
from stunt.drive.motion.body_motion import BY_ROW, BodyMotion, each_row, repeated, smooth
from stunt.drive.motion.layout import Layout
from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats, slerp


@compiled
def lay_rows(
    base: Any, loop: bool, first: int, x: float, y: float, angle: float, dx: float, dy: float, turn: float, nq: int,
    out: Any,
) -> None:  # fmt: skip
    """Write a motion's frames from one on, placed, round after round; held at the end of one that does not loop.

    Args:
        base: Positions and velocities, (F, nq + nv).
        loop: Whether its last frame is its first one, a round later.
        first: Which frame to begin with; past the end of a looping one: rounds later.
        x: Where it is placed [m]; `y` likewise, `angle` its heading [rad].
        y: See `x`.
        angle: See `x`.
        dx: How far one round goes, in the frame it begins in; `dy` and `turn` likewise.
        dy: See `dx`.
        turn: See `dx`.
        nq: Number of position coordinates.
        out: Written, (count, nq + nv).
    """
    last, row = base.shape[0] - 1, first
    cos, sin = math.cos(angle), math.sin(angle)
    for f in range(out.shape[0]):
        while loop and row >= last:
            x, y, angle, row = x + cos * dx - sin * dy, y + sin * dx + cos * dy, angle + turn, row - last
            cos, sin = math.cos(angle), math.sin(angle)
        source, target = base[min(row, last)], out[f]
        for k in range(out.shape[1]):
            target[k] = source[k]
        c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
        a, b = source[0], source[1]
        target[0], target[1] = x + cos * a - sin * b, y + sin * a + cos * b
        a, b = source[nq], source[nq + 1]
        target[nq], target[nq + 1] = cos * a - sin * b, sin * a + cos * b
        w, i, j, k = source[3], source[4], source[5], source[6]
        target[3], target[4], target[5], target[6] = c * w - s * k, c * i - s * j, c * j + s * i, c * k + s * w
        row += 1


@compiled
def place_rows(turns: Any, path: Any, x: float, y: float, angle: float, out: Any, way: Any) -> None:
    """Write a servo's rows placed on the ground: only the root's own turn and place change.

    Args:
        turns: (F, bodies, 4); the root's first.
        path: Of the root, (F, 3).
        x: Where [m]; `y` likewise, `angle` the heading [rad].
        y: See `x`.
        angle: See `x`.
        out: Turns, written.
        way: Path, written.
    """
    cos, sin, c, s = math.cos(angle), math.sin(angle), math.cos(0.5 * angle), math.sin(0.5 * angle)
    for f in range(out.shape[0]):
        for body in range(1, out.shape[1]):
            for k in range(4):
                out[f, body, k] = turns[f, body, k]
        w, i, j, k = turns[f, 0, 0], turns[f, 0, 1], turns[f, 0, 2], turns[f, 0, 3]
        out[f, 0, 0], out[f, 0, 1], out[f, 0, 2] = c * w - s * k, c * i - s * j, c * j + s * i
        out[f, 0, 3] = c * k + s * w
        a, b = path[f, 0], path[f, 1]
        way[f, 0], way[f, 1], way[f, 2] = x + cos * a - sin * b, y + sin * a + cos * b, path[f, 2]


Place = tuple[float, float, float]
"""Where a motion is placed on the ground: x, y [m], heading [rad]."""
NOWHERE: Place = (0.0, 0.0, 0.0)
EASE: Final = 0.2
"""Seconds within which a body that leaves data goes over from what data has to what was prepared of it."""


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
    def of(layout: Layout, motion: BodyMotion) -> Track:
        """Return a motion's track."""
        cycle = len(motion.qpos) - 1
        if not motion.loop or cycle < 1:
            frames = layout.frames(motion)
            base = frames if cycle > 0 else np.repeat(frames, 2, axis=0)
            return Track(layout, np.ascontiguousarray(base), frames[0], motion.fps, False, NOWHERE)
        step = round_of(motion)
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
        return place_between(self.base[frame], qpos)

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
    def data(self) -> PlayedFrames:
        """As the compiled loop takes it."""
        track = self.track
        return PlayedFrames(self.lead, track.base, track.fps, self.first, track.loop, self.at, track.step)

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


def place_between(one: Floats, two: Floats) -> Place:
    """Return what takes one root to another over the ground."""
    turn = heading_of(two) - heading_of(one)
    cos, sin, x, y = math.cos(turn), math.sin(turn), float(one[0]), float(one[1])
    return float(two[0]) - cos * x + sin * y, float(two[1]) - sin * x - cos * y, turn


def round_of(motion: BodyMotion) -> Place:
    """Return how far one round of a motion goes."""
    return place_between(motion.qpos[0], motion.qpos[-1])


def after_round(place: Place, step: Place) -> Place:
    """Return where the next round is placed."""
    x, y, turn = place
    cos, sin = math.cos(turn), math.sin(turn)
    return x + cos * step[0] - sin * step[1], y + sin * step[0] + cos * step[1], turn + step[2]


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


def moved_rows(rows: ServoTargets, place: Place) -> ServoTargets:
    """Return rows of a motion placed on the ground: only the root's own place and turn change."""
    turns, path = np.empty_like(rows.turns), np.empty_like(rows.path)
    place_rows(rows.turns, rows.path, *place, turns, path)
    asked = rows.asked
    if asked is not None:  # the root's own turn is what the clip asked for
        asked = asked.copy()
        asked[:, 0] = turns[:, 0]
    return replace(rows, turns=turns, path=path, asked=asked)


def cut_rows(rows: ServoTargets, first: int, count: int) -> ServoTargets:
    """Return some of the rows, without copying them."""
    return each_row(rows, lambda value: value[first : first + count])


def entered_late(rows: ServoTargets, rest: ServoTargets, first: int) -> ServoTargets:
    """Return rows up to one of them, and from there on others made of them."""

    def joined(name: str) -> Floats | None:
        before, after = getattr(rows, name), getattr(rest, name)
        if after is None or first == 0:
            return None if after is None else np.asarray(after)
        before = rows.turns if before is None and name == "asked" else before
        return np.concatenate([np.zeros((first, *after.shape[1:])) if before is None else before[:first], after])

    whole: dict[str, Any] = {name: joined(name) for name in BY_ROW}
    return replace(rest, **whole)


def chained(parts: list[ServoTargets]) -> ServoTargets:
    """Return rows one after another; all have what the first has."""
    whole: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in BY_ROW
        if getattr(parts[0], name) is not None
    }
    return replace(parts[0], **whole)


def repeated_row(row: ServoTargets, frames: int, fps: float) -> ServoTargets:
    """Hold one row for some frames."""
    return replace(each_row(row, lambda value: np.repeat(value[:1], frames, axis=0)), fps=fps)


def eased_in(rows: ServoTargets) -> ServoTargets:
    """Return rows that begin as data has them, and become what was prepared.

    The servo alone takes over at the data's velocity; what is fed forward in the first step besides would be too much.
    """
    asked, torque = rows.asked, rows.torque
    count = min(len(rows.turns), round(EASE * rows.fps))
    turns, share = rows.turns.copy(), smooth(np.arange(count) / max(count, 1))
    if asked is not None:
        shares = np.broadcast_to(share[:, None], turns[:count].shape[:2])
        turns[:count] = slerp(asked[:count], turns[:count], shares)
    if torque is not None:
        torque = np.concatenate([share[:, None] * torque[:count], torque[count:]])
    return replace(rows, turns=turns, torque=torque)
