"""Standing while joints are driven by others: where they will be is made a motion of feet that stay where they are.

Arms and trunk go where their drivers lead them; what hips, knees and ankles were told is made consistent with both feet
on the ground and the body's weight over the middle of them, and the whole is a motion like any other
(`make_reference`): the centre of mass is over the feet before a quick arm needs it there.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.control.own.polygon import nearest_inside, outline
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.own.centroidal import CentroidalPlan, PoseFit
from stunt.drive.own.feasible import Reference
from stunt.drive.own.footholds import FootTargets
from stunt.drive.own.reference import RATE, make_reference
from stunt.drive.own.smoothing import smoothed
from stunt.drive.own.soles import Foot, two_feet
from stunt.drive.own.whole_body import BodyInMotion, sole_points
from stunt.maths import rotations
from stunt.maths.rotations import Floats

APART: Final = 0.06
"""Feet that would have to part so far from where they stand cannot both stand [m]."""
KEEP: Final = 0.25
"""Who stands keeps its weight over this middle part of its soles: at their edge nothing could push it back."""
_LIFTS = 0.08  # over which weight goes over to the foot that stands [s]
_SHIFTS = 0.3  # over which weight is shifted [s]
_INSIDE = 0.02  # legs are kept so far from their stops, which the programme does not know of [rad]
_UPRIGHT = 0.1  # weight of the pelvis' turn in that, about as little as of the legs' joints
_ENOUGH = 0.003  # weight that is so near to where it is kept need not be shifted [m]


def standing_reference(
    model: mujoco.MjModel, character: Character, poses: Floats, soles: list[int], floor: float = 0.0
) -> Reference:
    """Return what a body follows that stands while its joints go through poses.

    Args:
        model: The scene.
        character: Who; its root is free.
        poses: Own coordinates at `RATE`; the root's are those of the first one throughout, where it stands, (F, nq).
        soles: Geoms it stands on.
        floor: Height of the ground [m].

    Raises:
        BodyError: The body has not two feet, or neither is near the ground.
    """
    feet = two_feet(model, character, soles)
    planted, share = planted_poses(model, character, poses, feet)
    planted = weight_over_feet(model, character, planted, feet, share)
    return make_reference(model, character, BodyMotion(f"{character.name} stands", RATE, planted), soles, floor)


def planted_poses(
    model: mujoco.MjModel, character: Character, poses: Floats, feet: tuple[Foot, Foot]
) -> tuple[Floats, Floats]:
    """Return poses with the root where it has to be for the feet to stay where they are in the first one, (F, nq).

    Both feet have their say; where they cannot both stand the one does that leaves the other above the ground.

    Returns:
        The poses, and how much of the weight is the second foot's: a half where both stand, (F,).
    """
    places, turns = pose_frames(model, character, poses)
    bodies = [foot.body - character.root_body for foot in feet]
    roots = [_root_for(poses[:, :7], places[:, foot], turns[:, foot]) for foot in bodies]
    share = np.full(len(poses), 0.5)
    apart = np.linalg.norm(roots[0][:, :3] - roots[1][:, :3], axis=1) > APART
    lifted = [_height(roots[n], poses[:, :7], places[:, bodies[1 - n]]) for n in range(2)]
    share[apart] = (lifted[1] > lifted[0])[apart]
    found, mixed = poses.copy(), smoothed(share, _LIFTS * RATE)
    found[:, :3] = roots[0][:, :3] + mixed[:, None] * (roots[1][:, :3] - roots[0][:, :3])
    found[:, 3:7] = rotations.slerp(roots[0][:, 3:], roots[1][:, 3:], mixed)
    return found, share


def weight_over_feet(
    model: mujoco.MjModel, character: Character, poses: Floats, feet: tuple[Foot, Foot], share: Floats
) -> Floats:
    """Return poses whose weight is over the middle of the feet that stand; legs are fitted to that, (F, nq)."""
    body, root = BodyInMotion.of(model, character, poses, RATE), character.root_body
    points = [sole_points(foot, root, body.places[:1], body.turns[:1])[0, :, :2] for foot in feet]
    com = body.com.copy()
    for stands, some in ((share == 0.5, points), (share == 0.0, points[:1]), (share == 1.0, points[1:])):
        com[stands, :2] = _over(com[stands, :2], np.concatenate(some))
    if np.abs(com - body.com).max() < _ENOUGH:
        return poses
    com[:, :2] = smoothed(com[:, :2], _SHIFTS * RATE)
    places = np.stack([body.places[:, foot.body - root] for foot in feet], axis=1)
    turns = np.stack([body.turns[:, foot.body - root] for foot in feet], axis=1)
    for number, lifted in ((0, share == 1.0), (1, share == 0.0)):
        places[~lifted, number], turns[~lifted, number] = places[0, number], turns[0, number]
    none = np.zeros((len(poses), 3))
    plan = CentroidalPlan(com, none, none, none, none, none[:, :2], none, none[:, :2].T)
    holds = FootTargets(places, turns, turns, [], np.ones((len(poses), 2), bool), np.zeros(2), np.zeros(2))
    return PoseFit(model, character, feet, _INSIDE, _UPRIGHT).fitted(poses, holds, plan)


def _over(com: Floats, points: Floats) -> Floats:
    """Return where on the ground weight is kept, nearest to where it would be [m], (n, 2)."""
    middle, out = points.mean(axis=0), np.zeros((len(points) + 1, 2))
    size = outline(np.ascontiguousarray(points), len(points), out)
    corners = np.tile(middle + KEEP * (out[:size] - middle), (len(com), 1, 1))
    inside, outside = com.copy(), np.zeros(len(com))
    nearest_inside(com, corners, np.full(len(com), size), inside, outside)
    return inside


def _root_for(root: Floats, places: Floats, turns: Floats) -> Floats:
    """Return the root that puts a foot where it is in the first frame, (F, 7)."""
    back = rotations.multiply(turns[0], rotations.conjugate(turns))
    return np.concatenate(
        [places[0] + rotations.rotate(back, root[:, :3] - places), rotations.multiply(back, root[:, 3:])], axis=1
    )


def _height(moved: Floats, root: Floats, places: Floats) -> Floats:
    """Return how high a point of the body is once its root is moved [m], (F,)."""
    turn = rotations.multiply(moved[:, 3:], rotations.conjugate(root[:, 3:]))
    return np.asarray(moved[:, 2] + rotations.rotate(turn, places - root[:, :3])[:, 2])
