"""Legs of a body on ball joints, and how they bend so that a foot is where it should be."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.direction.motion_rows import sole_geoms
from stunt.direction.supervisor.legs_kernel import bend_leg
from stunt.direction.supervisor.posing import Posed
from stunt.rotations import Floats

_BALL = 1


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg; bodies are counted from the root.

    Attributes:
        thigh: Its first body.
        foot: Its last one.
        bodies: What it hangs on, thigh, shank and foot, (4,).
        columns: Of the three joints' quaternions in `qpos`, (3,).
        upper: Length of the thigh [m].
        lower: Length of the shank [m].
        own: Turns of thigh, shank and foot in their parents' frames, (3, 4).
        soles: Geoms of foot and toes that stand on the ground.
    """

    thigh: int
    foot: int
    bodies: NDArray[np.int64]
    columns: NDArray[np.int64]
    upper: float
    lower: float
    own: Floats
    soles: tuple[int, ...]

    @property
    def length(self) -> float:
        """From hip to ankle [m]."""
        return self.upper + self.lower


_LEGS: WeakKeyDictionary[Character, tuple[list[Leg], NDArray[np.bool_]]] = WeakKeyDictionary()


def legs_and_bodies(model: mujoco.MjModel, character: Character) -> tuple[list[Leg], NDArray[np.bool_]]:
    """Return a character's legs (see `legs_of`) and which bodies they are made of (see `bodies_of`)."""
    known = _LEGS.get(character)
    if known is None:
        legs = legs_of(model, character)
        known = _LEGS[character] = legs, bodies_of(model, character, legs)
    return known


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
            found.append(_leg(model, character, character.root.qpos, chain))
    return found


def _leg(model: mujoco.MjModel, character: Character, root_qpos: int, chain: tuple[int, int, int]) -> Leg:
    first, (thigh, shank, foot) = character.root_body, chain
    above = int(model.body_parentid[thigh])
    columns = np.array([int(model.jnt_qposadr[model.body_jntadr[b]]) - root_qpos for b in chain])
    upper, lower = (float(np.linalg.norm(model.body_pos[b])) for b in (shank, foot))
    own = np.stack([model.body_quat[b] for b in chain])
    soles = [g for g in sole_geoms(model, character) if foot in _with_parent(model, int(model.geom_bodyid[g]))]
    bodies = np.array([above, thigh, shank, foot]) - first
    return Leg(thigh - first, foot - first, bodies, columns, upper, lower, own, tuple(soles))


def _with_parent(model: mujoco.MjModel, body: int) -> tuple[int, int]:
    return body, int(model.body_parentid[body])


def bodies_of(model: mujoco.MjModel, character: Character, legs: list[Leg]) -> NDArray[np.bool_]:
    """Return which bodies, counted from the root, belong to legs, toes included, or carry them, (bodies,)."""
    first, end = character.root_body, max(character.bodies.values()) + 1
    wanted = np.zeros(end - first, np.bool_)
    for leg in legs:
        body = leg.foot + first
        while body >= first:
            wanted[body - first] = True
            body = int(model.body_parentid[body])
    for body in range(first + 1, end):
        parent = int(model.body_parentid[body]) - first
        wanted[body - first] |= any(parent == leg.foot for leg in legs)
    return wanted


def reach(frames: Floats, leg: Leg, now: Posed, path: Floats, turns: Floats) -> None:
    """Bend a leg in all frames so that its foot is on a path, in place.

    Args:
        frames: Own coordinates (and whatever follows them), (F, …), written.
        leg: Which.
        now: Where the bodies are in these frames.
        path: Where the ankle should be [m], (F, 3).
        turns: How the foot should be turned, (F, 4).
    """
    bend_leg(
        now.positions, now.turns, leg.bodies, leg.upper, leg.lower, np.ascontiguousarray(path),
        np.ascontiguousarray(turns), leg.own, leg.columns, frames,
    )  # fmt: skip
