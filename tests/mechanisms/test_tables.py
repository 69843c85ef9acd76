"""Searches in tables of rising sums."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.arrays import count_at_most, draw_columns


@pytest.mark.parametrize("width", [1, 2, 3, 31, 32, 33, 96, 257])
def test_entries_are_counted_by_halving(width: int) -> None:
    """The same as one by one: on a border, beside it, before and behind all entries."""
    rng = np.random.default_rng(width)
    table = np.cumsum(rng.integers(0, 3, (20, width)).astype(float), axis=1)
    rows = rng.integers(0, 20, 3000)
    targets = table[rows, rng.integers(0, width, 3000)]
    targets += rng.integers(-1, 2, 3000)
    targets[::7] = -1.0
    targets[::11] = 1e9
    counts = count_at_most(table, rows, targets)
    slowly = (table[rows] <= targets[:, None]).sum(axis=1)
    np.testing.assert_array_equal(counts, slowly)


def test_columns_without_weight_are_never_drawn() -> None:
    """Not even by the least and by the largest uniform."""
    weights = np.array([[0.0, 3.0, 0.0, 1.0, 0.0]]).repeat(4, axis=0)
    uniform = np.array([2.0**-53, 0.75 - 2.0**-53, 0.75, 1.0 - 2.0**-53])
    np.testing.assert_array_equal(draw_columns(weights, uniform), [1, 1, 3, 3])
