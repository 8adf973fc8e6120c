"""Strength of joints under the world-space servo, compiled: weights that keep every joint inside its own.

The step is foreseen with the contact forces of the last one; who would be over gets a lower weight (see `worldspace`).
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.engine import BALL, mj_factorM, mj_solveM
from stunt.control.servo.external import couple_to_root
from stunt.control.servo.memory import KINEMATIC, actor_at
from stunt.control.servo.root_spring import gain_now
from stunt.control.servo.torques import add_inertia, add_torques, end_torques
from stunt.maths.compiled import compiled, inlined
from stunt.maths.pointers import address

_GROW = 1.15
"""How fast a joint's weight recovers per step."""
_TARGET = 0.93
"""Share of its strength a joint is held to: contacts may push a little harder than predicted."""
_TOLERATED = 0.95
"""Share of its strength a joint may be foreseen at without being held back any more."""
_NEAR = 0.5
"""Share of its strength below which a joint is not foreseen at all: it does not double from one step to the next, and
where it does, the step is repeated."""
_LEAST = 0.02
_DROP = 0.5
"""Below this share a weight falls no faster than a joint is over its strength: a blow is short."""
FORESEEN, MEASURED = 1.0, 1.5
"""How much a weight is lowered, as a power of how far a joint is over: more where a step that was taken showed it, so
that the next ones need not be repeated as well. Foreseeing the weakened step again would not tell more: a leg that
carries carries as much in it, since what is taken for granted are the contact forces."""


@inlined
def load_of(v: Any, torque: Any, j: int) -> float:
    """Return a joint's torque as a share of its strength; of a ball joint the length of its torque."""
    d = v.jnt_dofadr[j]
    size = abs(torque[d])
    if v.jnt_type[j] == BALL:
        size = math.sqrt(torque[d] ** 2 + torque[d + 1] ** 2 + torque[d + 2] ** 2)
    return float(size / v.limit[d])


@inlined
def is_limited(who: Any) -> bool:
    """Return whether an actor is driven here and keeps to its strength."""
    return who.active != 0 and who.limited != 0 and who.mode < KINEMATIC


@inlined
def weaken(v: Any, t: Any, who: Any, most: float, power: float) -> bool:
    """Lower the weights of joints over a share of their strength; return whether any was."""
    torque, weight = t.torque, t.weight
    found = False
    for j in range(who.jnt0, who.jnt1):
        load = load_of(v, torque, j)
        if load > most:
            b = v.dof_bodyid[v.jnt_dofadr[j]]
            share = _TARGET / load
            weight[b] = max(_LEAST, weight[b] * max(share**power, min(_DROP, share)))
            found = True
    return found


@inlined
def recover(t: Any, who: Any) -> bool:
    """Let weights grow again, as far as the last step leaves room; return whether any joint is near its strength."""
    weight, load = t.weight, t.load
    near = False
    for b in range(who.root_body, who.end_body):
        if weight[b] < 1.0:
            room = math.sqrt(_TARGET / max(load[b], 1e-3))
            weight[b] = min(1.0, weight[b] * min(max(room, 1.0), _GROW))
            near = True
        near = near or load[b] > _NEAR
    return near


@compiled
def weaken_all(v: Any, t: Any, time: float, most: float, power: float) -> bool:
    """Weaken all actors whose joints are over, and write their torques and inertia anew; return whether any was."""
    found = False
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if is_limited(who) and weaken(v, t, who, most, power):
            add_torques(v, t, who, gain_now(who, time))
            add_inertia(v, t, who)
            if who.external != 0:
                couple_to_root(v, t, who)
            found = True
    return found


@inlined
def foresee(v: Any, t: Any, model: int, data: int) -> None:
    """Write the torques of the step to come, with the last contact forces."""
    right, constraint, ahead = t.right, t.constraint, t.acceleration
    for d in range(v.sizes.nv):
        right[d] = v.passive[d] - v.bias[d] + v.applied[d] + constraint[d]
    mj_solveM(model, data, address(t.acceleration), address(t.right), 1)
    for actor in range(t.count[0]):
        who = actor_at(t.actors, actor)
        if is_limited(who):
            end_torques(v, t, who, ahead)


@inlined
def foresee_strength(v: Any, t: Any, time: float, model: int, data: int) -> None:
    """Lower the weights of joints that are foreseen over their strength."""
    foresee(v, t, model, data)
    if weaken_all(v, t, time, _TOLERATED, FORESEEN):
        mj_factorM(model, data)
