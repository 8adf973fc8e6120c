"""Legs of a body on ball joints, and how they bend so that a foot is where it should be."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stunt import rotations
from stunt.character.character import Character
from stunt.direction.supervisor.posing import Posed
from stunt.rotations import Floats

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


def leg_length(model: mujoco.MjModel, character: Character, leg: Leg) -> float:
    """Return a leg's length from hip to ankle [m]."""
    first = character.root_body
    return float(np.linalg.norm(model.body_pos[leg.shank + first]) + np.linalg.norm(model.body_pos[leg.foot + first]))


def reach(
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
