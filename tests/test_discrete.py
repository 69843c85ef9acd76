"""Whole numbers as noise: the tables are exact, and so are the claims about them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dptext import noise
from dptext import noise as curve
from tests import distributions

SIGMA = noise.WIDTH


def normal_law() -> NDArray[np.float64]:
    """Return P(|k| = j) of the discrete Gaussian by its formula."""
    sizes = np.arange(14 * SIGMA)
    weights = np.exp(-(sizes**2) / (2.0 * SIGMA**2)) * np.where(sizes, 2.0, 1.0)
    law: NDArray[np.float64] = weights / weights.sum()
    return law


def in_cells(sizes: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cell of each size."""
    return np.searchsorted(edges, sizes, side="right")


def test_normal_draws_follow_the_formula() -> None:
    """Sizes in 60 cells, and fair signs (alarm 1e-6)."""
    drawn = noise.normal(distributions.bits(4000, 3), 50).ravel()
    law = normal_law()
    edges = np.linspace(0, 4.2 * SIGMA, 60).astype(np.int64)
    numbers = in_cells(np.arange(len(law)), edges)
    cells = np.asarray(np.bincount(numbers, weights=law), np.float64)
    sizes = in_cells(np.abs(drawn), edges)
    distributions.assert_follows(sizes, cells, distributions.ALARM / 2)
    signs = (drawn[drawn != 0] < 0).astype(int)
    distributions.assert_follows(signs, np.full(2, 0.5), distributions.ALARM / 2)


def test_laplace_draws_follow_the_formula() -> None:
    """Sizes in 60 cells, the first steps one by one, and fair signs (alarm 1e-6)."""
    drawn = noise.laplace(distributions.bits(4000, 4), 50).ravel()
    edges = np.unique(np.geomspace(1, 20 * SIGMA, 60).astype(np.int64))
    q = 2.0 ** (-1.0 / SIGMA)
    # P(|k| >= j) = 2 q^j / (1 + q)
    beyond = np.concatenate(([1.0], 2.0 * q ** edges.astype(float) / (1.0 + q), [0.0]))
    sizes = in_cells(np.abs(drawn), edges)
    distributions.assert_follows(sizes, -np.diff(beyond), distributions.ALARM / 2)
    signs = (drawn[drawn != 0] < 0).astype(int)
    distributions.assert_follows(signs, np.full(2, 0.5), distributions.ALARM / 2)


def test_the_table_of_the_normal_law_is_exact() -> None:
    """To 120 bits, against a sum of exponentials in 60 digits at chosen places."""
    high, low = noise.normal_table()
    with mpmath.workdps(60):
        scale = mpmath.mpf(2) * SIGMA**2
        # The sum over all whole numbers, by Poisson's formula, has no other digits.
        total = mpmath.sqrt(2 * mpmath.pi) * SIGMA
        sums = mpmath.mpf(0)
        for size in range(3000):
            sums += (2 if size else 1) * mpmath.exp(-(mpmath.mpf(size) ** 2) / scale)
            if size in (0, 1, 17, 2999):
                entry = (int(high[size]) << 63) + int(low[size])
                chance = mpmath.mpf(entry) / mpmath.mpf(2) ** 127
                assert abs(chance - sums / total) < mpmath.mpf(2) ** -120
    assert (np.diff(high.astype(np.float64)) >= 0).all()


def test_the_table_of_the_geometric_law_is_exact() -> None:
    """P(L <= j) = 2 (1 - 2^(-(j + 1) / 4096)), to the last of 64 bits."""
    table = noise.geometric_table()
    assert len(table) == SIGMA - 1
    with mpmath.workdps(60):
        for size in (0, 1, 2000, SIGMA - 2):
            exact = 2 * (1 - mpmath.mpf(2) ** (-mpmath.mpf(size + 1) / SIGMA))
            assert int(table[size]) == int(mpmath.floor(exact * mpmath.mpf(2) ** 64))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "ordered",
    [
        noise.normal_table()[0],
        noise.geometric_table(),
        np.array([0, 0, 5, 1 << 48, (1 << 48) + 1, 2**64 - 1, 2**64 - 1], np.uint64),
    ],
)
def test_a_lookup_places_numbers_as_a_search_does(
    ordered: NDArray[np.uint64], side: Literal["left", "right"]
) -> None:
    """Beside each number of the table, at the ends, and at random."""
    one = np.uint64(1)
    random = np.random.default_rng(3).integers(0, 2**64, 20_000, dtype=np.uint64)
    ends = np.array([0, 1, 2**48 - 1, 2**48, 2**63, 2**64 - 1], np.uint64)
    numbers = np.concatenate((ordered, ordered - one, ordered + one, ends, random))
    placed = noise.Lookup(ordered).searchsorted(numbers, side)
    np.testing.assert_array_equal(placed, np.searchsorted(ordered, numbers, side=side))


def test_the_discrete_gaussian_is_a_rounded_normal() -> None:
    """Each probability is that of N(0, s^2 - 1/12) rounded, within the slack."""
    with mpmath.workdps(40):
        sigma = mpmath.sqrt(mpmath.mpf(SIGMA) ** 2 - mpmath.mpf(1) / 12)
        total = mpmath.sqrt(2 * mpmath.pi) * SIGMA
        for size in (0, 1, 5, SIGMA, 4 * SIGMA, 9 * SIGMA, 14 * SIGMA):
            mine = mpmath.exp(-(mpmath.mpf(size) ** 2) / (2 * SIGMA**2)) / total
            half = mpmath.mpf(1) / 2
            ends = [(size + end) / sigma / mpmath.sqrt(2) for end in (-half, half)]
            cell = (mpmath.erfc(ends[0]) - mpmath.erfc(ends[1])) / 2
            assert abs(mpmath.log(mine / cell)) < noise.NORMAL_SLACK


@pytest.mark.parametrize("mu", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_discrete_gaussian_keeps_the_exact_curve(mu: float, epsilon: float) -> None:
    """In one dimension, delta summed over all whole numbers, against the claim."""
    shift = round(mu * SIGMA)
    mu = shift / SIGMA
    points = np.arange(-14 * SIGMA, 14 * SIGMA + shift + 1)
    logs = -(points.astype(float) ** 2) / (2 * SIGMA**2)
    moved = -((points - shift).astype(float) ** 2) / (2 * SIGMA**2)
    total = math.sqrt(2 * math.pi) * SIGMA
    exact = np.maximum(np.exp(moved) - np.exp(epsilon + logs), 0.0).sum() / total
    claimed = curve.gaussian_delta(epsilon, mu / math.sqrt(1 - 1 / (12 * SIGMA**2)))
    assert exact <= claimed * (1 + 1e-9)
    assert exact >= claimed * (1 - 2e-3)


def test_laplace_goes_on_where_64_bits_do_not_decide() -> None:
    """Zeros of a whole lane count on in the next; a negative zero is drawn anew."""

    class Planted:
        """Random bits of three lanes: all zeros; ones; a size that is no zero."""

        def __init__(self) -> None:
            self.asked: list[int] = []

        def __len__(self) -> int:
            return 1

        def take(self, rows: Any) -> Planted:
            return self

        def integers(self, lane: int, lanes: int = 1) -> NDArray[np.uint64]:
            self.asked.append(lane)
            # (high: L, low: zeros and sign)
            parts = {0: (0, 0), 1: (0, 2), 2: (0, (1 << 63) + 1), 3: (1 << 63, 1 << 62)}
            return np.array([parts[lane]], np.uint64)

    planted = Planted()
    assert noise.laplace(planted, 1)[0, 0] == SIGMA * (63 + 62)  # type: ignore[arg-type]
    assert planted.asked == [0, 1]
    later = Planted()
    real = later.integers
    later.integers = lambda lane, lanes=1: real(lane + 2)  # type: ignore[method-assign]
    drawn = noise.laplace(later, 1)[0, 0]  # type: ignore[arg-type]
    table = noise.geometric_table()
    assert drawn == SIGMA + int((table <= np.uint64(1 << 63)).sum())


def test_pure_privacy_of_the_laplace_table() -> None:
    """No probability of a size is off by more than the slack: exact fractions."""
    table = [0, *map(int, noise.geometric_table()), 1 << 64]
    share = [Fraction(b - a, 1 << 64) for a, b in pairwise(table)]
    with mpmath.workdps(40):
        q = mpmath.mpf(2) ** (-mpmath.mpf(1) / SIGMA)
        for size in (0, 1, 1000, SIGMA - 1):
            exact = 2 * (1 - q) * q**size
            ratio = mpmath.mpf(share[size].numerator) / share[size].denominator / exact
            assert abs(mpmath.log(ratio)) < noise.LAPLACE_SLACK


def test_scipy_agrees_on_the_spread() -> None:
    """Standard deviation and kurtosis of a large sample (6 sigma)."""
    drawn = noise.normal(distributions.bits(10_000, 8), 20).ravel() / SIGMA
    assert abs(drawn.std() - 1.0) < 6 / math.sqrt(2 * drawn.size)
    assert abs(stats.kurtosis(drawn)) < 6 * math.sqrt(24 / drawn.size)
