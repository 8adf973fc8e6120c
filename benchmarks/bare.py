"""The bare engine in the tightest loop there is: what control is compared with.

It is given, step by step, the forces and springs that control wrote when it went the same way: so both runs pass the
same states, bit for bit, with the same contacts and the same solver iterations, and differ in control alone.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.engine import engine_function
from stunt.control.loop.run import run
from stunt.maths.compiled import compiled
from stunt.stage.loop import SPEED_LIMIT, StageLoop

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_mj_step = engine_function("mj_step", 2)


@compiled
def replay(model: int, data: int, rows: Any, applied: Any, damping: Any, stiffness: Any, rest: Any) -> None:
    """Call `mj_step` once per row, with that row's forces and springs.

    Args:
        model: Address of the MjModel.
        data: Address of the MjData.
        rows: What was written, step by step, (steps, nv + nv + njnt + nq).
        applied: The engine's `qfrc_applied`, (nv,).
        damping: `dof_damping`, (nv,).
        stiffness: `jnt_stiffness`, (njnt,).
        rest: `qpos_spring`, (nq,).
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
        _mj_step(model, data)


class Bare:
    """A copy of a stage's model and data that nobody controls."""

    def __init__(self, stage: StageLoop) -> None:
        """Copy the stage's model."""
        self.model = copy.deepcopy(stage.model)
        self.data = mujoco.MjData(self.model)
        model, data = self.model, self.data
        self._written = (data.qfrc_applied, model.dof_damping, model.jnt_stiffness, model.qpos_spring)

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


def note_steps(stage: StageLoop, state: Mapping[str, Any], steps: int) -> NDArray[np.float64]:
    """Go on from a saved state step by step; return what control wrote for each, (steps, nv + nv + njnt + nq)."""
    put_controlled(stage, state)
    model, rows = stage.model, []
    for _ in range(steps):
        controlled_steps(stage, 1)
        written = (stage.data.qfrc_applied, model.dof_damping, model.jnt_stiffness, model.qpos_spring)
        rows.append(np.concatenate(written))
    return np.array(rows)
