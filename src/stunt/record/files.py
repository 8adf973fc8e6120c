"""Files are written aside and moved into place, so that an interrupted run leaves nothing that looks finished.

What is written aside carries in its name which process of which machine writes it: what a killed process left behind is
swept by the next one that writes into the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import socket
import stat
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, Final

from stunt.archives import read_file as read_file
from stunt.errors import TakeError, brief

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_OLD: Final = 86400.0  # seconds; what another machine left untouched so long, nobody writes any more
_LEFT: Final = re.compile(r"\..*-(?P<host>[0-9a-f]{8})-(?P<process>\d{1,10})-[a-z0-9_]{8}(\.[^.]*)?\.part")


def aside_prefix(name: str) -> str:
    """Return how the name of a file begins that is being written by this process."""
    return f".{name}-{_host()}-{os.getpid()}-"


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success move it there, on failure remove it.

    Raises:
        TakeError: It cannot be written: no such folder, no permission, a disk that is full.
    """
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        aside = path.parent / f"{aside_prefix(path.stem)}{secrets.token_hex(4)}{path.suffix}.part"
        # Who may read it is for the user's umask to say, and of a file that is replaced for the file.
        os.close(os.open(aside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        with _explained(path, aside):
            yield aside
            if path.exists():
                aside.chmod(stat.S_IMODE(path.stat().st_mode))
            aside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def lock(path: Path) -> BinaryIO | None:
    """Return a file, open and locked until it is closed or its process ends, however that ends; None if another has it.

    Raises:
        OSError: It cannot be opened, or is no file.
    """
    while True:
        file = open(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666), "r+b", buffering=0)
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # from a pipe one would read for ever
            file.close()
            raise OSError(errno.EINVAL, f"'{path.name}' in it is no file")
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        except OSError:  # a file system without locks: then without
            return file
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # it was removed while we waited for it


def sweep(folder: Path) -> list[str]:
    """Remove what processes that are no more left half-written in a folder; return the names."""
    swept = []
    for entry in _entries(folder):
        found = _LEFT.fullmatch(entry.name)
        if found is None or not _abandoned(entry, found["host"], int(found["process"])):
            continue
        with contextlib.suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
            swept.append(entry.name)
    return swept


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry in found if entry.name.endswith(".part")]
    except OSError:
        return []


def _abandoned(entry: os.DirEntry[str], host: str, process: int) -> bool:
    if host == _host() and not _lives(process):
        return True
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD
    except OSError:
        return False


def _lives(process: int) -> bool:
    """Whether a process of this machine lives; where that cannot be asked, say that it does."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def _host() -> str:
    return f"{zlib.crc32(socket.gethostname().encode(errors='replace')):08x}"


@contextlib.contextmanager
def _explained(path: Path, aside: Path | None = None) -> Iterator[None]:
    """Say in one sentence why a file cannot be written; errors about other files pass as they are."""
    try:
        yield
    except OSError as error:
        named = error.filename
        if aside is not None and named is not None and os.fspath(named) not in (str(aside), str(path)):
            raise
        raise TakeError(f"cannot write '{brief(path)}': {error.strerror or error}.") from error
