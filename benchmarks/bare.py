"""The bare engine in the tightest loop there is: what control is compared with.

It is given, step by step, the forces and springs that control wrote when it went the same way: so both runs pass the
same states, bit for bit, with the same contacts and the same solver iterations, and differ in control alone. A step in
which a spring was over its joint's strength, which control takes again, it takes once: with the forces and springs of
the last attempt and from where the solver started in that. What the other attempts cost is control's.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.engine import engine_function
from stunt.control.core.ledger import PAGES, TABLE, WRITTEN
from stunt.control.loop.run import run
from stunt.maths.compiled import compiled
from stunt.maths.pointers import address_of
from stunt.stage.ledger import state_slots
from stunt.stage.loop import SPEED_LIMIT, StageLoop

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_mj_step = engine_function("mj_step", 2)


@compiled
def replay(
    model: int, data: int, rows: Any, applied: Any, damping: Any, stiffness: Any, rest: Any, solver: Any
) -> None:
    """Call `mj_step` once per row, with that row's forces and springs.

    Args:
        model: Address of the MjModel.
        data: Address of the MjData.
        rows: What was written, step by step, (steps, nv + nv + njnt + nq + nv).
        applied: The engine's `qfrc_applied`, (nv,).
        damping: `dof_damping`, (nv,).
        stiffness: `jnt_stiffness`, (njnt,).
        rest: `qpos_spring`, (nq,).
        solver: Where the solver starts, `qacc_warmstart`, (nv,).
    """
    nv, njnt, nq = applied.size, stiffness.size, rest.size
    for step in range(rows.shape[0]):
        for i in range(nv):
            applied[i] = rows[step, i]
            damping[i] = rows[step, nv + i]
        for i in range(njnt):
            stiffness[i] = rows[step, 2 * nv + i]
        for i in range(nq):
            rest[i] = rows[step, 2 * nv + njnt + i]
        for i in range(nv):
            solver[i] = rows[step, 2 * nv + njnt + nq + i]
        _mj_step(model, data)


class Bare:
    """A copy of a stage's model and data that nobody controls."""

    def __init__(self, stage: StageLoop) -> None:
        """Copy the stage's model."""
        self.model = copy.deepcopy(stage.model)
        self.data = mujoco.MjData(self.model)
        model, data = self.model, self.data
        springs = (model.dof_damping, model.jnt_stiffness, model.qpos_spring)
        self._written = (data.qfrc_applied, *springs, data.qacc_warmstart)

    def put(self, state: Mapping[str, Any]) -> None:
        """Go to one of the stage's saved states."""
        put_engine(self.model, self.data, state)

    def steps(self, rows: NDArray[np.float64]) -> None:
        """Take the steps that were noted."""
        replay(self.model._address, self.data._address, rows, *self._written)


def put_engine(model: mujoco.MjModel, data: mujoco.MjData, state: Mapping[str, Any]) -> None:
    """Set the engine to a stage's saved state, with everything it derives from it up to date and in the cache."""
    mujoco.mj_setState(model, data, state["engine"], _STATE)
    mujoco.mj_forward(model, data)
    mujoco.mj_setState(model, data, state["engine"], _STATE)


def put_controlled(stage: StageLoop, state: Mapping[str, Any]) -> None:
    """Set engine and board to a saved state, leaving the crew alone: no more work than the bare engine's `put`.

    What a full restore does besides would leave the processor's caches cold, and a burst of steps too expensive.
    """
    stage.board.restore(state["board"])
    stage.tick = state["tick"]
    put_engine(stage.model, stage.data, state)


def controlled_steps(stage: StageLoop, steps: int) -> None:
    """Take steps under control, without crew."""
    run(
        stage.model._address, stage.data._address, stage.board.table, stage.tick, steps, stage.steps_per_control,
        stage.step_time, SPEED_LIMIT,
    )  # fmt: skip
    stage.tick += steps


class Notes:
    """A page of the ledger (`stunt.control.core.ledger`): what the engine was told in a step, in its last attempt."""

    def __init__(self, stage: StageLoop) -> None:
        """Make the page."""
        self._stage, model, inertia = stage, stage.model, stage.data.M
        slots, fields = state_slots(model), {name: getattr(model, name) for name in WRITTEN}
        size, widths = sum(count for _, count in slots.values()), [field.size for field in fields.values()]
        self._pages = np.zeros(1, PAGES)
        self._pages["state"], self._pages["fields"], self._pages["inertia"] = size, sum(widths), inertia.size
        states = {name: np.zeros(size) for name in ("state", "before", "between", "after")}
        springs = {name: np.zeros(sum(widths)) for name in ("fields_before", "fields_between")}
        self._arrays: dict[str, Any] = {
            "pages": self._pages, "widths": np.array(widths), **fields, "matrix": inertia,
            "own": np.zeros(inertia.size), **states, **springs, "patched": np.zeros(1, np.int64),
            "inertia": np.zeros(inertia.size),
        }  # fmt: skip
        self._table = TABLE.fill(**self._arrays)
        ends = dict(zip(WRITTEN, np.cumsum(widths), strict=True))
        told = {name: states["between"][first : first + count] for name, (first, count) in slots.items()}
        told |= {name: springs["fields_between"][end - fields[name].size : end] for name, end in ends.items()}
        names = ("qfrc_applied", "dof_damping", "jnt_stiffness", "qpos_spring", "qacc_warmstart")
        self._told = [told[name] for name in names]

    def of(self, step: Callable[[], None]) -> NDArray[np.float64]:
        """Have the stage take one step; return what the engine was told, (nv + nv + njnt + nq + nv,)."""
        self._pages["count"] = 0
        self._stage.board.counts["ledger"] = address_of(self._table)
        try:
            step()
        finally:
            self._stage.board.counts["ledger"] = 0
        return np.concatenate(self._told)


def note_steps(stage: StageLoop, state: Mapping[str, Any], steps: int) -> NDArray[np.float64]:
    """Go on from a saved state step by step; return what control wrote for each, (steps, nv + nv + njnt + nq + nv)."""
    put_controlled(stage, state)
    notes = Notes(stage)
    return np.array([notes.of(lambda: controlled_steps(stage, 1)) for _ in range(steps)])
