"""Looks at the ground ahead and lays the next steps of a motion over it (see `landings` and `footsteps`).

A motion's steps laid over the ground there is: by how much each stand is moved, and what lies between.

Every stand of a foot has a shift: from where the clip has it to where it is to be. A foot that swings goes from one
shift to the next; the hips have the mean of the feet's, evenly. Where all shifts are the same nothing is changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import scipy

from stunt.drive.feet.ground import Ground
from stunt.drive.feet.landings import GRID, LONGER, Landing, footholds, landings
from stunt.drive.feet.stance import SHORTEST_STEP, Gait, chain_after, reach_of
from stunt.drive.motion.body_motion import smooth
from stunt.maths.rotations import Floats

EVEN = 0.08
"""Standard deviation of the smoothing of the hips' shift [s]."""
_WIDER, _SOFT = 0.04, 0.025  # a lift begins earlier and ends later, and is eased [s]


@dataclass(frozen=True, eq=False)
class MotionView:
    """Where a body is in its motion.

    Attributes:
        frame: Which frame is due.
        place: Where the motion has the root then [m], (3,).
        here: Where it is [m], (3,).
        spin: How much farther it is turned about the vertical, (2, 2).
        velocity: How fast it goes over the ground [m/s], (2,).
        fps: Frames per second.
    """

    frame: int
    place: Floats
    here: Floats
    spin: Floats
    velocity: Floats
    fps: float

    def world(self, points: Floats) -> Floats:
        """Return where points over the motion's ground are if the body goes on from here [m], (..., 2)."""
        return np.asarray(self.here[:2] + (points[..., :2] - self.place[:2]) @ self.spin.T)


@dataclass(frozen=True, eq=False)
class Footsteps:
    """What is planned.

    Attributes:
        path: The motion's own; tells motions apart.
        base: The last stand that has begun; -1: none.
        shifts: Of stands, by number [m], (3,).
        tilts: How soles are turned to lie on slopes, by number: rotation vectors in the motion's world [rad], (3,).
        lifts: How much higher a foot swings before a stand, by frames from `since` on [m].
        anchors: Where the middle of the sole is to land in the world [m], (2,); none where the ground is even.
    """

    path: Floats
    base: int = -1
    shifts: dict[int, Floats] = field(default_factory=dict)
    tilts: dict[int, Floats] = field(default_factory=dict)
    lifts: dict[int, tuple[int, Floats]] = field(default_factory=dict)
    anchors: dict[int, Floats] = field(default_factory=dict)

    def moved(self, by: Floats) -> Footsteps:
        """Return it with all shifts changed by the same [m], (3,)."""
        return replace(self, shifts={number: shift + by for number, shift in self.shifts.items()})

    def known(self, gait: Gait, leg: int) -> list[int]:
        """Return a leg's stands with a shift, in order."""
        return [number for number in gait.of_leg[leg] if number in self.shifts]

    def track(self, gait: Gait, leg: int, frames: Floats, *, eased: bool) -> Floats:
        """Return a foot's shift at some frames [m], (F, 3); `eased`: as it swings, else as the hips take it."""
        return self._between(gait, leg, frames, self.shifts, eased=eased)

    def tilt(self, gait: Gait, leg: int, frames: Floats) -> Floats:
        """Return how a foot is turned at some frames, as rotation vectors [rad], (F, 3)."""
        tilts = {number: self.tilts.get(number, np.zeros(3)) for number in self.known(gait, leg)}
        return self._between(gait, leg, frames, tilts, eased=True)

    def _between(self, gait: Gait, leg: int, frames: Floats, values: dict[int, Floats], *, eased: bool) -> Floats:
        known = self.known(gait, leg)
        if not known:
            return np.zeros((len(frames), 3))
        result = np.broadcast_to(values[known[0]], (len(frames), 3)).copy()
        for one, two in zip(known, known[1:], strict=False):
            end, start = gait.falls[one].end - 1, gait.falls[two].start
            share = np.clip((frames - end) / max(start - end, 1), 0.0, 1.0)
            share = smooth(share) if eased else share
            result += share[:, None] * (values[two] - values[one])
        return result

    def hips(self, gait: Gait, frames: Floats, fps: float) -> Floats:
        """Return the shift of the hips at some consecutive frames [m], (F, 3)."""
        more = int(np.ceil(4.0 * EVEN * fps))
        longer = np.arange(frames[0] - more, frames[-1] + more + 1)
        mean = np.mean([self.track(gait, leg, longer, eased=False) for leg in range(len(gait.points))], axis=0)
        return np.asarray(
            scipy.ndimage.gaussian_filter1d(mean, EVEN * fps, axis=0, mode="nearest", truncate=4.0)[more:-more]
        )

    def hips_at(self, gait: Gait, view: MotionView) -> Floats:
        """Return the shift of the hips at the frame that is due [m], (3,)."""
        return self.hips(gait, np.array([float(view.frame)]), view.fps)[0]

    def lift(self, gait: Gait, leg: int, frames: Floats) -> Floats:
        """Return how much a foot is lifted over what is in its way at some frames [m], (F,)."""
        result = np.zeros(len(frames))
        for number in self.known(gait, leg):
            if number in self.lifts:
                since, lift = self.lifts[number]
                result += np.interp(frames, since + np.arange(len(lift)), lift, left=0.0, right=0.0)
        return result


def eased_lift(need: Floats, fps: float) -> Floats:
    """Return a smooth lift that is nowhere less than needed, but for its ends [m], (F,)."""
    wide = scipy.ndimage.maximum_filter1d(np.maximum(need, 0.0), 2 * round(_WIDER * fps) + 1, mode="constant")
    return np.asarray(scipy.ndimage.gaussian_filter1d(wide, _SOFT * fps, mode="constant"))


STEPS: Final = 4
"""So many steps are planned at a time."""
CLEARANCE: Final = 0.04
"""How far above the ground a swinging sole is kept in the middle of its swing, where the ground is uneven [m]."""
AHEAD: Final = 0.04
"""So far before its toe a swinging foot looks [m]."""
EVEN_GROUND: Final = 0.015
"""Ground that is off by less than this is as the clip's [m]."""
TALLEST: Final = 0.45
"""What begins higher than this over the ground before it is no ground [m]."""
DEEPEST: Final = 0.35
"""Deeper than this below the other one a foot does not reach [m]: what is deeper is fallen down."""
LOST: Final = 0.1
"""A foot that stands so much deeper than planned has missed its place [m]."""
_BEHIND, _LOOK = 0.4, 1.5  # metres behind the foot that stands; seconds of the motion that tell the direction


class StepPlanner:
    """Lays steps over ground."""

    def __init__(self, ground: Ground, floor: float) -> None:
        """Plan steps.

        Args:
            ground: What is there.
            floor: Height of the floor the motion was made for [m].
        """
        self._ground, self._floor = ground, floor

    def planned(self, gait: Gait, path: Floats, steps: Footsteps, base: int, view: MotionView) -> Footsteps:
        """Return the steps to come, once a stand has begun.

        Args:
            gait: The motion's stands.
            path: And its root's way [m], (F, 3).
            steps: What was planned.
            base: The last stand that has begun.
            view: Where the body is.
        """
        steps = self._begun(gait, steps, base, view)
        steps = self._found(gait, steps, base, view)
        fall, way = gait.falls[base], _way(path, view)
        chain = chain_after(gait, base, way, STEPS)
        found: list[Landing] | None = None
        if chain:
            off = (view.here - view.place - steps.hips_at(gait, view))[:2]
            aligned = steps.moved(np.array([*(off @ way * way), 0.0]))
            found = self._chosen(gait, aligned, base, chain, way, view)
            steps = aligned if found is not None else steps
        shift = steps.shifts[base]
        shifts = {number: old for number, old in steps.shifts.items() if number > base - 2 * len(gait.points)}
        anchors = dict[int, Floats]()
        tilts = {number: tilt for number, tilt in steps.tilts.items() if number in shifts and number <= base}
        if found is None:
            shifts.update(self._plain(gait, steps, base, view))
        else:
            last = fall
            for number, landing in zip(chain, found, strict=True):
                step = gait.falls[number].place - last.place
                along = float(landing.length - step[:2] @ way)
                shift = np.array([*(shift[:2] + along * way), max(landing.height - self._floor, shift[2] - DEEPEST)])
                shifts[number], last = shift, gait.falls[number]
                tilts[number] = -math.atan(landing.slope) * np.array([-way[1], way[0], 0.0])
                anchors[number] = view.world(last.place + shift - steps.hips_at(gait, view))
        steps = replace(steps, base=base, shifts=shifts, tilts=tilts, anchors=anchors, lifts={})
        return replace(steps, lifts=self._lifts(gait, steps, view, way))

    def _begun(self, gait: Gait, steps: Footsteps, base: int, view: MotionView) -> Footsteps:
        """Return steps in which every stand so far has a shift."""
        shifts = dict(steps.shifts)
        for number in range(max(0, base - len(gait.points)), base + 1):
            if number not in shifts:
                x, y = view.world(gait.falls[number].place)
                height = self._ground.height(float(x), float(y), float(view.here[2]))
                shifts[number] = np.array([0.0, 0.0, height - self._floor if np.isfinite(height) else 0.0])
        return replace(steps, shifts=shifts)

    def _found(self, gait: Gait, steps: Footsteps, base: int, view: MotionView) -> Footsteps:
        """Return steps in which a foot that has come down elsewhere than planned is where it is."""
        shift = steps.shifts[base]
        x, y = view.world(gait.falls[base].place + shift - steps.hips_at(gait, view))
        height = self._ground.height(float(x), float(y), shift[2] + self._floor + TALLEST) - self._floor
        if np.isfinite(height) and height < shift[2] - LOST:
            steps = replace(steps, shifts={**steps.shifts, base: np.array([shift[0], shift[1], height])})
        return steps

    def _plain(self, gait: Gait, steps: Footsteps, base: int, view: MotionView) -> dict[int, Floats]:
        """Return the shifts of the next stands where nothing is chosen: only their heights are the ground's."""
        result, shift = dict[int, Floats](), steps.shifts[base]
        for number in range(base + 1, min(base + 1 + STEPS, len(gait.falls))):
            x, y = view.world(gait.falls[number].place + shift - steps.hips_at(gait, view))
            height = self._ground.height(float(x), float(y), shift[2] + self._floor + TALLEST) - self._floor
            if np.isfinite(height) and abs(height - shift[2]) > EVEN_GROUND:
                shift = np.array([shift[0], shift[1], height])
            result[number] = shift
        return result

    def _chosen(
        self, gait: Gait, steps: Footsteps, base: int, chain: list[int], way: Floats, view: MotionView
    ) -> list[Landing] | None:
        """Return where a chain of steps lands; None: the ground is even, and they land where they do."""
        fall, shift = gait.falls[base], steps.shifts[base]
        lengths = [
            float((gait.falls[b].place - gait.falls[a].place)[:2] @ way)
            for a, b in zip([base, *chain], chain, strict=False)
        ]
        count = round((_BEHIND + sum(lengths) + LONGER * len(lengths) + 0.3) / GRID)
        origin = round(_BEHIND / GRID)
        along = (np.arange(count) - origin) * GRID
        side = np.array([-way[1], way[0]])
        lines, even = {}, True
        for number in chain[:2]:
            aside = float((gait.falls[number].place - fall.place)[:2] @ side)
            points = fall.place[:2] + shift[:2] + along[:, None] * way + aside * side
            points = view.world(points - steps.hips_at(gait, view)[:2])
            heights = self._heights(points, shift[2] + self._floor)
            even = even and bool((np.abs(heights - shift[2] - self._floor) < EVEN_GROUND).all())
            lines[gait.falls[number].leg] = footholds(heights, *reach_of(gait.falls[number], way))
        if even:
            return None
        seconds = (gait.falls[chain[0]].start - fall.start) / view.fps
        pace = float((view.spin.T @ view.velocity) @ way) * seconds
        own = [lines[gait.falls[number].leg] for number in chain]
        return landings(own, lengths, origin, shift[2] + self._floor, pace)

    def _heights(self, points: Floats, start: float) -> Floats:
        """Return the ground's heights along a line [m], (P,); what is overhead is none of it."""
        found, last = np.zeros(len(points)), start
        for number, (x, y) in enumerate(points):
            height = self._ground.height(float(x), float(y), last + TALLEST)
            last = found[number] = height if np.isfinite(height) else last - 2.0
        return found

    def _lifts(self, gait: Gait, steps: Footsteps, view: MotionView, way: Floats) -> dict[int, tuple[int, Floats]]:
        """Return how much higher feet swing before the stands to come."""
        found = dict[int, tuple[int, Floats]]()
        for leg in range(len(gait.points)):
            known = steps.known(gait, leg)
            for one, two in zip(known, known[1:], strict=False):
                if gait.falls[two].start > view.frame and one <= steps.base:
                    since = gait.falls[one].end - 1
                    need = self._need(gait, steps, leg, since, gait.falls[two].start, view, way)
                    if need.max() > 0.0:
                        found[two] = since, eased_lift(need, view.fps)
        return found

    def _need(
        self, gait: Gait, steps: Footsteps, leg: int, since: int, until: int, view: MotionView, way: Floats
    ) -> Floats:  # fmt: skip
        """Return by how much a swinging foot would catch in each frame [m], (F,)."""
        frames = np.arange(since, until + 1, dtype=float)
        sole = gait.points[leg][since : until + 1] + steps.track(gait, leg, frames, eased=True)[:, None]
        sole = sole - steps.hips_at(gait, view) * [1.0, 1.0, 0.0]
        share = (frames - since) / max(until - since, 1)
        need = np.zeros(len(frames))
        for number in np.flatnonzero((share > 0.05) & (share < 0.98)):
            points, low = sole[number], float(sole[number, :, 2].min())
            toe, heel = points[np.argmax(points[:, :2] @ way)], points[np.argmin(points[:, :2] @ way)]
            looks = [heel[:2], points.mean(axis=0)[:2], toe[:2]]
            if share[number] < 0.8:
                looks.append(toe[:2] + AHEAD * way)
            heights = [self._ground.height(float(x), float(y), low + TALLEST) for x, y in view.world(np.array(looks))]
            spare = CLEARANCE * min(1.0, 5.0 * share[number] * (1.0 - share[number]))
            off = heights[1] - self._floor - steps.shifts[steps.base][2]
            uneven = np.ptp(heights) > EVEN_GROUND or abs(off) > EVEN_GROUND
            need[number] = max(heights) + spare - low if uneven else 0.0
        return need


def _way(path: Floats, view: MotionView) -> Floats:
    """Return the direction in which a motion goes, (2,); nothing where it stays."""
    later = path[min(view.frame + round(_LOOK * view.fps), len(path) - 1), :2] - path[view.frame, :2]
    size = float(np.linalg.norm(later))
    return later / size if size > SHORTEST_STEP else np.zeros(2)
