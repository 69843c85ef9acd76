"""Distances of listed words, computed on demand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import cache
from dptext.exponential.distribution import Lists
from dptext.spaces import Space
from tests import distributions, prepared, small

SIZE, LISTED = 900, 100
MANY = 20 * (SIZE + 1)


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Space:
    """Return a space with lists that are worth a file, and an empty cache folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return prepared.space_of(small.cloud(SIZE, 3, listed=LISTED))


def exact(space: Space, lists: Lists, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the distances by direct differences."""
    vectors = space.vectors.astype(np.float64)
    gap = vectors[rows][:, None] - vectors[lists.listed[rows]]
    return np.asarray(np.sqrt((gap**2).sum(axis=2)))


def entries() -> list[Path]:
    """Return the files of the cache folder."""
    return sorted(cache.folder().glob("*.arrays"))


def test_distances_are_those_of_the_listed_words(space: Space) -> None:
    """Of few rows, of many, of all, of which some are known by then."""
    lists = Lists.from_space(space)
    for rows in (np.array([5, 1, 5]), np.arange(50, 400), np.arange(SIZE + 1)):
        np.testing.assert_allclose(lists.rows(rows), exact(space, lists, rows))


def test_draws_leave_nothing_in_the_cache(space: Space) -> None:
    """After the first draw, draws of any words write nothing to the cache."""
    mechanism = prepared.ready("santext", space.lexicon)
    mechanism.sample(np.zeros(1, np.int32), np.ones(1), distributions.bits(1))
    before = entries()
    ids = np.arange(MANY, dtype=np.int32) % SIZE
    mechanism.sample(ids, np.full(MANY, 5.0), distributions.bits(MANY))
    assert entries() == before
