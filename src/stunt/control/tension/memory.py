"""The antagonist program's memory: one row of numbers per degree of freedom, shared with compiled code.

A joint's transition lives in the row of its first degree of freedom; what the law came to is written to every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.engine import last_dofs
from stunt.control.core.programs import ANTAGONIST
from stunt.control.core.renumbered import Renumbered
from stunt.control.tension import layout as at
from stunt.maths.pointers import address_of

if TYPE_CHECKING:
    from stunt.control.core.board import Board

_SLACKS: Final = ("slack_low0", "slack_low1", "slack_high0", "slack_high1")


class Antagonist:
    """The program's arrays on one stage.

    Attributes:
        rows: One record per degree of freedom, (nv,) of `ROW`.
        world: Gravity, and how many of the following count, (1,) of `WORLD`.
        props: Props that can be held, (MOST_PROPS,) of `PROP`.
        soles: What carries the body, (MOST_SOLES,) of `SOLE`.
        external: External torque felt in joints that sample it, as of the last control step [N·m], (nv,).
        carried: What is carried and stood on has in it, (nv,).
        last_law: Law of the step before, (nv,).
        hand_start: When a joint last changed hands [s], (nv,).
        hand_torque: The jump that is faded out [N·m], (nv,).
        fading_until: When the last of them has faded [s], (1,); infinite before the first step.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Make the arrays and enter them on the board."""
        self.rows = np.zeros(model.nv, at.ROW)
        for name in _SLACKS:
            self.rows[name] = 1.0
        self.world = np.zeros(1, at.WORLD)
        self.world["gravity"] = model.opt.gravity
        self.props, self.soles = np.zeros(at.MOST_PROPS, at.PROP), np.zeros(at.MOST_SOLES, at.SOLE)
        self.external = np.zeros(model.nv)
        self.carried = np.zeros(model.nv)
        self.last_law = np.full(model.nv, -1, np.int64)
        self.hand_start = np.full(model.nv, -1e9)
        self.hand_torque = np.zeros(model.nv)
        self.fading_until = np.full(1, np.inf)
        self._arrays: dict[str, NDArray[Any]] = {
            "rows": self.rows, "world": self.world, "props": self.props, "soles": self.soles,
            "external": self.external, "carried": self.carried, "last_law": self.last_law,
            "hand_start": self.hand_start, "hand_torque": self.hand_torque, "fading_until": self.fading_until,
            "scratch": np.zeros(1, at.SCRATCH), "last_dof": last_dofs(model), "eq_active": data.eq_active,
            "eq_body": model.eq_obj1id, "com": data.subtree_com,
        }  # fmt: skip
        self.table = at.TABLE.fill(**self._arrays)
        for joint in range(model.njnt):
            self._anchor(model, joint)
            self.rows["span"][model.jnt_dofadr[joint]] = self._span(int(model.jnt_dofadr[joint]))
        board.programs[ANTAGONIST] = address_of(self.table)

    def _anchor(self, model: mujoco.MjModel, joint: int) -> None:
        """Put a joint's set-points past its limits."""
        row = self.rows[model.jnt_dofadr[joint]]
        kind, (low, high) = model.jnt_type[joint], model.jnt_range[joint]
        limited = bool(model.jnt_limited[joint])
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            reach = min((high if limited else np.pi) + at.MARGIN, 1.5 * np.pi)
            row["low"], row["high"] = -reach, reach
        elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
            margin = at.MARGIN * (high - low) if limited else 10.0
            row["low"], row["high"] = low - margin, high + margin
        elif limited:
            row["low"], row["high"] = low - at.MARGIN, high + at.MARGIN
        else:
            row["low"], row["high"] = -2.0 * np.pi, 2.0 * np.pi

    def _span(self, dof: int) -> float:
        low, high = self.rows["low"][dof], self.rows["high"][dof]
        return float(1.0 / (high - low)) if high > low else 0.0

    def set_times(self, dof: int, start: float, end: float) -> None:
        """Say when a joint's transition begins and ends [s]."""
        row = self.rows[dof]
        row["start"], row["end"] = start, end
        row["rate"] = 1.0 / (end - start) if end > start else 0.0
        row["settled"] = 0.0
        row["slacked"] = any(row[name] != 1.0 for name in _SLACKS)

    def set_props(self, props: list[tuple[int, int, float]]) -> None:
        """Say which props can be held: weld, body, believed mass [kg]."""
        self.world["props"] = count = min(len(props), at.MOST_PROPS)
        self.props[:count] = props[:count]

    def set_soles(self, soles: list[tuple[int, Any, Any]]) -> None:
        """Say what carries the body: bodies, the forces on them [N] and where they act [m], in the world."""
        self.world["soles"] = min(len(soles), at.MOST_SOLES)
        for sole, (body, force, point) in zip(self.soles, soles, strict=False):
            sole["body"], sole["force"], sole["point"] = body, force, point

    def save(self) -> Any:
        """Return what must survive a restore."""
        return [array.copy() for array in self._state()]

    def restore(self, state: Any) -> None:
        """Put a saved state back, in place."""
        for array, saved in zip(self._state(), state, strict=True):
            array[...] = saved

    def _state(self) -> list[NDArray[Any]]:
        return [
            self.rows, self.world, self.props, self.soles, self.external, self.last_law, self.hand_start,
            self.hand_torque, self.fading_until,
        ]  # fmt: skip

    def carry(self, old: Antagonist, by: Renumbered) -> None:
        """Go on with every joint that was in another scene as it was there."""
        for name in ("rows", "external", "last_law", "hand_start", "hand_torque"):
            by.carry("dof", getattr(old, name), getattr(self, name))
        self.fading_until[:] = old.fading_until
        soles = [
            (by.number("body", s["body"]), s["force"], s["point"]) for s in old.soles[: int(old.world["soles"][0])]
        ]
        self.set_soles([sole for sole in soles if sole[0] >= 0])
