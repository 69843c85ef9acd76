from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.measures import bayes_risk
from dptext.measures.sampled_risk import frequency_bands
from dptext.mechanisms import Mechanism
from dptext.tokens.policy import Policy, WordList
from dptext.types import NUMBER
from tests import distributions, prepared, small

PRIOR = np.array([0.5, 0.3, 0.2])
RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("rank", {"weights": "power", "k": 4, "c": 1.0}),
    ("rank", {"k": 3, "weights": "staircase"}),
    ("santext", {}),
    ("tem", {"gamma": 1.0}),
]


def joint(mechanism: Mechanism, epsilon: float, shares: NDArray[np.float64]) -> Any:
    """Return prior(x) P(y|x), (V, V)."""
    return shares[:, None] * prepared.probabilities(mechanism, epsilon)[:-1]


@pytest.mark.parametrize(
    ("name", "params", "success", "bits"),
    [
        ("santext", {}, 0.7210234900, 0.5281181664),
        ("tem", {"gamma": 1.5}, 0.6411130662, 0.3586507169),
    ],
)
def test_risk_and_leakage_are_the_published_vectors(
    name: str, params: dict[str, Any], success: float, bits: float
) -> None:
    """V1 and log2(V1 / V0) at prior (.5, .3, .2), epsilon 2."""
    mechanism = prepared.ready(name, small.line(0.0, 1.0, 3.0), **params)
    risk = bayes_risk.measure(mechanism, 2.0, PRIOR)
    assert risk.baseline == 0.5
    assert risk.success == pytest.approx(success, abs=1e-9)
    assert math.log2(risk.success / risk.baseline) == pytest.approx(bits, abs=1e-9)
    assert risk.method == "exact"


@pytest.mark.parametrize(("name", "params"), RECIPES)
@pytest.mark.parametrize("size", [1, 12, 150, 1100])
def test_the_risk_is_that_of_brute_force(
    name: str, params: dict[str, Any], size: int
) -> None:
    """Sum over y of max over x, with its bands, for one, two and three bands."""
    if size == 1 and name == "rank":
        params = {**params, "k": 1}
    mechanism = prepared.ready(
        name, small.cloud(size, 3, listed=min(size, 4)), **params
    )
    shares = small.zipf(size)
    risk = bayes_risk.measure(mechanism, 3.0, shares)
    table = joint(mechanism, 3.0, shares)
    assert risk.success == pytest.approx(table.max(axis=0).sum(), rel=1e-9)
    assert risk.baseline == shares.max()
    edges = [0, *(edge for edge in (100, 1000) if edge < size), size]
    assert len(risk.bands) == len(edges) - 1
    guesses = table.argmax(axis=0)
    for band, begin, end in zip(risk.bands, edges[:-1], edges[1:], strict=True):
        inside = table[begin:end]
        share = shares[begin:end].sum()
        hit = (guesses >= begin) & (guesses < end)
        assert band.words == end - begin
        assert band.share == pytest.approx(share)
        assert band.baseline == pytest.approx(shares[begin:end].max() / share)
        assert band.success == pytest.approx(table.max(axis=0)[hit].sum() / share)
        known = inside.max(axis=0).sum() / share
        assert band.success_band_known == pytest.approx(known, rel=1e-9)
    total = sum(band.share * band.success for band in risk.bands)
    assert total == pytest.approx(risk.success)


@pytest.mark.parametrize(
    ("k", "weights"), [(1, "staircase"), (5, "power"), (9, "power")]
)
@pytest.mark.parametrize("size", [30, 1200])
def test_the_closed_form_of_rank_is_the_one_by_rows(
    k: int, weights: str, size: int
) -> None:
    """O(V k) and row by row agree for every band and output."""
    mechanism = prepared.ready(
        "rank", small.cloud(size, 2, listed=9), k=k, weights=weights
    )
    shares = small.zipf(size, seed=3)
    for epsilon in (0.5, 6.0):
        closed = bayes_risk.best_guesses(mechanism, shares, epsilon, size)
        bands = frequency_bands(size)
        by_rows = Mechanism.best_guesses(mechanism, shares, epsilon, bands)
        np.testing.assert_allclose(closed, by_rows, rtol=1e-10)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_guessing_succeeds_as_often_as_measured(
    name: str, params: dict[str, Any]
) -> None:
    """The best attacker plays 200 000 times; the success is within limits (1e-6)."""
    size, plays = 20, 200_000
    mechanism = prepared.ready(name, small.cloud(size, 3, listed=6), **params)
    shares = small.zipf(size)
    rng = np.random.default_rng(1)
    ids = rng.choice(size, plays, p=shares).astype(np.int32)
    drawn = mechanism.sample(ids, np.full(plays, 3.0), distributions.bits(plays))
    guesses = joint(mechanism, 3.0, shares).argmax(axis=0)
    won = (guesses[drawn] == ids).astype(np.int64)
    success = bayes_risk.measure(mechanism, 3.0, shares).success
    distributions.assert_follows(won, np.array([1 - success, success]))


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_the_risk_keeps_what_differential_privacy_bounds(
    name: str, params: dict[str, Any]
) -> None:
    """V0 <= V1 <= V0 e^(worst loss)."""
    mechanism = prepared.ready(name, small.cloud(25, 3, listed=6), **params)
    for epsilon in (0.1, 1.0, 5.0):
        risk = bayes_risk.measure(mechanism, epsilon, small.zipf(25))
        worst = mechanism.guarantee(epsilon).worst(epsilon)
        assert risk.baseline - 1e-12 <= risk.success
        assert risk.success <= risk.baseline * math.exp(worst) + 1e-9


def test_results_are_kept_apart() -> None:
    """Another prior, epsilon, parameter or lexicon is another result."""
    risks = []
    for listed in (3, 5):
        for k in (2, 3):
            for epsilon in (1.0, 2.0):
                for seed in (0, 1):
                    lexicon = small.cloud(30, 3, listed=listed, seed=seed)
                    mechanism = prepared.ready("rank", lexicon, weights="power", k=k)
                    risk = bayes_risk.measure(mechanism, epsilon, small.zipf(30, seed))
                    again = bayes_risk.measure(mechanism, epsilon, small.zipf(30, seed))
                    assert risk == again
                    table = joint(mechanism, epsilon, small.zipf(30, seed))
                    assert risk.success == pytest.approx(table.max(axis=0).sum())
                    risks.append(risk.success)
    assert len(set(risks)) >= 8


def test_the_prior_leaves_out_what_is_not_replaced() -> None:
    """Kept stop words and numbers get no weight; the rest sums to 1."""
    lexicon = small.english("cat", "The", "dog", "n't")
    number = lexicon.words.index(NUMBER)
    everything = bayes_risk.prior_of_replaced(lexicon, Policy())
    np.testing.assert_allclose(everything, lexicon.counts / lexicon.counts.sum())
    kept = bayes_risk.prior_of_replaced(lexicon, Policy(stop_word="keep"))
    assert (kept == 0).tolist() == [False, True, False, True, False]
    for policy in (
        Policy(number="mask"),
        Policy(number="keep"),
        Policy(number="digits"),
    ):
        assert bayes_risk.prior_of_replaced(lexicon, policy)[number] == 0.0
    listed = Policy(mask=WordList(words=("CAT",), patterns=("(?i)dog",)))
    assert (bayes_risk.prior_of_replaced(lexicon, listed) == 0).tolist() == [
        True,
        False,
        True,
        False,
        False,
    ]
    # What is copied in one spelling only is replaced in others, and stays possible.
    for copied in (WordList(patterns=("cat",)), WordList(words=("CAT",))):
        listed = Policy(keep=copied)
        assert (bayes_risk.prior_of_replaced(lexicon, listed) > 0).all()
    for policy in (Policy(stop_word="keep"), Policy(number="mask"), Policy()):
        assert bayes_risk.prior_of_replaced(lexicon, policy).sum() == pytest.approx(
            1.0, abs=1e-12
        )
    assert (lexicon.counts > 0).all()


def test_a_policy_that_replaces_nothing_is_refused() -> None:
    """Without a word left there is no risk to speak of."""
    lexicon = small.english("the", "of")
    with pytest.raises(UsageError, match="leaves no word to replace"):
        bayes_risk.prior_of_replaced(lexicon, Policy(stop_word="keep", number="keep"))
