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

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F, **options: Any) -> F:
    """Compile a function at its first call, cached on disk."""
    dispatcher: Any = numba.njit(cache=True, **options)(function)
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        # A numba that keeps its stamp elsewhere: compiling anew is slow, stale code is dangerous.
        return cast(F, numba.njit(**options)(function))
    cache_file._source_stamp = _digest(Path(function.__code__.co_filename).parent)
    return cast(F, dispatcher)


@cache
def _digest(folder: Path) -> str:
    digest = hashlib.sha256(mujoco.__version__.encode())
    for source in sorted(folder.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()
