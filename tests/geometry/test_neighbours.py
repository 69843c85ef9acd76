"""Nearest words among those that are left."""

from __future__ import annotations

import numpy as np
import pytest

from dptext import geometry
from tests import prepared, small


def test_the_words_left_are_searched_exactly() -> None:
    """Nearest of the words that are left, as words are taken away."""
    space = prepared.space_of(small.cloud(300, 8))
    left = geometry.RemainingWords(space.vectors, 300)
    rng = np.random.default_rng(1)
    gaps = np.linalg.norm(space.vectors[:, None] - space.vectors[None, :-1], axis=2)
    while len(left) > 7:
        row = int(rng.integers(301))
        nearest = left.nearest(row, 9)
        order = np.argsort(np.where(left.alive, gaps[row], np.inf), kind="stable")
        np.testing.assert_array_equal(nearest, order[: min(9, len(left))])
        left.remove(rng.choice(np.flatnonzero(left.alive), 7, replace=False))


def test_the_farthest_word_is_nearest_exactly() -> None:
    """Also where more words than are searched for stand equally far."""
    points = np.random.default_rng(2).normal(size=(90, 3))
    points[40:] /= np.linalg.norm(points[40:], axis=1, keepdims=True)
    points[0] = 0.0
    space = prepared.space_of(small.lexicon(points))
    wide = space.vectors.astype(np.float64)
    gaps = np.linalg.norm(wide[:, None] - wide[None, :-1], axis=2)
    np.testing.assert_allclose(
        geometry.farthest_distances(space), gaps.max(axis=1), rtol=1e-15
    )
    pairs = gaps[:-1][np.triu_indices(90, 1)]
    assert geometry.closest_pair(space) == pytest.approx(pairs.min(), rel=1e-14)
