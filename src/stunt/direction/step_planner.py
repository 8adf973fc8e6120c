"""Looks at the ground ahead and lays the next steps of a motion over it (see `landings` and `footsteps`)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from stunt.direction.footfalls import SHORTEST_STEP, Gait, chain_after, reach_of
from stunt.direction.footsteps import Footsteps, View, eased_lift
from stunt.direction.ground import Ground
from stunt.direction.landings import GRID, LONGER, Landing, footholds, landings
from stunt.rotations import Floats

STEPS: Final = 4
"""So many steps are planned at a time."""
CLEARANCE: Final = 0.04
"""How far above the ground a swinging sole is kept in the middle of its swing, where the ground is uneven [m]."""
AHEAD: Final = 0.04
"""So far before its toe a swinging foot looks [m]."""
EVEN: Final = 0.015
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

    def planned(self, gait: Gait, path: Floats, steps: Footsteps, base: int, view: View) -> Footsteps:
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

    def _begun(self, gait: Gait, steps: Footsteps, base: int, view: View) -> Footsteps:
        """Return steps in which every stand so far has a shift."""
        shifts = dict(steps.shifts)
        for number in range(max(0, base - len(gait.points)), base + 1):
            if number not in shifts:
                x, y = view.world(gait.falls[number].place)
                height = self._ground.height(float(x), float(y), float(view.here[2]))
                shifts[number] = np.array([0.0, 0.0, height - self._floor if np.isfinite(height) else 0.0])
        return replace(steps, shifts=shifts)

    def _found(self, gait: Gait, steps: Footsteps, base: int, view: View) -> Footsteps:
        """Return steps in which a foot that has come down elsewhere than planned is where it is."""
        shift = steps.shifts[base]
        x, y = view.world(gait.falls[base].place + shift - steps.hips_at(gait, view))
        height = self._ground.height(float(x), float(y), shift[2] + self._floor + TALLEST) - self._floor
        if np.isfinite(height) and height < shift[2] - LOST:
            steps = replace(steps, shifts={**steps.shifts, base: np.array([shift[0], shift[1], height])})
        return steps

    def _plain(self, gait: Gait, steps: Footsteps, base: int, view: View) -> dict[int, Floats]:
        """Return the shifts of the next stands where nothing is chosen: only their heights are the ground's."""
        result, shift = dict[int, Floats](), steps.shifts[base]
        for number in range(base + 1, min(base + 1 + STEPS, len(gait.falls))):
            x, y = view.world(gait.falls[number].place + shift - steps.hips_at(gait, view))
            height = self._ground.height(float(x), float(y), shift[2] + self._floor + TALLEST) - self._floor
            if np.isfinite(height) and abs(height - shift[2]) > EVEN:
                shift = np.array([shift[0], shift[1], height])
            result[number] = shift
        return result

    def _chosen(
        self, gait: Gait, steps: Footsteps, base: int, chain: list[int], way: Floats, view: View
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
            even = even and bool((np.abs(heights - shift[2] - self._floor) < EVEN).all())
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

    def _lifts(self, gait: Gait, steps: Footsteps, view: View, way: Floats) -> dict[int, tuple[int, Floats]]:
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
        self, gait: Gait, steps: Footsteps, leg: int, since: int, until: int, view: View, way: Floats
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
            uneven = np.ptp(heights) > EVEN or abs(heights[1] - self._floor - steps.shifts[steps.base][2]) > EVEN
            need[number] = max(heights) + spare - low if uneven else 0.0
        return need


def _way(path: Floats, view: View) -> Floats:
    """Return the direction in which a motion goes, (2,); nothing where it stays."""
    later = path[min(view.frame + round(_LOOK * view.fps), len(path) - 1), :2] - path[view.frame, :2]
    size = float(np.linalg.norm(later))
    return later / size if size > SHORTEST_STEP else np.zeros(2)
