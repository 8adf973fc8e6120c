"""One table of addresses for all arrays an environment's step touches.

Handing a compiled function an array costs half a microsecond and more where caches are cold, as they are after physics;
an environment would hand over a dozen, several times per step. So compiled code gets one table, as control does
(`stunt.control.core.views`), and the arrays stay where they are. Arrays of rows are indexed flat.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Final

import numpy as np

from stunt.maths.pointers import AddressTable, layout

SIZES: Final = layout(
    ("joints", np.int64),
    ("dofs", np.int64),
    ("root", np.int64),  # first position of the free root, −1 without
    ("root_dof", np.int64),  # its first velocity
    ("ends", np.int64),  # of limbs
    ("nq", np.int64),  # of the whole model
    ("nv", np.int64),
)

TABLE: Final = AddressTable(
    "Arrays",
    (
        ("sizes", SIZES),
        ("qpos", np.float64),  # positions, (nq,)
        ("qvel", np.float64),  # velocities, (nv,)
        ("xpos", np.float64),  # where the bodies are [m], (nbody, 3)
        ("torque", np.float64),  # what each joint produced [N·m], (nv,)
        ("limit", np.float64),  # its strength, (nv,)
        ("goal", np.float64),  # the board's goals, (nq,)
        ("ball", np.int64),  # 1 where a joint is a ball, (njnt,)
        ("qadr", np.int64),  # first position of each joint, (njnt,)
        ("vadr", np.int64),  # first velocity of each joint, (njnt,)
        ("low", np.float64),  # lower limits of hinges and slides, (njnt,)
        ("high", np.float64),  # upper limits, (njnt,)
        ("scale", np.float64),  # how far an action of 1 goes [rad or m], one per degree of freedom
        ("dofs", np.int64),  # the degrees of freedom
        ("ends", np.int64),  # bodies at the ends of limbs
        ("rows", np.float64),  # poses: those actions are relative to, and a clip's, (F, nq)
        ("paces", np.float64),  # a clip's velocities, (F, nv)
        ("places", np.float64),  # where a clip has the ends, seen from the root in the world's axes [m], (F, ends, 3)
        ("wanted", np.float64),  # a pose to be reached, (nq,)
        ("out", np.float32),  # the observation
    ),
)
Arrays = namedtuple("Arrays", TABLE.names)  # type: ignore[misc]  # noqa: PYI024
arrays_at = TABLE.unpacker(Arrays)
"""In kernels: what is behind the address of a table."""
