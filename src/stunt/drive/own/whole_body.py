"""Centre of mass, angular momentum and inertia of a body over all frames of a motion at once."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.character.kinematics import body_count, pose_frames
from stunt.drive.own.smoothing import rates
from stunt.drive.own.soles import Foot
from stunt.maths import rotations
from stunt.maths.rotations import Floats


@dataclass(frozen=True, eq=False)
class BodyInMotion:
    """A body through a motion.

    Attributes:
        places: Of its bodies, counted from the root [m], (F, bodies, 3).
        turns: Likewise, in the world, (F, bodies, 4).
        com: Centre of mass [m], (F, 3).
        momentum: Angular momentum about it [kg·m²/s], (F, 3).
        inertia: Moments of inertia of the whole body about it, about the world's axes [kg·m²], (F, 3).
    """

    places: Floats
    turns: Floats
    com: Floats
    momentum: Floats
    inertia: Floats

    @staticmethod
    def of(model: mujoco.MjModel, character: Character, qpos: Floats, fps: float) -> BodyInMotion:
        """Return a body through a motion, (F, nq)."""
        places, turns = pose_frames(model, character, qpos)
        own = slice(character.root_body, character.root_body + body_count(character))
        mass = model.body_mass[own]
        centres = places + rotations.rotate(turns, model.body_ipos[own])
        com = (mass[:, None] * centres).sum(axis=1) / mass.sum()
        frames = rotations.multiply(turns, np.broadcast_to(model.body_iquat[own], turns.shape))
        axes = rotations.to_matrix(frames)
        spin = spins(frames, fps)
        own_spin = np.einsum("fbji,fbj->fbi", axes, spin) * model.body_inertia[own]
        arms, pace = centres - com[:, None], rates(centres, fps) - rates(com, fps)[:, None]
        momentum = (mass[:, None] * np.cross(arms, pace)).sum(axis=1) + np.einsum("fbij,fbj->fi", axes, own_spin)
        spread = (mass[:, None] * ((arms**2).sum(axis=2, keepdims=True) - arms**2)).sum(axis=1)
        inertia = spread + np.einsum("fbij,bj,fbij->fi", axes, model.body_inertia[own], axes)
        return BodyInMotion(places, turns, com, momentum, inertia)


def spins(turns: Floats, fps: float) -> Floats:
    """Return angular velocities of orientations in the world [rad/s], (F, …, 3), for (F, …, 4)."""
    if len(turns) < 2:
        return np.zeros((*turns.shape[:-1], 3))
    steps = rotations.to_rotation_vector(rotations.multiply(turns[1:], rotations.conjugate(turns[:-1]))) * fps
    return np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])


def sole_points(foot: Foot, root: int, places: Floats, turns: Floats) -> Floats:
    """Return the points of a foot in the world [m], (F, points, 3), for bodies counted from the root."""
    owners = foot.owners - root
    return np.asarray(places[:, owners] + rotations.rotate(turns[:, owners], foot.points))
