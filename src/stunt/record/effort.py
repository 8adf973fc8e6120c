"""What a performance took of a character's joints: share of strength, and work."""

from __future__ import annotations

import numpy as np

from stunt.record.take import Take


def effort(take: Take, name: str) -> dict[str, float | None]:
    """Measure what a character's joints gave over a take.

    Args:
        take: The performance.
        name: Who.

    Returns:
        `effort`: the mean over frames and joints of |torque| as a share of the joint's strength, None where no joint
        has one; `work_j`: ∫ |torque · velocity| dt over all joints [J], what muscles do and undo.
    """
    joints = take.cast.character(name).joints.values()
    # The first frame was not reached by a step, so nothing could act on the way to it.
    shares = [
        np.linalg.norm(take.torque[1:, joint.dof : joint.dof + joint.width], axis=1) / joint.strength
        for joint in joints
        if joint.strength
    ]
    dofs = [dof for joint in joints for dof in range(joint.dof, joint.dof + joint.width)]
    power = np.abs(take.torque[1:, dofs] * take.qvel[1:, dofs]).sum(axis=1)
    mean = float(np.mean(shares)) if shares and take.time.size > 1 else None
    return {"effort": mean, "work_j": float(power @ np.diff(take.time))}
