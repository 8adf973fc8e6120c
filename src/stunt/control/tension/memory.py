"""The antagonist program's memory: one row of numbers per degree of freedom, shared with compiled code.

A joint's transition lives in the row of its first degree of freedom; what the law came to is written to every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.programs import ANTAGONIST
from stunt.control.impact.memory import last_dofs
from stunt.control.tension import layout as at

if TYPE_CHECKING:
    from stunt.control.core.board import Board


class Antagonist:
    """The program's arrays on one stage.

    Attributes:
        rows: One row per degree of freedom, (nv, at.WIDTH), columns as named above.
        world: Gravity; then how many props can be held, and weld, body and believed mass of each; then how many soles
            carry the body, and body, force (3) and point (3) of each.
        external: External torque felt in joints that sample it, as of the last control step [N·m], (nv,).
        carried: What is carried and stood on has in it, (nv,).
        last_law: Law of the step before, (nv,).
        hand_start: When a joint last changed hands [s], (nv,).
        hand_torque: The jump that is faded out [N·m], (nv,).
        fading_until: When the last of them has faded [s], (1,); infinite before the first step.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Make the arrays and enter them on the board."""
        self.rows = np.zeros((model.nv, at.WIDTH))
        self.last_law = np.full(model.nv, -1, np.int64)
        self.hand_start = np.full(model.nv, -1e9)
        self.hand_torque = np.zeros(model.nv)
        self.fading_until = np.full(1, np.inf)
        self.rows[:, at.SLACK_LOW0 : at.SLACK_HIGH1 + 1] = 1.0
        self.world = np.zeros(at.SOLES + 1 + 7 * at.MOST_SOLES)
        self.world[at.GRAVITY : at.GRAVITY + 3] = model.opt.gravity
        self.external = np.zeros(model.nv)
        self.carried = np.zeros(model.nv)
        self.scratch = np.zeros(16)
        self._last_dof = last_dofs(model)
        self._keep = [
            self.rows, self.world, self.external, self.scratch, self._last_dof,
            data.eq_active, model.eq_obj1id, data.subtree_com, self.last_law, self.hand_start, self.hand_torque,
            self.carried, self.fading_until,
        ]  # fmt: skip
        self.table = np.array([array.ctypes.data for array in self._keep], np.int64)
        for joint in range(model.njnt):
            self._anchor(model, joint)
            self.rows[model.jnt_dofadr[joint], at.SPAN] = self._span(int(model.jnt_dofadr[joint]))
        board.programs[ANTAGONIST] = self.table.ctypes.data

    def _anchor(self, model: mujoco.MjModel, joint: int) -> None:
        """Put a joint's set-points past its limits."""
        row = self.rows[model.jnt_dofadr[joint]]
        kind, (low, high) = model.jnt_type[joint], model.jnt_range[joint]
        limited = bool(model.jnt_limited[joint])
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            reach = min((high if limited else np.pi) + at.MARGIN, 1.5 * np.pi)
            row[at.LOW], row[at.HIGH] = -reach, reach
        elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
            margin = at.MARGIN * (high - low) if limited else 10.0
            row[at.LOW], row[at.HIGH] = low - margin, high + margin
        elif limited:
            row[at.LOW], row[at.HIGH] = low - at.MARGIN, high + at.MARGIN
        else:
            row[at.LOW], row[at.HIGH] = -2.0 * np.pi, 2.0 * np.pi

    def _span(self, dof: int) -> float:
        low, high = self.rows[dof, at.LOW], self.rows[dof, at.HIGH]
        return float(1.0 / (high - low)) if high > low else 0.0

    def set_times(self, dof: int, start: float, end: float) -> None:
        """Say when a joint's transition begins and ends [s]."""
        row = self.rows[dof]
        row[at.START], row[at.END] = start, end
        row[at.RATE] = 1.0 / (end - start) if end > start else 0.0
        row[at.SETTLED] = 0.0
        row[at.SLACKED] = float(bool(np.any(row[at.SLACK_LOW0 : at.SLACK_HIGH1 + 1] != 1.0)))

    def set_props(self, props: list[tuple[int, int, float]]) -> None:
        """Say which props can be held: weld, body, believed mass [kg]."""
        self.world[at.PROPS] = min(len(props), at.MOST_PROPS)
        for k, prop in enumerate(props[:at.MOST_PROPS]):
            self.world[at.PROPS + 1 + 3 * k : at.PROPS + 4 + 3 * k] = prop

    def set_soles(self, soles: list[tuple[int, Any, Any]]) -> None:
        """Say what carries the body: bodies, the forces on them [N] and where they act [m], in the world."""
        self.world[at.SOLES] = min(len(soles), at.MOST_SOLES)
        for k, (body, force, point) in enumerate(soles[:at.MOST_SOLES]):
            first = at.SOLES + 1 + 7 * k
            self.world[first] = body
            self.world[first + 1 : first + 4] = force
            self.world[first + 4 : first + 7] = point

    def save(self) -> Any:
        """Return what must survive a restore."""
        return [array.copy() for array in self._state()]

    def restore(self, state: Any) -> None:
        """Put a saved state back, in place."""
        for array, saved in zip(self._state(), state, strict=True):
            array[...] = saved

    def _state(self) -> list[NDArray[Any]]:
        return [
            self.rows, self.world, self.external, self.last_law, self.hand_start, self.hand_torque, self.fading_until,
        ]  # fmt: skip
