"""Where in the engine's memory its contacts are, found by looking rather than trusted to a layout of one version."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from stunt.maths.pointers import record


@cache
def _probe(count: int) -> mujoco.MjData:
    """Return data with so many boxes on the floor, each touching it at its corners."""
    box = '<freejoint/><geom type="box" size="0.1 0.1 0.1"/>'
    boxes = "".join(f'<body pos="{number} 0 0.09">{box}</body>' for number in range(count))
    floor = '<geom type="plane" size="1 1 1"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{floor}{boxes}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


def _contact() -> np.dtype[Any]:
    contact = _probe(2).contact
    fields = {name: getattr(contact, name) for name in ("dist", "pos", "frame", "friction", "geom")}
    return np.dtype(
        {
            "names": list(fields),
            "formats": [(array.dtype, array.shape[1:]) for array in fields.values()],
            "offsets": [array.ctypes.data - contact.dist.ctypes.data for array in fields.values()],
            "itemsize": contact.dist.strides[0],
        },
        align=True,
    )


CONTACT: Final = _contact()
"""What Stunt reads of the engine's contacts: distance and position [m], frame (normal first), friction, geoms."""

contact_at = record(CONTACT, foreign=True)


@cache
def ncon_offset() -> int:
    """Return where in the engine's data the number of contacts is [bytes]."""
    data, found = _probe(12), None
    whole = (ctypes.c_int32 * (contact_pointer_offset() // 4)).from_address(data._address)
    for touching in (12, 3, 7, 0, 5):
        data.qpos[2::7] = np.where(np.arange(12) < touching, 0.09, 1.0)
        mujoco.mj_forward(data.model, data)
        places = set((4 * np.flatnonzero(np.ctypeslib.as_array(whole) == data.ncon)).tolist())
        found = places if found is None else found & places
    if not found or len(found) != 1:
        raise RuntimeError("this MuJoCo keeps its number of contacts where Stunt cannot find it")
    return found.pop()


@cache
def contact_pointer_offset() -> int:
    """Return where in the engine's data the address of the contacts is [bytes]."""
    data, place = _probe(3), 0
    # The pointer that is looked for is part of the data, so this ends before the data does.
    while ctypes.c_int64.from_address(data._address + place).value != data.contact.dist.ctypes.data:
        place += 8
    return place


def contact_count(data: mujoco.MjData) -> NDArray[np.int32]:
    """Return the engine's number of contacts in its own memory, (1,)."""
    return np.ctypeslib.as_array((ctypes.c_int32 * 1).from_address(data._address + ncon_offset()))


def contact_pointer(data: mujoco.MjData) -> NDArray[np.int64]:
    """Return the address of the engine's contacts in its own memory, (1,); it changes as they come and go."""
    return np.ctypeslib.as_array((ctypes.c_int64 * 1).from_address(data._address + contact_pointer_offset()))
