"""Legs of a body on ball joints, as compiled functions take them, bent over many frames at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import BALL, body_count
from stunt.maths.compiled import compiled, inlined
from stunt.maths.flat import Quaternion, product, rotated
from stunt.maths.two_bone import bend
from stunt.motion.rig.other_body import sole_geoms


@inlined
def _write_joint(outer: Quaternion, inner: Quaternion, own: Any, out: Any) -> None:
    """Write a joint's quaternion: own⁻¹·outer⁻¹·inner."""
    w, x, y, z = product(own[0], -own[1], -own[2], -own[3], outer[0], -outer[1], -outer[2], -outer[3])
    out[0], out[1], out[2], out[3] = product(w, x, y, z, inner[0], inner[1], inner[2], inner[3])


@inlined
def _turned(by: Quaternion, turn: Any) -> Quaternion:
    return product(by[0], by[1], by[2], by[3], turn[0], turn[1], turn[2], turn[3])


@compiled
def bend_leg(places: Any, turns: Any, bodies: Any, path: Any, feet: Any, own: Any, columns: Any, frames: Any) -> None:
    """Write hip, knee and ankle of every frame so that the ankle is on a path and the foot is turned as given.

    Args:
        places: Of all bodies, (F, bodies, 3).
        turns: Likewise, (F, bodies, 4).
        bodies: Pelvis, thigh, shank and foot, by number.
        path: Of the ankle, (F, 3).
        feet: How the foot is to be turned, (F, 4).
        own: Turns of thigh, shank and foot in their parents' frames, (3, 4).
        columns: Of the three joints' quaternions in the frames.
        frames: Written.
    """
    for f in range(path.shape[0]):
        hip, knee, ankle = places[f, bodies[1]], places[f, bodies[2]], places[f, bodies[3]]
        pelvis, one, two, foot = turns[f, bodies[0]], turns[f, bodies[1]], turns[f, bodies[2]], feet[f]
        i, j, k = rotated(one[0], one[1], one[2], one[3], 0.0, 1.0, 0.0)  # a straight knee bends about the thigh's axis
        swing, both = bend(
            knee[0] - hip[0], knee[1] - hip[1], knee[2] - hip[2],
            ankle[0] - knee[0], ankle[1] - knee[1], ankle[2] - knee[2],
            path[f, 0] - hip[0], path[f, 1] - hip[1], path[f, 2] - hip[2], i, j, k,
        )  # fmt: skip
        thigh, shank = _turned(swing, one), _turned(both, two)
        above, below = (pelvis[0], pelvis[1], pelvis[2], pelvis[3]), (foot[0], foot[1], foot[2], foot[3])
        _write_joint(above, thigh, own[0], frames[f, columns[0] : columns[0] + 4])
        _write_joint(thigh, shank, own[1], frames[f, columns[1] : columns[1] + 4])
        _write_joint(shank, below, own[2], frames[f, columns[2] : columns[2] + 4])


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
    balls = all(model.body_jntnum[b] == 1 and model.jnt_type[model.body_jntadr[b]] == BALL for b in chain)
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
