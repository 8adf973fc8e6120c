"""The torques a motion takes, foreseen from the clip: inverse dynamics, with the ground pushing where it can.

A servo alone is always late: it pushes only once a bone is off. Whatever the clip itself asks for can be known before.
At every frame the equations of motion say what all forces together must be; for the six of the root, which nothing
drives, the ground has to provide. Its pushes at the points near the floor, each inside its friction cone, are found by
non-negative least squares; what is left for the joints is fed forward. A clip that also needs a wall or a chair leaves
a residue at the root: there, what is foreseen is trusted less.
"""

from __future__ import annotations

from typing import Any, Final

import mujoco
import numpy as np
import scipy

from stunt.character.character import Character
from stunt.drive.motion.body_motion import BodyMotion
from stunt.maths.rotations import Floats

PASSES: Final = 12.0
"""Frequencies up to about this are motion [Hz]; what is faster is noise of the capture."""
LOOKS: Final = 60.0
"""How often per second forces are found; in between they are interpolated."""
NEAR: Final = 0.03
"""Points lower above the floor than this may be pushed by it [m]."""
FRICTION: Final = 0.8
_EASE = 1e-3  # weight of the joints' torques beside the root's equations, squared against squared
_DOUBT, _DISBELIEF = 0.2, 0.7  # residue at the root, in body weights, from which, and at which, nothing is trusted


def foreseen_torques(model: mujoco.MjModel, character: Character, motion: BodyMotion) -> Floats:
    """Return the torques of a character's joints through a motion [N·m], (F, nv without the root's).

    Args:
        model: The scene.
        character: Who; its root is free.
        motion: What it does, on a floor of its own height.
    """
    return _Foresight(model, character, motion).torques()


class _Foresight:
    """One motion of one body, looked at frame by frame."""

    def __init__(self, model: mujoco.MjModel, character: Character, motion: BodyMotion) -> None:
        assert character.root is not None  # only free characters follow clips
        self.model, self.data, self.motion = model, mujoco.MjData(model), motion
        joints = list(character.joints.values())
        self.q0, self.d0 = character.root.qpos, character.root.dof
        self.own = slice(self.d0, joints[-1].dof + joints[-1].nv)
        self.geoms = [g for g in sorted(character.geoms) if model.geom_contype[g]]
        self.weight = character.mass * float(np.linalg.norm(model.opt.gravity))
        self.cone = [
            np.array([FRICTION * np.cos(angle), FRICTION * np.sin(angle), 1.0])
            for angle in (0.0, 0.5 * np.pi, np.pi, 1.5 * np.pi)
        ]

    def torques(self) -> Floats:
        """Return the joints' torques in every frame."""
        motion, flags = self.motion, int(self.model.opt.disableflags)
        count = len(motion.qpos)
        looks = np.unique([*range(0, count, max(1, round(motion.fps / LOOKS))), count - 1])
        self.model.opt.disableflags = flags | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        try:
            speeds, rates = self._rates()
            low = np.array([self._lowest(frame) for frame in looks])
            floor = float(np.quantile(low, 0.1))
            found = np.array([self._look(frame, speeds[frame], rates[frame], floor) for frame in looks])
        finally:
            self.model.opt.disableflags = flags
        return np.stack([np.interp(np.arange(count), looks, column) for column in found.T], axis=1)

    def _rates(self) -> tuple[Floats, Floats]:
        """Return velocities and accelerations, (F, nv) each, noise taken off."""
        motion, model = self.motion, self.model
        speeds, last = np.zeros((len(motion.qpos), model.nv)), len(motion.qpos) - 1
        before, after = model.qpos0.copy(), model.qpos0.copy()
        own = slice(self.q0, self.q0 + motion.qpos.shape[1])
        for frame in range(len(speeds)):
            one, two = max(frame - 1, 0), min(frame + 1, last)
            before[own], after[own] = motion.qpos[one], motion.qpos[two]
            if two > one:
                mujoco.mj_differentiatePos(model, speeds[frame], (two - one) / motion.fps, before, after)
        # A Gaussian is down by 3 dB at √(ln 2)/(2π·width).
        width = np.sqrt(np.log(2.0)) / (2.0 * np.pi * PASSES) * motion.fps
        speeds = scipy.ndimage.gaussian_filter1d(speeds, width, axis=0, mode="nearest")
        rates = np.gradient(speeds, 1.0 / motion.fps, axis=0) if last > 0 else np.zeros_like(speeds)
        return speeds, rates

    def _put(self, frame: int) -> None:
        self.data.qpos[self.q0 : self.q0 + self.motion.qpos.shape[1]] = self.motion.qpos[frame]

    def _lowest(self, frame: int) -> float:
        self._put(frame)
        mujoco.mj_kinematics(self.model, self.data)
        return min((float(point[2]) for _, point in self._points(np.inf)), default=0.0)

    def _look(self, frame: int, speed: Floats, rate: Floats, floor: float) -> Floats:
        """Return the joints' torques in one frame."""
        data = self.data
        self._put(frame)
        data.qvel[:], data.qacc[:] = speed, rate
        mujoco.mj_inverse(self.model, data)
        need = data.qfrc_inverse[self.own].copy()
        pushes = self._pushes(floor)
        if len(pushes) > 0:
            sides = np.concatenate([pushes[:, :6], _EASE * pushes[:, 6:]], axis=1).T
            sizes, _ = scipy.optimize.nnls(
                sides, np.concatenate([need[:6], _EASE * need[6:]]), maxiter=50 * len(pushes)
            )
            need = need - sizes @ pushes
        residue = float(np.linalg.norm(need[:3])) / self.weight if self.weight > 0.0 else 0.0
        trust = np.clip((_DISBELIEF - residue) / (_DISBELIEF - _DOUBT), 0.0, 1.0)
        return np.asarray(trust * need[6:])

    def _pushes(self, floor: float) -> Floats:
        """Return what unit pushes along the edges of the friction cones do to the body, (pushes, nv)."""
        jacobian, found = np.zeros((3, self.model.nv)), []
        for body, point in self._points(floor + NEAR):
            mujoco.mj_jac(self.model, self.data, jacobian, None, point, body)
            found += [edge @ jacobian[:, self.own] for edge in self.cone]
        return np.array(found)

    def _points(self, below: float) -> list[tuple[int, Floats]]:
        """Return the points of the body below a height: corners of boxes, ends of capsules, undersides of the rest."""
        model, data, found = self.model, self.data, list[tuple[int, Any]]()
        for geom in self.geoms:
            corners, radius = _outline(int(model.geom_type[geom]), model.geom_size[geom])
            if data.geom_xpos[geom, 2] - model.geom_rbound[geom] > below:
                continue
            places = data.geom_xpos[geom] + corners @ data.geom_xmat[geom].reshape(3, 3).T - [0.0, 0.0, radius]
            found += [(int(model.geom_bodyid[geom]), place) for place in places if place[2] < below]
        return found


def _outline(kind: int, size: Floats) -> tuple[Floats, float]:
    """Return the points that stand for a shape in its own frame [m], (n, 3), and how far the surface is below them."""
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size, 0.0
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), float(size[0])
    return np.zeros((1, 3)), float(np.min(size[size > 0.0], initial=1.0)) if (size > 0.0).any() else 0.0
