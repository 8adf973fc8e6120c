"""The engine as compiled code sees it: half-steps as symbols, so that the inner loop never enters Python; its contacts.

Where in its memory the contacts are is found by looking rather than trusted to a layout of one version.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as llvm
import mujoco
import numpy as np
from numba import types
from numpy.typing import NDArray

from stunt.maths.compiled import INTERPRETED
from stunt.maths.pointers import record


def _load_library() -> Path:
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for library in sorted(folder.glob(pattern)):
            # The same file the bindings have already loaded: the loader gives us that very instance.
            llvm.load_library_permanently(str(library))
            return library
    raise ImportError(f"no MuJoCo library beside {folder}")


_LIBRARY: Final = _load_library()


def engine_function(name: str, addresses: int, flags: int = 0) -> Any:
    """Return a function of the engine for kernels: of so many addresses, then so many integers, returning nothing."""
    if INTERPRETED:
        function = getattr(ctypes.CDLL(str(_LIBRARY)), name)
        function.argtypes, function.restype = [ctypes.c_void_p] * addresses + [ctypes.c_int32] * flags, None
        return lambda *arguments: function(*(int(value) for value in arguments))
    return types.ExternalFunction(name, types.void(*[types.intp] * addresses, *[types.int32] * flags))


def call_engine(name: str, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Call a function of the engine, of a model and its data, that its Python bindings leave out."""
    function = getattr(ctypes.CDLL(str(_LIBRARY)), name)
    function.argtypes, function.restype = [ctypes.c_void_p] * 2, None
    function(model._address, data._address)


mj_step1 = engine_function("mj_step1", 2)
"""First half: kinematics, inertia, bias and passive forces, contacts (model address, data address)."""
mj_step2 = engine_function("mj_step2", 2)
"""Second half: forces, constraint solve, integration (model address, data address)."""
mj_solveM = engine_function("mj_solveM", 4, 1)
"""x = M⁻¹·y for n vectors, through the sparse factor of the first half (model, data, x, y: addresses; n)."""
mju_mat2Quat = engine_function("mju_mat2Quat", 2)
"""Quaternion of a rotation matrix (addresses of both)."""
mj_factorM = engine_function("mj_factorM", 2)
"""Factor the inertia matrix anew, after something was added to it (model, data: addresses)."""
mj_getState = engine_function("mj_getState", 3, 1)
"""Copy the state out (model, data, target: addresses; which parts)."""
mj_setState = engine_function("mj_setState", 3, 1)
"""Put a state back (model, data, source: addresses; which parts)."""
STEP_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
"""What a step changes: enough to take it again. Not what its solver starts from: the step just taken knows better."""
mj_fwdVelocity = engine_function("mj_fwdVelocity", 2)
"""What follows from velocities: bias, passive forces, constraint references (model, data: addresses)."""

FREE: Final = int(mujoco.mjtJoint.mjJNT_FREE)
BALL: Final = int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE: Final = int(mujoco.mjtJoint.mjJNT_SLIDE)
"""Kinds of joints, as the engine numbers them."""


def last_dofs(model: mujoco.MjModel) -> NDArray[np.int64]:
    """Return the outermost degree of freedom that moves each body; −1 for what nothing moves, (nbody,)."""
    found = np.full(model.nbody, -1, np.int64)
    for body in range(1, model.nbody):
        own = model.body_dofadr[body] + model.body_dofnum[body] - 1
        found[body] = own if model.body_dofnum[body] else found[model.body_parentid[body]]
    return found


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
