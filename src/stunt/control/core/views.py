"""What the kernel sees: all arrays it touches, of the engine and of the board, from one list.

The kernel is handed one table of addresses (see `stunt.maths.pointers`). `LIST` says what the table holds, in order:
the name in kernels, the kind, and where the array is: in the engine's data or model, or on the board
(`stunt.control.core.board.Board`), there as part of its saved state or as a constant or scratch.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

import numpy as np

from stunt.maths.pointers import AddressTable, layout

SIZES: Final = layout(*((name, np.int64) for name in ("nq", "nv", "njnt", "ntree", "nbody", "nm")))
"""Sizes of the model: positions, degrees of freedom, joints, trees, bodies, entries of the inertia matrix."""

TIMES: Final = layout(*((name, np.float64) for name in ("step", "period", "constants", "tick")))
"""A physics step and a control period [s], how many time constants λ there are to a beat, and how often the programme
of bodies on their own feet is solved [s]."""

COUNTS: Final = layout(
    ("full", np.int64),  # joints under full coupling in this control step
    ("asked", np.int64),  # these, and after them joints that are tasks of a body on its own feet
    ("springs", np.int64),  # joints on springs
    ("compensated", np.int64),  # of these, joints that are compensated
    ("table", np.int64),  # address of the board's table, for programs
    ("law_changed", np.int64),  # whether a joint's law is another than in the step before
    ("strings", np.int64),  # strings that programs pull
    ("watch", np.int64),  # address of the contact watch's table, or 0
    ("hits", np.int64),  # hits that are new
    ("lookouts", np.int64),  # address of the look-outs' table, or 0
    ("guard", np.int64),  # address of the guard's table, or 0
    ("ledger", np.int64),  # address of the ledger's table, or 0
)

_FLOAT, _INT, _LONG = np.float64, np.int32, np.int64
STATE, BOARD = "state", "board"

LIST: Final[tuple[tuple[str, Any, str], ...]] = (
    ("sizes", SIZES, BOARD),
    ("times", TIMES, BOARD),
    ("counts", COUNTS, BOARD),
    ("qpos", _FLOAT, "data.qpos"),
    ("qvel", _FLOAT, "data.qvel"),
    ("bias", _FLOAT, "data.qfrc_bias"),
    ("passive", _FLOAT, "data.qfrc_passive"),
    ("applied", _FLOAT, "data.qfrc_applied"),
    ("mass_matrix", _FLOAT, "data.M"),
    ("crb", _FLOAT, "data.crb"),
    ("cdof", _FLOAT, "data.cdof"),
    ("xanchor", _FLOAT, "data.xanchor"),
    ("xipos", _FLOAT, "data.xipos"),
    ("ximat", _FLOAT, "data.ximat"),
    ("rownnz", _INT, "model.M_rownnz"),
    ("rowadr", _INT, "model.M_rowadr"),
    ("colind", _INT, "model.M_colind"),
    ("jnt_type", _INT, "model.jnt_type"),
    ("jnt_qposadr", _INT, "model.jnt_qposadr"),
    ("jnt_dofadr", _INT, "model.jnt_dofadr"),
    ("jnt_range", _FLOAT, "model.jnt_range"),
    ("jnt_stiffness", _FLOAT, "model.jnt_stiffness"),
    ("qpos_spring", _FLOAT, "model.qpos_spring"),
    ("dof_damping", _FLOAT, "model.dof_damping"),
    ("dof_armature", _FLOAT, "model.dof_armature"),
    ("dof_jntid", _INT, "model.dof_jntid"),
    ("dof_bodyid", _INT, "model.dof_bodyid"),
    ("dof_parentid", _INT, "model.dof_parentid"),
    ("body_mass", _FLOAT, "model.body_mass"),
    ("body_inertia", _FLOAT, "model.body_inertia"),
    ("body_rootid", _INT, "model.body_rootid"),
    ("law", _LONG, STATE),
    ("arrival", _LONG, STATE),
    ("goal", _FLOAT, STATE),
    ("goal_velocity", _FLOAT, STATE),
    ("goal_time", _FLOAT, STATE),
    ("start_time", _FLOAT, STATE),
    ("ease", _FLOAT, STATE),
    ("hold", _FLOAT, STATE),
    ("feed_bias", _LONG, STATE),
    ("limit", _FLOAT, STATE),
    ("stiffness", _FLOAT, STATE),
    ("damping", _FLOAT, STATE),
    ("rest", _FLOAT, STATE),
    ("feed_forward", _FLOAT, STATE),
    ("torque", _FLOAT, STATE),
    ("saturated", _LONG, STATE),
    ("saturated_steps", _LONG, STATE),
    ("moment", _FLOAT, STATE),
    ("planted", _LONG, STATE),
    ("grounded", _LONG, STATE),
    ("carried", _FLOAT, STATE),
    ("pull", _FLOAT, STATE),
    ("sprung", _LONG, STATE),
    ("last_law", _LONG, STATE),
    ("tasked", _LONG, STATE),
    ("peak_share", _FLOAT, STATE),
    ("peak_time", _FLOAT, STATE),
    ("over_steps", _LONG, STATE),
    ("own_stiffness", _FLOAT, BOARD),
    ("own_rest", _FLOAT, BOARD),
    ("own_damping", _FLOAT, BOARD),
    ("acceleration", _FLOAT, BOARD),
    ("error", _FLOAT, BOARD),
    ("error_rate", _FLOAT, BOARD),
    ("product", _FLOAT, BOARD),
    ("force", _FLOAT, BOARD),
    ("implicit", _FLOAT, BOARD),
    ("right", _FLOAT, BOARD),
    ("inboard", _FLOAT, BOARD),
    ("scale", _FLOAT, BOARD),
    ("cut", _LONG, BOARD),
    ("uncut", _FLOAT, BOARD),
    ("uncut_scale", _FLOAT, BOARD),
    ("kept_state", _FLOAT, BOARD),
    ("kept_inertia", _FLOAT, BOARD),
    ("quaternion", _FLOAT, BOARD),
    ("dof_tree", _LONG, BOARD),
    ("tree_driven", _LONG, BOARD),
    ("block", _FLOAT, BOARD),
    ("undriven", _LONG, BOARD),
    ("undriven_index", _LONG, BOARD),
    ("full_joints", _LONG, BOARD),
    ("spring_joints", _LONG, BOARD),
    ("programs", _LONG, BOARD),
    ("hooks", _LONG, BOARD),
)

TABLE: Final = AddressTable("Views", ((name, kind) for name, kind, _ in LIST))
Views = namedtuple("Views", TABLE.names)  # type: ignore[misc]  # noqa: PYI024
"""All of it, as kernels hand it on."""

views_at = TABLE.unpacker(Views)
"""In kernels: the views behind the address of a board's table."""
