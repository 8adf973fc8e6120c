"""Compiled functions with a cache that notices changes.

Numba caches a function under the time stamp of its own file, although the code it stores contains everything the
function calls. After an edit or an upgrade of another file the stale code would run, with yesterday's memory layout.
Here the stamp is a digest of all sources in the function's folder, and of MuJoCo's version, whose library it calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import mujoco
import numba
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

F = TypeVar("F", bound=Callable[..., Any])
_CALLBACKS: list[Any] = []  # callbacks live as long as the process: someone may hold their address


_CONTRACT = {"contract"}
"""Multiply and add in one rounding, where the machine can: a fifth off the laws. Nothing else of fast maths is wanted;
not-a-number must stay what it is, since a blow-up is found by it."""

_CALLBACK = {"error_model": "numpy", "fastmath": _CONTRACT}


def compiled(function: F, **options: Any) -> F:
    """Compile a function at its first call, cached on disk."""
    dispatcher: Any = numba.njit(cache=True, error_model="numpy", fastmath=_CONTRACT, **options)(function)
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        # A numba that keeps its stamp elsewhere: compiling anew is slow, stale code is dangerous.
        return cast(F, numba.njit(error_model="numpy", fastmath=_CONTRACT, **options)(function))
    cache_file._source_stamp = _digest(Path(function.__code__.co_filename).parent)
    return cast(F, dispatcher)


def inlined(function: F) -> F:
    """Compile a function into its callers.

    For what is called once per joint with the kernel's views: passing some eighty pointers costs more than the work.
    """
    return compiled(function, forceinline=True)


def callback(function: Callable[..., Any], signature: Any) -> int:
    """Compile a function as a C callback, cached like the others, and return its address. It is never freed."""
    made = CFunc(function, normalize_signature(signature), locals={}, options=_CALLBACK)
    made.enable_caching()
    cache_file: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _digest(Path(function.__code__.co_filename).parent)
    else:
        made = CFunc(function, normalize_signature(signature), locals={}, options=_CALLBACK)
    made.compile()
    _CALLBACKS.append(made)
    address: Any = made.address
    return int(address)


@cache
def _digest(folder: Path) -> str:
    digest = hashlib.sha256(mujoco.__version__.encode())
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()
