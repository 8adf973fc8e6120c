"""Files from anywhere, NumPy archives above all: what they claim is checked before anything is allocated.

And a folder of them in which what can be made again is found by what it was made of.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import struct
import tempfile
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

MOST_MEMBERS = 200
SPARE = 512 * 2**20
UNPACKED = 32
"""What an archive may unpack to [bytes]: so much, and so many times its size."""
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, EOFError, OSError, NotImplementedError,
    RuntimeError, SyntaxError, TypeError, ValueError, OverflowError, MemoryError,
)  # fmt: skip


class ArchiveError(ValueError):
    """Bytes that are no NumPy archive, or one that claims what it does not have."""


def read_file(path: str | Path, most: int) -> bytes:
    """Return what a file holds.

    Args:
        path: Which.
        most: How many bytes it may have.

    Raises:
        OSError: There is none, it may not be read, is too large, or is no file but a pipe or a device, of which one
            could wait for ever.
    """
    with _opened(path, most) as file:
        return file.read(most)


def _opened(path: str | Path, most: int) -> BinaryIO:
    file = open(os.fspath(path), "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    about = os.fstat(file.fileno())
    if stat.S_ISREG(about.st_mode) and about.st_size <= most:
        return file
    file.close()
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "it is no file")
    raise OSError(errno.EFBIG, f"it is larger than {most // 2**20} MB")


def read_archive(path: str | Path, most: int) -> dict[str, np.ndarray]:
    """Return the arrays of an `.npz` file (see `read_arrays`); one that is none is not read to its end.

    Raises:
        ArchiveError: It cannot be read.
        OSError: As `read_file`.
    """
    with _opened(path, most) as file:
        return read_arrays(file, min(most, SPARE + UNPACKED * os.fstat(file.fileno()).st_size))


def read_arrays(data: bytes | BinaryIO, most: int) -> dict[str, np.ndarray]:
    """Return the arrays of an `.npz` by name; objects, which could run code, come back empty.

    Args:
        data: The file's content, or the file.
        most: How many bytes it may unpack to.

    Raises:
        ArchiveError: It cannot be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data) as archive:
            infos = [info for info in archive.infolist()[:MOST_MEMBERS] if info.filename.endswith(".npy")]
            if sum(info.file_size for info in infos) > most:
                raise ArchiveError(f"it unpacks to more than {most // 2**20} MB")
            return {info.filename[:-4]: _array(archive, info) for info in infos}
    except ArchiveError:
        raise
    except _BROKEN as error:
        raise ArchiveError(str(error) or type(error).__name__) from None


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Return one member; a header that announces more than there is is refused."""
    with archive.open(info) as file:
        data = bytearray(file.read(info.file_size + 1))  # whoever gets the array may write to it
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    reader: Any = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = reader(stream)
    if dtype.hasobject:
        return np.zeros(0)
    count = 1
    for size in shape:
        count *= int(size)
    if count < 0 or count * dtype.itemsize > len(data) - stream.tell():
        raise ArchiveError(f"its '{info.filename}' announces more values than it has")
    flat = np.frombuffer(data, dtype, count, stream.tell()) if count else np.zeros(0, dtype)
    return flat.reshape(shape, order="F" if fortran else "C")


class ArrayCache:
    """A folder of arrays that can be made again.

    A file is named by a digest of what its arrays were made of, so that it can neither be stale nor be mistaken for
    another. Files are written aside and moved into place; one that cannot be read counts as missing. Beyond `most`
    files those that were not asked for the longest go.
    """

    def __init__(self, folder: Path, most: int = 1000, largest: int = 2**30) -> None:
        """Keep arrays in a folder; it is made when the first ones are kept.

        Args:
            folder: Which.
            most: How many files it may hold.
            largest: How many bytes a file may unpack to.
        """
        self.folder, self._most, self._largest = folder, most, largest

    def load(self, key: str) -> dict[str, np.ndarray] | None:
        """Return the arrays that are kept by a digest; None where there are none."""
        path = self._path(key)
        try:
            arrays = read_archive(path, self._largest)
            os.utime(path)
        except (OSError, ArchiveError):
            return None
        return arrays

    def keep(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        """Keep arrays. A disk that is full or read-only costs time at the next run, and nothing else."""
        name = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".kept-", suffix=".part", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            Path(name).replace(self._path(key))
            self._forget()
        except OSError:
            return
        finally:
            if name:
                Path(name).unlink(missing_ok=True)

    def _forget(self) -> None:
        ages = list[tuple[float, Path]]()
        for path in self.folder.glob("*.npz"):
            with contextlib.suppress(OSError):  # another process may have taken it away
                ages.append((path.stat().st_mtime, path))
        for _, path in sorted(ages)[: max(0, len(ages) - self._most)]:
            path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def user_cache(room: str) -> Path:
    """Return the folder where a user's programs keep what they can make again.

    Args:
        room: What is kept there, as the name of a folder.
    """
    try:
        if os.name == "nt":
            base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        else:
            base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    except RuntimeError:  # a user without a home: nothing can be kept under this
        base = os.devnull
    return Path(base) / "stunt" / room
