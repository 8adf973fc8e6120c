"""The beat law (P0) while a clip is followed, compiled: gains joint by joint, inside the servo's strength.

Every joint heads for where the clip will be T seconds from now, to pass there at the clip's velocity: `k = m/λ²`,
`d = 2m/λ`, λ = T/n, with m what the joint moves (everything outboard, or, where it stands on something outboard,
everything inboard). Whoever is on the way there is on the clip, so the pull is toward the clip as it is now, and what
the way itself takes is foreseen from the whole motion instead of from m alone (see `foreseen_torques`).

A body's springs act along its joint axes, `K = Σ k·s·sᵀ`: symmetric whatever the axes, hence passive under the weights
that keep joints inside their strength (see `worldspace`), and implicit as all the servo's springs are.
"""

from __future__ import annotations

from typing import Any, Final

from stunt.control.core.springs import spatial_moment
from stunt.maths.compiled import compiled, inlined

SPENT: Final = 0.05
"""No joint spends its whole strength on a smaller error than this [rad]. A toe on the ground 'moves' the whole person,
but beside a heel that stands too; with gains for all of that, a tenth of a degree is more than it can hold."""


@compiled
def set_beat_gains(v: Any, t: Any, who: Any, gain: float) -> None:
    """Write each joint's stiffness and damping for a beat that is T away (P0 eq. 4, n corrected), times its bone's."""
    rate = v.times.constants / who.ahead  # 1/λ
    # A foot that lands has a person above it at once. Its gains follow within λ: sooner they would answer a landing
    # that is a little early with more than the joint has.
    share = min(1.0, v.times.step * rate)
    for d in range(who.dof0, who.dof1):
        moment = v.mass_matrix[v.rowadr[d] + v.rownnz[d] - 1]
        if v.planted[d]:
            # With the ground outboard of it a joint moves the rest of the body instead.
            body = v.dof_bodyid[d]
            moment = spatial_moment(v, v.body_rootid[body], d) - spatial_moment(v, body, d) + v.dof_armature[d]
        moment = v.moment[d] + share * (moment - v.moment[d]) if moment > v.moment[d] > 0.0 else moment
        moment = min(moment, v.limit[d] / (SPENT * rate * rate))
        v.moment[d] = moment
        pull = gain * t.usual[v.dof_bodyid[d]] * moment * rate
        v.stiffness[d], v.damping[d] = pull * rate, 2.0 * pull


@inlined
def along(v: Any, d: int, x: Any, o: int) -> float:
    """Return the part of x[o:o+3] along a joint axis."""
    c = 6 * d
    return float(v.cdof[c] * x[o] + v.cdof[c + 1] * x[o + 1] + v.cdof[c + 2] * x[o + 2])


@compiled
def beat_forces(v: Any, who: Any, u: Any, force: Any) -> None:
    """Write the torque on every body from what is seen of it (6 per body): its joints' springs and dampers."""
    for k in range(3 * who.root_body, 3 * who.end_body):
        force[k] = 0.0
    for d in range(who.dof0, who.dof1):
        b = v.dof_bodyid[d]
        pull = v.stiffness[d] * along(v, d, u, 6 * b) + v.damping[d] * along(v, d, u, 6 * b + 3)
        for k in range(3):
            force[3 * b + k] += pull * v.cdof[6 * d + k]


@inlined
def step_stiffness(v: Any, d: int) -> float:
    """Return what a joint's spring weighs in a step, S = h·d + h²·k [kg·m²]."""
    h = v.times.step
    return float(h * (v.damping[d] + h * v.stiffness[d]))


@compiled
def beat_stiffness(v: Any, first: int, last: int, d: int, axis: Any) -> tuple[float, float, float]:
    """Return what a turn about one joint axis (3 per degree of freedom, weighted) meets: Σ S·s·(s·axis)."""
    x, y, z = 0.0, 0.0, 0.0
    low, high = d, d
    while low > first and v.dof_bodyid[low - 1] == v.dof_bodyid[d]:
        low -= 1
    while high + 1 < last and v.dof_bodyid[high + 1] == v.dof_bodyid[d]:
        high += 1
    for e in range(low, high + 1):
        met = step_stiffness(v, e) * along(v, e, axis, 3 * d)
        x, y, z = x + met * v.cdof[6 * e], y + met * v.cdof[6 * e + 1], z + met * v.cdof[6 * e + 2]
    return x, y, z


@compiled
def beat_reaction(v: Any, who: Any, turn: Any, scratch: Any) -> None:
    """Replace every body's acceleration by what its joints' springs do against it (3 per body)."""
    first, last = 3 * who.root_body, 3 * who.end_body
    for k in range(first, last):
        scratch[k] = 0.0
    for d in range(who.dof0, who.dof1):
        b = v.dof_bodyid[d]
        met = step_stiffness(v, d) * along(v, d, turn, 3 * b)
        for k in range(3):
            scratch[3 * b + k] += met * v.cdof[6 * d + k]
    for k in range(first, last):
        turn[k] = scratch[k]
