"""Where poses under tension lead, by their curves alone: what the preview shows and predictions are made from."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
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


def _position(joint: Joint, qpos: Floats) -> Floats:
    return qpos[joint.qpos : joint.qpos + joint.nq]


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    out = quaternion.copy()
    mujoco.mju_quatIntegrate(out, vector, 1.0)
    return out
