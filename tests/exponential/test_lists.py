"""Distances of listed words: computed as they are needed, or block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import cache
from dptext.exponential.lists import Lists
from dptext.spaces import Space
from tests import prepared, small

SIZE, LISTED = 900, 100


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Space:
    """Return a space whose lists are worth a file, with an empty cache folder."""
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
    """Of few rows, of many, of all, and again from the cache folder."""
    for rows in (np.array([5, 1, 5]), np.arange(50, 400), np.arange(SIZE + 1)) * 2:
        lists = Lists.of_all(space)
        np.testing.assert_allclose(lists.rows(rows), exact(space, lists, rows))


def test_few_rows_leave_no_file_and_many_do(space: Space) -> None:
    """What a short text needs is not worth a file."""
    lists = Lists.of_all(space)
    before = entries()
    lists.rows(np.arange(20))
    assert entries() == before
    lists.rows(np.arange(SIZE // 2))
    assert len(entries()) == len(before) + 1


def test_kept_distances_that_are_wrong_are_computed_anew(space: Space) -> None:
    """An entry that holds other distances is not used."""
    rows = np.arange(SIZE + 1)
    lists = Lists.of_all(space)
    before = set(entries())
    right = lists.rows(rows)
    (path,) = set(entries()) - before
    path.unlink()
    wrong = {"distances": right * 1.01}
    cache.arrays(path.stem, lambda: wrong)
    assert path.exists()
    assert Lists.of_all(space).rows(rows).tolist() == right.tolist()
