"""The quadratic programme's solver, daqp, as a function that compiled code can call.

    minimise ½·xᵀHx + fᵀx   subject to   lower ≤ (x, Ax) ≤ upper

Its wheel exports the C function, so that no tick enters Python; where a platform's does not, the same symbol leads
through Python. It starts cold in every tick: what comes of a tick depends on nothing but the state, and a saved
performance goes on bit for bit.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import daqp  # type: ignore[import-not-found]
import llvmlite.binding as llvm
import numpy as np
from numba import types

from stunt.maths.compiled import INTERPRETED
from stunt.maths.pointers import layout

_SPARE = 32  # later versions append fields, which are zero for what is asked here

PROBLEM: Final = layout(
    ("n", np.int32),  # variables
    ("m", np.int32),  # limits in all, those of the variables first
    ("simple", np.int32),  # limits of the variables
    ("hessian", np.int64),
    ("linear", np.int64),
    ("rows", np.int64),
    ("upper", np.int64),
    ("lower", np.int64),
    ("sense", np.int64),
    ("spare", np.int64, _SPARE),
)
"""What is to be solved, as the library reads it: sizes and addresses."""
RESULT: Final = layout(
    ("x", np.int64),
    ("multipliers", np.int64),
    ("value", np.float64),
    ("slack", np.float64),
    ("flag", np.int32),
    ("rounds", np.int32),
    ("spare", np.int64, _SPARE),
)
"""What came of it: above 0 it is solved; rounds of its active set."""

_NAME = "daqp_quadprog"
_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _array(address: int, count: int, kind: Any) -> Any:
    buffer: Any = (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(int(address))
    return np.frombuffer(buffer, kind)


def _through_python(result: int, problem: int, settings: int) -> None:
    """Do what the library's function does, through its Python module."""
    told, found = _array(problem, 1, PROBLEM)[0], _array(result, 1, RESULT)
    n, m, simple = int(told["n"]), int(told["m"]), int(told["simple"])
    hessian, rows = _array(told["hessian"], n * n, float), _array(told["rows"], (m - simple) * n, float)
    x, value, flag, about = daqp.solve(
        hessian.reshape(n, n), _array(told["linear"], n, float), rows.reshape(m - simple, n),
        _array(told["upper"], m, float), _array(told["lower"], m, float), _array(told["sense"], m, np.int32),
    )  # fmt: skip
    _array(found["x"][0], n, float)[:] = x
    found["value"], found["flag"], found["rounds"] = value, flag, about["iterations"]


def _solves(function: Any) -> bool:
    """Whether a function solves a small programme whose answer is known: its memory is as it is thought to be."""
    hessian, linear = np.diag([1.0, 2.0]), np.array([-1.0, -8.0])
    rows, upper, lower = np.array([[1.0, 1.0]]), np.array([9.0, 1.5, 2.0]), np.array([-9.0, -9.0, -9.0])
    x, multipliers, sense = np.full(2, 7.0), np.zeros(3), np.zeros(3, np.int32)
    problem, result = np.zeros(1, PROBLEM), np.zeros(1, RESULT)
    problem["n"], problem["m"], problem["simple"] = 2, 3, 2
    kept = {"hessian": hessian, "linear": linear, "rows": rows, "upper": upper, "lower": lower, "sense": sense}
    for name, array in kept.items():
        problem[name] = array.ctypes.data
    result["x"], result["multipliers"] = x.ctypes.data, multipliers.ctypes.data
    function(result.ctypes.data, problem.ctypes.data, None)
    return bool(result["flag"][0] > 0 and np.allclose(x, [0.5, 1.5]))


_KEPT: list[Any] = []


def _function() -> Any:
    library = ctypes.CDLL(str(daqp.__file__))
    found = getattr(library, _NAME, None)
    if found is not None:
        found.argtypes, found.restype = [ctypes.c_void_p] * 3, None
        if _solves(found):
            return found
    return _SIGNATURE(_through_python)


def _symbol() -> Any:
    function = _function()
    _KEPT.append(function)
    if INTERPRETED:
        return lambda *arguments: function(*(int(value) for value in arguments))
    llvm.add_symbol(_NAME, ctypes.cast(function, ctypes.c_void_p).value)
    return types.ExternalFunction(_NAME, types.void(types.intp, types.intp, types.intp))


solve_programme = _symbol()
"""Solve a programme (addresses of a RESULT, a PROBLEM, and settings: 0 for the library's own)."""
