"""Farthest words by pruned search: those of brute force, for any shape."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import progress
from dptext.lexicons import orders, search

SIZE = 2600  # more than are looked at first, and more than one block


def shaped(shape: str) -> NDArray[np.float32]:
    """Return rows (SIZE + 1, d): a cloud, points of a sphere, or all but at one end."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(SIZE + 1, 3 if shape == "sphere" else 6))
    if shape == "sphere":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if shape == "lopsided":
        rows[:] = np.abs(rows) ** 3
    rows[-1] *= 20  # the unknown word is no word, but an input
    return rows.astype(np.float32)


@pytest.mark.parametrize("shape", ["cloud", "sphere", "lopsided"])
def test_the_farthest_are_those_of_all_pairs(shape: str) -> None:
    """Exact in float64, for every row and for the largest of all."""
    rows = shaped(shape)
    wide = rows.astype(np.float64)
    expected = np.array(
        [np.sqrt(((wide[:-1] - row) ** 2).sum(axis=1).max()) for row in wide]
    )
    np.testing.assert_allclose(search.farthest(rows, SIZE), expected, rtol=1e-14)
    assert search.diameter(rows) == pytest.approx(expected.max(), rel=1e-14)
    among = search.diameter(rows[:-1])
    assert among == pytest.approx(expected[:-1].max(), rel=1e-14)


def test_many_words_are_measured_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the words have a neighbour at most as near as the figure says."""
    monkeypatch.setattr(orders, "_EVERY", 1000)
    monkeypatch.setattr(orders, "_ASKED", 900)
    rows = shaped("cloud")
    geometry = orders.measure(rows)
    assert "nearest_min" not in geometry
    monkeypatch.setattr(orders, "_EVERY", SIZE)
    exact = orders.measure(rows)
    assert exact["nearest_median"] <= geometry["nearest_median"]
    assert geometry["nearest_median"] < 1.2 * exact["nearest_median"]
    assert geometry["diameter"] == exact["diameter"]


def test_blocks_are_all_done_and_faults_are_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every row once, progress up to 1, and what a block raises ends the work."""
    seen = np.zeros(2500, int)
    shares: list[float] = []

    def work(block: slice) -> None:
        seen[block] += 1

    monkeypatch.setattr(progress, "share", lambda _, done: shares.append(done))
    search.in_blocks("counting", 2500, work, rows=7)
    assert (seen == 1).all()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    def fail(block: slice) -> None:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        search.in_blocks("counting", 2500, fail)
