"""Compiled functions with a cache that notices changes.

Numba caches a function under the time stamp of its own file, although the code it stores contains everything the
function calls. After an edit or an upgrade of another file the stale code would run, with yesterday's memory layout.
Here the stamp is a digest of the function's module and of all modules of Stunt that it imports, directly or not: what
they compile, the constants and layouts they name, and this file with its options; and of MuJoCo's version, whose
library is called.

Numba also numbers the compiled forms of a function by what its index holds: of two processes that compile at the same
time, one could then be handed the other's code. Here a form's file is named by its signature, so that processes may
share a cache while it fills.

Under `NUMBA_DISABLE_JIT=1` nothing is compiled (`INTERPRETED`): the same functions run as Python, for a debugger, for
coverage, and with bounds checks (see `stunt.maths.pointers`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import mujoco
import numba
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

F = TypeVar("F", bound=Callable[..., Any])

INTERPRETED: Final = bool(numba.config.DISABLE_JIT)
"""Whether kernels run as ordinary Python."""

_CALLBACKS: list[Any] = []  # callbacks live as long as the process: someone may hold their address

_CONTRACT = {"contract"}
"""Multiply and add in one rounding, where the machine can: a fifth off the laws. Nothing else of fast maths is wanted;
not-a-number must stay what it is, since a blow-up is found by it."""

_OPTIONS: Final = {"error_model": "numpy", "fastmath": _CONTRACT}
_PACKAGE: Final = Path(__file__).parent.parent
_IMPORTS: Final = re.compile(r"(?m)^[ \t]*(?:from (stunt[\w.]*) import (\([^)]*\)|[^\n]*)|import (stunt[\w.]*))")


def compiled(function: F, **options: Any) -> F:
    """Compile a function at its first call, cached on disk."""
    return cached(function, **_OPTIONS, **options)


def inlined(function: F) -> F:
    """Compile a function into its callers.

    For what is called once per joint with the kernel's views: passing some eighty pointers costs more than the work.
    """
    return compiled(function, forceinline=True)


def cached(function: F, **options: Any) -> F:
    """Compile a function at its first call with options of its own, cached on disk under the digest."""
    if INTERPRETED:
        return function
    dispatcher: Any = numba.njit(cache=True, **options)(function)
    if not _stamp(dispatcher, function):
        # A numba that keeps its stamp elsewhere: compiling anew is slow, stale code is dangerous.
        return cast(F, numba.njit(**options)(function))
    return cast(F, dispatcher)


def callback(function: Callable[..., Any], signature: Any) -> int:
    """Compile a function as a C callback, cached like the others, and return its address. It is never freed.

    Interpreted, the address is a number that only `called` knows.
    """
    if INTERPRETED:
        _CALLBACKS.append(function)
        return len(_CALLBACKS)
    made = CFunc(function, normalize_signature(signature), locals={}, options=_OPTIONS)
    made.enable_caching()
    if not _stamp(made, function):
        made = CFunc(function, normalize_signature(signature), locals={}, options=_OPTIONS)
    made.compile()
    _CALLBACKS.append(made)
    address: Any = made.address
    return int(address)


def called(address: int) -> Callable[..., Any]:
    """Return the interpreted function behind an address of `callback`."""
    return cast(Callable[..., Any], _CALLBACKS[address - 1])


def _stamp(made: Any, function: Callable[..., Any]) -> bool:
    """Put the digest in place of numba's stamp; return whether there is one to replace."""
    cache_file: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        return False
    cache_file._source_stamp = source_digest(Path(function.__code__.co_filename))
    cache_file.save = partial(save_form, cache_file)
    return True


def save_form(cache_file: Any, key: Any, data: Any) -> None:
    """Save a compiled form under a name that only its signature gives; first the code, then that it is there.

    Where two processes do so at once, the index may forget one of them, which is compiled again another time.
    """
    name = cache_file._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:12], 16))
    cache_file._save_data(name, data)
    cache_file._save_index({**cache_file._load_index(), key: name})


@cache
def source_digest(module: Path) -> str:
    """Return a digest of everything the code compiled from a module depends on."""
    sources, waiting = {module, Path(__file__)}, [module]
    while waiting:
        for found in _imported(waiting.pop()):
            if found not in sources:
                sources.add(found)
                waiting.append(found)
    digest = hashlib.sha256(mujoco.__version__.encode())
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


@cache
def _imported(module: Path) -> tuple[Path, ...]:
    """Return the files of the modules of Stunt that one imports, anywhere in its text."""
    return tuple(found for name in _imported_names(module.read_text("utf-8")) if (found := _file_of(name)) is not None)


def _imported_names(text: str) -> Iterator[str]:
    for whole, names, alone in _IMPORTS.findall(text):
        yield whole or alone
        for name in re.findall(r"\w+(?: as \w+)?", names):
            yield f"{whole}.{name.split()[0]}"


def _file_of(name: str) -> Path | None:
    """Return the file of a module of Stunt; None for what is no module, and for Stunt itself, which imports all."""
    place = _PACKAGE.joinpath(*name.split(".")[1:])
    files = (place.with_suffix(".py"), place / "__init__.py") if place != _PACKAGE else ()
    return next((file for file in files if file.is_file()), None)
