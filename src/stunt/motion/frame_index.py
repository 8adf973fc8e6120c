"""Finding the nearest of very many frames within a millisecond.

Distances are sums of absolute differences over some hundred numbers; no tree helps in so many dimensions. But bodies
move in few ways: a dozen principal components hold nine tenths of how frames differ. A k-d tree over those brings the
most promising frames, and of these the nearest is taken by the whole distance. That is the nearest of all mostly, and
hardly farther otherwise (`stunt bench similarity` measures both). Few frames are all compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from stunt.errors import InvalidValueError
from stunt.maths.compiled import compiled
from stunt.maths.rotations import Floats

BLOCK = 8  # numbers added up before looking whether it is too much already


@compiled
def nearest_row(rows: Any, candidates: Any, query: Any, most: float) -> tuple[int, float]:
    """Find which of some rows is nearest by the sum of absolute differences.

    Args:
        rows: (N, D).
        candidates: Numbers of the rows to look at; those from N on are passed over.
        query: (D,).
        most: Nothing farther is looked for.

    Returns:
        Which row, −1: none within `most`; and how far it is.
    """
    best, found = most, -1
    for n in range(len(candidates)):
        row = candidates[n]
        if row >= len(rows):
            continue
        total = 0.0
        for begin in range(0, len(query), BLOCK):
            part = abs(rows[row, begin] - query[begin])  # summed in the rows' own precision
            for k in range(begin + 1, min(begin + BLOCK, len(query))):
                part += abs(rows[row, k] - query[k])
            total += part
            if total > best:
                break
        if total < best or (total == best and found < 0):
            best, found = total, row
    return found, best


COMPONENTS = 12
CANDIDATES = 200
SLACK = 1.0  # a subtree is passed over unless it could hold something this share nearer
CAUTION = 0.7  # on how far away candidates are looked for; lower looks farther
FEW = 3000  # so many frames are compared one by one sooner than a tree is asked


@dataclass(frozen=True)
class Found:
    """What a search found: the row's number and its distance."""

    row: int
    distance: float


class FrameIndex:
    """Rows of numbers among which the nearest to any other is found quickly."""

    def __init__(self, rows: Floats) -> None:
        """Lay the rows out.

        Args:
            rows: (N, D), weighted, so that the sum of absolute differences is the distance.
        """
        if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
            raise InvalidValueError("the frames of an index", rows.shape, "finite numbers, (frames, coordinates)")
        self._count, self._size = rows.shape
        self._mean = rows.mean(axis=0, dtype=np.float64)
        # Coordinates in which frames differ most come first: sums are beyond the best so far the sooner.
        self._columns = np.argsort(-np.abs(rows - self._mean).mean(axis=0), kind="stable")
        self._rows = self._padded(np.asarray(rows))
        self._all = np.arange(self._count)
        self._tree: scipy.spatial.cKDTree | None = None
        if self._count > FEW:
            self._basis = _principal(rows - self._mean, COMPONENTS)
            seen = (rows - self._mean) @ self._basis
            self._tree = scipy.spatial.cKDTree(seen)
            self._ratio = _least_ratio(self._rows, seen, self._tree)

    def __len__(self) -> int:
        return self._count

    def _padded(self, rows: Floats) -> NDArray[np.float32]:
        out = np.zeros((len(rows), -(-self._size // BLOCK) * BLOCK), np.float32)
        out[:, : self._size] = rows[:, self._columns]
        return out

    def nearest(self, query: Floats, most: float = np.inf, *, exact: bool = False) -> Found | None:
        """Return the row nearest to a query (D,); None where none is within `most`.

        Args:
            query: What to compare with.
            most: Largest distance that is of interest.
            exact: Whether to compare with every row.
        """
        if query.shape != (self._size,) or not np.isfinite(query).all():
            raise InvalidValueError("a state to compare", query.shape, f"{self._size} finite numbers")
        candidates = self._all
        if self._tree is not None and not exact:
            seen = (query - self._mean) @ self._basis
            within = most / self._ratio
            _, candidates = self._tree.query(seen, k=CANDIDATES, eps=SLACK, distance_upper_bound=within)
        row, far = nearest_row(self._rows, candidates, self._padded(query[None])[0], most)
        return None if row < 0 else Found(int(row), float(far))


def _least_ratio(rows: NDArray[np.float32], seen: Floats, tree: scipy.spatial.cKDTree) -> float:
    """Return how many times farther than by its principal components a frame is from its neighbours at least, mostly.

    By the sum of absolute differences nothing is nearer than in a straight line; but a body that differs does so in
    many joints, and the sum over all of them is several times the straight distance.
    """
    some = np.random.default_rng(0).integers(0, len(rows), 300)
    part, near = tree.query(seen[some], k=CANDIDATES, eps=SLACK)
    whole = np.abs(rows[some][:, None] - rows[near]).sum(axis=-1)
    ratios = whole[part > 0] / part[part > 0]
    return max(1.0, CAUTION * float(np.percentile(ratios, 2))) if ratios.size else 1.0


def _principal(centred: Floats, count: int) -> Floats:
    """Return the directions in which rows differ most, (D, count)."""
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return np.asarray(vectors[:, ::-1][:, :count])
