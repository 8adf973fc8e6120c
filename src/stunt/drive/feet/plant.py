"""Feet of clips that sink into the ground are lifted out of it.

A recorded foot is often a centimetre below the floor, mostly where the toes push off. As data nobody minds; but the
moment forces take over, the ground throws it out.

Feet that stand in a clip made to stand: on the floor, and where they are.

Capture is off by a centimetre or two, and a skeleton's bones are not the person's: standing feet hover, sink and creep.
A body that follows such targets fights itself through the ground, leg against leg, and the root spring has to hold what
comes of it. So the legs are bent a little beforehand (Kovar, Schreiner and Gleicher 2002, "Footskate cleanup", in
spirit): while a foot stands, its lowest points are put on the floor and keep their place there.

Swinging feet that clear the floor: where a clip carries a foot over it by less than a body wavers, it is lifted.

A captured foot passes the floor by a finger's breadth, on legs that hold. Simulated ones give way by as much,
and the foot scuffs. What is added goes with the speed of the swing: nothing while the foot stands, lands or pushes off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from stunt.character.character import Character
from stunt.character.kinematics import bones_of, box_corners
from stunt.control.servo.memory import ServoTargets
from stunt.drive.feet.blend_kernel import lift_feet
from stunt.drive.feet.leg import Leg, legs_of
from stunt.drive.feet.leg_kernel import leg_chains_of
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.motion.sole_hold import SWING_SPEED
from stunt.maths import rotations
from stunt.maths.rotations import Floats
from stunt.motion.clips.standing import MEANT, stretches

HOVERS: Final = 0.09
"""How high the lowest foot of a body that does not fall may seem to be [m]."""
MOST: Final = 0.06
"""A foot is moved by no more than this [m]."""
LONGEST_STEP: Final = 0.65
"""A foot that swings for longer [s] kicks, or is held up: no step."""
JUMP, LANDING = 0.3, 0.03
"""Who flies for so long jumps, and so long before the clip does may land [s]."""
FALLING = -6.0
"""Vertical acceleration of the hips below which a body falls freely [m/s²]."""
_PATCH = 0.01  # points within about this of the lowest are what a sole stands on [m]
_LAST = 0.3  # seconds of a step in which it is steered
_SOFT = 0.03  # over which a change of a foot is eased [s]
_SOFT_ROOT = 0.08  # and of the hips
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


def with_planted_feet(
    model: mujoco.MjModel, character: Character, rows: ServoTargets, soles: list[int]
) -> ServoTargets:
    """Return rows in which feet that stand do so; `asked` keeps what the clip asked for.

    Args:
        model: The scene.
        character: Who.
        rows: What it follows, orientations seen from the root.
        soles: Geoms it stands on.
    """
    legs = legs_of(model, character, soles)
    if not legs or len(rows.turns) < 3:
        return rows
    points = [sole_points(model, character.root_body, leg, soles, rows) for leg in legs]
    floor = float(np.quantile(np.min([p[..., 2].min(axis=1) for p in points], axis=0), _FLOOR))
    grounded = [p - [0.0, 0.0, floor] for p in points]
    near = near_floor(grounded, rows.path[:, 2], rows.fps)
    feet = [footing(p, rows.fps, close) for p, close in zip(grounded, near, strict=True)]
    hips = _hips(feet, rows.fps)
    back, turns = rotations.conjugate(rows.turns[:, 0]), rows.turns
    for leg, foot in zip(legs, feet, strict=True):
        shift = gaussian_filter1d(foot.shift, _SOFT * rows.fps, axis=0, mode="nearest")
        shift[:, 2] -= hips
        size = np.linalg.norm(shift, axis=1, keepdims=True)
        shift = shift * np.minimum(1.0, MOST / np.maximum(size, 1e-9))
        turns = leg.lifted(turns, rotations.rotate(back, shift))
    spans = np.array([span_of(model, character, leg) for leg in legs])
    grip = np.array([character.grip[geom] for geom in soles])
    friction = _held_at_landings(rows.friction, grip, feet, rows.path, rows.fps)
    swing = _swing(feet, rows.fps)
    return replace(rows, turns=turns, asked=rows.turns, friction=friction, swing=swing, legs=spans)


def _held_at_landings(friction: Floats, full: Floats, feet: list[FootPlan], path: Floats, fps: float) -> Floats:
    """Return frictions with all of it shortly before a body that jumps lands, (F, soles).

    Whoever jumps a little lower than the clip lands a little earlier, while the clip's feet are still fast. A capture
    that has lost its feet shows no ground under them either; only who falls freely jumps.
    """
    held = friction.copy()
    for start, end in stretches(~np.any([foot.stands for foot in feet], axis=0)):
        if end < len(held) and end - start >= JUMP * fps:
            fall = 2.0 * np.polyfit(np.arange(end - start) / fps, path[start:end, 2], 2)[0]
            if fall < FALLING:
                held[max(start, end - round(LANDING * fps)) : end] = full
    return held


def _swing(feet: list[FootPlan], fps: float) -> Floats:
    """Return when each leg swings to a new stand while another one stands, 0 to 1, (F, feet).

    A foot that lands from a flight decides how fast the body goes on: put nearer to the clip's place, it would brake
    who is late. Only steps are steered, and only in their last part.
    """
    found = np.zeros((len(feet[0].stands), len(feet)))
    for number, foot in enumerate(feet):
        held = np.any([other.stands for other in feet if other is not foot], axis=0)
        for start, end in stretches(~foot.stands):
            if end < len(found) and held[end - 1] and end - start <= LONGEST_STEP * fps:
                found[max(start, end - round(_LAST * fps)) : end, number] = 1.0
    return np.asarray(gaussian_filter1d(found, _SOFT * fps, axis=0, mode="nearest"))


def span_of(model: mujoco.MjModel, character: Character, leg: Leg) -> tuple[int, int, int]:
    """Return the first body of a leg, its foot, and one past its last, counted from the root's."""
    last = leg.foot + character.root_body
    while last + 1 < model.nbody and int(model.body_parentid[last + 1]) >= leg.foot + character.root_body:
        last += 1
    return leg.chain[0], leg.foot, last + 1 - character.root_body


def sole_points(model: mujoco.MjModel, root: int, leg: Leg, soles: list[int], rows: ServoTargets) -> Floats:
    """Return the corners of a foot's soles, toes turned as they are, in the world [m], (F, points, 3)."""
    turns = rows.turns
    ankle = leg.joints(rotations.to_matrix(turns))[:, -1]
    found = []
    for geom in soles:
        body = int(model.geom_bodyid[geom]) - root
        toe = int(model.body_parentid[body + root]) - root == leg.foot
        if body != leg.foot and not toe:
            continue
        place = ankle
        if toe:
            place = ankle + rotations.rotate(turns[:, leg.foot], model.body_pos[body + root])
        found.append(place[:, None] + rotations.rotate(turns[:, None, body], box_corners(model, geom)))
    seen = np.concatenate(found, axis=1)
    return np.asarray(rows.path[:, None] + rotations.rotate(rows.turns[:, :1], seen))


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
    rise = np.gradient(gaussian_filter1d(height, _SOFT * fps, mode="nearest"), 1.0 / fps)
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
    shift = _between(shift, stands)
    shift[~stands, 2] = np.maximum(shift[~stands, 2], -low[~stands])  # a swinging foot does not sink in either
    return FootPlan(stands, low, shift)


def _hips(feet: list[FootPlan], fps: float) -> Floats:
    """Return how far the whole body is raised [m], (F,): as its standing feet are on the mean."""
    count = np.sum([foot.stands for foot in feet], axis=0)
    total = np.sum([foot.shift[:, 2] * foot.stands for foot in feet], axis=0)
    raised = _between((total / np.maximum(count, 1))[:, None], count > 0)[:, 0]
    return np.asarray(gaussian_filter1d(raised, _SOFT_ROOT * fps, mode="nearest"))


def _between(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Fill in the frames that are not known, (F, n): from the ones before and after in proportion."""
    if not known.any():
        return np.zeros_like(values)
    frames = np.arange(len(known))
    return np.stack([np.interp(frames, frames[known], column[known]) for column in values.T], axis=1)


CLEARANCE: Final = 0.02
"""How far above the floor a foot swings at least [m]."""


def with_clear_feet(rows: ServoTargets, legs: list[Leg]) -> ServoTargets:
    """Return rows whose swinging feet clear the floor.

    Args:
        rows: A motion, orientations seen from the root.
        legs: The legs.
    """
    turns = rows.turns
    if len(turns) < 3:
        return rows
    matrices = rotations.to_matrix(rows.turns)
    for leg in legs:
        lift = missing(rows, leg, matrices)
        if lift.max() > 1e-3:
            turns = leg.lifted(turns, lift[:, None] * matrices[:, 0, 2])  # the root's third row: up, seen from it
    asked = rows.turns if rows.asked is None else rows.asked
    return rows if turns is rows.turns else replace(rows, turns=turns, asked=asked)


def missing(rows: ServoTargets, leg: Leg, matrices: Floats) -> Floats:
    """Return how much a foot is to be lifted in each row [m], (F,)."""
    seen = leg.sole(matrices, leg.joints(matrices)[:, -1])
    sole = rows.path[:, None] + seen @ matrices[:, 0].transpose(0, 2, 1)
    pace = np.linalg.norm(np.gradient(sole.mean(axis=1)[:, :2], 1.0 / rows.fps, axis=0), axis=1)
    swing = np.clip(pace / SWING_SPEED - 1.0, 0.0, 1.0)
    swing = swing * swing * (3.0 - 2.0 * swing)
    return np.asarray(swing * np.clip(CLEARANCE - sole[..., 2].min(axis=1), 0.0, CLEARANCE))


MOST_LIFT: Final = 0.05
"""Deeper than this is no sinking foot but another floor: it is left alone [m]."""


def grounded(model: mujoco.MjModel, character: Character, motion: BodyMotion) -> BodyMotion:
    """Return a motion whose feet do not sink into a floor at height 0.

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
