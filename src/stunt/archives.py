"""NumPy archives from anywhere: read by hand, so that what they claim is checked before anything is allocated."""

from __future__ import annotations

import io
import struct
import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np

MOST_MEMBERS = 200
_BROKEN = (
    zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, EOFError, OSError, NotImplementedError,
    RuntimeError, SyntaxError, TypeError, ValueError, OverflowError, MemoryError,
)  # fmt: skip


class ArchiveError(ValueError):
    """Bytes that are no NumPy archive, or one that claims what it does not have."""


def read_arrays(data: bytes, most: int) -> dict[str, np.ndarray]:
    """Return the arrays of an `.npz` by name; objects, which could run code, come back empty.

    Args:
        data: The file's content.
        most: How many bytes it may unpack to.

    Raises:
        ArchiveError: It cannot be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
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
