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

from stunt import rotations
from stunt.character.character import Character
from stunt.direction.supervisor.inertial import fade
from stunt.direction.supervisor.layout import Layout
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
SMALL: Final = 0.01
"""Nobody steps for less than this [m]."""
_BALL = 1


@dataclass(frozen=True)
class Leg:
    """One leg, as indices of bodies counted from the root, and columns of the joints' quaternions in `qpos`."""

    thigh: int
    shank: int
    foot: int
    hip_q: int
    knee_q: int
    ankle_q: int


def legs_of(model: mujoco.MjModel, character: Character) -> list[Leg]:
    """Return the legs that end in feet and hang on ball joints; others are left alone."""
    found, first = list[Leg](), character.root_body
    for name, foot in character.bodies.items():
        if "foot" not in name:
            continue
        shank = int(model.body_parentid[foot])
        thigh = int(model.body_parentid[shank])
        chain = (thigh, shank, foot)
        balls = all(model.body_jntnum[b] == 1 and model.jnt_type[model.body_jntadr[b]] == _BALL for b in chain)
        if balls and thigh > first and character.root is not None:
            q = [int(model.jnt_qposadr[model.body_jntadr[b]]) - character.root.qpos for b in chain]
            found.append(Leg(thigh - first, shank - first, foot - first, *q))
    return found


def standing(places: Floats, fps: float) -> NDArray[np.bool_]:
    """Return in which frames a foot stands: low and slow, (F,)."""
    if len(places) < 2:
        return np.ones(len(places), bool)
    speed = np.linalg.norm(np.gradient(places, 1.0 / fps, axis=0), axis=1)
    return np.asarray((speed < STILL) & (places[:, 2] < places[:, 2].min() + LOW))


def keep_feet(
    model: mujoco.MjModel, character: Character, layout: Layout, frames: Floats, data: Floats, fps: float, blend: float
) -> Floats:
    """Return blended frames with their feet where they stand.

    Args:
        model: The scene.
        character: Who.
        layout: Of its coordinates.
        frames: The blended motion from now on, beginning in the body's present state, (F, nq + nv).
        data: The motion it goes over to, (F, nq + nv).
        fps: Frames per second of both.
        blend: How long the blend takes [s].
    """
    legs = legs_of(model, character)
    window = min(len(frames), round((blend + 3.0 * STEP + 0.1) * fps) + 1)
    if not legs or window < 3:
        return frames
    now = posed(model, character, frames[:window, : layout.nq])
    wanted = posed(model, character, data[:window, : layout.nq])
    speeds = _foot_velocities(model, character, layout, frames[0], legs)
    out, begin = frames.copy(), blend
    for leg, speed in zip(legs, speeds, strict=True):
        path, begin = _foot_path(now.positions[:, leg.foot], wanted.positions[:, leg.foot], fps, speed, begin)
        turns = _foot_turns(now.turns[:, leg.foot], wanted.turns[:, leg.foot], path, fps)
        _reach(model, character, out[:window], leg, now, path, turns)
    out[:window, layout.nq :] = layout.velocities(out[: window + 1, : layout.nq], fps)[:window]
    out[0] = frames[0]
    return out


def _foot_velocities(
    model: mujoco.MjModel, character: Character, layout: Layout, frame: Floats, legs: list[Leg]
) -> list[Floats]:
    """Return how the feet move in a state [m/s]."""
    tick = 1e-3
    ahead = layout.moved(frame[: layout.nq], tick * frame[layout.nq :])
    both = posed(model, character, np.stack([frame[: layout.nq], ahead])).positions
    return [(both[1, leg.foot] - both[0, leg.foot]) / tick for leg in legs]


def _foot_path(now: Floats, data: Floats, fps: float, velocity: Floats, begin: float) -> tuple[Floats, float]:
    """Return where a foot goes, (F, 3), and when the next one may step [s].

    Args:
        now: Where the blend has it.
        data: Where the data has it.
        fps: Frames per second.
        velocity: Of the foot at the beginning [m/s].
        begin: When it may step, if it must [s].
    """
    stands = standing(data, fps)
    off, time = now[0] - data[0], np.arange(len(data)) / fps
    slow = float(np.linalg.norm(velocity)) < 2.0 * STILL
    if not (stands[0] and slow and now[0, 2] < data[:, 2].min() + 1.5 * LOW):
        return _landed(now, data, fps, velocity, stands), begin
    lifted = (int(np.argmin(stands)) if not stands.all() else len(stands)) / fps
    if lifted < begin + 0.1:
        # The data lifts it soon: it stays till then and makes up for the rest in the air.
        return _stepped(data, off, time, lifted, 0.0, stay=now[0]), begin
    if np.linalg.norm(off[:2]) < SMALL:
        return _stepped(data, off, time, 0.0, 0.0), begin
    return _stepped(data, off, time, begin, LIFT, stay=now[0]), begin + STEP


def _landed(now: Floats, data: Floats, fps: float, velocity: Floats, stands: NDArray[np.bool_]) -> Floats:
    """Return the path of a foot in the air: in its place by the time the data has it stand."""
    landing = int(np.argmax(stands)) / fps if stands.any() else len(stands) / fps
    seconds = min(max(landing, 0.6 * STEP), 2.0 * STEP)
    time = np.arange(len(data)) / fps
    rate = velocity - (data[1] - data[0]) * fps
    share = np.minimum(time / seconds, 1.0)
    path = data + fade(now[0] - data[0], rate, share, seconds)
    if landing == 0.0:  # the data has it on the ground already: it must not be dragged there
        path[:, 2] += LIFT * 16.0 * (share * (1.0 - share)) ** 2
    return path


def _stepped(data: Floats, off: Floats, time: Floats, begin: float, lift: float, stay: Floats | None = None) -> Floats:
    """Return a path that goes from a place to the data's in one step."""
    share = np.clip((time - begin) / STEP, 0.0, 1.0)
    ease = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    path = data + (1.0 - ease)[:, None] * off
    if stay is not None:
        path[time <= begin] = stay
    path[:, 2] += lift * 16.0 * (share * (1.0 - share)) ** 2
    return path


def _foot_turns(now: Floats, data: Floats, path: Floats, fps: float) -> Floats:
    """Return how a foot is turned: as it stands while it stands, then as the data has it."""
    moved = np.linalg.norm(path - path[0], axis=1)
    gone = int(np.argmax(moved > 1e-4)) if (moved > 1e-4).any() else len(path)
    share = np.clip((np.arange(len(path)) - gone) / (STEP * fps), 0.0, 1.0)
    off = rotations.difference(np.broadcast_to(now[0], data.shape), data)
    return rotations.multiply(data, rotations.from_rotation_vector((1.0 - share)[:, None] * off))


def _reach(
    model: mujoco.MjModel, character: Character, frames: Floats, leg: Leg, now: Posed, path: Floats, turns: Floats
) -> None:
    """Bend a leg in all frames so that its foot is on a path, in place."""
    first = character.root_body
    hip, knee, ankle = (now.positions[:, b] for b in (leg.thigh, leg.shank, leg.foot))
    upper = float(np.linalg.norm(model.body_pos[leg.shank + first]))
    lower = float(np.linalg.norm(model.body_pos[leg.foot + first]))
    line = path - hip
    far = np.clip(np.linalg.norm(line, axis=1), abs(upper - lower) * 1.01, (upper + lower) * 0.9995)
    # The knee: as much more or less bent as the new distance needs, about the axis it is bent about.
    old = np.clip(np.linalg.norm(ankle - hip, axis=1), abs(upper - lower) * 1.01, (upper + lower) * 0.9999)
    bend = _inner_angle(upper, lower, old) - _inner_angle(upper, lower, far)
    axis = np.cross(knee - hip, ankle - knee)
    size = np.linalg.norm(axis, axis=1, keepdims=True)
    side = rotations.rotate(now.turns[:, leg.thigh], np.array([0.0, 1.0, 0.0]))
    axis = np.where(size > 1e-4, axis / np.maximum(size, 1e-9), side)
    turn = rotations.from_rotation_vector(axis * bend[:, None])
    shank = rotations.multiply(turn, now.turns[:, leg.shank])
    ankle = knee + rotations.rotate(turn, ankle - knee)
    # The hip: so that the foot lies in the right direction.
    swing = _between(ankle - hip, line)
    thigh = rotations.multiply(swing, now.turns[:, leg.thigh])
    shank = rotations.multiply(swing, shank)
    pelvis = now.turns[:, int(model.body_parentid[leg.thigh + first]) - first]
    for column, outer, inner, body in (
        (leg.hip_q, pelvis, thigh, leg.thigh), (leg.knee_q, thigh, shank, leg.shank),
        (leg.ankle_q, shank, turns, leg.foot),
    ):  # fmt: skip
        own = rotations.conjugate(model.body_quat[body + first])
        frames[:, column : column + 4] = rotations.multiply(
            np.broadcast_to(own, inner.shape), rotations.multiply(rotations.conjugate(outer), inner)
        )


def _inner_angle(a: float, b: float, c: Floats) -> Floats:
    """Return the angle opposite side c of a triangle [rad]."""
    return np.asarray(np.arccos(np.clip((a * a + b * b - c * c) / (2.0 * a * b), -1.0, 1.0)))


def _between(start: Floats, end: Floats) -> Floats:
    """Return the shortest turns of vectors into the directions of others, (F, 4)."""
    a = start / np.linalg.norm(start, axis=1, keepdims=True)
    b = end / np.linalg.norm(end, axis=1, keepdims=True)
    w = 1.0 + (a * b).sum(axis=1, keepdims=True)
    return rotations.normalise(np.concatenate([w, np.cross(a, b)], axis=1))
