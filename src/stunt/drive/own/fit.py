"""Poses fitted to where feet and centre of mass should be: damped least squares, frame after frame.

Few rows, many joints: the normal equations are solved through the rows (Woodbury), which takes a 15 × 15 system a
round instead of one as large as the body.
"""

from __future__ import annotations

import mujoco
import numpy as np

from stunt.character.character import Character
from stunt.drive.motion.layout import Layout, own_slices
from stunt.drive.own.centroidal import CentroidalPlan
from stunt.drive.own.footholds import Footholds
from stunt.drive.own.soles import Foot
from stunt.maths import rotations
from stunt.maths.rotations import Floats

FOOT, TURN, COM = 30.0, 9.0, 12.0
"""Weights of a foot's place [1/m], its turn [1/rad] and the centre of mass [1/m]."""
STAY, LEG, ROOT_PLACE, ROOT_TURN = 1.0, 0.15, 0.05, 2.0
"""Weights of keeping to the clip: any joint, those of the legs, the root."""
ROUNDS, FIRST = 2, 15
"""Rounds for each frame, and for the first one."""
_STEP = 0.2  # most change of a coordinate in a round [rad, m]
_INSIDE = 0.01  # hinges keep so far from their limits [rad]


class PoseFit:
    """Fits the poses of one body."""

    def __init__(self, model: mujoco.MjModel, character: Character, feet: tuple[Foot, Foot]) -> None:
        """Get ready.

        Args:
            model: The scene.
            character: Who.
            feet: Its feet.
        """
        self._model, self._feet, self._root = model, feet, character.root_body
        self._layout, self._data = Layout.of(character), mujoco.MjData(model)
        self._places, self._dofs = own_slices(character)
        stay = np.full(self._layout.nv, STAY)
        stay[:3], stay[3:6] = ROOT_PLACE, ROOT_TURN
        legs = {body for foot in feet for body in foot.chain}
        first = self._dofs.start
        limited = []
        for joint in character.joints.values():
            if int(model.jnt_bodyid[joint.id]) in legs:
                stay[joint.dof - first : joint.dof - first + joint.nv] = LEG
            if joint.nq == 1 and joint.range is not None:
                limited.append((joint.qpos - self._places.start, *joint.range))
        self._stay = stay
        self._limited = np.array([q for q, _, _ in limited], np.int64)
        self._low = np.array([low + _INSIDE for _, low, _ in limited])
        self._high = np.array([high - _INSIDE for _, _, high in limited])

    def fitted(self, qpos: Floats, holds: Footholds, plan: CentroidalPlan) -> Floats:
        """Return poses near `qpos` with feet and centre of mass where they should be, (F, nq)."""
        layout, out, off = self._layout, np.zeros_like(qpos), np.zeros(self._layout.nv)
        for frame in range(len(qpos)):
            pose = layout.moved(qpos[frame], off)
            for _ in range(ROUNDS if frame else FIRST):
                pose = layout.moved(pose, self._step(pose, qpos[frame], frame, holds, plan))
                if len(self._limited):
                    pose[self._limited] = np.clip(pose[self._limited], self._low, self._high)
            off = layout.difference(pose, qpos[frame])
            out[frame] = pose
        return out

    def _step(self, pose: Floats, asked: Floats, frame: int, holds: Footholds, plan: CentroidalPlan) -> Floats:
        model, data, dofs = self._model, self._data, self._dofs
        data.qpos[self._places] = pose
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        rows, goal = np.zeros((15, dofs.stop - dofs.start)), np.zeros(15)
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for number, foot in enumerate(self._feet):
            mujoco.mj_jacBody(model, data, linear, angular, foot.body)
            k = 6 * number
            rows[k : k + 3], rows[k + 3 : k + 6] = FOOT * linear[:, dofs], TURN * angular[:, dofs]
            goal[k : k + 3] = FOOT * (holds.places[frame, number] - data.xpos[foot.body])
            goal[k + 3 : k + 6] = TURN * _world_turn(holds.turns[frame, number], data.xquat[foot.body])
        mujoco.mj_jacSubtreeCom(model, data, linear, self._root)
        rows[12:], goal[12:] = COM * linear[:, dofs], COM * (plan.com[frame] - data.subtree_com[self._root])
        back = self._layout.difference(asked, pose)
        goal = goal - rows @ back
        weighted = rows / self._stay
        step = back + weighted.T @ np.linalg.solve(np.eye(15) + rows @ weighted.T, goal)
        return np.clip(step, -_STEP, _STEP)


def _world_turn(goal: Floats, start: Floats) -> Floats:
    """Return the rotation vector in the world that turns one orientation into another [rad], (3,)."""
    return np.asarray(rotations.to_rotation_vector(rotations.multiply(goal, rotations.conjugate(start))))
