"""Where poses under tension lead, by their curves alone: what the preview shows and predictions are made from."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.direction.tension_script import Cue
from stunt.motion.transition import Curve

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Leg:
    """One joint's way through one transition, from `start` to `end` [s], between two positions (nq,)."""

    start: float
    end: float
    begin: Floats
    goal: Floats
    curve: Curve

    def at(self, time: Any, ball: bool) -> Floats:
        """Return positions at times, (…, nq)."""
        progress = self.curve.at((np.asarray(time, float) - self.start) / max(self.end - self.start, 1e-9))
        if not ball:
            return np.asarray(self.begin + progress[..., None] * (self.goal - self.begin))
        turn = np.zeros(3)
        mujoco.mju_subQuat(turn, self.goal, self.begin)
        flat = np.array([_turned(self.begin, float(p) * turn) for p in np.ravel(progress)])
        return flat.reshape(*np.shape(progress), 4)


class Plan:
    """All legs of all joints, each joint's in order; a later one takes over from an earlier one wherever it is."""

    def __init__(self, character: Character, qpos: Floats, cues: Iterable[Cue]) -> None:
        """Lay the legs out.

        Args:
            character: Whose.
            qpos: Where everything starts, (nq,).
            cues: Transitions in the order in which they begin.
        """
        self.character = character
        self.legs: dict[str, list[Leg]] = {}
        self._home = {name: _position(joint, qpos).copy() for name, joint in character.joints.items()}
        for cue in cues:
            self.add(cue)

    def add(self, cue: Cue) -> None:
        """Append a transition; it must not begin before those that are there."""
        for name, angle in cue.entry.pose.angles.items():
            begin = self.at(name, cue.start)
            leg = Leg(cue.start, cue.end, begin, np.atleast_1d(np.asarray(angle, float)), cue.entry.curve)
            self.legs.setdefault(name, []).append(leg)

    def at(self, name: str, time: float) -> Floats:
        """Return one joint's position at a time, (nq,)."""
        legs = self.legs.get(name, [])
        index = bisect.bisect_right([leg.start for leg in legs], time + 1e-9) - 1
        if index < 0:
            return self._home[name]
        return legs[index].at(time, self.character.joints[name].kind == "ball")

    def write(self, qpos: Floats, times: Floats) -> None:
        """Lay the planned positions over a path, from each joint's first leg on.

        Args:
            qpos: The path, changed in place, (T, nq).
            times: Its times [s], (T,).
        """
        for name, legs in self.legs.items():
            joint = self.character.joints[name]
            starts = [leg.start for leg in legs]
            which = np.searchsorted(starts, times + 1e-9, side="right") - 1
            for index, leg in enumerate(legs):
                here = which == index
                if here.any():
                    qpos[here, joint.qpos : joint.qpos + joint.nq] = leg.at(times[here], joint.kind == "ball")


class Weigher:
    """Predicts the external torques of a state: gravity, and what the character believes it carries."""

    def __init__(self, model: mujoco.MjModel, believed: Mapping[int, tuple[int, float]]) -> None:
        """Keep a copy to try states on.

        Args:
            model: The scene.
            believed: Body and believed mass [kg] of each prop that can be held, by its weld.
        """
        self._model = model
        self._data = mujoco.MjData(model)
        self._believed = dict(believed)

    def torques(self, qpos: Floats, held: Iterable[int] = ()) -> Floats:
        """Return the torque each degree of freedom feels at rest in a state [N·m], (nv,).

        Args:
            qpos: The state, (nq,).
            held: Welds of the props that are held.
        """
        model, data = self._model, self._data
        data.qpos[:] = qpos
        data.qvel[:] = 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        bias = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 0, bias)
        force = -bias
        for grip in held:
            force += self._load(grip)
        return force

    def _load(self, grip: int) -> Floats:
        model, data = self._model, self._data
        holder, (_, mass) = int(model.eq_obj1id[grip]), self._believed[grip]
        point = data.xpos[holder] + data.xmat[holder].reshape(3, 3) @ model.eq_data[grip, 3:6]
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, holder)
        return np.asarray(jacobian.T @ (mass * model.opt.gravity))

    def gradient(self, dofs: NDArray[np.int32]) -> Floats:
        """Return how the gravity torques of the last state change with the angles, ∂F_i/∂θ_j, (n, n).

        Turning an inboard joint turns everything outboard as one: the derivative of a_i·(r_i × mg) about a_j.
        """
        model, data = self._model, self._data
        matrix = np.zeros((len(dofs), len(dofs)))
        index = {int(dof): k for k, dof in enumerate(dofs)}
        for k, dof in enumerate(dofs):
            joint, body = int(model.dof_jntid[dof]), int(model.dof_bodyid[dof])
            if model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_HINGE:
                continue
            lever = data.subtree_com[body] - data.xanchor[joint]
            swing = np.cross(data.xaxis[joint], lever)
            inboard = int(dof)
            while inboard >= 0:
                other = int(model.dof_jntid[inboard])
                if inboard in index and model.jnt_type[other] == mujoco.mjtJoint.mjJNT_HINGE:
                    turned = np.cross(data.xaxis[other], swing)
                    value = float(model.body_subtreemass[body] * (turned @ model.opt.gravity))
                    matrix[k, index[inboard]] = matrix[index[inboard], k] = value
                inboard = int(model.dof_parentid[inboard])
        return matrix


def _position(joint: Joint, qpos: Floats) -> Floats:
    return qpos[joint.qpos : joint.qpos + joint.nq]


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    out = quaternion.copy()
    mujoco.mju_quatIntegrate(out, vector, 1.0)
    return out
