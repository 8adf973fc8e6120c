"""How a beat went: where each joint was at that moment, against where it should have been."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.character.character import Character, Joint
from stunt.motion.pose import Pose
from stunt.stage.loop import Stage

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BeatResult:
    """One beat, measured.

    Attributes:
        index: Number of the beat for its character, in the order they were asked for.
        time: When it was due [s].
        pose: Its pose's name.
        error_deg: Angle error of the worst joint [°]. (A slide's error counts in millimetres.)
        error_deg_rms: Root mean square over the pose's joints [°].
        velocity_error: Largest velocity error of a joint [rad/s or m/s].
        worst_joint: The joint with the largest angle error.
        saturated: Joints that were at the limit of their strength on the way.
        joint_errors_deg: Signed error of each joint [°]: positive is too far. Ball joints: the rotation angle.
        targets: What each joint was asked for [rad or m]; a ball joint's is a quaternion wxyz.
    """

    index: int
    time: float
    pose: str
    error_deg: float
    error_deg_rms: float
    velocity_error: float
    worst_joint: str
    saturated: tuple[str, ...]
    joint_errors_deg: dict[str, float] = field(default_factory=dict)
    targets: dict[str, float | list[float]] = field(default_factory=dict)


def measure(
    stage: Stage,
    character: Character,
    index: int,
    time: float,
    pose: Pose,
    before: tuple[float, Floats, Floats] | None,
    strained: NDArray[np.int64],
) -> BeatResult:
    """Measure a beat that has just fallen, between the last two steps if it lies between them.

    Args:
        stage: The stage, at or just after the beat.
        character: Whose beat it is.
        index: Its number.
        time: Its time [s].
        pose: What was asked for.
        before: Time and state of the step before, where the beat lies between two steps.
        strained: Steps each degree of freedom spent at its limit on the way, (nv,).
    """
    qpos, qvel = state_at(stage, time, before)
    errors: dict[str, float] = {}
    velocity_error = 0.0
    for name, angle in pose.angles.items():
        joint = character.joints[name]
        errors[name] = joint_error_deg(joint, qpos, angle)
        wanted = np.asarray(pose.velocities.get(name, 0.0))
        off = qvel[joint.dof : joint.dof + joint.nv] - wanted
        velocity_error = max(velocity_error, float(np.linalg.norm(off)))
    worst = max(errors, key=lambda name: abs(errors[name]), default="")
    at_limit = tuple(n for n, j in character.joints.items() if strained[j.dof : j.dof + j.nv].any())
    return BeatResult(
        index=index,
        time=time,
        pose=pose.name,
        error_deg=abs(errors[worst]) if worst else 0.0,
        error_deg_rms=math.sqrt(sum(e * e for e in errors.values()) / max(1, len(errors))),
        velocity_error=velocity_error,
        worst_joint=worst,
        saturated=at_limit,
        joint_errors_deg=errors,
        targets={name: np.asarray(angle, float).tolist() for name, angle in pose.angles.items()},
    )


def state_at(stage: Stage, time: float, before: tuple[float, Floats, Floats] | None) -> tuple[Floats, Floats]:
    """Return positions and velocities at a time between the step before and now.

    Within a semi-implicit step positions move linearly; velocities are interpolated.
    """
    now = stage.time
    if before is None or now - time < 1e-9 or not before[0] <= time < now:
        return stage.data.qpos, stage.data.qvel
    share = (time - before[0]) / (now - before[0])
    step = np.zeros(stage.model.nv)
    mujoco.mj_differentiatePos(stage.model, step, 1.0, before[1], stage.data.qpos)
    qpos = before[1].copy()
    mujoco.mj_integratePos(stage.model, qpos, step, share)
    return qpos, before[2] + share * (stage.data.qvel - before[2])


def joint_error_deg(joint: Joint, qpos: Floats, wanted: Any) -> float:
    """Return a joint's error [°] ([mm] for a slide); a ball joint's is the angle of the rotation that is missing."""
    here = qpos[joint.qpos : joint.qpos + joint.nq]
    if joint.kind == "slide":
        return float(1000.0 * (here[0] - wanted))
    if joint.kind == "hinge":
        return math.degrees(here[0] - wanted)
    vector = np.zeros(3)
    mujoco.mju_subQuat(vector, here, np.asarray(wanted, dtype=float))
    return math.degrees(float(np.linalg.norm(vector)))
