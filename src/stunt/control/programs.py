"""Programs: laws that compute impedances natively at every control step, beside the beat law.

A program drives joints whose board law is IMPEDANCE. At every control step it may

* `before` the engine's first half-step, set stiffness, damping and rest of its joints (springs must be known by then);
* `between` the half-steps, with inertia, bias and contacts of the present state known, set their `feed_forward`;
* `after` all laws have written their torques for the step, add to them.

Each program keeps its own arrays and its own table of addresses (as `stunt.control.views` does for the board); the
board holds the tables in `programs`, one slot per program, 0 where it is not in use. To add one: a slot here, a call in
each of the two functions below, and a file of its own.
"""

from __future__ import annotations

from typing import Any

from stunt.compiled import compiled
from stunt.control.adaptive_kernel import adaptive_before, adaptive_between
from stunt.control.antagonist_program import antagonist_after, antagonist_before

SLOTS = 8
ANTAGONIST = 0
"""Slot of the antagonistic actuators (`stunt.control.antagonist_program`)."""

ADAPTIVE = 1
"""Slot of the adaptive controllers of joints and sites (`stunt.control.adaptive_program`)."""


@compiled
def programs_before(v: Any, time: float) -> None:
    """Let every program in use set its springs.

    Args:
        v: Views.
        time: Now [s].
    """
    if v.programs[ANTAGONIST] != 0:
        antagonist_before(v, v.programs[ANTAGONIST], time)
    if v.programs[ADAPTIVE] != 0:
        adaptive_before(v, v.programs[ADAPTIVE], time)


@compiled
def programs_between(v: Any, time: float, model: int, data: int) -> None:
    """Let every program in use set its feed-forward forces.

    Args:
        v: Views.
        time: Now [s].
        model: Address of the MjModel, for calls into the engine.
        data: Address of the MjData.
    """
    if v.programs[ADAPTIVE] != 0:
        adaptive_between(v, v.programs[ADAPTIVE], time, model, data)


@compiled
def programs_after(v: Any, time: float) -> None:
    """Let every program in use add to the torques and feed-forward forces, once all are written.

    Args:
        v: Views.
        time: Now [s].
    """
    if v.programs[ANTAGONIST] != 0:
        antagonist_after(v, v.programs[ANTAGONIST], time)
