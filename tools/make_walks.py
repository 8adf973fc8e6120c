"""Makes the walks that come with Stunt besides the straight one: turns, a start and a stop, as small BVH files.

    python tools/make_walks.py

Every walk is laid out by its footfalls: the pelvis goes along a line at a given pace, feet land ahead of it and stand
until they lift. A turn bends the ground the walk goes over, so that planted feet stay planted. No capture went into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from make_clips import ANKLE, BALL, HEEL, OUT, Scenario, Track, column, turn

from stunt.maths.rotations import Floats, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

CYCLE, STRIDE = 1.0667, 1.18  # of the straight walk [s], [m]
AHEAD = 0.300  # of the ankle before the pelvis at heel strike [m]
OFF = 0.62  # phase at which a foot lifts
HEEL_DOWN = 0.09
_PUSH = Track({0.0: 0, 0.36: 0, OFF: 56, 0.74: 36, 0.88: 4, 0.95: 0, 1.0: 0})
_LAND = Track({0.0: -16, HEEL_DOWN: 0, OFF: 0, 0.74: -2, 0.88: -12, 1.0: -16})
_TOE = Track({0.0: 0, 0.36: 0, OFF: 56, 0.72: 10, 0.8: 0, 1.0: 0})


@dataclass(frozen=True)
class Plan:
    """How a walk goes on.

    Attributes:
        name: Of the clip.
        cycles: How many it lasts, two steps each.
        pace: Share of the full pace at phases (two steps are 1).
        heading: Which way the line goes [deg] after so many metres.
        lean: How much the body leans into the turn [deg], likewise.
    """

    name: str
    cycles: float
    pace: Callable[[Floats], Floats]
    heading: Callable[[Floats], Floats] = np.zeros_like
    lean: Callable[[Floats], Floats] = np.zeros_like


def full(phase: Floats) -> Floats:
    """At full pace all the time."""
    return np.ones_like(phase)


class Walk:
    """A walk being laid out: distance along the line, and the line bent over the ground."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.fine = np.linspace(-2.0, plan.cycles + 2.0, 8000)
        paces = plan.pace(self.fine)
        way = np.concatenate([[0.0], np.cumsum(0.5 * (paces[1:] + paces[:-1]) * np.diff(self.fine))]) * STRIDE
        self.way = way - np.interp(0.0, self.fine, way)
        self.line = np.linspace(self.way[0] - 3.0, self.way[-1] + 3.0, 8000)
        angle = np.radians(plan.heading(self.line))
        step = np.diff(self.line)[0]
        bent = np.stack([np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle))], axis=-1) * step
        zero = [np.interp(0.0, self.line, bent[:, axis]) for axis in (0, 1)]
        self.bent = bent - zero

    def distance(self, phase: Floats) -> Floats:
        """Metres along the line at phases."""
        return np.interp(phase, self.fine, self.way)

    def warped(self, points: Floats, anchor: Floats) -> Floats:
        """Points (F, 3) of the straight walk on the bent ground, each as the ground lies around its anchor [m]."""
        at = np.stack([np.interp(anchor, self.line, self.bent[:, axis]) for axis in (0, 1)], axis=-1)
        spin = turn(0.0, 0.0, self.plan.heading(anchor))
        flat = points.copy()
        flat[:, 0] -= anchor
        return rotate(spin, flat) + np.column_stack([at, np.zeros(len(at))])

    def landing(self, number: Floats, shift: float) -> tuple[Floats, Floats]:
        """Where a foot's plants are along the line [m], and at what share of the full pace it lands, by their number.

        A foot that has nowhere to go stays where it was.
        """
        pace = self.plan.pace(number + shift)
        return self.distance(number + shift) + AHEAD * pace, pace


def make(plan: Plan) -> Clip:
    """Lay a walk out."""
    walk = Walk(plan)
    s = Scenario(plan.name, plan.cycles * CYCLE)
    phase = s.t / CYCLE
    two, one = 4 * np.pi * phase, 2 * np.pi * phase
    a = plan.pace(phase)
    ahead = walk.distance(phase)
    lean = plan.lean(ahead)
    place = np.stack([
        ahead + 0.008 * a * np.sin(two), 0.022 * a * np.sin(one - 0.3) + 0.004 * lean,
        0.884 + 0.016 * a * np.cos(two - 2 * np.pi * 0.60) + 0.024 * (1 - a),
    ], axis=-1)  # fmt: skip
    heading = plan.heading(ahead)
    s.pelvis(walk.warped(place, ahead), 2.0 + a, -3.0 * a * np.sin(one - 0.2) - lean, heading - 5.0 * a * np.cos(one))
    s.joint("Spine", -1.0 + a, 2.0 * a * np.sin(one - 0.2), 3.0 * a * np.cos(one) + 0.6 * lean)
    s.joint("Spine1", 1.0, 1.5 * a * np.sin(one - 0.2), 4.0 * a * np.cos(one) + 0.6 * lean)
    s.joint("Spine2", 2.0 - a, 0.5 * a * np.sin(one - 0.2), 5.0 * a * np.cos(one) + 0.6 * lean)
    s.joint("Neck", 3.0 - a, 0.0, -3.0 * a * np.cos(one) + 1.5 * lean)
    s.joint("Head", -3.0 - a + a * np.sin(two), 0.6 * lean, -3.5 * a * np.cos(one) + 1.5 * lean)
    for side, shift, sign in (("Left", 0.0, 1.0), ("Right", 0.5, -1.0)):
        swing = -a * np.cos(one - 2 * np.pi * shift)
        s.arm(side, 2.0 + 2.0 * a + 21.0 * swing, 7.0 - a, 12.0 - 2.0 * a, 14.0 + 10.0 * a + 11.0 * swing)
        _foot(s, walk, side, phase, shift, sign)
    return s.clip()


def _foot(s: Scenario, walk: Walk, side: str, phase: Floats, shift: float, sign: float) -> None:
    """Heel strike, roll over the flat foot, push off the ball, swing to the next footfall."""
    number = np.floor(phase - shift)
    p = phase - shift - number
    here, landed = walk.landing(number, shift)
    there, lands = walk.landing(number + 1, shift)
    moves = np.clip((there - here) / STRIDE, 0.0, 1.0)  # what hardly steps hardly lifts
    pushes = np.minimum(walk.plan.pace(number + shift + OFF), moves)
    lands = np.minimum(lands, moves)
    landing = np.where(p < 0.5, landed, lands)
    pitch = column(_PUSH, p) * pushes + column(_LAND, p) * landing
    wide = lambda pace: sign * (0.10 - 0.025 * pace)  # noqa: E731
    flat = np.stack([here, wide(landed), np.full_like(here, ANKLE)], axis=-1)
    tilt = turn(pitch)
    stance = np.where((p < HEEL_DOWN)[:, None], flat + HEEL - rotate(tilt, HEEL), flat + BALL - rotate(tilt, BALL))
    last = flat + BALL - rotate(turn(56.0 * pushes), BALL)
    first = np.stack([there, wide(lands), flat[:, 2]], axis=-1) + HEEL - rotate(turn(-16.0 * lands), HEEL)
    u = np.clip((p - OFF) / (1.0 - OFF), 0.0, 1.0)
    ease = u * u * (3 - 2 * u)
    goes = (0.35 * u + 0.65 * ease)[:, None]
    swing = last + (first - last) * np.column_stack([goes, ease, ease])
    swing[:, 2] += (0.035 + 0.03 * (1 - moves)) * np.minimum(4 * moves, 1.0) * np.sin(np.pi * u) ** 2
    off = p >= OFF
    ankle = np.where(off[:, None], swing, stance)
    anchor = np.where(off, here + (there - here) * goes[:, 0], here)
    yaw = sign * (8.0 - 2.0 * np.where(off, landed + (lands - landed) * ease, landed))
    toe = -np.maximum(column(_TOE, p), 0.0) * pushes * (p < 0.8)
    s.foot(side, walk.warped(ankle, anchor), pitch, yaw + walk.plan.heading(anchor), toe)


def _ramp(start: float, stop: float, low: float, high: float) -> Callable[[Floats], Floats]:
    def curve(x: Floats) -> Floats:
        u = np.clip((np.asarray(x, float) - start) / (stop - start), 0.0, 1.0)
        return low + (high - low) * u * u * u * (10 - 15 * u + 6 * u * u)

    return curve


def _slope(curve: Callable[[Floats], Floats], scale: float) -> Callable[[Floats], Floats]:
    return lambda x: scale * (curve(x + 0.05) - curve(x - 0.05)) / 0.1


_TURN, _CURVE = _ramp(1.1, 3.1, 0.0, 90.0), _ramp(0.9, 3.7, 0.0, 45.0)
PLANS = (
    Plan("walk_turn", 4.0, full, _TURN, _slope(_TURN, 0.05)),
    Plan("walk_curve", 4.0, full, _CURVE, _slope(_CURVE, 0.05)),
    Plan("walk_start", 3.0, _ramp(0.05, 0.85, 0.0, 1.0)),
    Plan("walk_stop", 4.0, _ramp(1.65, 2.45, 1.0, 0.0)),
)


def write(out: Path = OUT) -> list[Path]:
    """Write all walks."""
    return [write_bvh(replace(make(plan), name=plan.name), out / f"{plan.name}.bvh") for plan in PLANS]


if __name__ == "__main__":
    write()
