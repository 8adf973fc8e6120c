"""A motion's steps laid over the ground there is: by how much each stand is moved, and what lies between.

Every stand of a foot has a shift: from where the clip has it to where it is to be. A foot that swings goes from one
shift to the next; the hips have the mean of the feet's, evenly. Where all shifts are the same nothing is changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from stunt.direction.footfalls import Gait
from stunt.direction.stepping_over import smooth
from stunt.rotations import Floats

EVEN = 0.08
"""Standard deviation of the smoothing of the hips' shift [s]."""
_WIDER, _SOFT = 0.04, 0.025  # a lift begins earlier and ends later, and is eased [s]


@dataclass(frozen=True, eq=False)
class View:
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
        return np.asarray(gaussian_filter1d(mean, EVEN * fps, axis=0, mode="nearest", truncate=4.0)[more:-more])

    def hips_at(self, gait: Gait, view: View) -> Floats:
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
    wide = maximum_filter1d(np.maximum(need, 0.0), 2 * round(_WIDER * fps) + 1, mode="constant")
    return np.asarray(gaussian_filter1d(wide, _SOFT * fps, mode="constant"))
