"""Feet that stay where they stand while the rest of the body goes over to other data.

In a blend the data's feet come to lie elsewhere than the body's. A foot that stands, in the body and in the data, is
kept where it is until the data lifts it; one that the data never lifts makes a small step to its place. One that has
yet to come down comes down in its place. Legs follow by two-bone inverse kinematics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from stunt import rotations
from stunt.character.character import Character
from stunt.direction.supervisor.grounding import lifted_out
from stunt.direction.supervisor.inertial import fade
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.legs import Leg, leg_length, legs_and_bodies, reach
from stunt.direction.supervisor.posing import Posed, posed
from stunt.direction.supervisor.state_kernel import move_rows
from stunt.rotations import Floats

STEP: Final = 0.35
"""How long a step to one's place takes [s]."""
LIFT: Final = 0.05
"""How high the foot goes in it [m]."""
STILL: Final = 0.25
"""A foot slower than this stands [m/s]."""
LOW: Final = 0.05
"""A foot lower than this above its lowest may stand [m]."""
BRAKE: Final = 0.15
"""A foot that stands but still moves a little comes to rest within this time [s]."""
ROLL: Final = 0.18
"""How long a foot takes to tilt as the data has it [s]."""
SMALL: Final = 0.01
"""Nobody steps for less than this [m]."""
STRETCH: Final = 0.985
"""A leg is not stretched further than this share of its length where the data does not do it itself."""
DEEPEST: Final = 0.15
"""Nobody crouches deeper than this for a foot [m]."""


def standing(places: Floats, fps: float) -> NDArray[np.bool_]:
    """Return in which frames a foot stands: low and slow, (F,)."""
    if len(places) < 2:
        return np.ones(len(places), bool)
    step = (
        places[np.minimum(np.arange(len(places)) + 1, len(places) - 1)]
        - places[np.maximum(np.arange(len(places)) - 1, 0)]
    )
    speed = 0.5 * fps * np.sqrt((step * step).sum(axis=1))
    return np.asarray((speed < STILL) & (places[:, 2] < places[:, 2].min() + LOW))


def common_ground(
    model: mujoco.MjModel, character: Character, layout: Layout, state: Floats, data: Floats, fps: float
) -> Floats:
    """Return how far to move data over the ground so that feet that stand, in both, stand in one place [m], (3,).

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        state: What the body does now, (nq + nv,).
        data: The motion it is about to go over to, (F, nq + nv).
        fps: Frames per second.
    """
    legs, some = legs_and_bodies(model, character)
    window = min(len(data), round(0.4 * fps) + 2)
    if not legs or window < 3:
        return np.zeros(3)
    here = posed(model, character, state[None, : layout.nq], some).positions[0]
    there = posed(model, character, data[:window, : layout.nq], some).positions
    shifts = []
    for leg, velocity in zip(legs, _foot_velocities(model, character, layout, state), strict=True):
        slow = float(np.linalg.norm(velocity)) < 2.0 * STILL
        if (
            slow
            and standing(there[:, leg.foot], fps)[0]
            and here[leg.foot, 2] < there[:, leg.foot, 2].min() + 1.5 * LOW
        ):
            shifts.append(here[leg.foot] - there[0, leg.foot])
    shift = np.mean(shifts, axis=0) if shifts else np.zeros(3)
    return np.array([shift[0], shift[1], 0.0])


def keep_feet(
    model: mujoco.MjModel, character: Character, layout: Layout, frames: Floats, data: Floats, fps: float, blend: float
) -> Floats:
    """Put the feet of blended frames where they stand, in place, and return the frames.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        frames: The blended motion from now on, beginning in the body's present state, (F, nq + nv),
            written.
        data: The motion it goes over to, (F, nq + nv).
        fps: Frames per second of both.
        blend: How long the blend takes [s].
    """
    legs, some = legs_and_bodies(model, character)
    window = min(len(frames), round((blend + 3.0 * STEP + 0.1) * fps) + 1)
    if not legs or window < 3:
        return frames
    out, first = frames, frames[0].copy()
    paths, turns = _feet_of(model, character, layout, frames[:window], data[:window], fps, blend)
    now = posed(model, character, out[:window, : layout.nq], some)
    lower = _crouch(model, character, legs, now, paths, fps)
    out[:window, 2] -= lower
    now.positions[:, :, 2] -= lower[:, None]
    for leg, path, turn in zip(legs, paths, turns, strict=True):
        reach(model, character, out[:window], leg, now, path, turn)
    out[:window, : layout.nq] = lifted_out(model, character, out[:window, : layout.nq], fps, most=0.12, ease=BRAKE)
    out[0] = first
    out[:window, layout.nq :] = layout.velocities(out[: window + 1, : layout.nq], fps)[:window]
    out[0] = first
    return out


def _feet_of(
    model: mujoco.MjModel, character: Character, layout: Layout, frames: Floats, data: Floats, fps: float,
    blend: float,
) -> tuple[list[Floats], list[Floats]]:  # fmt: skip
    """Return where the feet go, (F, 3) each, and how they are turned, (F, 4) each."""
    legs, some = legs_and_bodies(model, character)
    now = posed(model, character, frames[:1, : layout.nq], some)
    wanted = posed(model, character, data[:, : layout.nq], some)
    speeds = _foot_velocities(model, character, layout, frames[0])
    paths, turns, begin = [], [], blend
    time = np.arange(len(data)) / fps
    for leg, speed in zip(legs, speeds, strict=True):
        here, there = now.positions[0, leg.foot], wanted.positions[:, leg.foot]
        course, begin = _course(here, there, fps, speed, begin)
        paths.append(there + course.along(here - there[0], speed - (there[1] - there[0]) * fps, time))
        turns.append(_foot_turns(now.turns[0, leg.foot], wanted.turns[:, leg.foot], rolled(time)))
    return paths, turns


def _foot_turns(now: Floats, data: Floats, share: Floats) -> Floats:
    """Return how a foot is turned, (F, 4): as it is at first, then as the data has it, by a share that falls to 0."""
    off = rotations.difference(now, data[0])
    turns = np.empty_like(data)
    none, zero = np.zeros(0, np.int64), np.zeros(1, np.int64)
    move_rows(data, share[:, None] * off, none, none, zero, zero, turns)
    return turns


def _crouch(
    model: mujoco.MjModel, character: Character, legs: list[Leg], now: Posed, paths: list[Floats], fps: float
) -> Floats:
    """Return how much lower the root must be for all feet to be within reach [m], (F,); it begins and ends at 0."""
    need = np.zeros(len(paths[0]))
    for leg, path in zip(legs, paths, strict=True):
        longest = STRETCH * leg_length(model, character, leg)
        line = now.positions[:, leg.thigh] - path
        flat = (line[:, :2] ** 2).sum(axis=1)
        highest = np.sqrt(np.maximum(longest**2 - flat, (0.6 * longest) ** 2))
        # What the body does anyway, it may go on doing.
        before = now.positions[:, leg.thigh] - now.positions[:, leg.foot]
        own = np.maximum(np.linalg.norm(before, axis=1) - longest, 0.0)
        need = np.maximum(need, line[:, 2] - highest - own)
    if need.max() <= 0.0:
        return need
    wide = maximum_filter1d(np.minimum(need, DEEPEST), 2 * round(0.08 * fps) + 1, mode="nearest")
    soft = gaussian_filter1d(wide, 0.06 * fps, mode="nearest")
    share = np.minimum(np.arange(len(soft)) / max(0.1 * fps, 1.0), 1.0)
    share = np.minimum(share, share[::-1])
    return np.asarray(soft * share**2 * (3.0 - 2.0 * share))


def _foot_velocities(model: mujoco.MjModel, character: Character, layout: Layout, frame: Floats) -> list[Floats]:
    """Return how the feet move in a state [m/s]."""
    legs, some = legs_and_bodies(model, character)
    tick = 1e-3
    ahead = layout.moved(frame[: layout.nq], tick * frame[layout.nq :])
    both = posed(model, character, np.stack([frame[: layout.nq], ahead]), some).positions
    return [(both[1, leg.foot] - both[0, leg.foot]) / tick for leg in legs]


@dataclass(frozen=True, eq=False)
class Course:
    """How one foot gets from where it is to where the data has it.

    Attributes:
        begin: When it leaves its place [s].
        seconds: How long it takes.
        lift: How high it goes on the way [m].
    """

    begin: float
    seconds: float
    lift: float

    def along(self, off: Floats, rate: Floats, time: Floats) -> Floats:
        """Return by how much the foot is off the data's own path, (F, 3).

        Args:
            off: At the beginning [m], (3,).
            rate: How fast that changes at the beginning [m/s], (3,).
            time: [s], (F,).
        """
        if self.begin <= 0.0:
            left = fade(off, rate, np.minimum(time / self.seconds, 1.0), self.seconds)
        else:
            brake = min(BRAKE, self.begin)
            left = self.share_left(time)[:, None] * off
            left[:, 2] = rolled(time) * off[2]
            left += fade(np.zeros(3), rate, np.minimum(time / brake, 1.0), brake)
        share = np.clip((time - self.begin) / self.seconds, 0.0, 1.0)
        left[:, 2] += self.lift * 16.0 * (share * (1.0 - share)) ** 2
        return left

    def share_left(self, time: Floats) -> Floats:
        """Return which share of the way is still to go, (F,)."""
        return rolled((time - self.begin) * ROLL / self.seconds)


def rolled(time: Floats) -> Floats:
    """Return which share of a foot's tilt and height is still its own, (F,): it rolls into the data's at once."""
    s = np.clip(time / ROLL, 0.0, 1.0)
    return np.asarray(1.0 - s**3 * (10.0 - 15.0 * s + 6.0 * s**2))


def _course(now: Floats, data: Floats, fps: float, velocity: Floats, begin: float) -> tuple[Course, float]:
    """Return how a foot gets into its place, and when the next one may step [s].

    Args:
        now: Where it is, (3,).
        data: Where the data has it, (F, 3).
        fps: Frames per second.
        velocity: Of the foot at the beginning [m/s].
        begin: When it may step, if it must [s].
    """
    stands = standing(data, fps)
    off = now - data[0]
    slow = float(np.linalg.norm(velocity)) < 2.0 * STILL
    if not (stands[0] and slow and now[2] < data[:, 2].min() + 1.5 * LOW):
        landing = int(np.argmax(stands)) / fps if stands.any() else len(stands) / fps
        return Course(0.0, min(max(landing, 0.6 * STEP), 2.0 * STEP), _lift(off)), begin
    lifted = (int(np.argmin(stands)) if not stands.all() else len(stands)) / fps
    if lifted < begin + 0.1:
        # The data lifts it soon: it stays till then and makes up for the rest in the air.
        return Course(max(lifted, 1.0 / fps), STEP, _lift(off)), begin
    if np.linalg.norm(off[:2]) < SMALL:
        return Course(1.0 / fps, STEP, 0.0), begin
    return Course(begin, STEP, LIFT), begin + STEP


def _lift(off: Floats) -> float:
    """Return how high a foot goes for a step of that size [m]."""
    return min(LIFT, 0.5 * float(np.linalg.norm(off[:2])))
