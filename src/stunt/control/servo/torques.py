"""From what the servo sees to joint torques and inertia, compiled: a pass up the tree and one down (see `worldspace`).

The servo's implicit part, S, is a matrix as large as the engine's, but its product with an acceleration is what its
springs do to bones that turn so: that takes the same two passes, and no matrix.
"""

from __future__ import annotations

from typing import Any

from stunt.control.servo.beat import beat_forces, beat_reaction, beat_stiffness
from stunt.control.servo.external import turn_of_root
from stunt.control.servo.memory import BEAT, WORLD
from stunt.maths.compiled import compiled, inlined


@compiled
def add_torques(v: Any, t: Any, who: Any, gain: float) -> None:
    """Turn what is seen into joint torques, through the joints' weights."""
    parent, x, u, force = t.parent, t.seen, t.lean, t.force
    k1, k2, weight, joint = t.k1, t.k2, t.weight, t.joint
    feed, flesh = t.feed, t.flesh
    root, end = who.root_body, who.end_body
    own = who.mode != WORLD
    for k in range(6):
        u[6 * root + k] = x[6 * root + k]
    for b in range(root + 1, end):
        p = root if own else parent[b]
        for k in range(6):
            u[6 * b + k] = u[6 * p + k] + weight[b] * (x[6 * b + k] - x[6 * p + k])
        for k in range(3):
            force[3 * b + k] = gain * (k1[b] * u[6 * b + k] + k2[b] * u[6 * b + 3 + k])
    if who.mode == BEAT:
        beat_forces(v, who, u, force)
    for k in range(3):
        force[3 * root + k] = 0.0
    for b in range(end - 1, root, -1):
        if not own or parent[b] == root:
            for k in range(3):
                force[3 * parent[b] + k] += force[3 * b + k]
    for d in range(who.dof0, who.dof1):
        b, c = v.dof_bodyid[d], 6 * d
        push = v.cdof[c] * force[3 * b] + v.cdof[c + 1] * force[3 * b + 1] + v.cdof[c + 2] * force[3 * b + 2]
        joint[d] = weight[b] * (push + feed[d])
        v.applied[d] = joint[d] - flesh[d] * v.qvel[d]


@inlined
def take_over_damping(v: Any, t: Any, who: Any) -> None:
    """Write the damping of the joints that the engine leaves to the servo, and have it leave all of it.

    It weighs like inertia in the engine, in a matrix of its own beside M, with a factor of its own. As part of what is
    added to M anyway it costs nothing.
    """
    flesh = t.flesh
    for d in range(who.dof0, who.dof1):
        flesh[d] = v.own_damping[d] - v.dof_damping[d]  # what the present step's first half did not see
        v.dof_damping[d] = 0.0


@inlined
def keep_inertia(v: Any, t: Any, who: Any) -> None:
    """Note the body's own inertia, with its damping, before anything is added to it."""
    kept, flesh, h = t.inertia, t.flesh, v.times.step
    first, last = who.dof0, who.dof1
    for k in range(v.rowadr[first], v.rowadr[last - 1] + v.rownnz[last - 1]):
        kept[k] = v.mass_matrix[k]
    for d in range(first, last):
        kept[v.rowadr[d] + v.rownnz[d] - 1] += h * flesh[d]


@compiled
def add_inertia(v: Any, t: Any, who: Any) -> None:
    """Add S to the engine's inertia matrix, in its own sparsity: joints on one way to the root are coupled."""
    total, weight = t.sum, t.weight
    kept, axis = t.inertia, t.axis
    first, last, own = who.dof0, who.dof1, who.mode != WORLD
    for d in range(first, last):
        share = weight[v.dof_bodyid[d]]
        for k in range(3):
            axis[3 * d + k] = share * v.cdof[6 * d + k]
    for d in range(first, last):
        b, start, count = v.dof_bodyid[d], v.rowadr[d], v.rownnz[d]
        if who.mode == BEAT:
            x, y, z = beat_stiffness(v, first, last, d, axis)
        else:
            x, y, z = total[b] * axis[3 * d], total[b] * axis[3 * d + 1], total[b] * axis[3 * d + 2]
        for k in range(start + count - 1, start - 1, -1):
            c = v.colind[k]
            if c < first or (own and v.dof_bodyid[c] != b):
                break  # a row goes from the root outward: what is left is the root, or no concern of the joint
            v.mass_matrix[k] = kept[k] + (x * axis[3 * c] + y * axis[3 * c + 1] + z * axis[3 * c + 2])


@compiled
def end_torques(v: Any, t: Any, who: Any, acceleration: Any) -> None:
    """Write the torques the joints produce in a step that accelerates so: τ − S·a."""
    parent, weight, stiff = t.parent, t.weight, t.stiff
    joint, torque, turn = t.joint, t.torque, t.lean
    root, end, first, last = who.root_body, who.end_body, who.dof0, who.dof1
    own, beat, force = who.mode != WORLD, who.mode == BEAT, t.force
    for k in range(3 * root, 3 * end):
        turn[k] = 0.0
    for d in range(first, last):
        b = v.dof_bodyid[d]
        share = weight[b] * acceleration[d]
        for k in range(3):
            turn[3 * b + k] += share * v.cdof[6 * d + k]
    if who.external != 0:
        turn_of_root(v, who, acceleration, turn)
    if not own:
        for b in range(root + 1, end):
            for k in range(3):
                turn[3 * b + k] += turn[3 * parent[b] + k]
    for k in range(3):
        turn[3 * root + k] = 0.0  # from here on it is the sum of what acts on the bones
    if beat:
        beat_reaction(v, who, turn, force)
    else:
        for b in range(root + 1, end):
            for k in range(3):
                turn[3 * b + k] *= stiff[b]
    if not own:
        for b in range(end - 1, root, -1):
            for k in range(3):
                turn[3 * parent[b] + k] += turn[3 * b + k]
    for d in range(first, last):
        b, c = v.dof_bodyid[d], 6 * d
        back = v.cdof[c] * turn[3 * b] + v.cdof[c + 1] * turn[3 * b + 1] + v.cdof[c + 2] * turn[3 * b + 2]
        torque[d] = joint[d] - weight[b] * back
