from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from dptext import registry
from dptext.spaces import lipschitz_constant
from dptext.types import Inputs
from tests import prepared, small


def brute(before: NDArray[np.float32], after: NDArray[np.float32]) -> float:
    """Return the largest ratio of all pairs, by direct differences."""
    apart = pdist(before.astype(np.float64))
    moved = pdist(after.astype(np.float64))
    kept = apart > 0
    return float((moved[kept] / apart[kept]).max())


def assert_exact(before: NDArray[np.float32], after: NDArray[np.float32]) -> None:
    """Hold the constant against brute force: never below, at most 1e-9 above."""
    constant, exact = lipschitz_constant(before, after), brute(before, after)
    assert exact <= constant <= exact * (1.0 + 1.1e-9)


@pytest.mark.parametrize("size", [2, 3, 40, 513, 2600])
@pytest.mark.parametrize("width", [1, 3, 60])
def test_the_constant_is_that_of_all_pairs(size: int, width: int) -> None:
    """Within and across tiles, for a map that is not linear."""
    rng = np.random.default_rng(size)
    before = rng.normal(size=(size, width)).astype(np.float32)
    assert_exact(before, (np.sin(3.0 * before) + before**2).astype(np.float32))


def test_a_pair_nearer_than_single_precision_sees_is_found() -> None:
    """A pair at 1.7e-3 among vectors of length 17 decides, and its ratio is exact."""
    rng = np.random.default_rng(0)
    before = rng.normal(size=(1500, 300)).astype(np.float32)
    after = before.copy()
    before[1400] = before[3] + np.float32(1e-4)
    after[1400] = after[3] + np.float32(2e-4)
    assert pdist(before[[3, 1400]])[0] == pytest.approx(1.7e-3, rel=0.1)
    assert_exact(before, after)
    assert lipschitz_constant(before, after) == pytest.approx(2.0, rel=1e-2)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 50.0])
def test_a_scaled_table_has_the_factor(factor: float) -> None:
    """All pairs have one ratio, up to rounding: no pair is missed or costs time."""
    rng = np.random.default_rng(1)
    before = rng.normal(size=(1200, 20)).astype(np.float32) + np.float32(30.0)
    assert_exact(before, (before * np.float32(factor)).astype(np.float32))
    wide = before.astype(np.float64) * factor
    assert lipschitz_constant(before, wide) == pytest.approx(factor, rel=2e-9)


def test_identical_vectors_are_skipped() -> None:
    """Words that cannot be told apart have no ratio; all alike gives 0."""
    before = np.random.default_rng(2).normal(size=(700, 4)).astype(np.float32)
    before[300:600] = before[0]
    assert_exact(before, before**3)
    alike = np.ones((50, 3), np.float32)
    assert lipschitz_constant(alike, alike) == 0.0
    assert lipschitz_constant(alike[:1], alike[:1]) == 0.0


def test_half_precision_is_read_exactly() -> None:
    """A lexicon's float16 vectors are compared in double precision."""
    rng = np.random.default_rng(3)
    before = rng.normal(size=(300, 8)).astype(np.float16)
    after = np.abs(before.astype(np.float32))
    assert_exact(before.astype(np.float32), after)
    constant = lipschitz_constant(before, after)
    assert constant == lipschitz_constant(before.astype(np.float32), after)


@pytest.mark.parametrize("name", registry.names("spaces"))
def test_every_space_knows_its_constant(name: str) -> None:
    """The constant of V + 1 rows is exact; that of the unchanged vectors is 1."""
    space = prepared.space_of(small.cloud(200, 6), name)
    exact = brute(space.lexicon.vectors, space.vectors)
    assert exact <= space.lipschitz.over(Inputs.WORDS) <= exact * (1.0 + 1.1e-9)
    assert space.original.lipschitz.over(Inputs.WORDS) == 1.0
    assert space.lipschitz.over(Inputs.WORDS) == space.lipschitz.over(Inputs.WORDS)
