"""Steps between two motions: feet that a blend would drag over the floor are lifted there, one after the other.

Interpolating orientations takes both feet to their new places at once, sliding, whatever stands on them; a body that was
walking trips over that. Here the root keeps its momentum and loses it over the blend, and each foot that has far to go
stays where it stands until its turn, and swings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np

from stunt import rotations
from stunt.character.character import Character
from stunt.control.worldspace_program import Rows
from stunt.direction.legs import Leg
from stunt.direction.motion_rows import SWING_FRICTION
from stunt.rotations import Floats

FAR: Final = 0.08
"""A foot with less way to go is not worth a step [m]."""
SWING: Final = 0.28
"""Least time of a step [s]."""
LIFT: Final = 0.06
"""How high a foot is lifted in the middle of its step [m]."""
STANDING: Final = 0.3
"""A foot slower than this over the ground stands [m/s]."""
AIRBORNE: Final = 0.03
"""A foot this high above the lower one is in the air [m]."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """How a body moves as it goes over.

    Attributes:
        place: Where its root is [m], (3,).
        turn: How it is turned, (4,).
        velocity: How fast its root goes over the ground [m/s], (2,).
    """

    place: Floats
    turn: Floats
    velocity: Floats


def smooth(share: Floats) -> Floats:
    """Return an even transition, 0 before 0 and 1 after 1."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def way_of_root(mixed: Rows, frames: int, body: Momentum) -> tuple[Floats, Floats]:
    """Return where the root goes while its momentum gives way to the new motion's, (F, 3), and its turns, (F, 3, 3)."""
    share = smooth(np.arange(frames) / (frames - 1))[:, None]
    pace = np.gradient(mixed.path[:frames, :2], 1.0 / mixed.fps, axis=0)
    pace = (1.0 - share) * body.velocity + share * pace
    place = mixed.path[:frames].copy()
    place[:, :2] = body.place[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(pace[:-1], axis=0) / mixed.fps])
    place[:, 2] += (1.0 - share[:, 0]) * (body.place[2] - place[:, 2])
    turns = rotations.slerp(np.broadcast_to(body.turn, (frames, 4)), mixed.turns[:frames, 0], share[:, 0])
    return place, rotations.to_matrix(turns)


def stepping_over(mixed: Rows, legs: list[Leg], owners: list[int], seconds: float, body: Momentum) -> tuple[Rows, int]:
    """Return blended rows whose feet step where they would slide, and how many steps that takes.

    Args:
        mixed: The blend, orientations seen from the root.
        legs: The legs.
        owners: Which leg each sole belongs to, -1: none, (soles,).
        seconds: How long the blend takes.
        body: How the body moves as it begins.
    """
    frames = min(len(mixed.turns), round(seconds * mixed.fps) + 1)
    if len(legs) < 2 or frames < 4:
        return mixed, 0
    place, root = way_of_root(mixed, frames, body)
    matrices = rotations.to_matrix(mixed.turns[:frames])
    feet = np.stack([place + np.einsum("fij,fj->fi", root, leg.joints(matrices)[:, -1]) for leg in legs])
    order = steps(feet) if stands(feet, mixed.fps) else []
    if not order:
        return mixed, 0
    turns, friction, path = mixed.turns.copy(), mixed.friction.copy(), mixed.path.copy()
    path[:frames], path[frames:, :2] = place, path[frames:, :2] + place[-1, :2] - path[frames - 1, :2]
    for turn, number in enumerate(order):
        share = np.arange(frames) / (frames - 1) * len(order) - turn
        wanted = swung(feet[number], share)
        shift = np.einsum("fji,fj->fi", root, wanted - feet[number])
        turns[:frames] = legs[number].lifted(turns[:frames], shift)
        soles = [k for k, owner in enumerate(owners) if owner == number]
        friction[np.ix_(np.flatnonzero((share > 0.0) & (share < 1.0)), soles)] = SWING_FRICTION
    asked = mixed.turns if mixed.asked is None else mixed.asked
    return replace(mixed, turns=turns, friction=friction, path=path, asked=asked), len(order)


def owner_of(model: mujoco.MjModel, character: Character, legs: list[Leg], geom: int) -> int:
    """Return which leg a sole belongs to; -1: none."""
    body = int(model.geom_bodyid[geom])
    while body > character.root_body:
        for number, leg in enumerate(legs):
            if body - character.root_body == leg.foot:
                return number
        body = int(model.body_parentid[body])
    return -1


def stands(feet: Floats, fps: float) -> bool:
    """Return whether all feet stand at the end, (legs, F, 3): whoever walks on steps by itself."""
    pace = np.linalg.norm(feet[:, -1, :2] - feet[:, -2, :2], axis=-1) * fps
    return bool((pace < STANDING).all() and np.ptp(feet[:, -1, 2]) < 2.0 * AIRBORNE)


def steps(feet: Floats) -> list[int]:
    """Return which feet step, in their order, (legs, F, 3): who is in the air goes first, then who is farthest behind."""
    way = feet[:, -1, :2] - feet[:, 0, :2]
    height = feet[:, 0, 2] - feet[:, 0, 2].min()
    far = [k for k in range(len(feet)) if np.linalg.norm(way[k]) > FAR or height[k] > AIRBORNE]
    return sorted(far, key=lambda k: (height[k] < AIRBORNE, -float(np.linalg.norm(way[k]))))


def swung(foot: Floats, share: Floats) -> Floats:
    """Return the way of a foot that stands, swings while `share` goes from 0 to 1, and stands, (F, 3)."""
    course = smooth(share)[:, None]
    wanted = foot[0] + course * (foot[-1] - foot[0])
    inside = np.clip(share, 0.0, 1.0)
    wanted[:, 2] += LIFT * 4.0 * inside * (1.0 - inside)
    return np.asarray(wanted)
