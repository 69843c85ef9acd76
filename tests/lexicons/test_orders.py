"""Orders: nearest first, and a true bound beyond."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.lexicons import orders, search
from tools.english.orders import far_bounds


def vectors(size: int, d: int = 5, *, scale: float = 1.0) -> NDArray[np.float32]:
    """Return size words and the row of unknown words."""
    rng = np.random.default_rng(size)
    return (scale * rng.standard_normal((size + 1, d))).astype(np.float32)


def distances(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return all distances from every row to every word, in float64."""
    wide = rows.astype(np.float64)
    return np.asarray(np.sqrt(((wide[:, None] - wide[None, :-1]) ** 2).sum(-1)))


def test_the_word_itself_comes_first() -> None:
    """Every word heads its own order, even beside an identical one."""
    rows = vectors(50)
    rows[7] = rows[3]
    listed, _ = orders.build_orders(rows, 10)
    assert (listed[:50, 0] == np.arange(50)).all()


def test_the_nearest_follow_by_distance_then_id() -> None:
    """An order is the brute-force order."""
    rows = vectors(80)
    listed, _ = orders.build_orders(rows, 20)
    gaps = distances(rows)
    gaps[np.arange(80), np.arange(80)] = -1.0
    assert (listed == np.argsort(gaps, axis=1, kind="stable")[:, :20]).all()


def test_equal_distances_go_by_id() -> None:
    """Words at the same place stand by ascending id."""
    rows = np.zeros((9, 3), np.float32)
    rows[:, 0] = 1
    listed, far = orders.build_orders(rows, 4)
    assert listed[5].tolist() == [5, 0, 1, 2]
    assert listed[8].tolist() == [0, 1, 2, 3]
    assert (far == 0).all()


def test_the_unknown_row_is_never_listed() -> None:
    """The last row has an order but is in none."""
    rows = vectors(30)
    listed, _ = orders.build_orders(rows, 30)
    assert listed.shape == (31, 30)
    assert listed.max() == 29


def test_no_order_repeats_a_word() -> None:
    """An order is a list of different words."""
    rows = vectors(60)
    listed, _ = orders.build_orders(rows, 25)
    assert all(len(set(row)) == 25 for row in listed.tolist())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_far_bounds_every_word_that_is_not_listed(scale: float) -> None:
    """No word outside an order is nearer than far, at any scale."""
    rows = vectors(300, scale=scale)
    listed, far = orders.build_orders(rows, 8)
    gaps = distances(rows)
    np.put_along_axis(gaps, listed.astype(np.int64), np.inf, axis=1)
    nearest = gaps.min(axis=1)
    assert (far.astype(np.float64) <= nearest).all()
    assert (far > 0.9 * nearest).all()


def test_far_is_infinite_where_every_word_is_listed() -> None:
    """With all words listed nothing lies beyond."""
    listed, far = orders.build_orders(vectors(12), 40)
    assert listed.shape == (13, 12)
    assert np.isinf(far).all()


def test_large_vocabularies_take_wider_ids() -> None:
    """Ids beyond 16 bits are kept whole."""
    rows = np.zeros((2**16 + 11, 1), np.float32)
    rows[:, 0] = np.arange(2**16 + 11)
    rows[0] = 2**16 + 5.4
    listed, _ = orders.build_orders(rows, 3, inputs=1)
    assert listed.dtype == np.uint32
    assert listed.tolist() == [[0, 2**16 + 5, 2**16 + 6]]


def test_far_of_a_list_made_by_hand() -> None:
    """The bound of a given list is the nearest word outside it, rounded down."""
    rows = np.array([[1.0], [2.0], [4.0], [0.0]], np.float16)
    far = orders.far_bound(rows, 3, np.array([0, 2]))
    assert far <= 2.0
    assert far == pytest.approx(2.0)


def test_measure_agrees_with_brute_force() -> None:
    """Nearest, median and diameter are those of all pairs."""
    rows = vectors(200, scale=3.0)
    rows[200] *= 10
    geometry = orders.measure(rows)
    gaps = distances(rows)
    among = gaps[:200].copy()
    np.fill_diagonal(among, np.inf)
    nearest = among.min(axis=1)
    assert geometry["nearest_min"] == pytest.approx(nearest.min(), rel=1e-12)
    assert geometry["nearest_median"] == pytest.approx(np.median(nearest), rel=1e-12)
    assert geometry["diameter"] == pytest.approx(gaps.max(), rel=1e-12)
    pairs = among[np.triu_indices(200, 1)]
    assert geometry["median"] == pytest.approx(np.median(pairs), rel=0.01)


def test_measure_sees_tiny_gaps() -> None:
    """Two words nearer than float32 products can resolve are kept apart."""
    rows = vectors(100, d=50, scale=5.0)
    rows[1] = rows[0]
    rows[1, 0] += np.float32(1e-5)
    gap = float(rows[1, 0].astype(np.float64) - rows[0, 0].astype(np.float64))
    assert orders.measure(rows)["nearest_min"] == pytest.approx(abs(gap), rel=1e-9)


def test_the_same_vectors_give_the_same_orders() -> None:
    """Orders and bounds are a function of vectors."""
    rows = vectors(2000, d=20)
    first, second = orders.build_orders(rows, 30), orders.build_orders(rows, 30)
    assert (first[0] == second[0]).all()
    assert (first[1] == second[1]).all()


def test_with_outputs_only_the_first_words_are_listed() -> None:
    """Every word has an order of the outputs; those among them come first in theirs."""
    rows = vectors(90)
    listed, far = orders.build_orders(rows, 15, outputs=40)
    gaps = distances(rows)[:, :40]
    gaps[np.arange(40), np.arange(40)] = -1.0
    assert (listed == np.argsort(gaps, axis=1, kind="stable")[:, :15]).all()
    rest = np.sort(gaps, axis=1)[:, 15]
    assert (far <= rest).all()
    assert (far > 0.9 * rest).all()


def test_far_of_any_orders_is_a_tight_bound() -> None:
    """For any list, the bound is the distance of the nearest unlisted word."""
    rows = vectors(120)
    rng = np.random.default_rng(8)
    listed = np.array([rng.permutation(120)[:20] for _ in range(121)], np.uint16)
    far = far_bounds(rows, listed)
    gaps = distances(rows)
    np.put_along_axis(gaps, listed.astype(np.int64), np.inf, axis=1)
    assert (far.astype(np.float64) <= gaps.min(axis=1)).all()
    assert (far >= 0.999 * gaps.min(axis=1)).all()


def test_orders_by_cosine_are_those_of_the_rule() -> None:
    """Cosine less 0.7 of the mean of the ten nearest, less 0.2 a nat; barred last."""
    rng = np.random.default_rng(3)
    size, outputs, listed, barred = 900, 200, 12, [4, 17]
    vectors = rng.normal(size=(size + 1, 9)).astype(np.float32)
    vectors[40] = 0.0
    counts = np.sort(rng.pareto(1.0, size) + 1.0)[::-1]
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1.0)
    cosines = unit @ unit[:outputs].T
    near = cosines[:outputs].copy()
    near[np.arange(outputs), np.arange(outputs)] = -2.0
    near[:, barred] = -2.0
    scores = cosines - 0.7 * np.sort(near, axis=1)[:, -10:].mean(axis=1)
    rarer = np.log(counts)[:, None] - np.log(counts)[:outputs]
    scores[:size] -= 0.2 * np.maximum(rarer, 0.0)
    scores[:, barred] = -np.inf
    scores[np.arange(outputs), np.arange(outputs)] = -np.inf
    expected = np.argsort(-scores, axis=1, kind="stable")
    ids = orders.orders_by_cosine(
        vectors, counts=counts, outputs=outputs, listed=listed, barred=barred
    )
    assert (ids[:size, 0] == np.arange(size)).all()
    assert (ids[:size, 1:] == expected[:size, : listed - 1]).mean() > 0.999
    assert ids[size].tolist() == expected[size, :listed].tolist()


def test_measure_computes_each_pair_of_few_words_once() -> None:
    """The median is the same number as that of all drawn pairs."""
    rows = vectors(60, scale=3.0)
    rng = np.random.default_rng(20240)
    pairs = rng.integers(0, 60, (1_000_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    gaps = search.distances_of_pairs(rows, pairs[:, 0], pairs[:, 1])
    assert orders.measure(rows)["median"] == float(np.median(gaps))
