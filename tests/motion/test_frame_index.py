"""The nearest of many rows."""

from __future__ import annotations

import numpy as np
import pytest

from stunt.errors import StuntError
from stunt.motion.frame_index import FEW, FrameIndex


def test_few_rows_are_compared_exactly():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(FEW, 21))
    index = FrameIndex(rows)
    for query in rng.normal(size=(20, 21)):
        found = index.nearest(query)
        far = np.abs(rows - query).sum(axis=1)
        assert (found.row, found.distance) == (int(far.argmin()), pytest.approx(far.min(), rel=1e-5))
        assert index.nearest(query, most=0.99 * far.min()) is None


def test_rows_that_are_no_numbers_and_queries_of_another_size_are_refused():
    with pytest.raises(StuntError, match="finite"):
        FrameIndex(np.array([[np.nan, 1.0]]))
    with pytest.raises(StuntError, match="21 finite"):
        FrameIndex(np.zeros((3, 21))).nearest(np.zeros(20))
