"""Makes walks at three speeds from averages of people's strides, as small BVH files that repeat.

    python tools/make_gaits.py

Hips, back, arms and swinging legs go as the averages say (`gait_averages.py`). Feet that stand are put where they
stand: they come down on the heel, lie flat, and roll over the ball. The two sides differ, as people's do; hands and
head move; breath goes its own way. Legs follow by inverse kinematics. No capture of anybody went into it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gait_averages import GAITS, Gait
from make_clips import ANKLE, BALL, FPS, HEEL, OUT, SHANK, THIGH, TIP, Scenario, turn
from scipy.optimize import linprog

from stunt.maths.rotations import Floats, rotate
from stunt.motion.clips.clip import Clip
from stunt.motion.formats.bvh_writer import write_bvh

STRAIGHT = 10.0  # what a straight leg's knee measures in the averages [deg]
REACH = 0.9982 * (THIGH + SHANK)  # longest that a leg gets: a knee that bends by 7 degrees
SOLE = 0.02  # how far the sole is below the toes' bone [m]
RIGHT = 1.08  # how much higher the right foot is lifted than the left
ROLLS = 0.035  # how long before its foot the ball leaves the ground, over the toes' tip, in strides
STRIDES = 2  # in a clip, so that breath and the smaller wanderings do not repeat with every step


@dataclass(frozen=True)
class Plan:
    """A clip: which averages, and how many times their stride, its time and the height of their feet.

    `down`, `up`: when the sole lies flat, and when the heel lifts, in strides; `bob`: by how much hips go up and down
    with each step, at least and at most [m].
    """

    name: str
    gait: Gait
    longer: float = 1.0
    slower: float = 1.0
    lift: float = 1.0
    down: float = 0.10
    up: float = 0.28
    bob: tuple[float, float] = (0.016, 0.025)


PLANS = (
    Plan("walk_slow", GAITS["slow"], lift=1.14),
    Plan("walk_steady", GAITS["walk"], longer=0.96),
    Plan("walk_brisk", GAITS["walk"], longer=1.0, slower=0.8, lift=1.06),
)
SIDES = (("Left", 0.0, 1.0), ("Right", 0.5, -1.0))


class Stride:
    """A gait being laid out."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.gait = plan, plan.gait
        self.length = plan.gait.stride * plan.longer * (THIGH + SHANK)
        frames = round(plan.gait.seconds * plan.slower * FPS)
        self.scene = Scenario(plan.name, STRIDES * frames / FPS)
        self.phase = self.scene.t * FPS / frames
        self.slow = 2.0 * np.pi * self.phase / STRIDES

    def side(self, shift: float, sign: float) -> dict[str, Floats]:
        """Curves of one side; the right one steps a little later, bends its knee more and swings its arm less."""
        phase = self.phase - shift - (0.0 if sign > 0 else 0.008)
        found = {name: self.gait.curve(name, phase) for name in self.gait.series}
        found["elbow"] += sign * -4.0 + 2.0 * np.sin(self.slow + 1.1 * sign)
        found["phase"] = phase
        return found

    def clip(self) -> Clip:
        """Return the finished motion."""
        s, phase = self.scene, self.phase
        left, right = (self.side(shift, sign) for _, shift, sign in SIDES)
        half = lambda name: 0.5 * (left[name] - right[name])  # noqa: E731
        lean = 0.5 * (left["lean"] + right["lean"])
        yaw, drop, shoulders = -half("pelvis_yaw"), -half("pelvis_drop"), -half("shoulder_yaw")
        sway = half("side") + 0.0015 * np.sin(self.slow)
        place = np.stack([self.length * phase, (THIGH + SHANK) * sway, np.zeros_like(phase)], axis=-1)
        feet = [self._foot(one, sign, place) for one, (_, _, sign) in zip((left, right), SIDES, strict=True)]
        place[:, 2] = self._height(place, feet, drop, yaw)
        feet = [
            self._within_reach(foot, sign, place, drop, yaw) for foot, (_, _, sign) in zip(feet, SIDES, strict=True)
        ]
        s.pelvis(place, 0.35 * lean, drop, yaw)
        breath = np.sin(STRIDES * self.slow / 2.0 + 0.4)
        for name, share in (("Spine", 0.3), ("Spine1", 0.3), ("Spine2", 0.4)):
            s.joint(name, 0.15 * lean - 0.5 * breath, -0.8 * share * drop, share * (shoulders - yaw))
        s.joint("Neck", 2.0 - 0.1 * lean, 0.0, -0.5 * shoulders + 1.2 * np.sin(self.slow + 0.6))
        s.joint(
            "Head", -0.45 * lean - 1.0 + 0.6 * breath, -0.1 * drop, -0.5 * shoulders + 1.6 * np.sin(self.slow + 0.2)
        )
        for one, (name, _, sign), (ankle, pitch, toe) in zip((left, right), SIDES, feet, strict=True):
            swing = (one["arm"] - one["arm"].mean()) * (1.0 if sign > 0 else 0.88)
            out = np.clip(one["arm_out"], 4.0, 14.0) + 3.0 + (0.0 if sign > 0 else 1.5)
            s.arm(name, one["arm"].mean() + 6.0 + swing, out, 14.0, one["elbow"] - STRAIGHT)
            s.joint(f"{name}Hand", 4.0 - 0.25 * swing, 0.0, 3.0 * np.sin(2.0 * np.pi * one["phase"] + 0.9))
            s.joint(f"{name}Shoulder", 0.0, 0.0, -0.08 * swing * sign)
            s.foot(name, ankle, pitch, np.full_like(phase, sign * 6.0), toe)
        return s.clip()

    def _height(self, place: Floats, feet: list[tuple[Floats, Floats, Floats]], drop: Floats, yaw: Floats) -> Floats:
        """Return how high the hips are, (F,) [m]: as high as legs reach, up and down once with every step."""
        most = np.full(len(place), np.inf)
        for (_, shift, sign), (ankle, _, _) in zip(SIDES, feet, strict=True):
            hip = place + rotate(turn(0.0, drop, yaw), np.array([0.0, sign * 0.09, 0.0]))
            flat = np.minimum(np.linalg.norm((hip - ankle)[:, :2], axis=-1), REACH)
            high = ankle[:, 2] + np.sqrt(REACH**2 - flat**2) - (hip - place)[:, 2]
            most = np.minimum(most, np.where(np.mod(self.phase - shift, 1.0) < self.gait.off - ROLLS, high, np.inf))
        most = np.where(np.isfinite(most), most, 9.0)
        waves = np.stack(
            [np.ones_like(self.phase), np.cos(4 * np.pi * self.phase), np.sin(4 * np.pi * self.phase)], axis=-1
        )
        least, most_bob = self.plan.bob
        bounds = [(0.0, None), (-most_bob, most_bob), (-most_bob, most_bob)]
        found = linprog(-waves.sum(axis=0), A_ub=waves, b_ub=most, bounds=bounds).x
        found[1:] *= max(1.0, least / max(float(np.hypot(*found[1:])), 1e-6))
        found[0] += float((most - waves @ found).min())
        return np.asarray(waves @ found)

    def _within_reach(
        self, foot: tuple[Floats, Floats, Floats], sign: float, place: Floats, drop: Floats, yaw: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return a foot that is lifted, while it swings, as far as its leg does not reach down."""
        ankle, pitch, toe = foot
        hip = place + rotate(turn(0.0, drop, yaw), np.array([0.0, sign * 0.09, 0.0]))
        flat = np.minimum(np.linalg.norm((hip - ankle)[:, :2], axis=-1), REACH)
        low = np.maximum(hip[:, 2] - np.sqrt(REACH**2 - flat**2), ankle[:, 2])
        return np.column_stack([ankle[:, :2], low]), pitch, toe

    def _foot(self, one: dict[str, Floats], sign: float, place: Floats) -> tuple[Floats, Floats, Floats]:
        """Return an ankle's path [m], (F, 3), the foot's pitch and the toes' [deg]."""
        plan, phase = self.plan, one["phase"]
        number = np.floor(phase)
        p = phase - number
        off, down, up = self.gait.off - ROLLS, plan.down, plan.up
        fine = np.linspace(0.0, 1.0, 400, endpoint=False)
        flat = float(np.median(self.gait.curve("foot", fine[(fine > down) & (fine < up)])))
        asked = flat - self.gait.curve("foot", p)  # toes down positive
        ramp = lambda a, b: np.clip((p - a) / (b - a), 0.0, 1.0)  # noqa: E731
        pitch = np.where(p < down, np.minimum(asked, 0.0) * (1.0 - ramp(0.0, down)), 0.0)
        lift = ramp(up, off) ** 1.25 * float(flat - self.gait.curve("foot", np.array([self.gait.off]))[0])
        pitch = np.where((p >= up) & (p < off), lift, pitch)
        last_pitch, first_pitch = float(lift.max()), float(min(flat - self.gait.curve("foot", np.zeros(1))[0], 0.0))
        u = ramp(off, 1.0)
        free = asked + (last_pitch - float(flat - self.gait.curve("foot", np.array([off]))[0])) * (1.0 - u) ** 2
        free = free + (first_pitch - float(flat - self.gait.curve("foot", np.zeros(1))[0])) * u**2
        pitch = np.where(p >= off, free, pitch)
        # Where the averages have the ankle from the hip, and where it lands so that it stands still in between.
        way = self._from_hip(fine, sign)
        middle = (fine > down) & (fine < up)
        lands = float(np.mean(way[middle, 0] + self.length * fine[middle]))
        wide = sign * 0.045 * (THIGH + SHANK) + sign * 0.012
        began = self.length * (number + phase[0] * 0.0) + (place[0, 0] - self.length * self.phase[0])
        began = began + self.length * (self.phase - phase)
        stand = np.stack([began + lands, np.full_like(p, wide), np.full_like(p, ANKLE)], axis=-1)
        tilt = turn(pitch)
        stance = np.where((p < down)[:, None], stand + HEEL - rotate(tilt, HEEL), stand + BALL - rotate(tilt, BALL))
        last = stand + BALL - rotate(turn(last_pitch), BALL)
        first = stand + HEEL - rotate(turn(first_pitch), HEEL) + np.array([self.length, 0.0, 0.0])
        swing = self._from_hip(p, sign)
        ends = self._from_hip(np.array([off, 1.0]), sign)
        path = np.stack([place[:, 0] + swing[:, 0], np.full_like(p, wide), swing[:, 1]], axis=-1)
        base = place[:, 0] - self.length * (p - off)
        leave = np.stack([base + ends[0, 0], np.full_like(p, wide), np.full_like(p, ends[0, 1])], axis=-1)
        reach = np.stack([base + self.length * (1.0 - off) + ends[1, 0], np.full_like(p, wide),
                          np.full_like(p, ends[1, 1])], axis=-1)  # fmt: skip
        ease = (u * u * (3.0 - 2.0 * u))[:, None]
        path = path + (last - leave) * (1.0 - ease) + (first - reach) * ease
        soon = np.clip(u / 0.35, 0.0, 1.0)
        toe = -np.where(
            p < off, np.maximum(pitch, 0.0) * (p >= up), last_pitch * (1.0 - soon * soon * (3.0 - 2.0 * soon))
        )
        tip = rotate(tilt, BALL) + rotate(turn(pitch + toe), TIP)
        lowest = np.min([rotate(tilt, BALL)[:, 2], rotate(tilt, HEEL)[:, 2], tip[:, 2] - SOLE], axis=0)
        path[:, 2] = np.maximum(path[:, 2], 0.012 * np.sin(np.pi * u) - lowest)  # clear of the ground
        return np.where((p >= off)[:, None], path, stance), pitch, toe

    def _from_hip(self, phase: Floats, sign: float) -> Floats:
        """Return where the averages have the ankle: ahead of the hip and above the ground [m], (F, 2)."""
        thigh = self.gait.curve("thigh", phase) * (1.0 + 0.6 * (self.plan.longer - 1.0)) - 4.0
        knee = self.gait.curve("knee", phase)
        knee = np.maximum(knee - STRAIGHT * (1.0 - knee / 90.0), 2.0)
        upper, lower = np.radians(thigh), np.radians(thigh - knee)
        ahead = THIGH * np.sin(upper) + SHANK * np.sin(lower)
        stands = self.gait.curve("ankle", np.linspace(self.plan.down, self.plan.up, 20)).mean()
        high = (
            (THIGH + SHANK) * (self.gait.curve("ankle", phase) - stands) * self.plan.lift * (1.0 if sign > 0 else RIGHT)
        )
        return np.stack([ahead, ANKLE + high], axis=-1)


def write(out: Path = OUT) -> list[Path]:
    """Write all of them."""
    return [write_bvh(replace(Stride(plan).clip(), name=plan.name), out / f"{plan.name}.bvh") for plan in PLANS]


if __name__ == "__main__":
    write()
