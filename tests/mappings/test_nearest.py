"""The nearest word of each point."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.mappings import Index, nearest
from tests import distributions

pytestmark = pytest.mark.quick

# Words at 0, 1 and 3 on a line; the last row is for unknown words.
VECTORS = np.array([[0.0], [1.0], [3.0], [9.0]], np.float32)
INDEX = Index(VECTORS, 3)


def test_each_point_gets_its_nearest_word() -> None:
    """Points before, between and after the words; the unknown word is never written."""
    points = np.array([[-5.0], [0.4], [0.6], [2.1], [9.0]], np.float32)
    words = nearest.Params().prepare(INDEX).find(points, distributions.bits(5))
    assert words.tolist() == [0, 0, 1, 2, 2]
    assert words.dtype == np.int32


def test_of_equally_near_words_the_first_is_taken() -> None:
    """The more frequent word, which has the smaller id."""
    points = np.array([[0.5], [2.0]], np.float32)
    words = nearest.Params().prepare(INDEX).find(points, distributions.bits(2))
    assert words.tolist() == [0, 1]
