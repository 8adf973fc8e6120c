"""The paper's external form of the world-space servo, compiled: bones are turned from outside.

A torque f on a bone that reacts on nothing is the joint torques of the internal form, and f on the root besides. So the
joints get what they get anyway, and the root the sum of all bones' torques. Three things follow.

*Bones are damped against the world* (P3 eq. 4, 5). A bone that only followed the root would turn it on, with the whole
body's servos behind it and nothing in the way. Wanted is the clip's own angular velocity, the root's included.

*Nothing loads the root but the one bone it is*: everything outboard is carried from outside. Explicit, a spring made
for a whole body throws that bone from one of its limits to the other. The stiffness S of all bones therefore joins the
root's rows and columns of the inertia matrix too, and so does the spring's.

*What nothing holds cannot be turned from outside.* Targets are lifted from the root: as it turns away, everything turns
with it, by torques that do not hold it back. So the root gets the sum through a share per axis, how much of the help
that holds it is left by its clamps: 1 while the spring is below its limit, 0 where it is broken, and about the vertical
0 unless a yaw torque or a hook keeps the heading. What is not given from outside reacts on the root, as in the internal
form. Bones see the root's turning through the same share: for any shares that is the gradient of one spring, `JᵀSJ`.
"""

from __future__ import annotations

from typing import Any

from stunt.control.servo.law import YAW_PART
from stunt.control.servo.memory import WEAK
from stunt.control.servo.root_spring import root_errors
from stunt.maths.compiled import compiled, inlined


@inlined
def held(who: Any, k: int) -> float:
    """Return how far the root is held about one of the world's axes, 0 to 1."""
    return float(who.held_tilt if k < 2 else who.held_yaw)


@compiled
def see_from_outside(v: Any, t: Any, who: Any, time: float) -> None:
    """Have bones damped against the clip's motion in the world, where `see_bones` went by the root's actual one.

    The root is noted as turning wrongly by that much too: it is what the bones hang on, whatever their joints' weights.
    """
    x, cvel, h = t.seen, t.cvel, v.times.step
    root, end = who.root_body, who.end_body
    if who.absolute != 0:
        return  # what the rows ask for already goes by the world
    root_errors(t, who, (time + h - who.start) * who.fps)
    for k in range(3):
        wrong = held(who, k) * (t.scratch.spin[k] - cvel[6 * root + k])
        for b in range(root, end):
            x[6 * b + k] += h * wrong
            x[6 * b + 3 + k] += wrong


@compiled
def stiffen_root(v: Any, t: Any, who: Any, gain: float) -> None:
    """Add to the root's own inertia the stiffness of all bones, and of the weak spring as far as it is not clamped."""
    stiff, first, h = t.stiff, who.root_dof + 3, v.times.step
    tilt, yaw = who.held_tilt, who.held_yaw
    level = upright = 0.0
    if who.root_mode == WEAK:  # a hook's is added for either form
        air = 1.0 if who.touching != 0.0 else who.air
        k1, k2 = air * gain * who.root_k1, air * gain * who.root_k2
        level, upright = tilt * (h * k2 + h * h * k1), yaw * YAW_PART * h * k2
    who.tilt_stiff, who.yaw_stiff = level, upright
    for b in range(who.root_body + 1, who.end_body):
        level += tilt * tilt * stiff[b]
        upright += yaw * yaw * stiff[b]
    for d in range(first, first + 3):
        for k in range(v.rowadr[d], v.rowadr[d] + v.rownnz[d]):
            c = v.colind[k]
            if c >= first:
                flat = v.cdof[6 * d] * v.cdof[6 * c] + v.cdof[6 * d + 1] * v.cdof[6 * c + 1]
                v.mass_matrix[k] += level * flat + upright * v.cdof[6 * d + 2] * v.cdof[6 * c + 2]


@compiled
def couple_to_root(v: Any, t: Any, who: Any) -> None:
    """Apply the bones' torques to the root as well, and couple the joints' inertia with its rotation.

    To be done again where joints are weakened.
    """
    total, kept, axis, force = t.sum, t.inertia, t.axis, t.force
    root, first = 3 * who.root_body, who.root_dof + 3
    tilt, yaw = who.held_tilt, who.held_yaw
    for d in range(first, first + 3):
        v.applied[d] = 0.0
        for k in range(3):
            v.applied[d] += v.cdof[6 * d + k] * (who.torque[k] + held(who, k) * force[root + k])
    for d in range(who.dof0, who.dof1):
        flat, upright = tilt * total[v.dof_bodyid[d]], yaw * total[v.dof_bodyid[d]]
        x, y, z = flat * axis[3 * d], flat * axis[3 * d + 1], upright * axis[3 * d + 2]
        for k in range(v.rowadr[d], v.rowadr[d] + v.rownnz[d]):
            c = v.colind[k]
            if c >= first + 3:
                break  # a row goes from the root outward
            if c >= first:
                v.mass_matrix[k] = kept[k] + (x * v.cdof[6 * c] + y * v.cdof[6 * c + 1] + z * v.cdof[6 * c + 2])


@inlined
def turn_of_root(v: Any, who: Any, acceleration: Any, turn: Any) -> None:
    """Write how the root accelerates, as the bones see it, at its place in `turn`."""
    root, first = 3 * who.root_body, who.root_dof + 3
    for d in range(first, first + 3):
        for k in range(3):
            turn[root + k] += held(who, k) * acceleration[d] * v.cdof[6 * d + k]


@compiled
def end_help(v: Any, t: Any, who: Any) -> None:
    """Write what the root got in the step that was taken: the spring's torque and that of all bones, each less S·a."""
    force, turn, acceleration = t.force, t.lean, t.qacc
    root, first = 3 * who.root_body, who.root_dof + 3
    for k in range(3):
        spin = 0.0
        for d in range(first, first + 3):
            spin += v.cdof[6 * d + k] * acceleration[d]
        back = (who.tilt_stiff if k < 2 else who.yaw_stiff) * spin
        who.torque[k] += held(who, k) * (force[root + k] - turn[root + k]) - back
    for d in range(first, first + 3):
        v.applied[d] = 0.0
        for k in range(3):
            v.applied[d] += v.cdof[6 * d + k] * who.torque[k]
