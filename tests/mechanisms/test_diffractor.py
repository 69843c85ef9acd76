from __future__ import annotations

import decimal
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.mechanisms import Mechanism, diffractor
from dptext.mechanisms.diffractor import Diffractor, Params, WordChains
from dptext.noise import leading_zeros
from dptext.randomness import RandomBits
from tests import distributions, prepared, small

NOISES = ({"noise": "geometric"}, {"noise": "tem", "gamma": 2.5}, {"noise": "tem"})


def chain_of(size: int) -> Diffractor:
    """Return a mechanism with the single chain 0, 1, ... size - 1."""
    words = np.arange(size, dtype=np.int32)[None, :]
    positions = np.append(words, [[1]], axis=1).astype(np.int32)
    space = prepared.space_of(small.line(*map(float, range(size))))
    return Diffractor(Params(), space, WordChains(words, positions))


def distances(mechanism: Diffractor) -> NDArray[np.float64]:
    """Return the largest distance over chains of all pairs of rows, unknown last."""
    positions = mechanism.chains.positions.astype(np.float64)
    gaps: NDArray[np.float64] = np.abs(positions[:, :, None] - positions[:, None, :])
    return np.asarray(gaps.max(axis=0) / mechanism.params.scale)


def test_geometric_probabilities_are_the_published_vector() -> None:
    """The vector of the specification: 4 words at epsilon 0.5."""
    ids = np.array([0, 1], np.int32)
    logs = chain_of(4).log_probs(ids, np.full(2, 0.5))
    expected = [
        [0.6224593312, 0.1485506779, 0.0901005407, 0.1388894503],
        [0.3775406688, 0.2449186624, 0.1485506779, 0.2289899909],
    ]
    np.testing.assert_allclose(np.exp(logs), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("settings", NOISES)
@pytest.mark.parametrize("chains", [1, 3])
def test_rows_are_normalised_and_their_loss_within_the_promise(
    settings: dict[str, object], chains: int
) -> None:
    """Rows sum to 1; each pair loses at most epsilon times its distance."""
    lexicon = small.cloud(23, 3, listed=5)
    for epsilon, scale in ((0.3, 1.0), (2.0, 1.0), (2.0, 3.0)):
        mechanism = prepared.ready(
            "diffractor", lexicon, chains=chains, scale=scale, **settings
        )
        ids = prepared.repeated(23, 1)
        logs = mechanism.log_probs(ids, np.full(24, epsilon))
        np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0, atol=1e-12)
        promise = mechanism.guarantee(epsilon)
        assert promise.notion == "metric-DP"
        bound = np.minimum(
            epsilon * np.minimum(distances(mechanism), promise.max_distance),
            promise.max_loss,
        )
        losses = (logs[:, None, :] - logs[None, :, :]).max(axis=2)
        one, other = np.divmod(np.arange(24 * 24), 24)
        claimed = mechanism.claimed_loss(ids[one], ids[other], epsilon)
        np.testing.assert_allclose(claimed, bound.ravel(), atol=1e-12)
        assert (losses <= bound + 1e-9).all()
        if chains == 1 and settings["noise"] == "geometric":
            np.testing.assert_allclose(losses, bound, atol=1e-9)


@pytest.mark.parametrize("settings", NOISES)
@pytest.mark.parametrize("chains", [1, 2])
def test_draws_follow_the_distribution(
    settings: dict[str, object], chains: int
) -> None:
    """Sampled against exact for every input, epsilons mixed in a batch (1e-6)."""
    lexicon = small.cloud(9, 3, listed=4)
    mechanism = prepared.ready("diffractor", lexicon, chains=chains, **settings)
    prepared.hold_draws(mechanism, [0.2, 1.0, 4.0], 6000)
    scaled = prepared.ready("diffractor", lexicon, chains=chains, scale=2.5, **settings)
    prepared.hold_draws(scaled, [1.0], 6000)


def test_tem_is_the_exponential_mechanism_of_the_cut_distance() -> None:
    """P ~ exp(-eps min(|i - j|, gamma) / 2), in every way of drawing."""
    mechanism = prepared.ready("diffractor", small.cloud(12, 2), noise="tem", gamma=3.2)
    gaps = np.minimum(distances(mechanism), 3.2)[:, :-1]
    exact = distributions.normalised(1.7 * gaps / -2.0)
    np.testing.assert_allclose(
        prepared.probabilities(mechanism, 1.7), exact, rtol=1e-12
    )


def test_a_chain_goes_to_the_nearest_word_that_is_left() -> None:
    """Step by step, also where all listed neighbours have been visited."""
    space = prepared.space_of(small.cloud(300, 4))
    built = WordChains.build(space, 2, seed=3)
    gaps = np.linalg.norm(space.vectors[:, None] - space.vectors[None, :-1], axis=2)
    assert built.words[0, 0] != built.words[1, 0]
    for chain, positions in zip(built.words, built.positions, strict=True):
        left = np.ones(300, bool)
        for here, after in pairwise(chain):
            left[here] = False
            assert after == np.where(left, gaps[here], np.inf).argmin()
        np.testing.assert_array_equal(positions[chain], np.arange(300))
        assert positions[-1] == positions[gaps[-1].argmin()]


def test_chains_follow_their_public_seed() -> None:
    """The same seed gives the same chains, another seed others."""
    space = prepared.space_of(small.cloud(60, 3))
    one, same, other = (WordChains.build(space, 1, seed).words for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("settings", NOISES)
@pytest.mark.parametrize("chains", [1, 3])
def test_the_best_guesses_are_those_of_the_rows(
    settings: dict[str, object], chains: int
) -> None:
    """The closed form of the Bayes risk is the maximum over the rows."""
    lexicon = small.cloud(150, 3, listed=9)
    mechanism = prepared.ready("diffractor", lexicon, chains=chains, **settings)
    prior = np.arange(150, 0, -1.0) / np.arange(150, 0, -1.0).sum()
    prior[7] = 0.0
    bands = [(0, 10), (10, 60), (60, 150)]
    for epsilon in (0.2, 3.0, 1e6):
        quick = mechanism.best_guesses(prior, epsilon, bands)
        slow = Mechanism.best_guesses(mechanism, prior, epsilon, bands)
        np.testing.assert_allclose(quick, slow, rtol=1e-9, atol=1e-300)


def test_the_geometry_is_that_of_the_places() -> None:
    """Nearest, median and largest distance are in the guarantee's own metric."""
    lexicon = small.cloud(400, 3)
    one = prepared.ready("diffractor", lexicon, scale=2.0)
    geometry = one.geometry
    pairs = distances(one)[:-1, :-1][np.triu_indices(400, 1)]
    assert geometry.nearest == 0.5
    assert geometry.diameter == 399 / 2.0
    assert geometry.median == pytest.approx(np.median(pairs), rel=0.02)
    three = prepared.ready("diffractor", lexicon, chains=3)
    gaps = distances(three)[:-1, :-1]
    np.fill_diagonal(gaps, np.inf)
    nearest = three.chains.nearest()
    assert (nearest >= gaps.min(axis=1)).all()
    assert (nearest == gaps.min(axis=1)).mean() > 0.5
    tem = prepared.ready("diffractor", lexicon, noise="tem", gamma=5.0)
    assert tem.geometry.diameter == 5.0
    assert tem.geometry.median == 5.0


class Zeros(RandomBits):
    """Noise with zeros as the first words of the first lanes."""

    low = 0

    def __init__(self, until: int) -> None:
        self._until = until

    def __len__(self) -> int:
        """Return 1."""
        return 1

    def take(self, positions: NDArray[np.int64]) -> RandomBits:
        """Return itself."""
        return self

    def integers(self, lane: int, lanes: int = 1) -> NDArray[np.uint64]:
        """Return zero before a lane, the number 1 from there on; then a half."""
        low = 2**63 + self.low
        return np.array([[int(lane >= self._until), low]], np.uint64)


def test_exponentials_have_no_end() -> None:
    """Zero bits lead to further lanes: no event is too rare to be drawn."""
    drawn = diffractor.exponential(Zeros(7), 1)[0]
    # Lanes 1, 3 and 5 hold 64 zeros each, lane 7 holds 63.
    expected = (3 * 64 + 63 + 2) * np.log(2.0) - np.log1p(0.5)
    assert drawn == pytest.approx(expected, rel=1e-14)


def test_leading_zeros_are_counted_exactly() -> None:
    """Also next to powers of two, where a float64 would round."""
    values = [
        0,
        1,
        2,
        3,
        2**31,
        2**32 - 1,
        2**32,
        2**53 - 1,
        2**63 - 1,
        2**63,
        2**64 - 1,
    ]
    zeros = leading_zeros(np.array(values, np.uint64))
    assert zeros.tolist() == [64 - value.bit_length() for value in values]


@pytest.mark.parametrize("chains", [1, 2])
def test_no_word_stays_more_often_than_its_distribution_says(chains: int) -> None:
    """At tiny epsilons both ends are drawn alike, and never the word itself (1e-6)."""
    mechanism = prepared.ready("diffractor", small.cloud(9, 3), chains=chains)
    prepared.hold_draws(mechanism, [1e-300, 1e-30, 1e-9], 4000)
    wide = prepared.ready("diffractor", small.cloud(9, 3), chains=chains, scale=1e12)
    prepared.hold_draws(wide, [1e-30, 1.0], 4000)


@pytest.mark.parametrize("rate", [1e-40, 1e-17, 1e-5, 0.3, 0.5, 3.0, 40.0, 690.0])
def test_the_chance_to_stay_is_exact_at_any_rate(rate: float) -> None:
    """-ln tanh(rate / 2), against 400 digits."""
    with decimal.localcontext(prec=400):
        few = (-decimal.Decimal(rate)).exp()
        exact = float(((1 + few) / (1 - few)).ln())
    log_move = diffractor.log_of_moves(np.array([rate]))[0]
    assert log_move == pytest.approx(exact, rel=1e-14)


def test_small_exponentials_are_as_exact_as_large_ones() -> None:
    """A fair bit turns the tail to either end: nothing is rounded to 0."""
    zeros = Zeros(7)
    large = diffractor.exponential(zeros, 1)[0]
    zeros.low = 1
    small_ = diffractor.exponential(zeros, 1)[0]
    assert small_ == pytest.approx(-np.log1p(-np.exp(-large)), rel=1e-13)
    assert 0.0 < small_ < 1e-70


@pytest.mark.parametrize("settings", NOISES)
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 50.0, 1e4])
def test_extreme_epsilons_stay_inside(
    settings: dict[str, object], epsilon: float
) -> None:
    """Every output is a word; a large epsilon gives the word back."""
    mechanism = prepared.ready("diffractor", small.cloud(30, 3), **settings)
    ids = prepared.repeated(30, 40)
    eps = np.full(len(ids), epsilon)
    drawn = mechanism.sample(ids, eps, distributions.bits(len(ids)))
    assert ((drawn >= 0) & (drawn < 30)).all()
    if epsilon > 1.0:
        known = ids >= 0
        if settings["noise"] == "geometric" or epsilon > 100.0:
            np.testing.assert_array_equal(drawn[known], ids[known])


@pytest.mark.parametrize("settings", NOISES)
def test_a_vocabulary_of_one_or_two_words_works(settings: dict[str, object]) -> None:
    """The smallest chains."""
    for points in ((1.0,), (1.0, 2.0)):
        mechanism = prepared.ready("diffractor", small.line(*points), **settings)
        prepared.hold_draws(mechanism, [1.0], 3000)


@pytest.mark.parametrize("settings", NOISES)
def test_a_draw_does_not_depend_on_the_batch(settings: dict[str, object]) -> None:
    """Words drawn alone are the words drawn together."""
    mechanism = prepared.ready("diffractor", small.cloud(30, 4), chains=2, **settings)
    ids = prepared.repeated(30, 9)
    eps = np.linspace(0.5, 9.0, len(ids))
    prepared.hold_batches(mechanism, ids, eps)
