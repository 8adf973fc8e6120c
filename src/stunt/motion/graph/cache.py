"""Distance maps kept on the disk, found again by what they were made of."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numpy as np

from stunt.archives import read_arrays
from stunt.errors import NONSENSE
from stunt.maths.rotations import Floats

_VERSION = b"stunt distance map 1"
_LARGEST = 2**30  # bytes a map may unpack to


class MapCache:
    """A folder of distance maps.

    A map's file is named by a digest of both clouds, so that it can neither be stale nor be mistaken for another. Files
    are written aside and moved into place; one that cannot be read counts as missing.
    """

    def __init__(self, folder: Path) -> None:
        """Keep maps in a folder; it is made when the first one is kept."""
        self.folder = folder

    def load(self, key: str) -> Floats | None:
        """Return a map; None where there is none."""
        try:
            costs = read_arrays(self._path(key).read_bytes(), _LARGEST)["costs"]
            return np.asarray(costs, dtype=np.float64) if costs.ndim == 2 and np.isfinite(costs).all() else None
        except (OSError, *NONSENSE):
            return None

    def keep(self, key: str, costs: Floats) -> None:
        """Keep a map. A disk that is full or read-only costs time at the next run, and nothing else."""
        name = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".map-", suffix=".part", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                np.savez_compressed(file, costs=costs.astype(np.float32))
            Path(name).replace(self._path(key))
        except OSError:
            return
        finally:
            if name:
                Path(name).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"


def map_key(one: Floats, other: Floats, half: int) -> str:
    """Return the name of the map of two clips' joints (F, P, 3) with windows of `half` frames to either side."""
    digest = hashlib.sha256(_VERSION + half.to_bytes(4, "little"))
    for points in (one, other):
        digest.update(repr(points.shape).encode())
        digest.update(np.ascontiguousarray(points).tobytes())
    return digest.hexdigest()[:40]


def user_cache() -> Path:
    """Return the folder where a user's programs keep what they can make again."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stunt" / "motion_graphs"
