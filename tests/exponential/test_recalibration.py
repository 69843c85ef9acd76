"""Raised scales: no pair loses more than epsilon t, and little is left to be raised."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.exponential.losses import MOST, recalibrated_scale
from dptext.guarantees import audit
from dptext.types import Lexicon
from tests import distributions, prepared, small

RECIPES: list[tuple[str, dict[str, Any]]] = [
    ("santext", {}),
    ("tem", {"gamma": 1.2}),
    ("tem", {"beta": 0.01}),
]


def distances(lexicon: Lexicon, gamma: float = math.inf) -> NDArray[np.float64]:
    """Return min(d, gamma) of all V + 1 inputs, by direct differences."""
    wide = lexicon.vectors.astype(np.float64)
    t = np.linalg.norm(wide[:, None, :] - wide[None, :, :], axis=2)
    nearer: NDArray[np.float64] = np.minimum(t, gamma)
    return nearer


def losses(t: NDArray[np.float64], eta: float) -> NDArray[np.float64]:
    """Return the loss of all ordered pairs of inputs at a scale, by definition."""
    return distributions.worst_losses(distributions.normalised(-0.5 * eta * t[:, :-1]))


def largest(t: NDArray[np.float64], eta: float) -> float:
    """Return the largest loss over distance of different pairs."""
    where = t > 0.0
    return float((losses(t, eta)[where] / t[where]).max(initial=0.0))


def scale_of(lexicon: Lexicon, epsilon: float, gamma: float = math.inf) -> float:
    """Return the raised scale in the lexicon's own space."""
    return recalibrated_scale(prepared.space_of(lexicon), epsilon, gamma)


def unknown_as_first(lexicon: Lexicon, digest: str) -> Lexicon:
    """Put the unknown word where the first word is: only words count then."""
    vectors = np.array(lexicon.vectors)
    vectors[-1] = vectors[0]
    return replace(lexicon, vectors=vectors, digest=lexicon.digest + digest)


def test_the_line_reaches_its_exact_constant() -> None:
    """{0, 1, 3}: the worst pair, by definition, meets epsilon."""
    lexicon = small.line(0.0, 1.0, 3.0)
    for epsilon in (0.5, 2.0, 6.0):
        eta = scale_of(lexicon, epsilon)
        assert epsilon < eta <= 2.0 * epsilon
        loss = largest(distances(lexicon), eta)
        assert loss == pytest.approx(epsilon, rel=1e-7)
        assert loss <= epsilon


def test_an_exact_constant_gives_back_its_scale() -> None:
    """L(2, 0) / 3 at scale 2 is the epsilon with scale 2."""
    lexicon = unknown_as_first(small.line(0.0, 1.0, 3.0), "first")
    t = distances(lexicon)
    assert losses(t, 2.0)[2, 0] == pytest.approx(3.1791661972, abs=1e-10)
    epsilon = largest(t, 2.0)
    # Between 1 and 0, or 3 and 0: the worst of all pairs, not only of that one.
    assert epsilon >= 3.1791661972 / 3.0
    assert scale_of(lexicon, epsilon) == pytest.approx(2.0, rel=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    size=st.integers(1, 9),
    width=st.integers(1, 3),
    seed=st.integers(0, 2**20),
    epsilon=st.floats(0.02, 40.0),
    gamma=st.one_of(st.just(math.inf), st.floats(0.05, 3.0)),
    doubled=st.booleans(),
)
def test_no_pair_loses_more_and_little_is_left(
    size: int, width: int, seed: int, epsilon: float, gamma: float, doubled: bool
) -> None:
    """All pairs of V + 1 inputs keep epsilon t; slightly more would break it."""
    points = np.random.default_rng(seed).normal(size=(size, width))
    lexicon = small.lexicon(np.vstack((points, points[:1])) if doubled else points)
    eta = scale_of(lexicon, epsilon, gamma)
    assert epsilon <= eta <= 2.0 * epsilon
    t = distances(lexicon, gamma)
    assert (losses(t, eta) <= epsilon * t + 1e-11).all()
    if eta < 2.0 * epsilon * (1.0 - 1e-6):
        assert largest(t, eta * (1.0 + 1e-6)) > epsilon * (1.0 - 1e-8)


@pytest.mark.parametrize(("epsilon", "gain"), [(1.0, 1.49), (4.0, 2.0), (16.0, 2.0)])
def test_the_gain_over_words_is_the_published_one(epsilon: float, gain: float) -> None:
    """A random vocabulary of 400 words in 20 dimensions."""
    lexicon = unknown_as_first(small.cloud(400, 20), "first")
    assert scale_of(lexicon, epsilon) / epsilon == pytest.approx(gain, abs=0.015)


def test_the_unknown_word_takes_part_of_the_gain() -> None:
    """It is no output: the word next to it, seen from it, tells much."""
    lexicon = small.cloud(400, 20)
    t = distances(lexicon)
    gains = []
    for epsilon in (4.0, 16.0):
        eta = scale_of(lexicon, epsilon)
        loss = losses(t, eta)
        assert (loss <= epsilon * t + 1e-11).all()
        shares = loss / np.where(t > 0.0, t, np.inf)
        assert shares[-1].max() == pytest.approx(epsilon, rel=1e-7)
        gains.append(eta / epsilon)
    assert gains == pytest.approx([1.40, 1.14], abs=0.02)


@lru_cache(maxsize=1)
def many() -> Lexicon:
    """Return 2,500 words in two dimensions."""
    return small.cloud(2500, 2, listed=4)


@pytest.mark.parametrize("epsilon", [0.7, 3.0, 12.0])
@pytest.mark.parametrize("gamma", [math.inf, 1.0])
def test_words_that_were_not_first_chosen_count(epsilon: float, gamma: float) -> None:
    """All pairs by the identity, in one block."""
    lexicon = many()
    eta = scale_of(lexicon, epsilon, gamma)
    t = distances(lexicon, gamma)
    log_z = np.log(np.exp(-0.5 * eta * t[:, :-1]).sum(axis=1))
    loss = 0.5 * eta * t + np.abs(log_z[:, None] - log_z[None, :])
    between = loss[:-1, :-1] - epsilon * t[:-1, :-1]
    assert between.max() <= 1e-10
    max_distance = np.array([(t[x, :-1] - t[-1, :-1]).max() for x in range(2500)])
    seen = 0.5 * eta * max_distance + log_z[:-1] - log_z[-1]
    assert (seen <= epsilon * t[-1, :-1] + 1e-10).all()
    assert (loss[:-1, -1] >= seen - 1e-10).all()
    shares = (between / np.where(t > 0.0, t, np.inf)[:-1, :-1]).max()
    shares = max(shares, float((seen / t[-1, :-1]).max()) - epsilon)
    assert -1e-6 * epsilon < shares <= 0.0


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_draws_are_exact_at_the_raised_scale(name: str, params: dict[str, Any]) -> None:
    """Sampled against the formula with eta instead of epsilon (alarm 1e-6)."""
    lexicon = small.cloud(7, 3, listed=3)
    mechanism = prepared.ready(name, lexicon, recalibrate=True, **params)
    epsilons = [0.4, 2.0, 6.0]
    for epsilon in epsilons:
        gamma = mechanism.truncation(epsilon)
        eta = mechanism.scale(epsilon)
        assert eta == scale_of(lexicon, epsilon, gamma) > epsilon
        t = distances(lexicon, gamma)
        np.testing.assert_allclose(
            prepared.probabilities(mechanism, epsilon),
            distributions.normalised(-0.5 * eta * t[:, :-1]),
            rtol=1e-6,
        )
        rows = np.append(np.arange(7), -1)
        claim = mechanism.claimed_loss(np.repeat(rows, 8), np.tile(rows, 8), epsilon)
        np.testing.assert_allclose(claim.reshape(8, 8), epsilon * t, atol=1e-9)
    prepared.hold_draws(mechanism, epsilons, 9_000, seed=3)


@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_the_guarantee_stays_and_names_the_raised_scale(
    name: str, params: dict[str, Any]
) -> None:
    """Metric, largest distance and epsilon are those of the published scale."""
    lexicon = small.cloud(30, 4)
    plain = prepared.ready(name, lexicon, **params)
    raised = prepared.ready(name, lexicon, recalibrate=True, **params)
    before = plain.guarantee(3.0)
    after = raised.guarantee(3.0)
    assert not before.gaps
    assert plain.scale(3.0) == 3.0
    eta = raised.scale(3.0)
    assert f"scale {eta:.6g} in place of the published 3 " in after.gaps[0]
    assert after.source == before.source + ", recalibrated"
    # There is no claim for words with different epsilons.
    assert after.varying_epsilon is None
    assert before == replace(
        after, gaps=(), source=before.source, varying_epsilon=before.varying_epsilon
    )
    assert raised.numerical_slack(3.0) > plain.numerical_slack(3.0)


@pytest.mark.parametrize("epsilon", [1.0, 4.0, 16.0])
@pytest.mark.parametrize(("name", "params"), RECIPES)
def test_the_audit_meets_the_claim(
    name: str, params: dict[str, Any], epsilon: float
) -> None:
    """The distribution uses all that is claimed, and no more."""
    mechanism = prepared.ready(name, small.cloud(120, 8), recalibrate=True, **params)
    finding = audit.audit(mechanism, epsilon, None)
    assert finding.ratio == pytest.approx(1.0, abs=1e-6)
    assert finding.ratio <= 1.0
    assert finding.claims
    assert not finding.refuted
    plain = audit.audit(
        prepared.ready(name, small.cloud(120, 8), **params), epsilon, None
    )
    assert plain.ratio < 0.97


def test_few_epsilons_are_recalibrated_in_a_run() -> None:
    """Each costs passes over all pairs: more than a few are refused, in one line."""
    mechanism = prepared.ready("santext", small.cloud(5, 2), recalibrate=True)
    epsilons = np.linspace(1.0, 2.0, MOST)
    ids = np.zeros(len(epsilons), np.int32)
    mechanism.sample(ids, epsilons, distributions.bits(len(ids)))
    with pytest.raises(UsageError, match="use the budget uniform"):
        mechanism.sample(ids, epsilons + 3, distributions.bits(len(ids)))


def test_the_share_of_a_word_in_a_long_text_is_refused() -> None:
    """At an epsilon near 0 rounding would decide; without recalibrate it is fine."""
    for name in ("santext", "tem"):
        raised = prepared.ready(name, small.cloud(5, 2), recalibrate=True)
        with pytest.raises(UsageError, match="an epsilon of each word"):
            raised.check(1e-9)
        raised.check(1.0)
        prepared.ready(name, small.cloud(5, 2)).check(1e-9)


@pytest.mark.usefixtures("empty_folders")
def test_a_scale_is_searched_once() -> None:
    """The second run reads it from the cache folder."""
    lexicon = small.cloud(20, 3, seed=99)
    before = set(cache.folder().glob("*.numbers"))
    eta = scale_of(lexicon, 2.5)
    kept = set(cache.folder().glob("*.numbers")) - before
    content = [path.read_text().splitlines()[1] for path in kept]
    assert content == [f'{{"eta": {eta!r}}}']
    # As the program would write it, and a scale that holds: it is taken.
    path = kept.pop()
    cache._keep(path, path.stem, b'{"eta": 3.0}')
    assert scale_of(lexicon, 2.5) == 3.0
    assert scale_of(lexicon, 2.6) != 3.0
    assert scale_of(lexicon, 2.5, 1.0) != 3.0


@pytest.mark.parametrize(
    "budget",
    [
        {"name": "uniform", "risk": "50%"},
        {"name": "per-text", "epsilon": 5.0},
        {"name": "declared", "epsilons": {"other": 5.0}},
    ],
)
def test_one_given_epsilon_is_wanted(budget: dict[str, Any]) -> None:
    """Anything else is refused before the work is done."""
    from dptext import calibration, profile

    data = {"mechanism": {"name": "santext", "recalibrate": True}, "budget": budget}
    recipe = profile.parse(data, "test.yaml")
    with pytest.raises(UsageError, match="uniform with an epsilon"):
        calibration.build(recipe, small.cloud(9, 2))
