"""Compiled functions with a cache that notices changes.

Numba caches a function under the time stamp of its own file, although the code it stores contains everything the
function calls. After an edit or an upgrade of another file the stale code would run, with yesterday's memory layout.
Here the stamp is a digest of the function's module and of all modules of Stunt that it imports, directly or not: what
they compile, the constants and layouts they name, and this file with its options; and of MuJoCo's version, whose
library is called.

Under `NUMBA_DISABLE_JIT=1` nothing is compiled (`INTERPRETED`): the same functions run as Python, for a debugger, for
coverage, and with bounds checks (see `stunt.maths.pointers`).
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import mujoco
import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.sigutils import normalize_signature

F = TypeVar("F", bound=Callable[..., Any])

INTERPRETED: Final = bool(numba.config.DISABLE_JIT)
"""Whether kernels run as ordinary Python."""

_CALLBACKS: list[Any] = []  # callbacks live as long as the process: someone may hold their address

_OPTIONS: Final = {"error_model": "numpy"}
"""No fast maths: not-a-number must stay what it is, since a blow-up is found by it; and where a product and a sum may
become one rounding, what is compiled at a first run gives other bits than the same code read from the cache."""
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
    try:
        dispatcher: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither beside the package nor in the user's home is a place for it
        dispatcher = _elsewhere(lambda: numba.njit(cache=True, **options)(function))
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
    try:
        made.enable_caching()
    except RuntimeError:
        _elsewhere(made.enable_caching)
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
    if type(cache_file) is IndexDataCacheFile:
        cache_file.__class__ = CacheFile
    return True


class CacheFile(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """Numba's files of compiled code, for several processes at once and for disks that fail.

    Numba numbers the forms of a function in an index; two processes that compile two of them at the same time use one
    number for both, and one is handed the other's code. Here a form's file carries what it is in its name, is there
    before the index speaks of it, and what cannot be written or read is compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code of one form of the function."""
        base, stamp = self._index_name.removesuffix(".nbi"), str(self._source_stamp)[:16]
        name = f"{base}.{stamp}{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        with contextlib.suppress(OSError):
            self._save_data(name, data)
            forms = self._load_index()
            if not forms:
                for old in Path(self._cache_path).glob(f"{glob.escape(base)}.*.nbc"):
                    if not old.name.startswith(f"{base}.{stamp}"):
                        old.unlink(missing_ok=True)  # of other sources
            self._save_index({**forms, key: name})

    def load(self, key: Any) -> Any:
        """Return the code of one form; None where there is none that can be read."""
        try:
            return super().load(key)
        except Exception:  # whatever broken bytes make pickle raise
            return None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}


def _elsewhere(make: Callable[[], Any]) -> Any:
    """Make something whose code is cached in a folder of this user's own among the temporary files, or not at all."""
    folder = Path(tempfile.gettempdir()) / f"stunt-{os.getuid() if hasattr(os, 'getuid') else 'cache'}"
    before = numba.config.CACHE_DIR
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        if not own or not stat.S_ISDIR(found.st_mode):
            return None  # what lies there may be somebody else's: cached code is run
        numba.config.CACHE_DIR = str(folder)
        return make()
    except (OSError, RuntimeError):
        return None
    finally:
        numba.config.CACHE_DIR = before


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


@cache
def _file_of(name: str) -> Path | None:
    """Return the file of a module of Stunt; None for what is no module, and for Stunt itself, which imports all."""
    place = os.path.join(_PACKAGE, *name.split(".")[1:])  # asked for by the thousand at every start: no `Path` for each
    files = (f"{place}.py", os.path.join(place, "__init__.py")) if "." in name else ()
    return next((Path(file) for file in files if os.path.isfile(file)), None)
