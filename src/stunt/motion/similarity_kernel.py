"""The compiled part of the search for similar frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from stunt.compiled import compiled

BLOCK = 8  # numbers added up before looking whether it is too much already


@compiled
def nearest_row(rows: Any, candidates: Any, query: Any, most: float) -> tuple[int, float]:
    """Find which of some rows is nearest by the sum of absolute differences.

    Args:
        rows: (N, D), D a multiple of `BLOCK`.
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
        total: Any = 0.0
        for begin in range(0, len(query), BLOCK):
            part = np.float32(0.0)
            for k in range(begin, begin + BLOCK):
                part += abs(rows[row, k] - query[k])
            total += part
            if total > best:
                break
        if total < best or (total == best and found < 0):
            best, found = total, row
    return found, best
