"""The engine's two half-steps as symbols that compiled code can call, so that the inner loop never enters Python."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm
import mujoco
from numba import types


def _load_library() -> None:
    folder = Path(mujoco.__file__).parent
    for pattern in ("libmujoco.so*", "libmujoco*.dylib", "mujoco.dll"):
        for library in sorted(folder.glob(pattern)):
            # The same file the bindings have already loaded: the loader gives us that very instance.
            llvm.load_library_permanently(str(library))
            return
    raise ImportError(f"no MuJoCo library beside {folder}")


_load_library()

mj_step1 = types.ExternalFunction("mj_step1", types.void(types.intp, types.intp))
"""First half: kinematics, inertia, bias and passive forces, contacts (model address, data address)."""
mj_step2 = types.ExternalFunction("mj_step2", types.void(types.intp, types.intp))
"""Second half: forces, constraint solve, integration (model address, data address)."""
mj_solveM = types.ExternalFunction("mj_solveM", types.void(types.intp, types.intp, types.intp, types.intp, types.int32))
"""x = M⁻¹·y for n vectors, through the sparse factor of the first half (model, data, x, y: addresses; n)."""
mju_mat2Quat = types.ExternalFunction("mju_mat2Quat", types.void(types.intp, types.intp))
"""Quaternion of a rotation matrix (addresses of both)."""
mj_factorM = types.ExternalFunction("mj_factorM", types.void(types.intp, types.intp))
"""Factor the inertia matrix anew, after something was added to it (model, data: addresses)."""
mj_getState = types.ExternalFunction("mj_getState", types.void(types.intp, types.intp, types.intp, types.int32))
"""Copy the state out (model, data, target: addresses; which parts)."""
mj_setState = types.ExternalFunction("mj_setState", types.void(types.intp, types.intp, types.intp, types.int32))
"""Put a state back (model, data, source: addresses; which parts)."""
STEP_STATE = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
"""What a step changes: enough to take it again. Not what its solver starts from: the step just taken knows better."""
mj_fwdVelocity = types.ExternalFunction("mj_fwdVelocity", types.void(types.intp, types.intp))
"""What follows from velocities: bias, passive forces, constraint references (model, data: addresses)."""
