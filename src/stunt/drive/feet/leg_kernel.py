"""Legs of a body on ball joints, as compiled functions take them.

Two-bone inverse kinematics over many frames, compiled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.drive.motion.posing import body_count, multiply_into, rotated
from stunt.maths.compiled import compiled
from stunt.motion.rig.other_body import sole_geoms


@compiled
def _inner_angle(a: float, b: float, c: float) -> float:
    """Return the angle opposite side c of a triangle [rad]."""
    return math.acos(min(max((a * a + b * b - c * c) / (2.0 * a * b), -1.0), 1.0))


@compiled
def _set_cross(a: Any, b: Any, out: Any) -> float:
    """Write a × b; return its length."""
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return math.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])


@compiled
def _turn_between(a: Any, b: Any, axis: Any, out: Any) -> None:
    """Write the shortest turn of one direction into another."""
    one = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    two = math.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
    scale = 1.0 / max(one * two, 1e-12)
    _set_cross(a, b, axis)
    w = 1.0 + (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * scale
    x, y, z = axis[0] * scale, axis[1] * scale, axis[2] * scale
    size = 1.0 / math.sqrt(max(w * w + x * x + y * y + z * z, 1e-18))
    out[0], out[1], out[2], out[3] = w * size, x * size, y * size, z * size


@compiled
def _write_joint(outer: Any, inner: Any, own: Any, scratch: Any, out: Any) -> None:
    """Write a joint's quaternion: own⁻¹·outer⁻¹·inner."""
    scratch[0], scratch[1], scratch[2], scratch[3] = own[0], -own[1], -own[2], -own[3]
    multiply_into(scratch, outer[0], -outer[1], -outer[2], -outer[3], scratch)
    multiply_into(scratch, inner[0], inner[1], inner[2], inner[3], out)


@compiled
def bend_leg(
    places: Any, turns: Any, bodies: Any, upper: float, lower: float, path: Any, feet: Any, own: Any, columns: Any,
    frames: Any,
) -> None:  # fmt: skip
    """Write hip, knee and ankle of every frame so that the ankle is on a path and the foot is turned as given.

    Args:
        places: Of all bodies, (F, bodies, 3).
        turns: Likewise, (F, bodies, 4).
        bodies: Pelvis, thigh, shank and foot, by number.
        upper: Length of the thigh [m].
        lower: Length of the shank [m].
        path: Of the ankle, (F, 3).
        feet: How the foot is to be turned, (F, 4).
        own: Turns of thigh, shank and foot in their parents' frames, (3, 4).
        columns: Of the three joints' quaternions in the frames.
        frames: Written.
    """
    thigh, shank, turn, scratch = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(4)
    line, old, calf, axis = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    least, most = 1.01 * abs(upper - lower), 0.9995 * (upper + lower)
    for f in range(path.shape[0]):
        hip, knee, ankle = places[f, bodies[1]], places[f, bodies[2]], places[f, bodies[3]]
        for k in range(3):
            line[k], old[k], calf[k] = path[f, k] - hip[k], knee[k] - hip[k], ankle[k] - knee[k]
        far = math.sqrt(line[0] ** 2 + line[1] ** 2 + line[2] ** 2)
        was = math.sqrt((old[0] + calf[0]) ** 2 + (old[1] + calf[1]) ** 2 + (old[2] + calf[2]) ** 2)
        bend = _inner_angle(upper, lower, min(max(was, least), most)) - _inner_angle(
            upper, lower, min(max(far, least), most)
        )
        # The knee bends about the axis it is bent about; a straight one about the thigh's own.
        size = _set_cross(old, calf, axis)
        if size > 1e-4 * upper * lower:
            axis[0], axis[1], axis[2] = axis[0] / size, axis[1] / size, axis[2] / size
        else:
            axis[0], axis[1], axis[2] = rotated(turns[f, bodies[1]], 0.0, 1.0, 0.0)
        s = math.sin(0.5 * bend)
        turn[0], turn[1], turn[2], turn[3] = math.cos(0.5 * bend), s * axis[0], s * axis[1], s * axis[2]
        b = turns[f, bodies[2]]
        multiply_into(turn, b[0], b[1], b[2], b[3], shank)
        x, y, z = rotated(turn, calf[0], calf[1], calf[2])
        old[0], old[1], old[2] = old[0] + x, old[1] + y, old[2] + z
        # The hip turns the whole leg to where the foot should be.
        _turn_between(old, line, axis, turn)
        b = turns[f, bodies[1]]
        multiply_into(turn, b[0], b[1], b[2], b[3], thigh)
        w, x, y, z = shank
        multiply_into(turn, w, x, y, z, shank)
        _write_joint(turns[f, bodies[0]], thigh, own[0], scratch, frames[f, columns[0] : columns[0] + 4])
        _write_joint(thigh, shank, own[1], scratch, frames[f, columns[1] : columns[1] + 4])
        _write_joint(shank, feet[f], own[2], scratch, frames[f, columns[2] : columns[2] + 4])


_BALL = 1
Chain = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Legs:
    """The legs of one character; bodies are counted from the root.

    Attributes:
        some: Which bodies belong to legs, toes included, or carry them, (bodies,).
        chains: Of each leg: what it hangs on, thigh, shank and foot (L, 4); columns of the three joints' quaternions in
            `qpos` (L, 3); lengths of thigh and shank [m] (L, 2); turns of the three in their parents' frames (L, 3, 4).
        soles: Of each geom of foot or toes that stands on the ground: its leg, body and kind (S, 3), its place (S, 3)
            and turn (S, 4) in the body, and its size (S, 3).
    """

    some: NDArray[np.bool_]
    chains: tuple[Any, ...]
    soles: tuple[Any, ...]


_LEGS: WeakKeyDictionary[Character, Legs] = WeakKeyDictionary()


def leg_chains_of(model: mujoco.MjModel, character: Character) -> Legs:
    """Return the legs that end in feet and hang on ball joints; others are left alone."""
    known = _LEGS.get(character)
    if known is None:
        found = [chain for name, foot in character.bodies.items() if (chain := _chain(model, character, name, foot))]
        some, shapes = _bodies(model, character, found), _shapes(model, character, found)
        known = _LEGS[character] = Legs(some, shapes, _soles(model, character, found))
    return known


def _chain(model: mujoco.MjModel, character: Character, name: str, foot: int) -> Chain | None:
    """Return thigh, shank and foot of a leg that ends in a body; None where it is no leg that can be bent."""
    if "foot" not in name:
        return None
    shank = int(model.body_parentid[foot])
    chain = (int(model.body_parentid[shank]), shank, foot)
    balls = all(model.body_jntnum[b] == 1 and model.jnt_type[model.body_jntadr[b]] == _BALL for b in chain)
    return chain if balls and chain[0] > character.root_body and character.root is not None else None


def _shapes(model: mujoco.MjModel, character: Character, chains: list[Chain]) -> tuple[Any, ...]:
    first, count = character.root_body, len(chains)
    root = character.root.qpos if character.root is not None else 0
    bodies = np.array([[model.body_parentid[c[0]], *c] for c in chains], np.int64).reshape(count, 4) - first
    columns = [[model.jnt_qposadr[model.body_jntadr[b]] - root for b in c] for c in chains]
    lengths = [[np.linalg.norm(model.body_pos[b]) for b in c[1:]] for c in chains]
    own = [[model.body_quat[b] for b in c] for c in chains]
    return (
        bodies, np.array(columns, np.int64).reshape(count, 3), np.array(lengths, float).reshape(count, 2),
        np.array(own, float).reshape(count, 3, 4),
    )  # fmt: skip


def _soles(model: mujoco.MjModel, character: Character, chains: list[Chain]) -> tuple[Any, ...]:
    found = []
    for geom in sole_geoms(model, character) if chains else []:
        body = int(model.geom_bodyid[geom])
        mine = (body, int(model.body_parentid[body]))
        found += [(geom, leg, body - character.root_body) for leg, chain in enumerate(chains) if chain[2] in mine]
    geoms = [geom for geom, _, _ in found]
    which = np.array([[leg, body, model.geom_type[geom]] for geom, leg, body in found], np.int64).reshape(-1, 3)
    return which, model.geom_pos[geoms].copy(), model.geom_quat[geoms].copy(), model.geom_size[geoms].copy()


def _bodies(model: mujoco.MjModel, character: Character, chains: list[Chain]) -> NDArray[np.bool_]:
    """Return which bodies, counted from the root, belong to legs, toes included, or carry them, (bodies,)."""
    first, count = character.root_body, body_count(character)
    wanted = np.zeros(count, np.bool_)
    for chain in chains:
        body = chain[2]
        while body >= first:
            wanted[body - first] = True
            body = int(model.body_parentid[body])
    for body in range(first + 1, first + count):
        wanted[body - first] |= any(int(model.body_parentid[body]) == chain[2] for chain in chains)
    return wanted
