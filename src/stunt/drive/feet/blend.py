"""Steps between two motions: feet that a blend would drag over the floor are lifted there, one after the other.

Interpolating orientations takes both feet to their new places at once, sliding, whatever stands on them; whoever was
walking trips over that. Here the root keeps its momentum and loses it over the blend, and each foot that has far to go
stays where it stands until its turn, and swings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.control.servo.memory import ServoTargets
from stunt.drive.feet.leg import Leg
from stunt.drive.motion.body_motion import blended
from stunt.drive.motion.sole_hold import SWING_FRICTION
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import SURE

BY_ROW: Final = ("turns", "path", "friction", "qpos", "torque", "asked", "twist")
FAR: Final = 0.08
"""A foot with less way to go is not worth a step [m]."""
SWING: Final = 0.28
"""Least time of a step [s]."""
LIFT: Final = 0.06
"""How high a foot is lifted in the middle of its step [m]."""
MOVING: Final = 0.5
"""Whoever is faster than this over the ground cannot change in the middle of a step [m/s]."""
TOUCHING: Final = 0.01
"""A sole lower than this above the floor is on it [m]."""
SOON: Final = 0.4
"""A foot that is down again within this time is waited for [s]."""
AIRBORNE: Final = 0.03
"""A foot this high above the lower one is in the air [m]."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """How a body moves as it goes over.

    Attributes:
        place: Where its root is [m], (3,).
        turn: How it is turned, (4,).
        velocity: How fast its root goes over the ground [m/s], (2,).
        floor: Height of the floor its motions stand on [m].
    """

    place: Floats
    turn: Floats
    velocity: Floats
    floor: float = 0.0


def smooth(share: Floats) -> Floats:
    """Return an even transition, 0 before 0 and 1 after 1."""
    x = np.clip(share, 0.0, 1.0)
    return np.asarray(x * x * (3.0 - 2.0 * x))


def way_of_root(mixed: ServoTargets, frames: int, body: Momentum) -> tuple[Floats, Floats]:
    """Return where the root goes while its momentum gives way to the new motion's, (F, 3), and its turns, (F, 3, 3)."""
    share = smooth(np.arange(frames) / (frames - 1))[:, None]
    pace = np.gradient(mixed.path[:frames, :2], 1.0 / mixed.fps, axis=0)
    pace = (1.0 - share) * body.velocity + share * pace
    place = mixed.path[:frames].copy()
    place[:, :2] = body.place[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(pace[:-1], axis=0) / mixed.fps])
    place[:, 2] += (1.0 - share[:, 0]) * (body.place[2] - place[:, 2])
    turns = rotations.slerp(np.broadcast_to(body.turn, (frames, 4)), mixed.turns[:frames, 0], share[:, 0])
    return place, rotations.to_matrix(turns)


def change_of_motion(
    model: mujoco.MjModel, legs: list[Leg], owners: list[int], old: ServoTargets, since: float, new: ServoTargets,
    blend: float,
    body: Momentum,
) -> ServoTargets:  # fmt: skip
    """Return rows that go from one motion to another: in steps where the other begins with a stance, else as they are.

    Args:
        model: The scene.
        legs: The legs.
        owners: Which leg each sole belongs to, -1: none, (soles,).
        old: What was followed, orientations seen from the root.
        since: Where in it [s].
        new: What is to be followed from now on.
        blend: How long the change takes, if the steps do not take longer [s].
        body: How the body moves as it begins.
    """
    moving = float(np.linalg.norm(body.velocity)) > MOVING
    if not moving:
        return with_steps(model, legs, owners, old, since, new, blend, body)[0]
    first = round(until_landing(legs, old, since, body.floor) * new.fps)
    body = replace(body, place=body.place + [*(body.velocity * first / new.fps), 0.0])
    for start in (new, held(new, first + round(2.0 * SWING * new.fps))):
        # In the middle of a step its foot comes down first. Who cannot stop in time for the motion begins it later.
        if first < len(start.turns) - 1:
            now = since + first / new.fps
            rest, steps = with_steps(model, legs, owners, old, now, later(start, first), blend, body)
            if steps > 0:
                return joined(old, since, rest, start, first) if first > 0 else rest
        if not begins_standing(legs, new):
            break
    return blended(model, old, since, new, blend)


def with_steps(
    model: mujoco.MjModel, legs: list[Leg], owners: list[int], old: ServoTargets, since: float, new: ServoTargets,
    blend: float,
    body: Momentum,
) -> tuple[ServoTargets, int]:  # fmt: skip
    """Return the blend with its steps, as long as they take, and how many they are (see `change_of_motion`)."""
    stepped, count = blended(model, old, since, new, blend), 0
    for seconds in sorted({blend, max(blend, SWING), max(blend, 2.0 * SWING)}):
        mixed = blended(model, old, since, new, seconds)
        stepped, count = stepping_over(mixed, legs, owners, seconds, body)
        if count * SWING <= seconds + 1e-9:
            break
    return stepped, count


def until_landing(legs: list[Leg], old: ServoTargets, since: float, floor: float) -> float:
    """Return how long one foot is still in the air in a motion [s]; 0 where none is, or does not come down soon."""
    first = min(int(since * old.fps), len(old.turns) - 1)
    frames = slice(first, min(first + round(SOON * old.fps) + 1, len(old.turns)))
    matrices = rotations.to_matrix(old.turns[frames])
    soles = [leg.sole(matrices, leg.joints(matrices)[:, -1]) @ matrices[:, 0].transpose(0, 2, 1) for leg in legs]
    low = np.stack([sole[..., 2].min(axis=1) for sole in soles]) + old.path[frames, 2] - floor
    down = np.flatnonzero(low.max(axis=0) < TOUCHING)
    return float(down[0] / old.fps) if len(down) else 0.0


def begins_standing(legs: list[Leg], new: ServoTargets) -> bool:
    """Return whether a motion begins with feet that stand."""
    frames = min(len(new.turns), 3)
    matrices = rotations.to_matrix(new.turns[:frames])
    places = new.path[:frames]
    feet = [places + np.einsum("fij,fj->fi", matrices[:, 0], leg.joints(matrices)[:, -1]) for leg in legs]
    return frames > 1 and len(legs) > 1 and stands(np.stack(feet), new.fps)


def held(rows: ServoTargets, frames: int) -> ServoTargets:
    """Return rows that begin with their first one for some frames more."""

    def longer(value: Floats) -> Floats:
        return np.concatenate([np.repeat(value[:1], frames, axis=0), value])

    changed: dict[str, Any] = {name: longer(value) for name in BY_ROW if (value := getattr(rows, name)) is not None}
    return replace(rows, **changed)


def later(rows: ServoTargets, first: int) -> ServoTargets:
    """Return rows from one of them on."""
    cut: dict[str, Any] = {name: value[first:] for name in BY_ROW if (value := getattr(rows, name)) is not None}
    return replace(rows, **cut)


def joined(old: ServoTargets, since: float, rest: ServoTargets, new: ServoTargets, first: int) -> ServoTargets:
    """Return a motion that goes on for some rows, and then the rest of another; all rows those of the other."""
    frames = np.clip((since + np.arange(first) / new.fps) * old.fps, 0, len(old.turns) - 1).astype(int)

    def both(name: str) -> Floats | None:
        before, after = getattr(old, name), getattr(rest, name)
        if name == "asked" and after is not None and before is None:
            before = old.turns
        if after is None:
            return None
        if before is None:
            whole = np.ones_like if name == "twist" else np.zeros_like  # soles nobody said anything of hold
            return np.concatenate([whole(getattr(new, name)[:first]), after])
        return np.concatenate([before[frames], after])

    path = np.concatenate([rest.path[0] + old.path[frames] - old.path[frames[-1]], rest.path])
    changed: dict[str, Any] = {name: both(name) for name in BY_ROW if name != "path"}
    return replace(rest, path=path, **changed)


def stepping_over(
    mixed: ServoTargets, legs: list[Leg], owners: list[int], seconds: float, body: Momentum
) -> tuple[ServoTargets, int]:
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
        soles = np.array([owner == number for owner in owners])
        friction[:frames][np.outer((share > 0.0) & (share < 1.0), soles)] = SWING_FRICTION
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
    return bool((pace < SURE.slow).all() and np.ptp(feet[:, -1, 2]) < 2.0 * AIRBORNE)


def steps(feet: Floats) -> list[int]:
    """Return which feet step, (legs, F, 3): those that are up first (a heel that is off too), then who has farthest."""
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
