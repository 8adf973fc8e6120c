"""Feet that stand in a motion made to stand: on the floor, and where they are.

Capture is off by a centimetre or two, and a skeleton's bones are not the person's: standing feet hover, sink and creep.
A body that follows such targets fights itself through the ground, leg against leg, and the root spring has to hold what
comes of it; one that is put on them as data is thrown out of the ground the moment forces take over. So the legs are
bent a little beforehand (Kovar, Schreiner and Gleicher 2002, "Footskate cleanup", in spirit): while a foot stands, its
lowest points are put on the floor and keep their place there.

Swinging feet that clear the floor: where a clip carries a foot over it by less than a body wavers, it is lifted.

A captured foot passes the floor by a finger's breadth, on legs that hold. Simulated ones give way by as much,
and the foot scuffs. What is added goes with the speed of the swing: nothing while the foot stands, lands or pushes off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.character.character import Character
from stunt.character.kinematics import bones_of, box_corners, pose_frames
from stunt.drive.feet.blend import lift_feet
from stunt.drive.feet.leg import Leg
from stunt.drive.feet.leg_kernel import leg_chains_of
from stunt.drive.motion.body_motion import BodyMotion, seen_from_root, with_bodies_turned
from stunt.drive.motion.sole_hold import SWING_SPEED
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import MEANT, stretches

HOVERS: Final = 0.09
"""How high the lowest foot of a body that does not fall may seem to be [m]."""
MOST: Final = 0.06
"""A foot is moved by no more than this [m]."""
FALLING = -6.0
"""Vertical acceleration of the hips below which a body falls freely [m/s²]."""
_PATCH = 0.01  # points within about this of the lowest are what a sole stands on [m]
_SOFT = 0.03  # over which a change of a foot is eased [s]
_SOFT_ROOT = 0.08  # and of the hips
_SINKS = 0.003  # how deep it may leave one in the floor [m]
_FLOOR = 0.1  # of the frames have their lowest sole below the floor's height


@dataclass(frozen=True, eq=False)
class FootPlan:
    """One foot through a clip.

    Attributes:
        stands: In which frames, (F,).
        low: Height of its lowest point above the floor [m], (F,).
        shift: Where it should be, from where it is [m], (F, 3).
    """

    stands: NDArray[np.bool_]
    low: Floats
    shift: Floats


@dataclass(frozen=True, eq=False)
class PlantedFeet:
    """A motion whose feet stand where it means them to.

    Attributes:
        motion: It.
        stands: Which leg stands in which frame, (F, legs).
        moved: How far each foot was moved against the hips [m], (F, legs).
        raised: How far the hips were raised [m], (F,).
    """

    motion: BodyMotion
    stands: NDArray[np.bool_]
    moved: Floats
    raised: Floats


def plant_feet(model: mujoco.MjModel, character: Character, motion: BodyMotion, legs: list[Leg]) -> PlantedFeet:
    """Return a motion in which feet that stand do so.

    Args:
        model: The scene.
        character: Who.
        motion: What it does, on a floor of its own height.
        legs: Its legs.
    """
    count = len(motion.qpos)
    if not legs or count < 3:
        return PlantedFeet(motion, np.zeros((count, len(legs)), bool), *_unmoved(count, legs))
    before = seen_from_root(pose_frames(model, character, motion.qpos)[1])
    path, fps, turns = motion.qpos[:, :3], motion.fps, before
    points = [sole_points(model, character.root_body, leg, turns, path) for leg in legs]
    floor = floor_under(points)
    points = [p - [0.0, 0.0, floor] for p in points]
    near = near_floor(points, path[:, 2], fps)
    feet = [footing(p, fps, close) for p, close in zip(points, near, strict=True)]
    if motion.planted:
        return PlantedFeet(motion, np.stack([foot.stands for foot in feet], axis=1), *_unmoved(count, legs))
    hips, moved = _hips(feet, fps), []
    back = rotations.conjugate(turns[:, 0])
    for leg, foot in zip(legs, feet, strict=True):
        shift = scipy.ndimage.gaussian_filter1d(foot.shift, _SOFT * fps, axis=0, mode="nearest")
        shift[:, 2] = np.maximum(shift[:, 2], -foot.low - _SINKS) - hips  # easing lets none of it into the floor
        size = np.linalg.norm(shift, axis=1, keepdims=True)
        shift = shift * np.minimum(1.0, MOST / np.maximum(size, 1e-9))
        turns = leg.lifted(turns, rotations.rotate(back, shift))
        moved.append(np.linalg.norm(shift, axis=1))
    # A floor just below the ground's is the ground. One above it may be a bed's, or a sole's that is never down.
    hips = hips - (floor if -MOST < floor < 0.0 else 0.0)
    found = with_bodies_turned(character, motion.lifted(hips), turns, leg_bodies(legs))
    return PlantedFeet(found, np.stack([foot.stands for foot in feet], axis=1), np.stack(moved, axis=1), hips)


def _unmoved(count: int, legs: list[Leg]) -> tuple[Floats, Floats]:
    return np.zeros((count, len(legs))), np.zeros(count)


def leg_bodies(legs: list[Leg]) -> list[int]:
    """Return the bodies whose joints change where a foot is moved, counted from the root."""
    return [body for leg in legs for body in leg.chain[-3:]]


def floor_under(points: list[Floats]) -> float:
    """Return the height of the floor of a motion [m], for the corners of its soles, (F, points, 3) each."""
    return float(np.quantile(np.min([p[..., 2].min(axis=1) for p in points], axis=0), _FLOOR))


def sole_points(model: mujoco.MjModel, root: int, leg: Leg, turns: Floats, path: Floats) -> Floats:
    """Return the corners of a foot's soles, toes turned as they are, in the world [m], (F, points, 3).

    Args:
        model: The scene.
        root: The root's body.
        leg: Whose.
        turns: How bodies are turned, seen from the root, (F, bodies, 4).
        path: Where the root is [m], (F, 3).
    """
    ankle = leg.joints(rotations.to_matrix(turns))[:, -1]
    found = []
    for geom in leg.soles:
        body = int(model.geom_bodyid[geom]) - root
        place = ankle
        if body != leg.foot:
            place = ankle + rotations.rotate(turns[:, leg.foot], model.body_pos[body + root])
        found.append(place[:, None] + rotations.rotate(turns[:, None, body], box_corners(model, geom)))
    seen = np.concatenate(found, axis=1)
    return np.asarray(path[:, None] + rotations.rotate(turns[:, :1], seen))


def near_floor(feet: list[Floats], height: Floats, fps: float) -> list[NDArray[np.bool_]]:
    """Return in which frames each foot is near enough to the floor to stand on it, (F,) each.

    Whoever stands on tiptoe hovers in a capture whose toes have no tips. But a body that does not fall is carried:
    where no foot is near the floor, the lowest is what carries it.

    Args:
        feet: Corners of the soles above the floor [m], (F, points, 3) each.
        height: Of the hips [m], (F,).
        fps: Frames per second.
    """
    low = np.stack([points[..., 2].min(axis=1) for points in feet])  # (feet, F)
    rise = np.gradient(scipy.ndimage.gaussian_filter1d(height, _SOFT * fps, mode="nearest"), 1.0 / fps)
    carried = np.gradient(rise, 1.0 / fps) > FALLING
    hovers = carried & (low.min(axis=0) >= MEANT.low) & (low.min(axis=0) < HOVERS)
    return [(foot < MEANT.low) | (hovers & (foot < low.min(axis=0) + _PATCH)) for foot in low]


def footing(points: Floats, fps: float, near: NDArray[np.bool_] | None = None) -> FootPlan:
    """Find where a foot stands, from the corners of its soles above the floor, (F, points, 3), and when it is near."""
    low = points[..., 2].min(axis=1)
    weight = np.exp(-(points[..., 2] - low[:, None]) / _PATCH)
    weight = weight / weight.sum(axis=1, keepdims=True)
    # Of the points on the ground: a foot that rolls from heel to toe does not slide.
    creep = (np.gradient(points[..., :2], 1.0 / fps, axis=0) * weight[..., None]).sum(axis=1)
    pace = np.linalg.norm(creep, axis=1)
    stands = MEANT.found(low, pace, fps) if near is None else MEANT.lasts(near & (pace < MEANT.slow), fps)
    shift = np.zeros((len(points), 3))
    for start, end in stretches(stands):
        slid = np.cumsum(creep[start:end], axis=0) / fps
        shift[start:end, :2] = slid.mean(axis=0) - slid
        shift[start:end, 2] = -low[start:end]
    # What carries over into a swing is what its stances are off by, not how high the foot is as it leaves or lands.
    firm = scipy.ndimage.binary_erosion(stands, iterations=max(1, round(_SOFT * fps)))
    shift = np.where(stands[:, None], shift, _between(shift, firm if firm.any() else stands))
    shift[~stands, 2] = np.maximum(shift[~stands, 2], -low[~stands])  # a swinging foot does not sink in either
    return FootPlan(stands, low, shift)


def _hips(feet: list[FootPlan], fps: float) -> Floats:
    """Return how far the whole body is raised [m], (F,): as its standing feet are on the mean."""
    count = np.sum([foot.stands for foot in feet], axis=0)
    total = np.sum([foot.shift[:, 2] * foot.stands for foot in feet], axis=0)
    raised = _between((total / np.maximum(count, 1))[:, None], count > 0)[:, 0]
    return np.asarray(scipy.ndimage.gaussian_filter1d(raised, _SOFT_ROOT * fps, mode="nearest"))


def _between(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Fill in the frames that are not known, (F, n): from the ones before and after in proportion."""
    if not known.any():
        return np.zeros_like(values)
    frames = np.arange(len(known))
    return np.stack([np.interp(frames, frames[known], column[known]) for column in values.T], axis=1)


MOST_LIFT: Final = 0.05
"""Deeper than this is no sinking foot but another floor: it is left alone [m]."""


def lift_soles(model: mujoco.MjModel, character: Character, motion: BodyMotion) -> BodyMotion:
    """Return a motion whose feet do not sink into a floor at height 0.

    A recorded foot is often a centimetre below the floor, mostly where the toes push off. As data nobody minds; but the
    moment forces take over, the ground throws it out.

    Args:
        model: The scene.
        character: Whose motion; its legs must hang on ball joints, or nothing is changed.
        motion: In its coordinates.
    """
    legs, qpos = leg_chains_of(model, character), motion.qpos.copy()
    places, turns = np.zeros((len(qpos), len(legs.some), 3)), np.zeros((len(qpos), len(legs.some), 4))
    bones = bones_of(model, character)
    lift_feet(qpos, places, turns, motion.fps, 0.0, MOST_LIFT, bones, legs.some, legs.chains, legs.soles)
    return replace(motion, qpos=qpos)


CLEARANCE: Final = 0.02
"""How far above the floor a foot swings at least [m]."""


def clear_feet(model: mujoco.MjModel, character: Character, motion: BodyMotion, legs: list[Leg]) -> BodyMotion:
    """Return a motion whose swinging feet clear the floor.

    Args:
        model: The scene.
        character: Who.
        motion: What it does, on a floor at height 0.
        legs: Its legs.
    """
    if len(motion.qpos) < 3 or not legs:
        return motion
    turns = seen_from_root(pose_frames(model, character, motion.qpos)[1])
    matrices, before = rotations.to_matrix(turns), turns
    for leg in legs:
        lift = missing(leg, matrices, motion.qpos[:, :3], motion.fps)
        if lift.max() > 1e-3:
            turns = leg.lifted(turns, lift[:, None] * matrices[:, 0, 2])  # the root's third row: up, seen from it
    return motion if turns is before else with_bodies_turned(character, motion, turns, leg_bodies(legs))


def missing(leg: Leg, matrices: Floats, path: Floats, fps: float) -> Floats:
    """Return how much a foot is to be lifted in each frame [m], (F,).

    Args:
        leg: Whose.
        matrices: How bodies are turned, seen from the root, (F, bodies, 3, 3).
        path: Where the root is [m], (F, 3).
        fps: Frames per second.
    """
    seen = leg.sole(matrices, leg.joints(matrices)[:, -1])
    sole = path[:, None] + seen @ matrices[:, 0].transpose(0, 2, 1)
    pace = np.linalg.norm(np.gradient(sole.mean(axis=1)[:, :2], 1.0 / fps, axis=0), axis=1)
    swing = np.clip(pace / SWING_SPEED - 1.0, 0.0, 1.0)
    swing = swing * swing * (3.0 - 2.0 * swing)
    return np.asarray(swing * np.clip(CLEARANCE - sole[..., 2].min(axis=1), 0.0, CLEARANCE))


FLESH: Final = 0.02
"""A part other than a foot may be so deep in the floor: flesh and ground give [m]."""
MOST_RAISED: Final = 0.2
"""Nobody is raised by more: what is deeper in the floor has another one [m]."""
_EASE = 0.1  # over which a body is raised and let down [s]


def raised_by(model: mujoco.MjModel, character: Character, motion: BodyMotion, feet: set[int]) -> Floats:
    """Return how far a motion has to be raised for no part but its feet to be deep in a floor at height 0 [m], (F,).

    The floor of a clip is told by its standing feet. Knees of who crawls, and backs of who rolls, are often captured a
    hand's breadth below it: the skeleton's flesh is not the person's. A body that begins there is thrown out of the
    ground, and one that crawls on the ground is never as low as its clip.

    Args:
        model: The scene.
        character: Who.
        motion: What it does.
        feet: Geoms that are put on the floor otherwise.
    """
    places, turns = pose_frames(model, character, motion.qpos)
    deep = np.zeros(len(motion.qpos))
    for geom in character.geoms:
        if geom in feet or not model.geom_contype[geom]:
            continue
        body = int(model.geom_bodyid[geom]) - character.root_body
        near = np.flatnonzero(places[:, body, 2] < _reach(model, geom))
        if len(near):
            points, radius = _surface(model, geom)
            heights = rotations.rotate(turns[near, None, body], points)[..., 2].min(axis=1) - radius
            deep[near] = np.maximum(deep[near], -FLESH - places[near, body, 2] - heights)
    if not deep.any():
        return deep
    width = max(1, round(_EASE * motion.fps))
    most = scipy.ndimage.maximum_filter1d(np.minimum(deep, MOST_RAISED), 2 * width + 1, mode="nearest")
    return np.asarray(scipy.ndimage.uniform_filter1d(most, 2 * width + 1, mode="nearest"))


def _reach(model: mujoco.MjModel, geom: int) -> float:
    """Return how far from its body's origin a geom goes [m]."""
    return float(np.linalg.norm(model.geom_pos[geom]) + model.geom_rbound[geom])


def _surface(model: mujoco.MjModel, geom: int) -> tuple[Floats, float]:
    """Return the points of a geom seen from its body [m], (n, 3), and how far its surface is below them [m]."""
    size = model.geom_size[geom]
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
        ends = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
        return model.geom_pos[geom] + rotations.rotate(model.geom_quat[geom], ends), float(size[0])
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE:
        return model.geom_pos[geom][None], float(size[0])
    return box_corners(model, geom), 0.0
