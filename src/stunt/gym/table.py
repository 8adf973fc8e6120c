"""One table of addresses for all arrays an environment's step touches.

Handing a compiled function an array costs half a microsecond and more where caches are cold, as they are after physics;
an environment would hand over a dozen, several times per step. So compiled code gets one table, as control does
(`stunt.control.core.views`), and the arrays stay where they are.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from stunt.control.core.views import _pointer_maker, floats, longs
from stunt.maths.compiled import inlined

singles = _pointer_maker(types.float32)


class Arrays(NamedTuple):
    """What a step touches; arrays of rows are indexed flat.

    Attributes:
        sizes: Joints, degrees of freedom, first position and velocity of the free root (−1 without), ends of limbs, the
            model's nq and nv.
        qpos: Positions, (nq,).
        qvel: Velocities, (nv,).
        xpos: Where the bodies are [m], (nbody, 3).
        torque: What each joint produced [N·m], (nv,).
        limit: Its strength, (nv,).
        goal: The board's goals, (nq,).
        ball: 1 where a joint is a ball, (njnt,).
        qadr: First position of each joint, (njnt,).
        vadr: First velocity of each joint, (njnt,).
        low: Lower limits of hinges and slides, (njnt,).
        high: Upper limits, (njnt,).
        scale: How far an action of 1 goes [rad or m], one per degree of freedom.
        dofs: The degrees of freedom.
        ends: Bodies at the ends of limbs.
        rows: Poses: those actions are relative to, and a clip's, (F, nq).
        paces: A clip's velocities, (F, nv).
        places: Where a clip has the ends of limbs, relative to the root in the world's axes [m], (F, ends, 3).
        wanted: A pose to be reached, (nq,).
        out: The observation.
    """

    sizes: Any
    qpos: Any
    qvel: Any
    xpos: Any
    torque: Any
    limit: Any
    goal: Any
    ball: Any
    qadr: Any
    vadr: Any
    low: Any
    high: Any
    scale: Any
    dofs: Any
    ends: Any
    rows: Any
    paces: Any
    places: Any
    wanted: Any
    out: Any


JOINTS: Final = 0
DOFS: Final = 1
ROOT: Final = 2
ROOT_DOF: Final = 3
ENDS: Final = 4
NQ: Final = 5
NV: Final = 6
_LONGS: Final = ("sizes", "ball", "qadr", "vadr", "dofs", "ends")


def addresses(arrays: Arrays) -> NDArray[np.int64]:
    """Return the table; whoever keeps it must keep the arrays.

    Raises:
        TypeError: An array of another kind than compiled code takes it for.
    """
    for name, array in arrays._asdict().items():
        kind = np.int64 if name in _LONGS else np.float32 if name == "out" else np.float64
        if array.dtype != kind or not array.flags.c_contiguous:
            raise TypeError(f"'{name}' must be contiguous numbers of type {np.dtype(kind)}, not {array.dtype}")
    return np.array([array.ctypes.data for array in arrays], np.int64)


@inlined
def unpack(table: Any) -> Any:
    """Return pointers to the arrays behind a table."""
    return Arrays(
        longs(table[0]), floats(table[1]), floats(table[2]), floats(table[3]), floats(table[4]), floats(table[5]),
        floats(table[6]), longs(table[7]), longs(table[8]), longs(table[9]), floats(table[10]), floats(table[11]),
        floats(table[12]), longs(table[13]), longs(table[14]), floats(table[15]), floats(table[16]), floats(table[17]),
        floats(table[18]), singles(table[19]),
    )  # fmt: skip
