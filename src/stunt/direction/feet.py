"""Feet on uneven ground: a swinging foot is lifted over what it would catch on, a landing one meets what is there.

The clip was recorded on a flat floor. Where the ground ahead is higher, the foot's target is raised in time, by bending
hip and knee; once it stands, the raise is taken back, and the leg that straightens carries the body up. Where it is
lower, the other leg bends and lets the body down. (The paper pushes a scuffing foot up with a force from outside; here
only targets change.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from stunt import rotations
from stunt.direction.ground import Ground
from stunt.direction.legs import Leg, legs_of
from stunt.direction.shaping import Window
from stunt.direction.tracker import Tracker
from stunt.rotations import Floats

CLEARANCE: Final = 0.03
"""How far above the ground a swinging sole is kept, where the ground is not the clip's [m]."""
SWINGING: Final = 0.4
"""A foot that moves faster than this over the ground swings [m/s]."""
RAISE: Final = 2.0
LOWER: Final = 0.7
"""How fast a foot's raise may grow, and be taken back [m/s]."""
RISE: Final = 0.3
"""Within this time a leg that stands straightens [s]."""
MOST: Final = 0.35
"""Largest raise [m]."""
_MARKS = 4  # moments of the window at which the ground is felt


@dataclass(frozen=True, eq=False)
class Ahead:
    """What a foot will do in a window, if nothing is changed: its sole's corners and where the ground is below them.

    Attributes:
        swinging: Whether it swings, (F,).
        gap: How far its lowest point is above the ground [m], (F,).
    """

    swinging: np.ndarray
    gap: Floats


class Feet:
    """Lifts and lowers the feet of one tracked character."""

    every_step = False

    def __init__(self, tracker: Tracker, ground: Ground) -> None:
        """Watch where a character steps.

        Args:
            tracker: Who.
            ground: What it walks on.
        """
        self._tracker, self._ground = tracker, ground
        self.legs = legs_of(tracker.stage.model, tracker.character, tracker.soles)
        # A motion placed on something starts that much above its own floor.
        self._raised_clip = float(tracker.stage.scene.characters[tracker.character.name].at[2])
        self._planned: tuple[float, float, Floats] | None = None  # since when, rows per second, raise of each leg

    def shape(self, window: Window) -> Window:
        """Return the window with feet where the ground wants them."""
        if not self.legs or len(window.rows.turns) < 3:
            return window
        turns = window.rows.turns
        matrices = rotations.to_matrix(turns)
        place, root = self._root_ahead(window, matrices[:, 0])
        place = self._standing_up(window, matrices, place, root)
        ahead = [self._look(leg, matrices, place, root, window.rows.fps) for leg in self.legs]
        raises = [self._plan(number, ahead, window) for number in range(len(self.legs))]
        for leg, lift in zip(self.legs, raises, strict=True):
            if lift.max() > 1e-4:
                turns = leg.lifted(turns, lift[:, None] * root[:, 2])  # the root's third row: up, seen from it
        self._planned = window.start, window.rows.fps, np.array(raises)
        return replace(window, rows=replace(window.rows, turns=turns))

    def _root_ahead(self, window: Window, own: Floats) -> tuple[Floats, Floats]:
        """Return where the root will be [m], (F, 3), and how it is turned, (F, 3, 3): the clip's way from here on."""
        stage, root, rows = self._tracker.stage, self._tracker.character.root, window.rows
        assert root is not None  # only free characters are taken on
        now = int(np.clip((stage.time - window.start) * rows.fps, 0, len(rows.path) - 1))
        here = stage.data.qpos[root.qpos : root.qpos + 7]
        off = float(rotations.heading(here[3:7]) - rotations.heading(rows.turns[now, 0]))
        cosine, sine = math.cos(off), math.sin(off)
        spin = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        return here[:3] + (rows.path - rows.path[now]) @ spin.T, spin @ own

    def _standing_up(self, window: Window, matrices: Floats, place: Floats, root: Floats) -> Floats:
        """Return where the root will be once the legs that stand have straightened as in the clip, (F, 3).

        Without it, whoever lifts a foot from a crouch would lift it too high, and crouch the more for it.
        """
        rows, heights = window.rows, []
        for leg in self.legs:
            seen = leg.sole(matrices[:2], leg.joints(matrices[:2])[:, -1])
            foot = place[:2, None] + seen @ root[:2].transpose(0, 2, 1)
            middle = foot.mean(axis=1)
            if math.dist(middle[0, :2], middle[1, :2]) * rows.fps < SWINGING:
                low = float(foot[0, :, 2].min())
                heights.append(self._ground.height(float(middle[0, 0]), float(middle[0, 1]), low + MOST + 0.1))
        if not heights:
            return place
        wanted = rows.path[:, 2] - self._raised_clip + sum(heights) / len(heights)
        share = np.minimum(np.arange(len(place)) / rows.fps / RISE, 1.0)
        result = place.copy()
        result[:, 2] += share * np.maximum(wanted - place[:, 2], 0.0)
        return result

    def _look(self, leg: Leg, matrices: Floats, place: Floats, root: Floats, fps: float) -> Ahead:
        foot = leg.joints(matrices)[:, -1]
        sole = place[:, None] + leg.sole(matrices, foot) @ root.transpose(0, 2, 1)  # (F, points, 3)
        middle = sole.mean(axis=1)
        pace = np.hypot(*np.gradient(middle[:, :2], 1.0 / fps, axis=0).T)
        if not (pace > SWINGING).any():
            return Ahead(pace > SWINGING, np.zeros(len(sole)))
        marks = np.unique(np.linspace(0, len(sole) - 1, _MARKS).astype(int))
        gaps = [self._gap(sole[mark], middle[min(mark + 1, len(sole) - 1)] - middle[mark]) for mark in marks]
        return Ahead(pace > SWINGING, np.interp(np.arange(len(sole)), marks, gaps))

    def _gap(self, sole: Floats, step: Floats) -> float:
        """Return how far a sole is above the highest ground under it and right before it [m]."""
        low = float(sole[:, 2].min())
        size = math.hypot(step[0], step[1])
        way = step[:2] / size if size > 1e-6 else np.array([1.0, 0.0])
        centre, front = sole.mean(axis=0), sole[int(np.argmax(sole[:, :2] @ way))]
        heights = [self._ground.height(float(p[0]), float(p[1]), low + MOST + 0.1) for p in (centre, front)]
        return low - max(heights)

    def _plan(self, number: int, ahead: list[Ahead], window: Window) -> Floats:
        """Return how far a foot is raised in each row [m], (F,)."""
        own, frames = ahead[number], len(ahead[number].gap)
        need = np.where(own.swinging, CLEARANCE - own.gap, 0.0)
        for other, look in enumerate(ahead):
            if other != number and not own.swinging[0] and look.swinging[0] and not look.swinging[-1]:
                # The other foot is about to land, lower than the clip has it: this leg lets the body down to it.
                drop = float(look.gap[-1])
                if drop > 2.0 * CLEARANCE:
                    need = np.maximum(need, min(drop, MOST) * np.linspace(0.0, 1.0, frames))
        # On the clip's own floor feet pass low enough for the clip: only what is really in the way counts.
        need = np.where(need > CLEARANCE * 0.5, need, 0.0)
        need = np.clip(np.maximum.accumulate(need[::-1])[::-1], 0.0, MOST)
        lift, step = np.zeros(frames), 1.0 / window.rows.fps
        last = self.raised(number, window.start)
        for k in range(frames):
            if k > 0:
                last = float(np.clip(need[k], last - LOWER * step, last + RAISE * step))
            lift[k] = last
        return lift

    def raised(self, number: int, time: float) -> float:
        """Return how far a foot is raised at a time, as last planned [m]."""
        if self._planned is None:
            return 0.0
        start, fps, lifts = self._planned
        return float(np.interp((time - start) * fps, np.arange(lifts.shape[1]), lifts[number]))

    def save(self) -> Any:
        """Return what must survive a restore; plans are never changed."""
        return self._planned

    def restore(self, state: Any) -> None:
        """Put it back."""
        self._planned = state

