"""Frames for the page, in binary: little-endian 32-bit floats, a header and then blocks the header gives the sizes of.

0 version · 1 revision · 2 time [s] · 3 simulated [s] · 4 seconds · 5 playing · 6 speed · 7 loop · 8 bodies n ·
9 ghost (0/1) · 10 contacts k · 11 pulling · 12 done · 13–15 unused
n × 7 position [m] and quaternion wxyz · n × 3 tension, torque, error in 0–1 · ghost: n × 7 · k × 6 point and force
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.direction.performance import Performance

VERSION = 1
HEADER = 16
_ERROR_SPAN = 20.0  # degrees of error that count as 1
_STIFF = (0.3, 300.0)  # stiffness over strength [1/rad] that count as 0 and 1, on a logarithmic scale
_MOST_CONTACTS = 200

Floats = NDArray[np.float64]


class FrameMaker:
    """Turns recorded frames of one performance into bytes."""

    def __init__(self, performance: Performance) -> None:
        """Look up what does not change."""
        self.performance = performance
        model = performance.stage.model
        self._data = mujoco.MjData(model)
        self._strength = np.full(model.nv, np.inf)
        self._angle = np.zeros(model.nv, int)  # where in qpos a hinge's angle is; -1 for others
        self._angle[:] = -1
        for character in performance.stage.characters.values():
            for joint in character.joints.values():
                self._strength[joint.dof : joint.dof + joint.nv] = joint.strength
                if joint.kind == "hinge":
                    self._angle[joint.dof] = joint.qpos
        self._strength[~np.isfinite(self._strength)] = 200.0

    def frame_at(self, time: float) -> int:
        """Return the recorded frame on show at a time [s]."""
        recorder = self.performance.recorder
        return max(0, min(round(time / recorder.frame_time), recorder.count - 1))

    def pack(self, time: float, header: dict[int, float], *, ghost: bool) -> bytes:
        """Return the frame at a time as bytes; `header` gives entries by number."""
        recorder = self.performance.recorder
        frame = self.frame_at(time)
        qpos = recorder.column("qpos")[frame] if recorder.count else self.performance.stage.data.qpos
        points, forces = recorder.contacts_at(frame)
        points, forces = points[:_MOST_CONTACTS], forces[:_MOST_CONTACTS]
        head = np.zeros(HEADER)
        for number, value in header.items():
            head[number] = value
        head[0], head[8] = VERSION, self.performance.stage.model.nbody
        head[9], head[10] = float(ghost), len(points)
        blocks = [head, self.poses(qpos), self._colors(frame)]
        if ghost:
            blocks.append(self.poses(self.target(frame)))
        blocks.append(np.hstack([points, forces]).ravel())
        return np.concatenate(blocks).astype("<f4").tobytes()

    def poses(self, qpos: Floats) -> Floats:
        """Return positions and quaternions of all bodies, (nbody · 7,)."""
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self.performance.stage.model, self._data)
        return np.hstack([self._data.xpos, self._data.xquat]).ravel()

    def target(self, frame: int) -> Floats:
        """Return where the body should be: the clip's frame, or the joints' goals, (nq,)."""
        recorder = self.performance.recorder
        if not recorder.count:
            return self.performance.stage.data.qpos.copy()
        goal, qpos = recorder.column("target")[frame], recorder.column("qpos")[frame]
        target = np.where(np.isnan(goal), qpos, goal)
        time = recorder.column("time")[frame]
        for made in self.performance.sections.values():
            for section in made.values():
                self._follow(section, time, target)
        return target

    def _follow(self, section: Any, time: float, target: Floats) -> None:
        """Put the frame of the clip a tracker follows at a time into the target."""
        history, character = getattr(section, "history", None), getattr(section, "character", None)
        if not history or character is None or character.root is None:
            return
        since, motion, _ = [entry for entry in history if entry[0] <= time + 1e-9][-1]
        number = round((time - since) * motion.fps)
        number = number % len(motion.qpos) if motion.loop else min(number, len(motion.qpos) - 1)
        target[character.root.qpos : character.root.qpos + motion.qpos.shape[1]] = motion.qpos[number]

    def _colors(self, frame: int) -> Floats:
        """Return tension, torque and error of each body's joints in 0–1, (nbody · 3,)."""
        model, recorder = self.performance.stage.model, self.performance.recorder
        values = np.zeros((model.nbody, 3))
        if not recorder.count or not model.nv:
            return values.ravel()
        stiffness = np.maximum(recorder.column("stiffness")[frame] / self._strength, 1e-9)
        low, high = np.log(_STIFF)
        tension = np.where(stiffness > 1e-6, np.clip((np.log(stiffness) - low) / (high - low), 0, 1), 0.0)
        torque = np.clip(np.abs(recorder.column("torque")[frame]) / self._strength, 0, 1)
        goal, qpos = recorder.column("target")[frame], recorder.column("qpos")[frame]
        off = np.where(self._angle >= 0, np.abs(np.degrees(goal[self._angle] - qpos[self._angle])), 0.0)
        error = np.clip(np.nan_to_num(off) / _ERROR_SPAN, 0, 1)
        np.maximum.at(values, model.dof_bodyid, np.stack([tension, torque, error], axis=1))
        return values.ravel()
