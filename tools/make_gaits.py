"""Makes walks from averages of people's strides, as small BVH files: three speeds that repeat, start, stop and turns.

    python tools/make_gaits.py

Hips, back, arms and swinging legs go as the averages say (`gait_averages.py`). Feet that stand are put where they
stand: they come down on the heel, lie flat, and roll over the ball. The two sides differ, as people's do; hands and
head move; breath goes its own way. Legs follow by inverse kinematics. Whoever starts or stops goes over from standing
and to it as the pace does; a turn bends the ground that is walked over, so that feet that stand, stand. No capture of
anybody went into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gait_averages import GAITS, Gait
from make_clips import ANKLE, BALL, FPS, HEEL, NAMES, OUT, SHANK, THIGH, TIP, Scenario, idle, turn
from scipy.ndimage import gaussian_filter1d, maximum_filter1d
from scipy.optimize import linprog

from stunt.maths.rotations import Floats, rotate, slerp
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

STRAIGHT = 10.0  # what a straight leg's knee measures in the averages [deg]
REACH = 0.9956 * (THIGH + SHANK)  # longest that a leg gets: a knee that bends by 11 degrees
SOLE = 0.02  # how far the sole is below the toes' bone [m]
RIGHT = 1.08  # how much higher the right foot is lifted than the left
ROLLS = 0.035  # how long before its foot the ball leaves the ground, over the toes' tip, in strides
STRIDES = 2  # in a clip that repeats, so that breath and the smaller wanderings do not repeat with every step
STANDING = 0.10, 8.0  # how far to its side a foot is in standing [m], and turned out [deg]
Curve = Callable[[Floats], Floats]


def ramp(start: float, stop: float, low: float, high: float) -> Curve:
    """A curve from one value to another that begins and ends level."""

    def curve(x: Floats) -> Floats:
        u = np.clip((np.asarray(x, float) - start) / (stop - start), 0.0, 1.0)
        return low + (high - low) * u * u * u * (10 - 15 * u + 6 * u * u)

    return curve


@dataclass(frozen=True)
class Plan:
    """A clip: which averages, and how many times their stride, its time and the height of their feet.

    `down`, `up`: when the sole lies flat, and when the heel lifts, in strides; `bob`: by how much hips go up and down
    with each step, at least and at most [m]. `strides`: how many it has; `pace`: what share of the full pace it goes
    at, by strides; `heading`: which way the line goes [deg] after so many metres.
    """

    name: str
    gait: Gait
    longer: float = 1.0
    slower: float = 1.0
    lift: float = 1.0
    down: float = 0.10
    up: float = 0.28
    bob: tuple[float, float] = (0.016, 0.025)
    strides: float = STRIDES
    pace: Curve = np.ones_like
    heading: Curve = np.zeros_like


EASY = Plan("walk", GAITS["walk"], longer=0.96)
PLANS = (
    EASY,
    Plan("walk_slow", GAITS["slow"], lift=1.14),
    Plan("walk_brisk", GAITS["walk"], longer=1.0, slower=0.8, lift=1.06),
    replace(EASY, name="walk_turn", strides=4, heading=ramp(1.2, 3.3, 0.0, 90.0)),
    replace(EASY, name="walk_curve", strides=4, heading=ramp(1.0, 4.0, 0.0, 45.0)),
    replace(EASY, name="walk_start", strides=3, pace=ramp(0.05, 0.85, 0.0, 1.0)),
    replace(EASY, name="walk_stop", strides=4, pace=ramp(1.65, 2.45, 1.0, 0.0)),
)
SIDES = (("Left", 0.0, 1.0), ("Right", 0.508, -1.0))  # the right foot steps a little later


class Line:
    """The line that is walked along: how far, and bent over the ground."""

    def __init__(self, plan: Plan, stride: float) -> None:
        self.heading = plan.heading
        self._phase = np.linspace(-3.0, plan.strides + 3.0, 9000)
        paces = plan.pace(self._phase)
        way = np.concatenate([[0.0], np.cumsum(0.5 * (paces[1:] + paces[:-1]) * np.diff(self._phase))]) * stride
        self._way = way - np.interp(0.0, self._phase, way)
        self._line = np.linspace(self._way[0] - 3.0, self._way[-1] + 3.0, 9000)
        angle = np.radians(plan.heading(self._line))
        bent = np.stack([np.cumsum(np.cos(angle)), np.cumsum(np.sin(angle))], axis=-1) * np.diff(self._line)[0]
        self._bent = bent - [np.interp(0.0, self._line, bent[:, axis]) for axis in (0, 1)]

    def distance(self, phase: Floats) -> Floats:
        """Metres along it at phases."""
        return np.asarray(np.interp(phase, self._phase, self._way))

    def lean(self, along: Floats) -> Floats:
        """How much a body leans into the turn [deg]."""
        return np.asarray(0.5 * (self.heading(along + 0.05) - self.heading(along - 0.05)))

    def bent(self, points: Floats, anchor: Floats) -> Floats:
        """Points (F, 3) beside the straight line on the bent ground, each as the ground lies around its anchor [m]."""
        at = np.stack([np.interp(anchor, self._line, self._bent[:, axis]) for axis in (0, 1)], axis=-1)
        flat = points.copy()
        flat[:, 0] -= anchor
        return rotate(turn(0.0, 0.0, self.heading(anchor)), flat) + np.column_stack([at, np.zeros(len(at))])


class Stride:
    """A gait being laid out."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.gait = plan, plan.gait
        self.length = plan.gait.stride * plan.longer * (THIGH + SHANK)
        frames = round(plan.gait.seconds * plan.slower * FPS)
        self.scene = Scenario(plan.name, plan.strides * frames / FPS)
        self.phase = self.scene.t * FPS / frames
        self.slow = 2.0 * np.pi * self.phase / STRIDES
        self.line = Line(plan, self.length)
        self.pace = plan.pace(self.phase)

    def side(self, shift: float, sign: float) -> dict[str, Floats]:
        """Curves of one side; the right one bends its knee more and swings its arm less."""
        phase = self.phase - shift
        found = {name: self.gait.curve(name, phase) for name in self.gait.series}
        found["elbow"] += sign * -4.0 + 2.0 * np.sin(self.slow + 1.1 * sign)
        found["phase"] = phase
        return found

    def clip(self) -> Clip:
        """Return the finished motion."""
        s, a, along = self.scene, self.pace, self.line.distance(self.phase)
        left, right = (self.side(shift, sign) for _, shift, sign in SIDES)
        half = lambda name: 0.5 * (left[name] - right[name])  # noqa: E731
        trunk, into = 0.5 * (left["lean"] + right["lean"]), self.line.lean(along)
        yaw, drop, shoulders = -half("pelvis_yaw"), -half("pelvis_drop"), -half("shoulder_yaw")
        stands = idle().at(np.mod(s.t, 4.0))
        sway = (THIGH + SHANK) * (half("side") + 0.0015 * np.sin(self.slow))
        beside = a * sway + (1.0 - a) * stands.root[:, 1] + 0.004 * into
        place = self.line.bent(np.stack([along, beside, np.zeros_like(a)], axis=-1), along)
        feet = [self._foot(shift, sign) for _, shift, sign in SIDES]
        spin = turn(0.0, a * drop - into, self.line.heading(along) + a * yaw)
        place[:, 2] = a * self._steady_height(drop, yaw) + (1.0 - a) * stands.root[:, 2]
        place[:, 2] -= self._out_of_reach(place, feet, spin)
        s.pelvis(
            place, a * 0.35 * trunk + 2.0 * (1.0 - a), a * drop - into, self.line.heading(along) + a * yaw
        )  # fmt: skip
        breath = np.sin(STRIDES * self.slow / 2.0 + 0.4)
        for name, share in (("Spine", 0.3), ("Spine1", 0.3), ("Spine2", 0.4)):
            s.joint(
                name, 0.15 * trunk - 0.5 * breath, -0.8 * share * drop, share * (shoulders - yaw) + 0.6 * into
            )  # fmt: skip
        s.joint("Neck", 2.0 - 0.1 * trunk, 0.0, -0.5 * shoulders + 1.2 * np.sin(self.slow + 0.6) + 1.5 * into)
        looks = -0.5 * shoulders + 1.6 * np.sin(self.slow + 0.2) + 1.5 * into
        s.joint("Head", -0.45 * trunk - 1.0 + 0.6 * breath, -0.1 * drop + 0.6 * into, looks)
        for one, (name, _, sign) in zip((left, right), SIDES, strict=True):
            swing = (one["arm"] - one["arm"].mean()) * (1.0 if sign > 0 else 0.88)
            out = np.clip(one["arm_out"], 4.0, 14.0) + 3.0 + (0.0 if sign > 0 else 1.5)
            s.arm(name, one["arm"].mean() + 6.0 + swing, out, 14.0, one["elbow"] - STRAIGHT)
            s.joint(f"{name}Hand", 4.0 - 0.25 * swing, 0.0, 3.0 * np.sin(2.0 * np.pi * one["phase"] + 0.9))
            s.joint(f"{name}Shoulder", 0.0, 0.0, -0.08 * swing * sign)
        for bone in range(1, len(NAMES)):
            s.local[:, bone] = slerp(stands.rotations[:, bone], s.local[:, bone], a)
        for (name, _, sign), foot in zip(SIDES, feet, strict=True):
            ankle, pitch, turned, toe = foot
            s.foot(name, self._within_reach(ankle, sign, place, spin), pitch, turned, toe)
        return s.clip()

    def _steady_height(self, drop: Floats, yaw: Floats) -> Floats:
        """Return how high the hips are at full pace, (F,) [m]: as legs reach, up and down once with every step."""
        most = np.full(len(self.phase), np.inf)
        for _, shift, sign in SIDES:
            p = np.mod(self.phase - shift, 1.0)
            ankle, *_ = self._steady(p, sign)
            hip = rotate(turn(0.0, drop, yaw), np.array([0.0, sign * 0.09, 0.0]))
            ahead = hip[:, 0] + self.length * p - self._lands(sign) - ankle[:, 0]
            flat = np.minimum(np.hypot(ahead, hip[:, 1] - sign * self._wide), REACH)
            high = ankle[:, 2] + np.sqrt(REACH**2 - flat**2) - hip[:, 2]
            most = np.minimum(most, np.where(p < self._off, high, np.inf))
        most = np.where(np.isfinite(most), most, 9.0)
        twice = 4.0 * np.pi * self.phase
        waves = np.stack([np.ones_like(twice), np.cos(twice), np.sin(twice)], axis=-1)
        least, most_bob = self.plan.bob
        bounds = [(0.0, None), (-most_bob, most_bob), (-most_bob, most_bob)]
        found = linprog(-waves.sum(axis=0), A_ub=waves, b_ub=most, bounds=bounds).x
        found[1:] *= max(1.0, least / max(float(np.hypot(*found[1:])), 1e-6))
        found[0] += float((most - waves @ found).min())
        return np.asarray(waves @ found)

    def _out_of_reach(self, place: Floats, feet: list[tuple[Floats, ...]], spin: Floats) -> Floats:
        """Return by how much the hips must be lower for legs to reach where their feet stand, smoothly, (F,) [m]."""
        most = np.full(len(place), np.inf)
        for (_, shift, sign), (ankle, *_) in zip(SIDES, feet, strict=True):
            hip = place + rotate(spin, np.array([0.0, sign * 0.09, 0.0]))
            flat = np.minimum(np.linalg.norm((hip - ankle)[:, :2], axis=-1), REACH)
            high = ankle[:, 2] + np.sqrt(REACH**2 - flat**2) - (hip - place)[:, 2]
            most = np.minimum(most, np.where(np.mod(self.phase - shift, 1.0) < self._off, high, np.inf))
        over = np.maximum(place[:, 2] - most, 0.0)
        if over.max() < 1e-6:
            return np.zeros_like(over)
        return np.asarray(gaussian_filter1d(maximum_filter1d(over, 9), 2.0) + 1e-4)

    @staticmethod
    def _within_reach(ankle: Floats, sign: float, place: Floats, spin: Floats) -> Floats:
        """Return an ankle that is lifted, while it swings, as far as its leg does not reach down."""
        hip = place + rotate(spin, np.array([0.0, sign * 0.09, 0.0]))
        flat = np.minimum(np.linalg.norm((hip - ankle)[:, :2], axis=-1), REACH)
        return np.column_stack([ankle[:, :2], np.maximum(hip[:, 2] - np.sqrt(REACH**2 - flat**2), ankle[:, 2])])

    @property
    def _off(self) -> float:
        """When the ball of a foot leaves the ground, in strides."""
        return self.gait.off - ROLLS

    @property
    def _wide(self) -> float:
        """How far beside the line a foot is put down [m]."""
        return 0.045 * (THIGH + SHANK) + 0.012

    def _lands(self, sign: float) -> float:
        """Return how far ahead of the hips a foot comes to lie, as they are when it strikes [m]."""
        fine = np.linspace(0.0, 1.0, 400, endpoint=False)
        middle = fine[(fine > self.plan.down) & (fine < self.plan.up)]
        return float(np.mean(self._from_hip(middle, sign)[:, 0] + self.length * middle))

    def _pitch(self, p: Floats) -> tuple[Floats, float, float]:
        """Return a foot's pitch over a stride [deg], toes down positive, and what it is as it leaves and strikes."""
        down, up, off = self.plan.down, self.plan.up, self._off
        fine = np.linspace(0.0, 1.0, 400, endpoint=False)
        flat = float(np.median(self.gait.curve("foot", fine[(fine > down) & (fine < up)])))
        asked = lambda q: flat - self.gait.curve("foot", np.asarray(q, float))  # noqa: E731
        within = lambda a, b: np.clip((p - a) / (b - a), 0.0, 1.0)  # noqa: E731
        last, first = float(asked([self.gait.off])[0]), float(min(asked([0.0])[0], 0.0))
        pitch = np.where(p < down, np.minimum(asked(p), 0.0) * (1.0 - within(0.0, down)), 0.0)
        pitch = np.where((p >= up) & (p < off), within(up, off) ** 1.25 * last, pitch)
        u = within(off, 1.0)
        free = asked(p) + (last - float(asked([off])[0])) * (1.0 - u) ** 2 + (first - float(asked([0.0])[0])) * u**2
        return np.where(p >= off, free, pitch), last, first

    def _steady(self, p: Floats, sign: float) -> tuple[Floats, Floats, Floats, float, float]:
        """Return an ankle's path over a stride at full pace, from where the foot lies flat [m], (F, 3).

        Also the pitch of the foot and of its toes [deg], (F,), and its pitch as it leaves and as it strikes.
        """
        off, wide = self._off, sign * self._wide
        pitch, leaves, strikes = self._pitch(p)
        tilt, u = turn(pitch), np.clip((p - off) / (1.0 - off), 0.0, 1.0)
        stand = np.array([0.0, wide, ANKLE])
        stance = stand + np.where((p < self.plan.down)[:, None], HEEL - rotate(tilt, HEEL), BALL - rotate(tilt, BALL))
        last = stand + BALL - rotate(turn(leaves), BALL)
        first = stand + HEEL - rotate(turn(strikes), HEEL) + np.array([self.length, 0.0, 0.0])
        swing, ends = self._from_hip(p, sign), self._from_hip(np.array([off, 1.0]), sign)
        hips = self.length * np.array([off, 1.0]) - self._lands(sign)
        ease = u * u * (3.0 - 2.0 * u)
        path = np.stack(
            [self.length * p - self._lands(sign) + swing[:, 0], np.full_like(p, wide), swing[:, 1]], axis=-1
        )
        for end, goal, share in ((0, last, 1.0 - ease), (1, first, ease)):
            path += (goal - np.array([hips[end] + ends[end, 0], wide, ends[end, 1]])) * share[:, None]
        soon = np.clip(u / 0.35, 0.0, 1.0)
        rolls = np.maximum(pitch, 0.0) * (p >= self.plan.up)
        toe = -np.where(p < off, rolls, leaves * (1.0 - soon * soon * (3.0 - 2.0 * soon)))
        path[:, 2] = np.maximum(path[:, 2], 0.012 * np.sin(np.pi * u) - _lowest(pitch, toe))  # clear of the ground
        return np.where((p >= off)[:, None], path, stance), pitch, toe, leaves, strikes

    def _foot(self, shift: float, sign: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Return an ankle's path over the ground [m], (F, 3), the foot's pitch and heading and the toes' pitch [deg].

        It goes as at full pace, as far as the pace takes it; what hardly steps hardly lifts.
        """
        number = np.floor(self.phase - shift)
        p, off = self.phase - shift - number, self._off
        steady, pitch, toe, leaves, strikes = self._steady(p, sign)
        pace, lands = self.plan.pace, self._lands(sign)
        landed, next_pace = pace(number + shift), pace(number + 1.0 + shift)
        here = self.line.distance(number + shift) + lands * landed
        there = self.line.distance(number + 1.0 + shift) + lands * next_pace
        moves = np.clip((there - here) / self.length, 0.0, 1.0)
        pushes, next_pace = np.minimum(pace(number + shift + off), moves), np.minimum(next_pace, moves)
        u = np.clip((p - off) / (1.0 - off), 0.0, 1.0)
        ease, swings = u * u * (3.0 - 2.0 * u), p >= off
        share = np.where(swings, pushes + (next_pace - pushes) * ease, np.where(p < self.plan.up, landed, pushes))
        pitch, toe = pitch * share, toe * np.where(swings, pushes, share)
        wide = lambda a: sign * (STANDING[0] + (self._wide - STANDING[0]) * a)  # noqa: E731
        stand = np.stack([here, wide(landed), np.full_like(p, ANKLE)], axis=-1)
        lands_on = np.stack([there, wide(next_pace), np.full_like(p, ANKLE)], axis=-1)
        tilt = turn(pitch)
        stance = stand + np.where((p < self.plan.down)[:, None], HEEL - rotate(tilt, HEEL), BALL - rotate(tilt, BALL))
        last = stand + BALL - rotate(turn(leaves * pushes), BALL)
        first = lands_on + HEEL - rotate(turn(strikes * next_pace), HEEL)
        ends, *_ = self._steady(np.array([off, 1.0 - 1e-9]), sign)
        goes = (steady[:, 0] - ends[0, 0]) / (ends[1, 0] - ends[0, 0])
        high = steady[:, 2] - ends[0, 2] - (ends[1, 2] - ends[0, 2]) * ease
        path = last + (first - last) * np.column_stack([goes, ease, ease])
        path[:, 2] += high * np.sqrt(moves)
        clear = 0.012 * np.sin(np.pi * u) * np.minimum(4.0 * moves, 1.0) - _lowest(pitch, toe)
        path[:, 2] = np.maximum(path[:, 2], clear)
        ankle = np.where(swings[:, None], path, stance)
        anchor = np.where(swings, here + (there - here) * goes, here)
        out = np.where(swings, landed + (next_pace - landed) * ease, landed)
        turned = sign * (STANDING[1] - 2.0 * out) + self.line.heading(anchor)
        return self.line.bent(ankle, anchor), pitch, turned, toe

    def _from_hip(self, phase: Floats, sign: float) -> Floats:
        """Return where the averages have the ankle: ahead of the hip and above the ground [m], (F, 2)."""
        thigh = self.gait.curve("thigh", phase) * (1.0 + 0.6 * (self.plan.longer - 1.0)) - 4.0
        knee = self.gait.curve("knee", phase)
        knee = np.maximum(knee - STRAIGHT * (1.0 - knee / 90.0), 2.0)
        upper, lower = np.radians(thigh), np.radians(thigh - knee)
        ahead = THIGH * np.sin(upper) + SHANK * np.sin(lower)
        stands = self.gait.curve("ankle", np.linspace(self.plan.down, self.plan.up, 20)).mean()
        higher = self.plan.lift * (1.0 if sign > 0 else RIGHT)
        high = (THIGH + SHANK) * (self.gait.curve("ankle", phase) - stands) * higher
        return np.stack([ahead, ANKLE + high], axis=-1)


def _lowest(pitch: Floats, toe: Floats) -> Floats:
    """Return how far the lowest point of a foot is above its ankle, (F,) [m]: below 0."""
    tilt = turn(pitch)
    tip = rotate(tilt, BALL) + rotate(turn(pitch + toe), TIP)
    return np.min([rotate(tilt, BALL)[:, 2], rotate(tilt, HEEL)[:, 2], tip[:, 2] - SOLE], axis=0)


def write(out: Path = OUT) -> list[Path]:
    """Write all of them."""
    return [write_bvh(replace(Stride(plan).clip(), name=plan.name), out / f"{plan.name}.bvh") for plan in PLANS]


if __name__ == "__main__":
    write()
