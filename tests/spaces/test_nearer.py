"""Words nearer than a bound: what float64 finds among all, near ties included."""

from __future__ import annotations

import numpy as np
import pytest

from dptext.lexicons.search import lengths_from
from dptext.spaces import words_nearer_than


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("dimensions", [1, 3, 300])
def test_words_nearer_than_a_bound(dimensions: int, scale: float) -> None:
    """Exact where a bound is the distance of a word, or a hair from it."""
    rng = np.random.default_rng(dimensions)
    vectors = rng.normal(scale=scale, size=(900, dimensions)).astype(np.float32)
    vectors[100:200] = vectors[:100]
    vectors[200:300] = vectors[:100] * np.float32(1.0 + 1e-6)
    rows = [0, 150, 899]
    wide = vectors.astype(np.float64)
    for rank in (0, 1, 2, 40, 898):
        exact = [np.sqrt(((wide[:899] - wide[row]) ** 2).sum(axis=1)) for row in rows]
        at = np.array([np.sort(lengths)[rank] for lengths in exact])
        for bounds in (at, at * (1.0 + 1e-7), at * (1.0 - 1e-7)):
            words_of = words_nearer_than(vectors, 899, rows, bounds)
            for row, bound, words in zip(rows, bounds, words_of, strict=True):
                lengths = lengths_from(vectors, row, slice(899))
                assert words.tolist() == np.flatnonzero(lengths < bound).tolist()


def test_what_bounds_nothing() -> None:
    """No number and infinity have all words, 0 none."""
    vectors = np.eye(5, dtype=np.float32)
    bounds = np.array([np.nan, np.inf, 0.0])
    words = [each.tolist() for each in words_nearer_than(vectors, 4, [0, 1, 4], bounds)]
    assert words == [[0, 1, 2, 3], [0, 1, 2, 3], []]


def test_distances_do_not_depend_on_what_is_held_at_once() -> None:
    """Of long rows, one by one, as of all together."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(40, 30_000)).astype(np.float32)
    gaps = vectors.astype(np.float64) - vectors[7].astype(np.float64)
    expected = np.linalg.norm(gaps, axis=1)
    np.testing.assert_allclose(lengths_from(vectors, 7), expected, rtol=1e-14)
    some = np.array([3, 39, 7])
    np.testing.assert_array_equal(
        lengths_from(vectors, 7, some), lengths_from(vectors, 7)[some]
    )
