"""Feet that stay where they stand while the rest of the body goes over to other data.

In a blend the data's feet come to lie elsewhere than the body's. A foot that stands, in the body and in the data, is
kept where it is until the data lifts it; one that the data never lifts makes a small step to its place. One that has
yet to come down comes down in its place. Legs follow by two-bone inverse kinematics. What the rest of the body is off
by fades along a quintic.

Going over to data from any state, feet kept where they stand: all of it in one compiled call (see `feet`).

Continuous in position and velocity: what the body is off by when the data begins, in both, fades along a quintic to
nothing; the data itself goes on unchanged underneath. Cross-fading two motions would need the old one to go on; a body
that was under forces a moment ago has none.
"""

from __future__ import annotations

import math
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import bones_of, pose_bodies
from stunt.drive.feet.feet_kernel import (
    add_need,
    eased_out,
    foot_steps,
    widened,
    write_course,
    write_lean,
    write_turned,
)
from stunt.drive.feet.leg_kernel import bend_leg, leg_chains_of
from stunt.drive.motion.layout import Layout, fade_rows, move_rows, start_offsets, velocity_rows
from stunt.drive.motion.posing import add_depth
from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import SURE

STEP: Final = 0.28
"""How long a step to one's place takes [s]."""
LIFT: Final = 0.05
"""How high the foot goes in it [m]."""
STILL: Final = SURE.slow
"""A foot slower than this stands [m/s]."""
LOW: Final = SURE.low + 0.015
"""A foot lower than this above its lowest stands [m]: of its ankle, which rises with the heel before the foot does."""
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
SINKING: Final = 0.12
"""A foot deeper in the floor than this is left alone [m]."""
SETTLED: Final = 0.1
"""So long after the last foot is in its place all is as the data has it [s]."""
SMOOTH: Final = 0.025
"""Standard deviation with which a foot is lifted out of the floor [s]."""
_TICK: Final = 1e-3


@compiled
def go_over(
    frames: Any, qpos: Any, qvel: Any, fps: float, blend: float, wait: float, shift: bool, columns: Any, bones: Any,
    some: Any, legs: Any, soles: Any, moved: Any,
) -> int:  # fmt: skip
    """Write frames that begin in a given state and end as the data has them; return how many that are.

    Args:
        frames: The data from now on, (F, nq + nv), written.
        qpos: The state the body is in, (1, nq).
        qvel: Its velocity, (1, nv).
        fps: Frames per second.
        blend: How long the change takes [s].
        wait: When feet that stand begin to step at the earliest [s].
        shift: Whether the data may be moved over the ground, so that feet that stand in both stand in one place.
        columns: Of the coordinates, see `Layout.columns`.
        bones: See `kinematics.bones_of`.
        some: Which bodies belong to legs, (bodies,).
        legs: Bodies (L, 4), columns (L, 3), lengths (L, 2) and own turns (L, 3, 4) of the legs.
        soles: Of each sole its leg, body and kind, (S, 3), place (S, 3), turn (S, 4) and size (S, 3).
        moved: How far the data was moved [m], written, (2,).
    """
    sq, sv, tq, tv = columns
    nq, nv, count = qpos.shape[1], qvel.shape[1], legs[0].shape[0]
    here, turned = np.empty((2, some.shape[0], 3)), np.empty((2, some.shape[0], 4))
    places, turns = np.empty((frames.shape[0], some.shape[0], 3)), np.empty((frames.shape[0], some.shape[0], 4))
    both = np.empty((2, nq))
    both[0] = qpos[0]
    move_rows(qpos, _TICK * qvel, sq, sv, tq, tv, both[1:])
    pose_bodies(both, some, bones, here, turned)
    pose_bodies(frames, some, bones, places, turns)
    steps = np.empty((count, 4))
    for leg in range(count):
        foot_steps(places, legs[0][leg, 3], fps, STILL, LOW, steps[leg])
    if shift:
        find_common_ground(here, places, legs[0], steps, moved)
        frames[:, :2] += moved
        places[:, :, :2] += moved
    courses = np.empty((count, 3))
    last = plan_courses(here, places, legs[0], steps, fps, blend, wait, courses)
    change = min(frames.shape[0] - 1, round(last * fps) + 1)
    lead = frames[: change + 1]
    knees = np.empty((count, change + 1, 4))
    for leg in range(count):
        knees[leg] = lead[:, legs[1][leg, 1] : legs[1][leg, 1] + 4]
    blend_in(lead, qpos, qvel, nq, fps, blend, sq, sv, tq, tv)
    if count > 0:
        for leg in range(count):
            keep_bent(lead, qpos, knees[leg], legs[1][leg, 1], round(blend * fps))
        put_feet(lead[:change], here, turned, places, turns, fps, courses, bones, some, legs, soles)
    lead[0, :nq], lead[0, nq:] = qpos[0], qvel[0]
    rates, scratch = np.empty((change, nv)), np.empty((change, nv))
    velocity_rows(lead, fps, sq, sv, tq, tv, scratch, rates)
    lead[1:change, nq:] = rates[1:]
    return change + 1


@compiled
def rests(here: Any, foot: int, lowest: float) -> bool:
    """Whether a foot of the body is on the ground, and still."""
    speed = 0.0
    for k in range(3):
        speed += ((here[1, foot, k] - here[0, foot, k]) / _TICK) ** 2
    return math.sqrt(speed) < 2.0 * STILL and here[0, foot, 2] < lowest + 1.5 * LOW


@compiled
def stands(here: Any, foot: int, steps: Any) -> bool:
    """Whether a foot stands, in the body and in the data."""
    return steps[1] != 0.0 and rests(here, foot, steps[0])


@compiled
def find_common_ground(here: Any, places: Any, bodies: Any, steps: Any, moved: Any) -> None:
    """Write how far to move data over the ground so that feet that stand, in both, stand in one place [m], (2,)."""
    found, x, y = 0, 0.0, 0.0
    for leg in range(bodies.shape[0]):
        foot = bodies[leg, 3]
        if stands(here, foot, steps[leg]):
            found += 1
            x += here[0, foot, 0] - places[0, foot, 0]
            y += here[0, foot, 1] - places[0, foot, 1]
    moved[0], moved[1] = x / max(found, 1), y / max(found, 1)


@compiled
def stays(here: Any, bodies: Any, steps: Any, leg: int) -> bool:
    """Whether a foot stays where it is for now: it stands, or does in the data and a higher one comes down first."""
    foot, waits = bodies[leg, 3], False
    for other in range(bodies.shape[0]):
        if other != leg and not stands(here, bodies[other, 3], steps[other]):
            waits = waits or here[0, bodies[other, 3], 2] > here[0, foot, 2]
    return stands(here, foot, steps[leg]) or (waits and steps[leg, 1] != 0.0)


@compiled
def time_down(landing: float) -> float:
    """Return how long a foot that is in the air takes to come down, for when it does in the data [s]."""
    return min(max(landing, 0.6 * STEP), 2.0 * STEP)


@compiled
def plan_courses(
    here: Any, places: Any, bodies: Any, steps: Any, fps: float, blend: float, wait: float, courses: Any
) -> float:
    """Write how each foot gets into its place; return when the last one is, and the blend over [s].

    A course: when the foot leaves its place [s], how long it takes, and how high it goes on the way [m].
    """
    begin, last = max(wait, 1.0 / fps), blend
    for leg in range(bodies.shape[0]):
        if not stays(here, bodies, steps, leg):
            begin = max(begin, time_down(steps[leg, 2] / fps))  # one foot after the other
    for leg in range(bodies.shape[0]):
        foot = bodies[leg, 3]
        far = math.hypot(here[0, foot, 0] - places[0, foot, 0], here[0, foot, 1] - places[0, foot, 1])
        landing, lifted, high = steps[leg, 2] / fps, steps[leg, 3] / fps, min(LIFT, 0.5 * far)
        if not stays(here, bodies, steps, leg):
            high = LIFT if rests(here, foot, steps[leg, 0]) else high  # else it would drag over the ground at first
            courses[leg, 0], courses[leg, 1], courses[leg, 2] = 0.0, time_down(landing), high
        elif lifted < begin + 0.1:
            # The data lifts it soon: it stays till then and makes up for the rest in the air.
            courses[leg, 0], courses[leg, 1], courses[leg, 2] = max(lifted, 1.0 / fps), STEP, high
        elif far < SMALL:
            courses[leg, 0], courses[leg, 1], courses[leg, 2] = 1.0 / fps, STEP, 0.0
        else:
            courses[leg, 0], courses[leg, 1], courses[leg, 2] = begin, STEP, LIFT
            begin += STEP
        last = max(last, courses[leg, 0] + courses[leg, 1])
    return last + SETTLED


@compiled
def blend_in(
    lead: Any, qpos: Any, qvel: Any, nq: int, fps: float, blend: float, sq: Any, sv: Any, tq: Any, tv: Any
) -> None:  # fmt: skip
    """Write frames that begin in a given state and are the data's own after some seconds."""
    nv, count = qvel.shape[1], min(lead.shape[0], round(blend * fps) + 1)
    off, rate, left = np.empty((1, nv)), np.empty((1, nv)), np.empty((count, nv))
    start_offsets(qpos, qvel, lead[:1, :nq], lead[:1, nq:], sq, sv, tq, tv, off, rate)
    fade_rows(off, rate, fps, blend, left)
    move_rows(lead[:count], left, sq, sv, tq, tv, lead[:count])


@compiled
def keep_bent(lead: Any, qpos: Any, data: Any, column: int, frames: int) -> None:
    """Write a knee that goes from what the body has to what the data has, (F, 4), and never beyond the two.

    What it is off by, added to the data, would carry it past straight: put to its foot, the leg would bend backwards.
    """
    off = np.empty(3)
    for f in range(min(frames, lead.shape[0])):
        left = eased_out(f / frames)
        write_lean(data[f], qpos[0, column : column + 4], off)
        write_turned(data[f], left * off[0], left * off[1], left * off[2], lead[f, column : column + 4])


@compiled
def put_feet(
    lead: Any, here: Any, turned: Any, places: Any, turns: Any, fps: float, courses: Any, bones: Any, some: Any,
    legs: Any, soles: Any,
) -> None:  # fmt: skip
    """Bend the legs of blended frames so that the feet go their courses, the root low enough for them to reach."""
    bodies, columns, lengths, own = legs
    count, many = lead.shape[0], bodies.shape[0]
    paths, feet, need, most = np.empty((many, count, 3)), np.empty((many, count, 4)), np.zeros(count), 0.0
    now, how = np.empty((count, some.shape[0], 3)), np.empty((count, some.shape[0], 4))
    pose_bodies(lead, some, bones, now, how)
    for leg in range(many):
        foot, (begin, seconds, lift) = bodies[leg, 3], courses[leg]
        write_course(
            places, turns, foot, here, turned, _TICK, fps, begin, seconds, lift, BRAKE, ROLL, paths[leg], feet[leg]
        )
        reach = STRETCH * (lengths[leg, 0] + lengths[leg, 1])
        most = add_need(now, bodies[leg, 1], foot, paths[leg], reach, need)
    if most > 0.0:
        crouch(lead, now, need, fps)
    for leg in range(many):
        bend_leg(now, how, bodies[leg], paths[leg], feet[leg], own[leg], columns[leg], lead)
    lift_feet(lead, now, how, fps, BRAKE, SINKING, bones, some, legs, soles)


@compiled
def crouch(lead: Any, now: Any, need: Any, fps: float) -> None:
    """Lower the root by what the feet need; it begins and ends at nothing."""
    count = need.shape[0]
    soft, ease = widened(np.minimum(need, DEEPEST), round(0.08 * fps), 0.06 * fps), max(0.1 * fps, 1.0)
    for f in range(count):
        share = min(min(f, count - 1 - f) / ease, 1.0)
        lower = soft[f] * share * share * (3.0 - 2.0 * share)
        lead[f, 2] -= lower
        for body in range(now.shape[1]):
            now[f, body, 2] -= lower


@compiled
def lift_feet(
    frames: Any, now: Any, how: Any, fps: float, ease: float, most: float, bones: Any, some: Any, legs: Any, soles: Any
) -> None:  # fmt: skip
    """Lift feet out of the floor, smoothly, over `ease` seconds at first; ones deeper than `most` are left alone.

    Args:
        frames: Own coordinates (and whatever follows them), (F, …), written.
        now: Scratch for positions, (F, bodies, 3).
        how: Scratch for turns, (F, bodies, 4).
        fps: Frames per second.
        ease: See above [s].
        most: See above [m].
        bones: See `kinematics.bones_of`.
        some: Which bodies belong to legs, (bodies,).
        legs: See `go_over`.
        soles: See `go_over`.
    """
    bodies, columns, _, own = legs
    which, place, turn, size = soles
    pose_bodies(frames, some, bones, now, how)
    for leg in range(bodies.shape[0]):
        depth, deepest, foot = np.zeros(frames.shape[0]), 0.0, bodies[leg, 3]
        for n in range(which.shape[0]):
            if which[n, 0] == leg:
                deepest = add_depth(now, how, which[n, 1], place[n], turn[n], size[n], which[n, 2], depth)
        if deepest <= 1e-4 or deepest > most:
            continue
        soft, path = widened(depth, max(1, round(2.0 * SMOOTH * fps)), SMOOTH * fps), now[:, foot].copy()
        for f in range(frames.shape[0]):
            s = min(f / (ease * fps), 1.0) if ease > 0.0 else 1.0
            path[f, 2] += max(soft[f], depth[f]) * s * s * (3.0 - 2.0 * s)
        feet = how[:, foot].copy()
        bend_leg(now, how, bodies[leg], path, feet, own[leg], columns[leg], frames)


def window(blend: float, fps: float) -> int:
    """Return how many frames a blend changes at most, and one more."""
    return round((blend + 3.0 * STEP + SETTLED) * fps) + 2


def blend_into(
    model: mujoco.MjModel, character: Character, layout: Layout, qpos: Floats, qvel: Floats, frames: Floats, fps: float,
    blend: float, *, wait: float, shift: bool = False,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return frames that begin in a given state and are the data's own after some time, feet kept where they stand.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        qpos: The state it comes from, (nq,).
        qvel: Its velocity, (nv,).
        frames: The data from now on, `window` frames of it or what there is, (F, nq + nv), written.
        fps: Its frame rate.
        blend: How long the rest of the body takes [s].
        wait: When feet that stand begin to step at the earliest [s]: data can wait for the blend to be over, a body
            that is carried by its feet cannot.
        shift: Whether the data may be moved over the ground, so that feet that stand in both stand in one place.

    Returns:
        The frames up to where all is as in the data, and how far the data was moved [m], (2,).
    """
    legs, moved = leg_chains_of(model, character), np.zeros(2)
    if len(frames) < 3:
        return frames, moved
    count = go_over(
        frames, qpos[None], qvel[None], fps, blend, wait, shift, layout.columns, bones_of(model, character), legs.some,
        legs.chains, legs.soles, moved,
    )  # fmt: skip
    return frames[:count], moved
