"""Files that other people's compiled libraries read: in a process of their own, bounded in time and memory.

FBX and USD files come from anywhere, and a damaged one may end the process that reads it. Here that is a child: it
hands back plain arrays, or the sentence in which it refuses the file; if it dies the file is refused for that.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from stunt.archives import ArchiveError, read_arrays
from stunt.errors import NONSENSE, Place, StuntError, UnknownNameError
from stunt.motion.clips.raw import ClipFileError, RawClip, read_bytes

SECONDS: Final = 120
"""Of processor at most: an hour of capture takes half of that."""
MEMORY: Final = 4 * 2**30
"""Address space at most [bytes]: libraries reserve more than they use."""
SPARE: Final = 512 * 2**20
UNPACKED: Final = 32
"""What a file may take [bytes]: so much, and so many times its size; a small one that asks for gigabytes is damaged."""
_PLAIN: Final = ("format", "names", "parents", "fps", "scale", "up", "notes")
_ARRAYS: Final = ("offsets", "root", "rotations", "shifts")


def guarded(package: str, extra: str, reader: str) -> Callable[..., RawClip]:
    """Return a reader that lets a child read.

    Args:
        package: Which package does the reading.
        extra: By which extra of Stunt's it is installed.
        reader: Who calls it there, as `module:function`.
    """

    def read(path: str | Path, animation: str | None = None) -> RawClip:
        place = Place(str(path))
        if not _installed(package):
            raise ClipFileError(f"such files need the package '{package}': pip install 'stunt[{extra}]'.", place)
        read_bytes(path)  # a file that is too large, or none, is refused before anything is opened
        words = [sys.executable, "-P", "-m", __spec__.name, reader, str(Path(path).resolve()), json.dumps(animation)]
        try:
            done = subprocess.run(words, capture_output=True, timeout=3 * SECONDS, check=False, env=_environment())
        except subprocess.TimeoutExpired:
            raise ClipFileError(f"'{package}' does not come to an end with it.", place) from None
        if done.returncode != 0:
            raise ClipFileError(f"'{package}' does not survive it: the file is damaged.", place)
        return _unpacked(done.stdout, animation, place)

    return read


def _environment() -> dict[str, str]:
    return {**os.environ, "PXR_WORK_THREAD_LIMIT": "1"}  # threads take memory, too, and more on larger machines


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # it was taken out of this process on purpose
        return False


def _unpacked(data: bytes, animation: str | None, place: Place) -> RawClip:
    """Return what a child said, or raise what it refused."""
    try:
        arrays = read_arrays(data, MEMORY)
        told = json.loads(str(arrays["told"]))
    except (ArchiveError, *NONSENSE):
        raise ClipFileError("is damaged: nothing came of reading it.", place) from None
    if "unknown" in told:
        raise UnknownNameError("animation", str(animation), told["unknown"], place)
    if "refused" in told:
        raise ClipFileError(told["refused"], place)
    for name in ("names", "parents"):
        told[name] = tuple(told[name])
    found: dict[str, Any] = {name: arrays[name] for name in _ARRAYS if name in arrays}
    return RawClip(file=place.file, end_sites=(), **told, **found)


def _packed(reader: str, path: str, animation: str | None) -> bytes:
    """Return what there is to say of a file (the child's side)."""
    module, _, name = reader.partition(":")
    arrays: dict[str, Any] = {}
    try:
        options = {} if animation is None else {"animation": animation}
        raw = getattr(importlib.import_module(module), name)(path, **options)
        told: dict[str, Any] = {name: getattr(raw, name) for name in _PLAIN}
        arrays = {name: value for name in _ARRAYS if (value := getattr(raw, name)) is not None}
    except UnknownNameError as error:
        told = {"unknown": error.available}
    except StuntError as error:
        told = {"refused": error.reason}
    except (*NONSENSE, MemoryError) as error:
        told = {"refused": f"is damaged: {type(error).__name__}."}
    out = io.BytesIO()
    np.savez(out, told=np.array(json.dumps(told)), **arrays)
    return out.getvalue()


def _bounded(path: str) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    if os.path.exists("/proc/self/statm"):
        has = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
        most = min(has + SPARE + UNPACKED * os.path.getsize(path), MEMORY)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _bounded(sys.argv[2])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    with answers:
        answers.write(_packed(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
