"""santext and tem: the exponential mechanism of a distance and of its truncation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.mechanisms import Channel, tem
from dptext.types import Lexicon
from tests import distributions, prepared, small

LINE = small.line(0.0, 1.0, 3.0)
SANTEXT = [
    [0.7053845127, 0.2594964603, 0.0351190270],
    [0.2447284711, 0.6652409558, 0.0900305732],
    [0.0420100661, 0.1141951994, 0.8437947345],
]
TEM = [
    [0.6285317192, 0.2312238976, 0.1402443832],
    [0.2312238976, 0.6285317192, 0.1402443832],
    [0.1542807730, 0.1542807730, 0.6914384540],
]
RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("santext", {}),
    ("tem", {"gamma": 0.8}),
    ("tem", {"gamma": 2.5}),
    ("tem", {"beta": 0.2}),
    ("tem", {"beta": 0.001}),
]


def distances(lexicon: Lexicon) -> NDArray[np.float64]:
    """Return d(x, y) for all inputs, the unknown one last, by direct differences."""
    wide = lexicon.vectors.astype(np.float64)
    found: NDArray[np.float64] = np.linalg.norm(
        wide[:, None, :] - wide[None, :-1, :], axis=2
    )
    return found


def reach_of(mechanism: Channel, epsilon: float) -> float:
    """Return gamma, or infinity for santext."""
    return tem.gamma_of(mechanism.state, epsilon) if mechanism.name == "tem" else math.inf


def expected(mechanism: Channel, epsilon: float) -> NDArray[np.float64]:
    """Return the law by its definition."""
    gap = np.minimum(distances(mechanism.space.lexicon), reach_of(mechanism, epsilon))
    return distributions.normalised(-epsilon * gap / 2.0)


@pytest.mark.parametrize(
    ("name", "params", "vector"),
    [("santext", {}, SANTEXT), ("tem", {"gamma": 1.5}, TEM)],
)
def test_the_law_is_the_published_vector(
    name: str, params: dict[str, Any], vector: list[list[float]]
) -> None:
    """GUARANTEES 13: all rows of {0, 1, 3} at epsilon 2."""
    exact = prepared.probabilities(prepared.ready(name, LINE, **params), 2.0)[:3]
    np.testing.assert_allclose(exact, vector, rtol=0, atol=1e-10)
    losses = distributions.worst_losses(exact)
    if name == "santext":
        assert losses[0, 2] == pytest.approx(2.8208338028, abs=1e-10)
        assert losses[2, 0] == pytest.approx(3.1791661972, abs=1e-10)
    else:
        assert losses.max() == pytest.approx(1.5953876487, abs=1e-10)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_the_exact_law_is_the_definition(name: str, params: dict[str, Any]) -> None:
    """log_weights normalised is the formula, for words and the unknown one."""
    mechanism = prepared.ready(name, small.cloud(40, 6, listed=5), **params)
    for epsilon in (0.1, 3.0, 40.0):
        np.testing.assert_allclose(
            prepared.probabilities(mechanism, epsilon),
            expected(mechanism, epsilon),
            rtol=1e-6,
        )


@pytest.mark.parametrize("size", [2, 12, 60])
@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_no_pair_loses_more_than_it_is_promised(
    name: str, params: dict[str, Any], size: int
) -> None:
    """Exact audit: max L(x, x') <= epsilon min(d, gamma) for all pairs of clouds."""
    for seed in range(3):
        lexicon = small.cloud(size, 4, listed=2, seed=seed)
        mechanism = prepared.ready(name, lexicon, **params)
        wide = lexicon.vectors.astype(np.float64)
        pairs = np.linalg.norm(wide[:, None, :] - wide[None, :, :], axis=2)
        for epsilon in (0.5, 4.0, 20.0):
            # Distances in float32 lists and Gram products: 1e-6 of slack.
            bound = epsilon * np.minimum(pairs, reach_of(mechanism, epsilon))
            losses = distributions.worst_losses(
                prepared.probabilities(mechanism, epsilon)
            )
            assert (losses <= bound + 1e-6 * epsilon).all()
            promise = mechanism.guarantee(epsilon)
            assert promise.notion == "metric-DP"
            assert losses.max() <= promise.worst(epsilon) + 1e-6 * epsilon


@pytest.mark.parametrize("listed", range(1, 8))
@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_draws_follow_the_law_whatever_is_listed(
    name: str, params: dict[str, Any], listed: int
) -> None:
    """Sampled against exact with 1 to all words listed, epsilons mixed (1e-6)."""
    mechanism = prepared.ready(name, small.cloud(7, 3, listed=listed), **params)
    prepared.hold_draws(mechanism, [0.3, 2.0, 7.0], 9_000, seed=listed)


def test_draws_follow_the_law_on_a_line() -> None:
    """The published vector, sampled with one listed word (alarm 1e-6)."""
    mechanism = prepared.ready("santext", small.line(0.0, 1.0, 3.0, listed=1))
    ids = np.zeros(200_000, np.int32)
    drawn = mechanism.sample(
        ids, np.full(len(ids), 2.0), distributions.bits(len(ids))
    )
    vector = np.array(SANTEXT[0])
    distributions.assert_follows(drawn, vector / vector.sum())


def test_draws_follow_the_law_among_equal_and_near_vectors() -> None:
    """Words in one place and words a hair apart get their exact shares (1e-6)."""
    points = np.array([[0.0], [0.0], [1e-4], [1.0], [1.0 + 1e-6], [50.0]])
    for listed in (1, 2, 6):
        lexicon = small.lexicon(points, listed=listed)
        for name, params in RECIPES:
            mechanism = prepared.ready(name, lexicon, **params)
            np.testing.assert_allclose(
                prepared.probabilities(mechanism, 2.0), expected(mechanism, 2.0), atol=1e-7
            )
            prepared.hold_draws(mechanism, [0.05, 2.0], 8_000, seed=listed)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_a_large_vocabulary_is_drawn_from_by_its_law(
    name: str, params: dict[str, Any]
) -> None:
    """More words than a block of the sampler, few of them listed (alarm 1e-6)."""
    lexicon = small.cloud(1500, 2, listed=3)
    mechanism = prepared.ready(name, lexicon, **params)
    ids = np.tile(np.array([0, 700, -1], np.int32), 40_000)
    drawn = mechanism.sample(
        ids, np.full(len(ids), 4.0), distributions.bits(len(ids))
    )
    for row in (0, 700, -1):
        exact = expected(mechanism, 4.0)[row]
        # Rare words in bins of at least one in a thousand.
        order = np.argsort(exact, kind="stable")
        bins = np.empty(len(exact), np.int64)
        bins[order] = (np.cumsum(exact[order]) * 200).clip(max=199).astype(np.int64)
        law = np.bincount(bins, exact, minlength=200)
        distributions.assert_follows(
            bins[drawn[ids == row]], law, distributions.ALARM / 3
        )


def test_gamma_follows_from_beta() -> None:
    """GUARANTEES 13: 30 000 words, beta 0.001, epsilon 2 give 17.2156741054."""
    size = 30_000
    lexicon = Lexicon(
        name="large",
        words=tuple(f"w{row}" for row in range(size)),
        vectors=np.zeros((size + 1, 1), np.float32),
        counts=np.ones(size),
        orders=np.arange(size + 1, dtype=np.uint16)[:, None] % size,
        far=np.zeros(size + 1, np.float32),
        digest="large",
        meta={},
    )
    state = prepared.ready("tem", lexicon, beta=0.001).state
    assert tem.gamma_of(state, 2.0) == pytest.approx(17.2156741054, abs=1e-10)
    # epsilon * gamma does not depend on epsilon.
    assert 7.0 * tem.gamma_of(state, 7.0) == pytest.approx(2.0 * 17.2156741054)
    assert tem.gamma_of(prepared.ready("tem", lexicon, gamma=3.0).state, 2.0) == 3.0


@pytest.mark.parametrize("beta", [0.3, 0.01])
def test_beta_bounds_the_far_outputs(beta: float) -> None:
    """An output farther than gamma has probability at most beta, for every input."""
    lexicon = small.cloud(80, 5, listed=3)
    mechanism = prepared.ready("tem", lexicon, beta=beta)
    for epsilon in (2.0, 6.0, 30.0):
        far = distances(lexicon) > tem.gamma_of(mechanism.state, epsilon)
        share = (prepared.probabilities(mechanism, epsilon) * far).sum(axis=1)
        assert (share[:-1] <= beta * (1 + 1e-6)).all()


def test_one_word_is_drawn_from_a_vocabulary_of_one() -> None:
    """The smallest lexicon works."""
    for name, params in RECIPES:
        mechanism = prepared.ready(name, small.line(1.0), **params)
        ids = np.array([0, -1], np.int32)
        drawn = mechanism.sample(ids, np.ones(2), distributions.bits(2)
        )
        assert drawn.tolist() == [0, 0]
