from __future__ import annotations

import numpy as np
import pytest

from dptext.spaces import observed_range
from dptext.types import Inputs
from tests import prepared, small

LEXICON = small.cloud(300, 9, seed=5)


def test_every_vector_fills_the_range_of_the_words() -> None:
    """The row of unknown words is stretched, too, but sets no range."""
    vectors = LEXICON.vectors.copy()
    vectors[-1, 0] = 100.0
    moved = observed_range.Params().transform(vectors)
    np.testing.assert_array_equal(moved.min(axis=1), vectors[:-1].min())
    np.testing.assert_array_equal(moved.max(axis=1), vectors[:-1].max())


def test_it_is_interval_at_another_scale() -> None:
    """All distances and the constant are (v_max - v_min) / 2 those of interval."""
    words = LEXICON.vectors[:-1].astype(np.float64)
    half = (words.max() - words.min()) / 2.0
    one, other = (
        prepared.space_of(LEXICON, name) for name in ("observed-range", "interval")
    )
    assert one.lipschitz.over(Inputs.WORDS) == pytest.approx(
        half * other.lipschitz.over(Inputs.WORDS), rel=1e-4
    )
    assert one.geometry.diameter == pytest.approx(half * other.geometry.diameter)


def test_a_constant_vector_takes_the_middle() -> None:
    """Its extent is zero."""
    vectors = np.array([[2.0, 2.0], [1.0, 4.0], [0.0, 0.0]], np.float32)
    moved = observed_range.Params().transform(vectors)
    np.testing.assert_array_equal(moved, [[2.5, 2.5], [1.0, 4.0], [2.5, 2.5]])
