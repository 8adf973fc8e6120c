"""Legs of a body on ball joints, and how they bend so that a foot is where it should be."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.direction.supervisor.legs_kernel import bend_leg
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
            q = [int(model.jnt_qposadr[model.body_jntadr[b]]) - character.root.qpos for b in chain]
            found.append(Leg(thigh - first, shank - first, foot - first, *q))
    return found


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


def leg_length(model: mujoco.MjModel, character: Character, leg: Leg) -> float:
    """Return a leg's length from hip to ankle [m]."""
    first = character.root_body
    return float(np.linalg.norm(model.body_pos[leg.shank + first]) + np.linalg.norm(model.body_pos[leg.foot + first]))


def reach(
    model: mujoco.MjModel, character: Character, frames: Floats, leg: Leg, now: Posed, path: Floats, turns: Floats
) -> None:
    """Bend a leg in all frames so that its foot is on a path, in place.

    Args:
        model: The scene.
        character: Whose leg.
        frames: Own coordinates (and whatever follows them), (F, …), written.
        leg: Which.
        now: Where the bodies are in these frames.
        path: Where the ankle should be [m], (F, 3).
        turns: How the foot should be turned, (F, 4).
    """
    first = character.root_body
    own = np.stack([model.body_quat[body + first] for body in (leg.thigh, leg.shank, leg.foot)])
    above = int(model.body_parentid[leg.thigh + first]) - first
    bend_leg(
        now.positions, now.turns, np.array([above, leg.thigh, leg.shank, leg.foot]),
        float(np.linalg.norm(model.body_pos[leg.shank + first])),
        float(np.linalg.norm(model.body_pos[leg.foot + first])),
        np.ascontiguousarray(path), np.ascontiguousarray(turns), own,
        np.array([leg.hip_q, leg.knee_q, leg.ankle_q]), frames,
    )  # fmt: skip
