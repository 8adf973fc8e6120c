"""Programs: laws that compute impedances natively at every control step, beside the beat law.

A program drives joints whose board law is IMPEDANCE. It may act in eight phases of a step:

* BEFORE the engine's first half-step, at control steps: set stiffness, damping and rest of its joints;
* CONTACTS: right after the first half-step of every physics step, before control: impacts change velocities;
* BETWEEN the half-steps, at control steps, with inertia, bias and contacts known: set their `feed_forward`;
* AFTER all laws have written their torques, at control steps: add to them;
* EACH_STEP between the half-steps of every physics step: write forces and inertia;
* TAKEN after every attempt at a physics step: find whether a joint was over its strength in it, and ask for the step to
  be taken again (`counts.again`);
* AGAIN before that, with the state put back: write forces and inertia anew, as in EACH_STEP;
* STEPPED after every physics step: see what came of it.

Each program keeps its own arrays and its own table of addresses (as `stunt.control.core.views` does for the board); the
board holds the tables in `programs`, one slot per program, 0 where it is not in use. The kernel calls programs through
C callbacks that are compiled when a program is first used (`connect`): whoever only plays beats does not wait for the
others. To add one: a slot and its module below, and in that module a function per phase, marked as its `entry`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from numba import types
from numba.extending import intrinsic

from stunt.maths.compiled import INTERPRETED, callback, called, compiled, inlined

SLOTS: Final = 8
ANTAGONIST: Final = 0
"""Slot of the antagonistic actuators."""
ADAPTIVE: Final = 1
"""Slot of the adaptive controllers of joints and sites."""
WORLDSPACE: Final = 2
"""Slot of the world-space servo and root spring."""
IMPACT: Final = 3
"""Slot of the impact stage of two-stage collisions."""
OWN_FEET: Final = 4
"""Slot of bodies on their own feet."""
STRINGS: Final = 5
"""Slot of bodies on strings that are solved together."""

BEFORE, BETWEEN, AFTER, EACH_STEP, STEPPED, CONTACTS, TAKEN, AGAIN = range(8)
PHASES: Final = 8

_MODULES: Final = {
    ANTAGONIST: "stunt.control.tension.kernel",
    ADAPTIVE: "stunt.control.adaptive.kernel",
    WORLDSPACE: "stunt.control.servo.kernel",
    IMPACT: "stunt.control.impact.kernel",
    OWN_FEET: "stunt.control.own.kernel",
    STRINGS: "stunt.control.strings.kernel",
}
_SIGNATURE: Final = types.void(types.int64, types.int64, types.float64, types.int64, types.int64)

Entry = Callable[[int, int, float, int, int], None]
"""What the kernel calls: with the board's table, the program's, time [s], and the addresses of MjModel and MjData."""
_ENTRIES: Final[dict[int, dict[int, Entry]]] = {}


def entry(slot: int, phase: int) -> Callable[[Entry], Entry]:
    """Make a function what the kernel calls of a program in a phase."""

    def enter(function: Entry) -> Entry:
        _ENTRIES.setdefault(slot, {})[phase] = function
        return function

    return enter


@cache
def hook_addresses(slot: int) -> dict[int, int]:
    """Return the addresses of a program's callbacks by phase, compiling them the first time."""
    importlib.import_module(_MODULES[slot])
    return {phase: callback(function, _SIGNATURE) for phase, function in _ENTRIES[slot].items()}


def connect(board: Any) -> None:
    """Make the kernel call every program in use on this board."""
    for slot in board.programs.nonzero()[0]:
        for phase, address in hook_addresses(int(slot)).items():
            board.hooks[phase * SLOTS + slot] = address


@intrinsic  # type: ignore[untyped-decorator]
def _call_compiled(
    typing_context: Any, address: Any, table: Any, program: Any, time: Any, model: Any, data: Any
) -> Any:
    """Call a callback by its address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        from llvmlite import ir

        long, double = ir.IntType(64), ir.DoubleType()
        kind = ir.FunctionType(ir.VoidType(), [long, long, double, long, long])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, arguments[1:])
        return context.get_dummy_value()

    whole = types.int64
    return types.void(whole, whole, whole, types.float64, whole, whole), generate


def _call_interpreted(address: int, table: int, program: int, time: float, model: int, data: int) -> None:
    called(address)(table, program, time, model, data)


_call = _call_interpreted if INTERPRETED else _call_compiled


@inlined
def acts(v: Any, phase: int) -> bool:
    """Whether any program in use acts in this phase."""
    for slot in range(SLOTS):
        if v.programs[slot] != 0 and v.hooks[phase * SLOTS + slot] != 0:
            return True
    return False


@compiled
def call_programs(v: Any, phase: int, time: float, model: int, data: int) -> None:
    """Call every program in use that acts in this phase."""
    for slot in range(SLOTS):
        if v.programs[slot] != 0 and v.hooks[phase * SLOTS + slot] != 0:
            _call(v.hooks[phase * SLOTS + slot], v.counts.table, v.programs[slot], time, model, data)
