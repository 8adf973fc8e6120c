"""Files are written aside and moved into place, so that an interrupted run leaves nothing that looks finished."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from stunt.errors import TakeError


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success move it there, on failure remove it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=f"{path.suffix}.part", dir=path.parent)
    except OSError as error:
        raise TakeError(f"cannot write '{path}': {error.strerror}.") from error
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        aside.chmod(0o644)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
