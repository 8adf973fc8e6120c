"""Feet that stay where they stand while the rest of the body goes over to other data.

In a blend the data's feet come to lie elsewhere than the body's. A foot that stands, in the body and in the data, is
kept where it is until the data lifts it; one that the data never lifts makes a small step to its place. One that has
yet to come down comes down in its place. Legs follow by two-bone inverse kinematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.direction.supervisor.feet_kernel import add_need, foot_steps, widened, write_course
from stunt.direction.supervisor.grounding import lift_out
from stunt.direction.supervisor.layout import Layout
from stunt.direction.supervisor.legs import Leg, legs_and_bodies, reach
from stunt.direction.supervisor.posing import Posed, posed
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
SETTLED: Final = 0.1
"""So long after the last foot is in its place all is as the data has it [s]."""


def window(blend: float, fps: float) -> int:
    """Return how many frames a blend changes at most, and one more [frames]."""
    return round((blend + 3.0 * STEP + 0.1) * fps) + 2


@dataclass(frozen=True, eq=False)
class Stance:
    """What a body's feet do now, and where data has them from now on.

    Attributes:
        feet: Which bodies, counted from the root.
        places: Where they are [m], (legs, 3).
        turns: How they are turned, (legs, 4).
        speeds: How they move [m/s], (legs, 3).
        wanted: Where the data has all bodies of the legs.
        steps: Of each foot in the data, see `feet_kernel.foot_steps`, (legs, 4).
    """

    feet: list[int]
    places: Floats
    turns: Floats
    speeds: Floats
    wanted: Posed
    steps: Floats

    def stands(self, leg: int) -> bool:
        """Whether a foot stands, in the body and in the data."""
        lowest, stands = self.steps[leg, 0], self.steps[leg, 1]
        slow = math.hypot(*self.speeds[leg]) < 2.0 * STILL
        return bool(stands) and slow and bool(self.places[leg, 2] < lowest + 1.5 * LOW)


def stance_of(
    model: mujoco.MjModel, character: Character, layout: Layout, qpos: Floats, qvel: Floats, data: Floats, fps: float
) -> Stance | None:
    """Return what the feet do; None where there are no legs to bend, or too little data.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        qpos: Where the body is, (nq,).
        qvel: How it moves, (nv,).
        data: The motion it is about to go over to, (F, nq + nv).
        fps: Frames per second.
    """
    legs, some = legs_and_bodies(model, character)
    if not legs or len(data) < 3:
        return None
    feet, tick = [leg.foot for leg in legs], 1e-3
    now = posed(model, character, np.stack([qpos, layout.moved(qpos, tick * qvel)]), some)
    wanted = posed(model, character, data[:, : layout.nq], some)
    steps = np.empty((len(legs), 4))
    for number, foot in enumerate(feet):
        foot_steps(wanted.positions, foot, fps, STILL, LOW, steps[number])
    speeds = (now.positions[1, feet] - now.positions[0, feet]) / tick
    return Stance(feet, now.positions[0, feet], now.turns[0, feet], speeds, wanted, steps)


def common_ground(stance: Stance) -> Floats:
    """Return how far to move data over the ground so that feet that stand, in both, stand in one place [m], (3,).

    The stance is moved with it.
    """
    there = stance.wanted.positions
    shifts = [stance.places[n] - there[0, foot] for n, foot in enumerate(stance.feet) if stance.stands(n)]
    shift = sum(shifts, np.zeros(3)) / max(len(shifts), 1)
    shift[2] = 0.0
    there += shift
    return shift


def keep_feet(
    model: mujoco.MjModel, character: Character, layout: Layout, frames: Floats, stance: Stance | None, fps: float,
    blend: float,
) -> Floats:  # fmt: skip
    """Put the feet of blended frames where they stand, in place, and return those up to where all is as in the data.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        frames: The blended motion from now on, beginning in the body's present state, (F, nq + nv),
            written.
        stance: What the feet do, and where the data has them.
        fps: Frames per second.
        blend: How long the blend takes [s].
    """
    if stance is None:
        return frames
    legs, some = legs_and_bodies(model, character)
    courses = _courses(stance, fps, blend)
    last = max(blend, *(course.begin + course.seconds for course in courses)) + SETTLED
    count = min(len(frames) - 1, round(last * fps) + 1)
    first, out, now = frames[0].copy(), frames[: count + 1], stance.wanted
    paths, turns = np.empty((len(legs), count, 3)), np.empty((len(legs), count, 4))
    for n, (leg, course) in enumerate(zip(legs, courses, strict=True)):
        write_course(
            now.positions, now.turns, leg.foot, stance.places[n], stance.turns[n], stance.speeds[n], fps,
            course.begin, course.seconds, course.lift, BRAKE, ROLL, paths[n], turns[n],
        )  # fmt: skip
    now = posed(model, character, out[:count, : layout.nq], some)
    lower = _crouch(legs, now, paths, fps)
    if lower is not None:
        out[:count, 2] -= lower
        now.positions[:, :, 2] -= lower[:, None]
    for leg, path, turn in zip(legs, paths, turns, strict=True):
        reach(out[:count], leg, now, path, turn)
    lift_out(model, character, out[:count], layout.nq, fps, most=0.12, ease=BRAKE)
    out[0] = first
    out[:count, layout.nq :] = layout.velocities(out[:, : layout.nq], fps)[:count]
    out[0] = first
    return out


def _crouch(legs: list[Leg], now: Posed, paths: Floats, fps: float) -> Floats | None:
    """Return how much lower the root must be for all feet to be within reach [m], (F,); it begins and ends at 0."""
    need, most = np.zeros(paths.shape[1]), 0.0
    for leg, path in zip(legs, paths, strict=True):
        most = add_need(now.positions, leg.thigh, leg.foot, path, STRETCH * leg.length, need)
    if most <= 0.0:
        return None
    soft = widened(np.minimum(need, DEEPEST), round(0.08 * fps), 0.06 * fps)
    share = np.minimum(np.arange(len(soft)) / max(0.1 * fps, 1.0), 1.0)
    share = np.minimum(share, share[::-1])
    return np.asarray(soft * share**2 * (3.0 - 2.0 * share))


@dataclass(frozen=True)
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


def _courses(stance: Stance, fps: float, begin: float) -> list[Course]:
    """Return how the feet get into their places, one after the other; who must step begins not before `begin` [s]."""
    found = []
    for number in range(len(stance.places)):
        course, begin = _course(stance, number, fps, begin)
        found.append(course)
    return found


def _course(stance: Stance, leg: int, fps: float, begin: float) -> tuple[Course, float]:
    """Return how a foot gets into its place, and when the next one may step [s].

    Args:
        stance: What the feet do.
        leg: Which.
        fps: Frames per second.
        begin: When it may step, if it must [s].
    """
    off = stance.places[leg] - stance.wanted.positions[0, stance.feet[leg]]
    far, landing, lifted = math.hypot(off[0], off[1]), stance.steps[leg, 2] / fps, stance.steps[leg, 3] / fps
    if not stance.stands(leg):
        return Course(0.0, min(max(landing, 0.6 * STEP), 2.0 * STEP), min(LIFT, 0.5 * far)), begin
    if lifted < begin + 0.1:
        # The data lifts it soon: it stays till then and makes up for the rest in the air.
        return Course(max(lifted, 1.0 / fps), STEP, min(LIFT, 0.5 * far)), begin
    if far < SMALL:
        return Course(1.0 / fps, STEP, 0.0), begin
    return Course(begin, STEP, LIFT), begin + STEP
