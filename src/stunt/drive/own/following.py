"""From a motion to what the programme reads: the body as it stands, and the reference packed for compiled code."""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.control.own.layout import CENTRE, POINTS, POSE, SETTINGS
from stunt.control.own.memory import OwnTargets, StandingBody
from stunt.drive.own.reference import Reference
from stunt.drive.own.smoothing import rates, smoothed
from stunt.drive.own.soles import Foot, two_feet
from stunt.drive.own.whole_body import spins
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import stretches

GROWN_LEG: Final = 0.9
"""Length of a grown-up's leg, from the hip joint to the ground [m]: what the one setting was written for."""
NEVER: Final = 1.0e9
_FOOT_SMOOTH = 0.008  # over which the velocity of a foot is smoothed [s]


def standing_body(model: mujoco.MjModel, character: Character, soles: list[int]) -> StandingBody:
    """Return a body as it stands on two feet.

    Args:
        model: The scene.
        character: Who.
        soles: Geoms it stands on.

    Raises:
        BodyError: It has not two feet.
    """
    feet, stance = two_feet(model, character, soles), mujoco.MjData(model)
    mujoco.mj_kinematics(model, stance)
    ways = [_ahead(stance, foot) for foot in feet]
    ahead = np.sum([way / max(float(np.linalg.norm(way)), 1e-9) for way in ways], axis=0)
    seen = stance.xmat[character.root_body].reshape(3, 3).T @ ahead
    axis = int(np.argmax(np.abs(seen)))
    hips = [foot.chain[0] for foot in feet]
    across = stance.xpos[hips[0]] - stance.xpos[hips[1]]
    rest = np.array([-float((foot.points[foot.owners == foot.body] @ foot.normal).min()) for foot in feet])
    legs = [frozenset([*foot.chain, *([foot.toe] if foot.toe >= 0 else [])]) for foot in feet]
    long = np.mean([_leg_length(model, foot) + rest[n] for n, foot in enumerate(feet)])
    drawn = [_drawn_in(stance, foot) for foot in feet]
    return StandingBody(
        (feet[0].body, feet[1].body), (hips[0], hips[1]), (legs[0], legs[1]), (feet[0].owners, feet[1].owners),
        (drawn[0], drawn[1]), (_front(stance, feet[0]), _front(stance, feet[1])), rest,
        (axis, float(np.sign(seen[axis]))), bool(across @ [-ahead[1], ahead[0], 0.0] > 0.0), float(long / GROWN_LEG),
        min(character.grip[geom] for geom in soles),
    )  # fmt: skip


def _places(stance: mujoco.MjData, foot: Foot) -> Floats:
    """Return a foot's points in the reference stance [m], (points, 3)."""
    turns = stance.xmat[foot.owners].reshape(-1, 3, 3)
    return np.asarray(stance.xpos[foot.owners] + np.einsum("pij,pj->pi", turns, foot.points))


def _ahead(stance: mujoco.MjData, foot: Foot) -> Floats:
    """Return which way a foot points in the reference stance, (3,)."""
    return np.asarray(stance.xmat[foot.body].reshape(3, 3) @ foot.ahead * [1.0, 1.0, 0.0])


def _front(stance: mujoco.MjData, foot: Foot) -> NDArray[np.bool_]:
    along = _places(stance, foot) @ _ahead(stance, foot)
    return np.asarray(along > 0.5 * (along.min() + along.max()))


def _drawn_in(stance: mujoco.MjData, foot: Foot) -> Floats:
    """Return a foot's points drawn in from the edges: pressure on the very edge rolls a foot over it, (points, 3)."""
    places = _places(stance, foot)
    middle = places.mean(axis=0)
    near = middle + SETTINGS["shrink"] * (places - middle)
    near[:, 2] = places[:, 2]
    turns = stance.xmat[foot.owners].reshape(-1, 3, 3)
    return np.ascontiguousarray(np.einsum("pji,pj->pi", turns, near - stance.xpos[foot.owners]))


def _leg_length(model: mujoco.MjModel, foot: Foot) -> float:
    return float(sum(np.linalg.norm(model.body_pos[body]) for body in foot.chain[1:]))


def own_targets(reference: Reference) -> OwnTargets:
    """Return a reference as the programme reads it."""
    motion, plan, fps = reference.motion, reference.plan, reference.motion.fps
    count = len(motion.qpos)
    centre = np.zeros((count, CENTRE))
    parts = (plan.com, plan.velocity, plan.acceleration, plan.momentum, plan.moment, plan.zmp)
    centre[:] = np.concatenate(parts, axis=1)
    feet = np.zeros((count, 2, POSE))
    turns = _continuous(reference.turns)
    velocity = smoothed(rates(reference.places, fps), _FOOT_SMOOTH * fps)
    feet[..., :3], feet[..., 3:7] = reference.places, turns
    feet[..., 7:10], feet[..., 10:13] = velocity, rates(velocity, fps)
    feet[..., 13:16] = smoothed(spins(turns, fps), _FOOT_SMOOTH * fps)
    carries = np.zeros((count, 2, POINTS))
    carries[..., : reference.carries.shape[2]] = reference.carries
    return OwnTargets(
        fps, *(np.ascontiguousarray(rows) for rows in (
            motion.qpos, reference.velocity, reference.acceleration, centre, feet, _phases(reference.stands, fps),
            carries, _flights(reference.stands, fps),
        )),
    )  # fmt: skip


def _continuous(turns: Floats) -> Floats:
    """Return orientations without jumps of sign, (F, …, 4)."""
    signs = np.where((turns[1:] * turns[:-1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return np.concatenate([turns[:1], turns[1:] * np.cumprod(signs, axis=0)])


def _phases(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return whether each foot stands, and when that began and ends [s], (F, 2, 3); what is not in the clip: never."""
    found = np.zeros((len(stands), 2, 3))
    for foot in range(2):
        for flags, value in ((stands[:, foot], 1.0), (~stands[:, foot], 0.0)):
            for start, end in stretches(flags):
                over = end / fps if end < len(stands) else NEVER
                found[start:end, foot] = value, start / fps, over
    return found


def _flights(stands: NDArray[np.bool_], fps: float) -> Floats:
    """Return the flight each frame is in, or nearest to, [s], (F, 2)."""
    found = np.full((len(stands), 2), NEVER)
    spans = [(start / fps, end / fps) for start, end in stretches(np.asarray(~stands.any(axis=1)))]
    for frame in range(len(stands) if spans else 0):
        now = frame / fps
        found[frame] = min(spans, key=lambda span: max(span[0] - now, now - span[1]))
    return found
