"""A physics step that is taken again until every joint kept to its strength in it, compiled.

What an implicit spring gives is known when the step is taken: a contact, a string or another limb may have turned its
joint meanwhile. Whoever finds a joint over its strength then has the state put back and the step taken once more:
springs from its first half on, where they enter the engine, with the joint's strength in the spring's place; programs,
which write forces and inertia between the halves, from there.
"""

from __future__ import annotations

import math
from typing import Any

from stunt.control.core.engine import BALL, STEP_STATE, mj_factorM, mj_getState, mj_setState, mj_step1, mj_step2
from stunt.control.core.ledger import note_again, note_between
from stunt.control.core.programs import AGAIN, TAKEN, WORLDSPACE, acts, call_programs
from stunt.control.core.springs import OVER, engage_spring, note_errors, release_spring, spring_torque
from stunt.maths.compiled import compiled, inlined
from stunt.maths.pointers import address


@inlined
def finish_step(v: Any, time: float, model: int, data: int) -> None:
    """Take a step's second half; and the step again, until no spring and no program finds a joint over its strength."""
    judged = v.counts.springs > 0 or acts(v, TAKEN)
    if judged:
        mj_getState(model, data, address(v.kept_state), STEP_STATE)
    mj_step2(model, data)
    if judged:
        v.counts.repeats = 0
        while is_over(v, time, model, data):
            take_again(v, time, model, data)


@inlined
def is_over(v: Any, time: float, model: int, data: int) -> bool:
    """Note what joints gave in the step just taken; return whether it has to be taken again.

    Programs are asked once springs have kept to theirs.
    """
    v.counts.cut, v.counts.again = note_springs(v), 0
    if v.counts.cut == 0:
        call_programs(v, TAKEN, time, model, data)
    return v.counts.cut + v.counts.again > 0


@compiled
def take_again(v: Any, time: float, model: int, data: int) -> None:
    """Put the state back and take the step once more, as far back as who was over enters the engine."""
    cut, patched = v.counts.cut > 0, v.programs[WORLDSPACE] != 0
    if cut and patched:  # what others wrote into the inertia matrix between the halves is put back
        for k in range(v.sizes.nm):
            v.kept_inertia[k] = v.mass_matrix[k]
    mj_setState(model, data, address(v.kept_state), STEP_STATE)
    if cut:
        mj_step1(model, data)
        for k in range(v.sizes.nm if patched else 0):
            v.mass_matrix[k] = v.kept_inertia[k]
    else:
        v.counts.repeats += 1
        call_programs(v, AGAIN, time, model, data)
    if patched:
        mj_factorM(model, data)
    if v.counts.ledger != 0:
        if cut:
            note_again(v.counts.ledger, model, data)
        else:
            note_between(v.counts.ledger, model, data)
    mj_step2(model, data)


@inlined
def note_springs(v: Any) -> int:
    """Note what every spring gave in the step just taken: its feed-forward, plus the spring where it ended.

    Returns:
        How many were over their joint's strength; they are cut.
    """
    cut = 0
    for k in range(v.counts.springs):
        j = v.spring_joints[k]
        vadr, square = v.jnt_dofadr[j], 0.0
        note_errors(v, j)
        for i in range(vadr, vadr + (3 if v.jnt_type[j] == BALL else 1)):
            v.torque[i] = spring_torque(v, i)
            square += v.torque[i] ** 2
        if square > (OVER * v.limit[vadr]) ** 2 and v.cut[j] == 0:
            cut_spring(v, j, v.limit[vadr] / math.sqrt(square))
            cut += 1
    return cut


@compiled
def cut_spring(v: Any, j: int, share: float) -> None:
    """Put a constant torque, as long as its joint's strength, in a spring's place.

    An implicit spring is a linear one: stopped by a blow within a step, its damper would ask for any torque at all. A
    joint gives what it has. Without the excess its own spring would be asked for more still, so alone it stays cut;
    where several are cut at once, one may be that the others' giving way would have spared, for that one step.

    Args:
        v: Views, with the torques of the step just taken.
        j: The joint.
        share: Its strength over what the spring gave.
    """
    vadr, ndof = v.jnt_dofadr[j], 3 if v.jnt_type[j] == BALL else 1
    for i in range(vadr, vadr + ndof):
        v.uncut[i], v.uncut_scale[i] = v.applied[i], v.scale[i]
        v.applied[i] = v.pull[i] + share * v.torque[i]
        v.saturated[i] = 1
    release_spring(v, j, ndof)
    for i in range(vadr, vadr + ndof):
        v.scale[i] = 0.0
    v.cut[j] = 1


@compiled
def mend_spring(v: Any, j: int) -> None:
    """Give a joint whose spring was cut for a step its spring back."""
    vadr, ndof = v.jnt_dofadr[j], 3 if v.jnt_type[j] == BALL else 1
    for i in range(vadr, vadr + ndof):
        v.applied[i] = v.uncut[i]
    engage_spring(v, j, ndof, v.uncut_scale[vadr])
    v.cut[j] = 0
