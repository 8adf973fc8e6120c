"""Legs of a body on ball joints, as compiled functions take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.direction.motion_rows import sole_geoms
from stunt.direction.supervisor.posing import body_count

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


def legs_of(model: mujoco.MjModel, character: Character) -> Legs:
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
