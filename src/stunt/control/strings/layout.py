"""What the strings' kernel reads and writes: one record per body, one per string, and scratch."""

from __future__ import annotations

from typing import Final

import numpy as np

from stunt.control.own.solver import PROBLEM, RESULT
from stunt.maths.pointers import ADDRESS, AddressTable, layout, record

CONTACTS: Final = 12
"""Contacts with the ground that are counted on, at most."""
EDGES: Final = 4
"""Of a friction pyramid."""

BODY: Final = layout(
    ("root_dof", np.int64),  # its free root, or −1
    ("root_qpos", np.int64),
    ("first_qpos", np.int64),  # its own coordinates,
    ("nq", np.int64),
    ("first_dof", np.int64),  # and degrees of freedom
    ("nv", np.int64),
    ("joints", np.int64),  # address of those its muscles drive: joint, position, degree of freedom, axes; four each
    ("joint_count", np.int64),
    ("strings", np.int64),  # address of its strings
    ("string_count", np.int64),
    ("poses", np.int64),  # addresses: where the fitted body is, (frames, nq),
    ("velocities", np.int64),  # how fast, (frames, nv),
    ("accelerations", np.int64),
    ("soles", np.int64),  # addresses: geoms it stands on,
    ("sole_count", np.int64),
    ("friction", np.int64),  # and how well each holds to the ground, (frames, soles)
    ("frames", np.int64),
    ("fps", np.float64),
    ("start", np.float64),  # when the first frame falls [s]
    ("lam", np.float64),  # λ of joints [1/s]
    ("weight", np.float64),  # [N]
    ("pulled", np.float64),  # ∫Σ|force|dt [N·s],
    ("pulled_net", np.float64),  # ∫|Σ force|dt,
    ("carried", np.float64),  # ∫ of what the ground was counted on for, upward,
    ("seconds", np.float64),  # over so long
    ("failed", np.int64),  # times no forces were found
)
"""A body on strings."""

STRING: Final = layout(
    ("site", np.int64),
    ("body", np.int64),
    ("path", np.int64),  # address of where its marker is, (frames, 3)
    ("offset", np.float64, 3),  # where the marker sits, from the site, in the site's frame [m]
    ("limit", np.float64),  # largest force [N]
    ("force", np.float64, 3),  # of the last control step [N]
    ("error", np.float64),  # distance from its marker [m]
    ("squares", np.float64),  # sum of its square
    ("worst", np.float64),  # largest squared distance
    ("worst_time", np.float64),
    ("steps", np.float64),
    ("impulse", np.float64),  # ∫|force|dt [N·s]
    ("peak", np.float64),  # [N]
    ("limited", np.float64),  # control steps at the limit
)
"""A string."""

TABLE: Final = AddressTable(
    "Strings",
    (
        ("count", np.int64),
        ("bodies", ADDRESS),
        ("geom_body", np.int32),
        ("geom_owner", np.int64),  # number of the body on strings each geom belongs to, from 1
        ("ncon", np.int32),
        ("contacts", np.int64),
        ("sliding", np.float64),  # friction of the engine's geoms, 3
        ("xpos", np.float64),
        ("xmat", np.float64),
        ("goal", np.float64),
        ("pace", np.float64),
        ("urge", np.float64),
        ("product", np.float64),
        ("wanted", np.float64),  # forces in its degrees of freedom that the pose asks for
        ("jacobian", np.float64),  # 3 × nv
        ("point", np.float64),
        ("place", np.float64),  # points of strings and contacts
        ("owner", np.int64),
        ("push", np.float64),  # how each unknown acts on every degree of freedom, unknowns × nv
        ("weigh", np.float64),
        ("aim", np.float64),
        ("problem", PROBLEM),
        ("result", RESULT),
        ("problem_at", np.int64),
        ("result_at", np.int64),
        ("hessian", np.float64),
        ("linear_term", np.float64),
        ("upper", np.float64),
        ("lower", np.float64),
        ("sense", np.int32),
        ("x", np.float64),
    ),
)
strings_at = TABLE.reader()
body_at, string_at = record(BODY), record(STRING)
