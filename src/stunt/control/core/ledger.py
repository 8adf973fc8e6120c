"""The ledger, compiled: what the engine was told in every physics step, noted at the moments at which it reads it.

The engine reads its state and its inputs (forces, activity of welds, …) and control's fields of the model before its
first half-step; forces, velocities after an impact, and the inertia matrix once more before the second. A page is one
step: the state before it, between its halves and after it, with those fields of the model and the matrix. Where a step
is taken twice, the second attempt is written over the first. Python reads pages off in batches and keeps what changed
(see `stunt.stage.ledger`).
"""

from __future__ import annotations

import math
from typing import Any, Final

import mujoco
import numpy as np

from stunt.control.core.engine import mj_getState
from stunt.maths.compiled import compiled
from stunt.maths.pointers import AddressTable, address, layout

WHOLE_STATE: Final = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""All that a step of the engine depends on, its model apart: positions, velocities, inputs, where its solver starts."""
WRITTEN: Final = ("jnt_stiffness", "dof_damping", "qpos_spring", "geom_friction")
"""Fields of the model that compiled control writes."""

PAGES: Final = layout(
    ("count", np.int64),  # pages written
    ("state", np.int64),  # numbers of a state
    ("fields", np.int64),  # numbers of the model's fields
    ("inertia", np.int64),  # entries of the inertia matrix
)
TABLE: Final = AddressTable(
    "Ledger",
    (
        ("pages", PAGES),
        ("widths", np.int64),  # numbers of each field
        *((name, np.float64) for name in WRITTEN),
        ("matrix", np.float64),
        ("own", np.float64),  # the matrix as the engine made it
        ("state", np.float64),  # scratch
        ("before", np.float64),  # a row per page, here and below
        ("between", np.float64),
        ("after", np.float64),
        ("fields_before", np.float64),
        ("fields_between", np.float64),
        ("patched", np.int64),  # whether the matrix is another than the engine's
        ("inertia", np.float64),  # what was written into it; NaN where nothing was
    ),
)
ledger_at = TABLE.reader()


@compiled
def copy_state(t: Any, model: int, data: int, rows: Any) -> None:
    """Write the engine's state to the present page's row."""
    size = t.pages.state
    mj_getState(model, data, address(t.state), WHOLE_STATE)
    first = t.pages.count * size
    for k in range(size):
        rows[first + k] = t.state[k]


@compiled
def copy_fields(t: Any, rows: Any) -> None:
    """Write the model's fields to the present page's row."""
    place = t.pages.count * t.pages.fields
    for k in range(t.widths[0]):
        rows[place + k] = t.jnt_stiffness[k]
    place += t.widths[0]
    for k in range(t.widths[1]):
        rows[place + k] = t.dof_damping[k]
    place += t.widths[1]
    for k in range(t.widths[2]):
        rows[place + k] = t.qpos_spring[k]
    place += t.widths[2]
    for k in range(t.widths[3]):
        rows[place + k] = t.geom_friction[k]


@compiled
def note_before(ledger: int, model: int, data: int) -> None:
    """Note what the first half-step reads."""
    t = ledger_at(ledger)
    copy_state(t, model, data, t.before)
    copy_fields(t, t.fields_before)


@compiled
def note_first_half(ledger: int, model: int, data: int) -> None:
    """Note the inertia matrix as the first half-step made it."""
    t = ledger_at(ledger)
    for k in range(t.pages.inertia):
        t.own[k] = t.matrix[k]


@compiled
def note_between(ledger: int, model: int, data: int) -> None:
    """Note what the second half-step reads."""
    t = ledger_at(ledger)
    copy_state(t, model, data, t.between)
    copy_fields(t, t.fields_between)
    page, size, patched = t.pages.count, t.pages.inertia, 0
    for k in range(size):
        if t.matrix[k] != t.own[k]:
            patched = 1
    t.patched[page] = patched
    if patched != 0:
        for k in range(size):
            t.inertia[page * size + k] = t.matrix[k] if t.matrix[k] != t.own[k] else math.nan


@compiled
def note_again(ledger: int, model: int, data: int) -> None:
    """Note what a step that is taken again from its first half on reads; its state is that of the first attempt."""
    t = ledger_at(ledger)
    copy_fields(t, t.fields_before)
    note_between(ledger, model, data)


@compiled
def note_stepped(ledger: int, model: int, data: int) -> None:
    """Note what came of the step."""
    t = ledger_at(ledger)
    copy_state(t, model, data, t.after)


@compiled
def turn_page(ledger: int) -> None:
    """The step is taken: go on to the next page."""
    t = ledger_at(ledger)
    t.pages.count += 1
