from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from dptext.spaces import interval
from dptext.types import Inputs
from tests import prepared, small


def test_every_vector_fills_the_interval() -> None:
    """Its least coordinate is -1, its largest 1, the order of coordinates stays."""
    vectors = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    moved = interval.Params().transform(vectors)
    np.testing.assert_array_equal(moved.min(axis=1), -1.0)
    np.testing.assert_array_equal(moved.max(axis=1), 1.0)
    np.testing.assert_array_equal(moved.argsort(axis=1), vectors.argsort(axis=1))


def test_a_constant_vector_becomes_zero() -> None:
    """It has no extent, so it takes the middle."""
    vectors = np.array([[2.0, 2.0], [0.0, 0.0], [1.0, 3.0]], np.float32)
    moved = interval.Params().transform(vectors)
    np.testing.assert_array_equal(moved, [[0.0, 0.0], [0.0, 0.0], [-1.0, 1.0]])


def test_the_constant_is_far_below_the_printed_kind() -> None:
    """2 sqrt(d) / (smallest distance) bounds it, and so does the bound by extents."""
    lexicon = small.cloud(400, 20)
    constant = prepared.space_of(lexicon, "interval").lipschitz.over(Inputs.WORDS)
    rows = lexicon.vectors.astype(np.float64)
    least = pdist(rows).min()
    assert constant <= 2.0 * np.sqrt(20) / least
    extent = np.sort(rows.max(axis=1) - rows.min(axis=1))[:2].max()
    assert constant <= 2.0 * (1.0 + 3.0 * np.sqrt(20)) / extent
