"""The antagonist program's memory: one row of numbers per degree of freedom, shared with compiled code.

A joint's transition lives in the row of its first degree of freedom; what the law came to is written to every row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.control.core.programs import ANTAGONIST
from stunt.control.core.renumbered import Renumbered
from stunt.maths.pointers import ADDRESS, AddressTable, address_of, layout, record
from stunt.motion.transition import MOST_KNOTS

if TYPE_CHECKING:
    from stunt.control.core.board import Board

SAMPLING: Final = 0
"""Gains from the external torque of this moment."""
LINE: Final = 1
"""Predicted: a straight line between the start and end gains; slope −1 where the tension stays the same."""
ISOANGLE: Final = 2
"""Predicted: on the isoangle line of each moment's angle, at each moment's tension."""

HAND_OVER: Final = 0.15
"""Seconds over which the torque a joint had under one law fades into that of another."""
MARGIN: Final = 0.5
"""How far past a joint's limits its springs are anchored [rad or, for slides, of the range]."""
MOST_SOLES: Final = 8

# What every step needs comes first, so that a joint costs few cache lines.
ROW: Final = layout(
    ("active", np.int64),  # whether the joint is under tension
    ("mode", np.int64),  # SAMPLING, LINE or ISOANGLE
    ("settled", np.int64),  # whether its gains do not change any more
    ("start", np.float64),  # of its transition [s]
    ("end", np.float64),
    ("rate", np.float64),  # 1/(end − start) [1/s]
    ("warp", np.float64),  # of its curve,
    ("knots", np.int64),  # and how many it has
    ("compensate", np.float64),  # 1 where the external torque is held against, else 0
    ("tension0", np.float64),  # at the start [N·m/rad]
    ("tension1", np.float64),  # at the end
    ("angle0", np.float64),  # likewise [rad]
    ("angle1", np.float64),
    ("low", np.float64),  # set-points of its springs [rad]
    ("high", np.float64),
    ("span", np.float64),  # 1/(high − low)
    ("ratio", np.float64),  # damping ratio
    ("shift", np.float64),  # added to the angle asked for [rad]
    ("gain_low", np.float64),  # the springs in force [N·m/rad]
    ("gain_high", np.float64),
    ("angle", np.float64),  # what they are for: angle [rad],
    ("force", np.float64),  # external torque [N·m],
    ("progress", np.float64),  # and progress of the transition
    ("force0", np.float64),  # external torque at the start [N·m]
    ("force1", np.float64),  # at the end
    ("rest0", np.float64),  # where the springs alone would rest at the start [rad]
    ("rest1", np.float64),  # at the end
    ("slacked", np.int64),  # whether one spring is tightened or slackened alone:
    ("slack_low0", np.float64),  # by which factor, at the start
    ("slack_low1", np.float64),  # and at the end
    ("slack_high0", np.float64),
    ("slack_high1", np.float64),
    ("raised", np.float64),  # tension that was used where more was needed than asked for, 0: none [N·m/rad]
    ("asked", np.float64),  # what was asked for then
    ("curve", np.float64, 3 * MOST_KNOTS),  # time, progress and slope of each knot
    ("ball0", np.float64, 4),  # orientation of a ball joint at the start
    ("ball1", np.float64, 4),  # at the end
)
"""A degree of freedom; a joint's transition is in the row of its first one."""

WORLD: Final = layout(("soles", np.int64))
"""How many soles carry the body."""
SOLE: Final = layout(("body", np.int64), ("force", np.float64, 3), ("point", np.float64, 3))
"""What carries the body: the force [N] on one of its bodies and where it acts [m], in the world."""
SCRATCH: Final = layout(("turn", np.float64, 4), ("error", np.float64, 3))

row_at, sole_at = record(ROW), record(SOLE)

TABLE: Final = AddressTable(
    "Tension",
    (
        ("rows", ADDRESS),
        ("world", WORLD),
        ("soles", ADDRESS),
        ("external", np.float64),
        ("carried", np.float64),
        ("pushed", np.float64),
        ("last_law", np.int64),
        ("hand_start", np.float64),
        ("hand_torque", np.float64),
        ("fading_until", np.float64),
        ("scratch", SCRATCH),
    ),
)
_SLACKS: Final = ("slack_low0", "slack_low1", "slack_high0", "slack_high1")


class Antagonist:
    """The program's arrays on one stage.

    Attributes:
        rows: One record per degree of freedom, (nv,) of `ROW`.
        world: How many of the following count, (1,) of `WORLD`.
        soles: What carries the body, (MOST_SOLES,) of `SOLE`.
        external: External torque felt in joints that sample it, as of the last control step [N·m], (nv,).
        carried: What is carried and stood on has in it, (nv,).
        pushed: What pushes that are known have, (nv,).
        last_law: Law of the step before, (nv,).
        hand_start: When a joint last changed hands [s], (nv,).
        hand_torque: The jump that is faded out [N·m], (nv,).
        fading_until: When the last of them has faded [s], (1,); infinite before the first step.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, board: Board) -> None:
        """Make the arrays and enter them on the board."""
        self.rows = np.zeros(model.nv, ROW)
        for name in _SLACKS:
            self.rows[name] = 1.0
        self.world = np.zeros(1, WORLD)
        self.soles = np.zeros(MOST_SOLES, SOLE)
        self.external = np.zeros(model.nv)
        self.carried, self.pushed = np.zeros(model.nv), np.zeros(model.nv)
        self.last_law = np.full(model.nv, -1, np.int64)
        self.hand_start = np.full(model.nv, -1e9)
        self.hand_torque = np.zeros(model.nv)
        self.fading_until = np.full(1, np.inf)
        self._arrays: dict[str, NDArray[Any]] = {
            "rows": self.rows, "world": self.world, "soles": self.soles,
            "external": self.external, "carried": self.carried, "pushed": self.pushed, "last_law": self.last_law,
            "hand_start": self.hand_start, "hand_torque": self.hand_torque, "fading_until": self.fading_until,
            "scratch": np.zeros(1, SCRATCH),
        }  # fmt: skip
        self.table = TABLE.fill(**self._arrays)
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
            reach = min((high if limited else np.pi) + MARGIN, 1.5 * np.pi)
            row["low"], row["high"] = -reach, reach
        elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
            margin = MARGIN * (high - low) if limited else 10.0
            row["low"], row["high"] = low - margin, high + margin
        elif limited:
            row["low"], row["high"] = low - MARGIN, high + MARGIN
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

    def set_soles(self, soles: list[tuple[int, Any, Any]]) -> None:
        """Say what carries the body: bodies, the forces on them [N] and where they act [m], in the world."""
        self.world["soles"] = min(len(soles), MOST_SOLES)
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
            self.rows, self.world, self.soles, self.external, self.last_law, self.hand_start,
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
