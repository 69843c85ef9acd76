"""Distances of listed words: computed as they are needed, or block by block."""

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
# Drawn words after which every block is learned.
MANY = 20 * (SIZE + 1)


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
    """Of few rows, of many, of all, learned or not, and again from the cache folder."""
    for rows in (np.array([5, 1, 5]), np.arange(50, 400), np.arange(SIZE + 1)) * 2:
        lists = Lists.of_all(space)
        np.testing.assert_allclose(lists.rows(rows), exact(space, lists, rows))
        lists.learn(MANY)
        np.testing.assert_allclose(lists.rows(rows), exact(space, lists, rows))


@pytest.mark.parametrize("words", [20, MANY])
def test_the_number_of_words_alone_decides_what_is_kept(
    space: Space, words: int
) -> None:
    """Files tell nothing of a text: whatever words occur, they are the same."""
    before = entries()
    left = []
    for rows in (np.zeros(words, np.int64), np.arange(words) % SIZE):
        lists = Lists.of_all(space)
        lists.rows(rows)
        assert entries() == before
        lists.learn(words)
        left.append({path.name for path in entries()} - {path.name for path in before})
        for path in set(entries()) - set(before):
            path.unlink()
    assert left[0] == left[1]
    assert len(left[0]) == (words == MANY)


def test_draws_count_words_for_the_lists(space: Space) -> None:
    """The same words over and over: the same files as for different ones."""
    ids = np.zeros(MANY, np.int32)
    before = entries()
    mechanism = prepared.ready("santext", space.lexicon)
    mechanism.sample(ids, np.full(MANY, 5.0), distributions.bits(MANY))
    assert len(entries()) > len(before)


def test_rows_that_are_never_asked_for_are_not_learned(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks before the first row stay as they are."""
    monkeypatch.setattr("dptext.exponential.distribution._BLOCK", 700 * LISTED)
    lists = Lists.of_all(space)
    lists.learn(MANY, 700)
    assert not lists.known.any()
    lists.learn(MANY)
    assert lists.known[:700].all()


def test_kept_distances_that_are_wrong_are_computed_anew(space: Space) -> None:
    """An entry that holds other distances is not used."""
    rows = np.arange(SIZE + 1)
    lists = Lists.of_all(space)
    before = set(entries())
    lists.learn(MANY)
    right = lists.rows(rows)
    (path,) = set(entries()) - before
    path.unlink()
    wrong = {"distances": right * 1.01}
    cache.arrays(path.stem, lambda: wrong)
    assert path.exists()
    again = Lists.of_all(space)
    again.learn(MANY)
    assert again.rows(rows).tolist() == right.tolist()


def test_what_is_kept_is_read_early_and_nothing_else(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one drawn word for each row, not twenty; other blocks stay unknown."""
    monkeypatch.setattr("dptext.exponential.distribution._BLOCK", 450 * LISTED)
    monkeypatch.setattr("dptext.exponential.distribution._WORTH", 1)
    lists = Lists.of_all(space)
    before = entries()
    lists.learn(SIZE + 1)
    assert not lists.known.any()
    assert entries() == before
    lists.learn(20 * 450)
    kept = entries()
    assert len(kept) == len(before) + 1
    again = Lists.of_all(space)
    again.learn(449)
    assert not again.known.any()
    again.learn(SIZE + 1)
    assert again.known.tolist() == [row < 450 for row in range(SIZE + 1)]
    assert again.distances[:450].tolist() == lists.distances[:450].tolist()
    assert entries() == kept
