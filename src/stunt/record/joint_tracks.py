"""What a take says about one character's joints over time: gains, errors and torques by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.errors import TakeError, UnknownNameError
from stunt.record.cast import CastJoint, CastMember
from stunt.record.take import Take

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tracks:
    """One character's share of a take. T frames, n joints; a ball joint is one track, of its largest component."""

    character: str  #: Whose
    names: tuple[str, ...]  #: Joint names, (n,)
    values: Floats  #: One column per joint, (T, n)

    def pick(self, joints: Sequence[str] | None, most: int, activity: Floats | None = None) -> Tracks:
        """Keep the named joints, or the `most` active ones, most active first.

        Args:
            joints: Which joints; None chooses.
            most: How many are chosen at most.
            activity: How active each joint is, (n,); None is its largest value.
        """
        if joints is None:
            peak = np.nan_to_num(np.abs(self.values)).max(axis=0, initial=0.0) if activity is None else activity
            order = [int(k) for k in np.argsort(-peak, kind="stable")[:most]]
        else:
            order = [self._index(name) for name in joints]
        return Tracks(self.character, tuple(self.names[k] for k in order), self.values[:, order])

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"joint of '{self.character}'", name, self.names)
        return self.names.index(name)


def characters_of(take: Take) -> Mapping[str, CastMember]:
    """Return the take's characters, or say that there is none."""
    if not take.cast.characters:
        raise TakeError("the take names no characters, so there are no joints to plot.")
    return take.cast.characters


def gains(take: Take, character: str) -> Tracks:
    """Return each joint's stiffness k_s over time [N·m/rad]."""
    return _by_joint(character, characters_of(take)[character].joints.values(), take.stiffness)


def torque_shares(take: Take, character: str) -> Tracks:
    """Return each joint's torque over time as a share of its strength; joints without a limit are left out."""
    limited = [joint for joint in characters_of(take)[character].joints.values() if joint.strength]
    scaled = np.zeros_like(take.torque)
    for joint in limited:
        scaled[:, joint.dofs] = np.abs(take.torque[:, joint.dofs]) / (joint.strength or np.inf)
    return _by_joint(character, limited, scaled)


def errors(take: Take, character: str, model: mujoco.MjModel) -> Tracks:
    """Return each joint's angle to where it was heading, over time [deg]; NaN while it was passive.

    Slide joints are left out: their error is no angle.
    """
    names, columns = [], []
    for name in characters_of(take)[character].joints:
        joint = model.joint(f"{character}/{name}")
        kind, where = int(joint.type[0]), int(joint.qposadr[0])
        if kind == int(mujoco.mjtJoint.mjJNT_HINGE):
            columns.append(np.abs(take.qpos[:, where] - take.target[:, where]))
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            columns.append(angle_between(take.qpos[:, where : where + 4], take.target[:, where : where + 4]))
        else:
            continue
        names.append(name)
    values = np.degrees(np.column_stack(columns)) if columns else np.empty((take.time.size, 0))
    return Tracks(character, tuple(names), values)


def travel(take: Take, character: str, model: mujoco.MjModel) -> Floats:
    """Return how far each joint moved at most from where it started [rad or m], (n,)."""
    far = []
    for name in characters_of(take)[character].joints:
        joint = model.joint(f"{character}/{name}")
        where = int(joint.qposadr[0])
        if int(joint.type[0]) == int(mujoco.mjtJoint.mjJNT_BALL):
            turned = angle_between(take.qpos[:, where : where + 4], take.qpos[:1, where : where + 4])
        else:
            turned = np.abs(take.qpos[:, where] - take.qpos[0, where])
        far.append(float(turned.max(initial=0.0)))
    return np.array(far)


def angle_between(first: Floats, second: Floats) -> Floats:
    """Return the angle of the rotation between quaternions wxyz, [rad], (T,) from (T, 4) each."""
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    second = second / np.linalg.norm(second, axis=1, keepdims=True)
    # The chord's length keeps small angles exact, where the arc cosine of their product would lose them.
    apart, across = np.linalg.norm(first - second, axis=1), np.linalg.norm(first + second, axis=1)
    return np.asarray(4.0 * np.arctan2(np.minimum(apart, across), np.maximum(apart, across)))


def beat_times(take: Take, character: str | None = None) -> list[tuple[float, str]]:
    """Return when beats were due [s] and the poses' names, in order."""
    found = {
        (float(event["time"]), str(event.get("pose") or ""))
        for event in take.events
        if event.get("kind") == "beat" and character in (None, event.get("character"))
    }
    return sorted(found)


def _by_joint(character: str, joints: Iterable[CastJoint], values: Floats) -> Tracks:
    known = list(joints)
    columns = [values[:, joint.dofs].max(axis=1) for joint in known]
    stacked = np.column_stack(columns) if columns else np.empty((len(values), 0))
    return Tracks(character, tuple(joint.name for joint in known), stacked)
