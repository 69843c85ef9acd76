"""Audits of the claims of papers, and of the claims of every mechanism."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from scipy import special

from dptext.engine import release_audit as audits
from dptext.guarantees import audit
from dptext.mechanisms import Aim, Mechanism, WordMechanism, santext, tem
from dptext.types import Eps, Ids, Lexicon
from tests import distributions, prepared, small
from tests.conformance import components
from tests.conformance.components import PROMISING, built
from tests.mechanisms.test_syntf import with_synonyms


def draws(mechanism: Mechanism) -> audit.AuditDraws:
    """Return what draws by a mechanism, each call with other noise."""
    calls = iter(range(10_000))
    assert isinstance(mechanism, WordMechanism)

    def draw(ids: Ids, eps: Eps) -> Ids:
        return mechanism.sample(ids, eps, distributions.bits(len(ids), next(calls)))

    return audit.AuditDraws(draw, None)


@pytest.mark.parametrize("path", PROMISING)
@pytest.mark.parametrize(
    ("lexicon", "epsilon"), [("SIX", 0.3), ("ENGLISH", 3.0), ("SIX", 30.0)]
)
def test_every_claim_holds(
    path: tuple[str, str | None], lexicon: str, epsilon: float
) -> None:
    """No pair of inputs of any mechanism that claims something loses more than that."""
    sanitizer = built(lexicon, *path, epsilon=epsilon)
    draws = audits.draws(sanitizer)
    result = audit.audit(sanitizer.mechanism, epsilon, draws, runs=600, number=5_000)
    assert result.claims
    assert not result.refuted
    assert not result.failed
    assert result.ratio <= 1.0 + 1e-9
    assert result.infinite == 0.0


@pytest.mark.parametrize("mapping", ["aggressive", "balanced", "conservative"])
@pytest.mark.parametrize("epsilon", [0.1, 8.0])
def test_custext_between_sets_is_refuted(mapping: str, epsilon: float) -> None:
    """A word of one set is never written for a word of another: infinite loss."""
    mechanism = prepared.ready("custext", small.cloud(60, 5), mapping=mapping, k=5)
    result = audit.audit(mechanism, epsilon, None)
    assert (result.claims, result.refuted, result.failed) == (False, False, True)
    assert result.worst == math.inf
    assert result.published is not None
    assert result.published.refuted
    assert result.published.bound == epsilon
    assert result.published.loss == result.published.ratio == math.inf
    # Counted from the supports alone.
    law = prepared.probabilities(mechanism, epsilon) > 0
    lost = (law[:, None, :] & ~law[None, :, :]).any(axis=2)
    assert result.infinite == pytest.approx(lost.sum() / (61 * 60))
    assert result.infinite > 0.9


def test_custext_in_one_set_is_not() -> None:
    """Of what dptext claims itself nothing published is looked at."""
    result = audit.audit(prepared.ready("custext", small.cloud(60, 5)), 2.0, None)
    assert result.claims
    assert result.published is None
    assert not result.failed


def test_a_single_published_set_is_not_refuted() -> None:
    """Where all words share one output set the published claim is true."""
    mechanism = prepared.ready("custext", small.cloud(6, 2), mapping="aggressive", k=6)
    result = audit.audit(mechanism, 2.0, None)
    assert not result.claims
    assert result.published is not None
    assert 0.0 < result.published.ratio <= 1.0
    assert not result.failed


def test_published_synonyms_are_refuted() -> None:
    """An output rules out every word that is neither it nor a synonym of it."""
    mechanism = prepared.ready("syntf", with_synonyms(), published=True)
    result = audit.audit(mechanism, 4.0, None)
    assert result.worst == math.inf
    assert result.published is not None
    assert result.published.refuted
    assert not result.refuted


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_vickrey_is_refuted_by_proof_and_seen_in_samples(epsilon: float) -> None:
    """The output is never the input; four thousand draws show a loss above epsilon d.

    The samples miss at a rate below 1e-6: their loss is far above the required one.
    """
    mechanism = prepared.ready("vickrey", small.cloud(20, 2))
    result = audit.audit(mechanism, epsilon, draws(mechanism), runs=4000)
    assert result.worst == result.proven == math.inf
    assert result.infinite == 1.0
    assert result.published is not None
    assert result.published.by == "proof"
    assert math.isfinite(result.published.bound)
    assert result.failed
    assert not result.refuted
    assert result.sampled is not None
    assert result.sampled_pair is not None
    assert result.sampled > 3.0
    # The word that is written for another, never for itself.
    assert result.sampled_output == result.sampled_pair[1]


@pytest.mark.parametrize("size", [20, 30, 50])
def test_gumbel_loses_a_finite_and_huge_amount(size: int) -> None:
    """Exact loss above ln W! - (W - 1) ln ln W, finite, and above epsilon d."""
    mechanism = prepared.ready("gumbel", small.cloud(size, 8 if size < 50 else 40))
    epsilon = mechanism.least_epsilon * 1.01
    result = audit.audit(mechanism, epsilon, None)
    least = special.gammaln(size + 1) - (size - 1) * math.log(math.log(size))
    assert result.proven == pytest.approx(least)
    assert least < result.worst < 10 * least
    assert result.infinite == 0.0
    assert not result.claims
    assert result.published is not None
    x, other = (mechanism.space.lexicon.words.index(w) for w in result.published.pair)
    apart = np.linalg.norm(
        np.subtract(*mechanism.space.vectors[[x, other]], dtype=float)
    )
    assert result.published.bound == pytest.approx(epsilon * apart)
    assert result.failed == (result.published.ratio > 1.0)
    if size == 50:
        assert result.published.ratio > 2.0


def test_the_proven_pair_of_gumbel_loses_what_is_proven() -> None:
    """The loss of the pair that is named is at least the bound, by its own law."""
    mechanism = prepared.ready("gumbel", small.cloud(40, 6))
    epsilon = mechanism.least_epsilon * 3.0
    least, (x, other) = mechanism.least_loss()
    ids = np.array([x, other], np.int32)
    mine, theirs = mechanism.log_probs(ids, np.full(2, epsilon))
    assert mine[x] - theirs[x] >= least


def test_gumbel_of_many_words_is_refuted_by_proof() -> None:
    """Without a law the proven bound stands against epsilon times the diameter."""
    mechanism = prepared.ready("gumbel", small.cloud(400, 30, listed=64))
    epsilon = mechanism.least_epsilon * 1.01
    result = audit.audit(mechanism, epsilon, draws(mechanism), runs=200)
    assert result.published is not None
    assert result.published.by == "proof"
    assert result.published.loss == result.proven == result.worst
    assert math.isfinite(result.worst)
    assert result.failed


def star() -> Lexicon:
    """Return words around the unknown word, and one far away."""
    vectors = np.vstack([np.eye(21)[:20], 10.0 * np.eye(21)[20:]])
    lexicon = small.lexicon(vectors)
    rows = np.vstack([lexicon.vectors[:-1], np.zeros((1, 21), np.float32)])
    return replace(lexicon, vectors=rows, digest=f"star {lexicon.digest}")


@pytest.mark.parametrize("recalibrate", [False, True])
@pytest.mark.parametrize(
    "lexicon", [small.cloud(25, 4, seed=5), small.cloud(12, 8, seed=3), star()]
)
def test_the_unknown_word_is_among_the_pairs(
    lexicon: Lexicon, recalibrate: bool
) -> None:
    """The O(V^2) audit equals brute force over the V + 1 rows, claims included."""
    modules: tuple[tuple[ModuleType, dict[str, float]], ...]
    modules = ((santext, {}), (tem, {"gamma": 2.0}))
    for module, settings in modules:
        space = prepared.space_of(lexicon)
        params = module.Params(recalibrate=recalibrate, **settings)
        mechanism = params.prepare(space, Aim())
        result = audit.audit(mechanism, 2.0, None)
        losses = distributions.worst_losses(prepared.probabilities(mechanism, 2.0))
        rows = space.vectors.astype(np.float64)
        apart = np.linalg.norm(rows[:, None] - rows[None], axis=2)
        claim = 2.0 * np.minimum(apart, settings.get("gamma", np.inf))
        np.fill_diagonal(claim, np.inf)
        assert result.worst == pytest.approx(losses.max(), abs=1e-9)
        assert result.ratio == pytest.approx((losses / claim).max(), abs=1e-9)
        assert result.pairs == space.size * (space.size + 1)
        assert not result.refuted


def test_the_worst_pair_may_be_one_with_the_unknown_word() -> None:
    """It is named, with the output that shows the loss."""
    result = audit.audit(prepared.ready("santext", star()), 2.0, None)
    far = star().words[20]
    assert result.worst_pair == (far, "<unknown word>")
    assert result.worst_output == far
    near = audit.audit(prepared.ready("santext", small.cloud(12, 8, seed=3)), 2, None)
    assert "<unknown word>" in near.ratio_pair


def test_words_in_one_place_lose_nothing() -> None:
    """Equal vectors have equal laws and a claim of 0, which holds."""
    result = audit.audit(prepared.ready("santext", small.line(0, 1, 1, 4)), 2.0, None)
    assert not result.refuted
    assert math.isfinite(result.ratio)


def test_every_registered_number_has_a_range() -> None:
    """A parameter that is a number says from where to where it may go."""
    from dptext.cli.list import description

    for name in components.MECHANISMS:
        for each in description(name)["parameters"]:
            said = each["values"]
            assert not said.startswith("other"), (name, each)
            if "integer" in said or "number" in said:
                assert "from" in said or "above" in said, (name, each)
