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
    ("loads", np.int64),  # things that can be held
    ("held", np.int64),  # of these, how many are, and with them how many pushes are known
    ("known", np.int64),  # pushes that are
    ("strings", np.int64),  # strings that programs pull
    ("cut", np.int64),  # springs that were over their joint's strength in the step just taken
    ("again", np.int64),  # programs that ask for the step to be taken again
    ("repeats", np.int64),  # how often it was, for them
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
    *((name, _LONG, STATE) for name in (
        "law", "arrival", "feed_bias", "saturated", "saturated_steps", "planted", "grounded", "sprung", "last_law",
        "tasked", "over_steps",
    )),
    *((name, _FLOAT, STATE) for name in (
        "goal", "goal_velocity", "goal_time", "start_time", "ease", "hold", "limit", "stiffness", "damping", "rest",
        "feed_forward", "torque", "moment", "carried", "pull", "peak_share", "peak_time",
    )),
    *((name, _FLOAT, BOARD) for name in (
        "own_stiffness", "own_rest", "own_damping", "acceleration", "error", "error_rate", "product", "force",
        "implicit", "right", "inboard", "scale", "uncut", "uncut_scale", "kept_state", "kept_inertia", "quaternion",
        "block", "loaded_inertia", "loaded_bias", "load_mass", "load_scratch", "known_push", "gravity",
    )),
    *((name, _LONG, BOARD) for name in (
        "cut", "dof_tree", "tree_driven", "undriven", "undriven_index", "full_joints", "spring_joints", "programs",
        "hooks", "load_grip", "load_body", "last_dof",
    )),
    ("eq_active", np.uint8, "data.eq_active"),
    ("eq_body", _INT, "model.eq_obj1id"),
    ("com", _FLOAT, "data.subtree_com"),
    ("cvel", _FLOAT, "data.cvel"),
    ("cdof_dot", _FLOAT, "data.cdof_dot"),
    # The engine's own while nothing is held, `loaded_…` while something is (`stunt.control.core.loads.choose_felt`).
    ("felt_inertia", _FLOAT, "data.M"),
    ("felt_bias", _FLOAT, "data.qfrc_bias"),
)  # fmt: skip

TABLE: Final = AddressTable("Views", ((name, kind) for name, kind, _ in LIST))
Views = namedtuple("Views", TABLE.names)  # type: ignore[misc]  # noqa: PYI024
"""All of it, as kernels hand it on."""

views_at = TABLE.unpacker(Views)
"""In kernels: the views behind the address of a board's table."""
