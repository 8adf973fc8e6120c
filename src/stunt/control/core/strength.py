"""Springs kept to their joints' strength, compiled: a step in which one was over it is taken again without the excess.

A spring's torque is known when the step is taken: it is implicit, and a contact, a string or another limb may have
turned its joint meanwhile. Where it was over, the state is put back and the joint gives its strength, no more.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.engine import BALL, STEP_STATE, mj_factorM, mj_setState, mj_step1, mj_step2
from stunt.control.core.ledger import note_again
from stunt.control.core.programs import WORLDSPACE
from stunt.control.core.springs import OVER, engage_spring, note_errors, release_spring, spring_torque
from stunt.maths.compiled import compiled
from stunt.maths.pointers import address


@compiled
def keep_to_strength(v: Any, model: int, data: int) -> bool:
    """Take a step again, and again, until no spring was over its joint's strength in it; return whether any was.

    Springs enter the engine in its first half-step, so all of it is taken again; what others wrote into the inertia
    matrix between the halves is put back.
    """
    found, patched = False, v.programs[WORLDSPACE] != 0
    while cut_springs(v):
        found = True
        for k in range(v.sizes.nm if patched else 0):
            v.kept_inertia[k] = v.mass_matrix[k]
        mj_setState(model, data, address(v.kept_state), STEP_STATE)
        mj_step1(model, data)
        if patched:
            for k in range(v.sizes.nm):
                v.mass_matrix[k] = v.kept_inertia[k]
            mj_factorM(model, data)
        if v.counts.ledger != 0:
            note_again(v.counts.ledger, model, data)
        mj_step2(model, data)
    return found


@compiled
def cut_springs(v: Any) -> bool:
    """Put a constant torque, as long as its joint's strength, for each spring that the step just taken shows over it.

    An implicit spring is a linear one: stopped by a blow within a step, its damper would ask for any torque at all. A
    joint gives what it has. Without the excess its own spring would be asked for more still, so alone it stays cut;
    where several are cut at once, one may be that the others' giving way would have spared, for that one step.

    Returns:
        Whether any was: then the step has to be taken again.
    """
    found = False
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        vadr, ndof = v.jnt_dofadr[j], 3 if v.jnt_type[j] == BALL else 1
        most, square = v.limit[vadr], 0.0
        if v.cut[j] != 0 or most == math.inf:
            continue
        note_errors(v, j)
        for i in range(vadr, vadr + ndof):
            square += spring_torque(v, i) ** 2
        if square <= (OVER * most) ** 2:
            continue
        share = most / math.sqrt(square)
        for i in range(vadr, vadr + ndof):
            torque = share * spring_torque(v, i)
            v.uncut[i], v.uncut_scale[i] = v.applied[i], v.scale[i]
            v.applied[i] = v.pull[i] + torque
            v.saturated[i] = 1
        release_spring(v, j, ndof)
        for i in range(vadr, vadr + ndof):
            v.scale[i] = 0.0
        v.cut[j] = 1
        found = True
    return found


@compiled
def mend_springs(v: Any) -> None:
    """Give joints whose springs were cut for a step their springs back."""
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        if v.cut[j] == 0:
            continue
        vadr, ndof = v.jnt_dofadr[j], 3 if v.jnt_type[j] == BALL else 1
        for i in range(vadr, vadr + ndof):
            v.applied[i] = v.uncut[i]
        engage_spring(v, j, ndof, v.uncut_scale[vadr])
        v.cut[j] = 0
