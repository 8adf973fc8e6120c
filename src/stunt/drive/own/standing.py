"""Standing while joints are driven by others: where they will be is made a motion of feet that stay where they are.

Arms and trunk go where their drivers lead them; what hips, knees and ankles were told is made consistent with both feet
on the ground, and the whole is a motion like any other (`make_reference`): the centre of mass is over the feet before a
quick arm needs it there.
"""

from __future__ import annotations

from typing import Final

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import pose_frames
from stunt.drive.motion.body_motion import BodyMotion
from stunt.drive.own.feasible import Reference
from stunt.drive.own.reference import RATE, make_reference
from stunt.drive.own.smoothing import smoothed
from stunt.drive.own.soles import two_feet
from stunt.maths import rotations
from stunt.maths.rotations import Floats

APART: Final = 0.06
"""Feet that would have to part so far from where they stand cannot both stand [m]."""
_LIFTS = 0.08  # over which weight goes over to the foot that stands [s]


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
    planted = poses.copy()
    planted[:, :7] = planted_root(model, character, poses, soles)
    return make_reference(model, character, BodyMotion(f"{character.name} stands", RATE, planted), soles, floor)


def planted_root(model: mujoco.MjModel, character: Character, poses: Floats, soles: list[int]) -> Floats:
    """Return where the root has to be for the feet to stay where they are in the first pose, (F, 7).

    Both feet have their say; where they cannot both stand the one does that leaves the other above the ground.
    """
    places, turns = pose_frames(model, character, poses)
    feet = [foot.body - character.root_body for foot in two_feet(model, character, soles)]
    roots = [_root_for(poses[:, :7], places[:, foot], turns[:, foot]) for foot in feet]
    share = np.full(len(poses), 0.5)
    apart = np.linalg.norm(roots[0][:, :3] - roots[1][:, :3], axis=1) > APART
    lifted = [_height(roots[n], poses[:, :7], places[:, feet[1 - n]]) for n in range(2)]
    share[apart] = (lifted[1] > lifted[0])[apart]
    share = smoothed(share, _LIFTS * RATE)
    found = np.empty((len(poses), 7))
    found[:, :3] = roots[0][:, :3] + share[:, None] * (roots[1][:, :3] - roots[0][:, :3])
    found[:, 3:] = rotations.slerp(roots[0][:, 3:], roots[1][:, 3:], share)
    return found


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
