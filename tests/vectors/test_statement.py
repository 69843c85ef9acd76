"""Statements about vectors are true, with the mechanism's figures."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from dptext import noise as curve
from dptext.types import Inputs
from dptext.vectors import release, statement
from tests.cli.running import lexicon
from tests.vectors.releases import MECHANISMS, ready_release, said


@pytest.mark.parametrize("pool", ["word", "mean", "sif"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_statement_is_whole(mechanism: str, pool: str, tmp_path: Path) -> None:
    """Sentences end, nothing is left to fill in, one line each; notions are right."""
    ready = ready_release(tmp_path, mechanism, pool)
    promise = said(ready)
    lines = (
        promise.wording.sentence,
        promise.wording.text_level,
        *promise.scope.conditions,
        *promise.scope.not_covered,
    )
    for line in lines:
        assert line[0].isupper() or line[0].isdigit()
        assert line.endswith(".")
        assert not re.search(r"[{}]|\n|  |None|nan|inf\b", line), line
    pure = mechanism in ("discrete-laplace", "privunit")
    notion = "LDP" if pure else "metric-DP"
    notion = "eps-delta" if "gaussian" in mechanism else notion
    assert promise.bound.notion == notion
    assert promise.bound.level == ("word" if pool == "word" else "text")
    exact = "one of the program" in " ".join(promise.scope.conditions)
    assert exact == (pure or mechanism.startswith("discrete"))
    assert (promise.scope.numerical_slack is not None) == exact
    assert any(
        "No amplification by sampling" in line for line in promise.scope.not_covered
    )


@pytest.mark.parametrize("mechanism", ["laplace", "mahalanobis", "privemb"])
def test_the_farthest_texts_lose_what_is_said(mechanism: str, tmp_path: Path) -> None:
    """Epsilon times the largest distance of words, in the metric that is named."""
    ready = ready_release(tmp_path, mechanism, "mean", epsilon=2.0)
    rows = ready.mechanism.inputs.astype(np.float64)
    if mechanism == "mahalanobis":
        rows = rows @ ready.mechanism.inverse  # type: ignore[attr-defined]
    exact = 2.0 * pdist(rows).max()
    promise = said(ready)
    assert promise.bound.worst_loss is not None
    assert exact <= promise.bound.worst_loss <= exact * (1 + 1e-5)
    assert promise.bound.text_loss.total == promise.bound.worst_loss


def test_privemb_with_the_published_scale_says_what_epsilon_counts(
    tmp_path: Path,
) -> None:
    """Texts are no words: the matrix's spectral norm over 1 + beta."""
    parameters = {"dimensions": 3, "constant": "published", "beta": 0.05}
    ready = ready_release(tmp_path, "privemb", "mean", parameters=parameters)
    matrix = ready.mechanism.matrix  # type: ignore[attr-defined]
    times = np.linalg.norm(matrix, 2) / 1.05
    assert times > 1.0
    assert f"{np.ceil(times * 1e4) / 1e4:.4f} times the" in said(ready).wording.sentence
    promise = ready.mechanism.guarantee_over(Inputs.MEANS, 1.0)
    before = ready.mechanism.measured.geometry.diameter  # type: ignore[attr-defined]
    assert promise.max_distance == pytest.approx(times * before, rel=1e-8)


def test_several_vectors_compose_by_mu(tmp_path: Path) -> None:
    """The epsilons printed for n vectors are exact, and rounded up."""
    ready = ready_release(tmp_path, "discrete-gaussian", "word", epsilon=1.0)
    promise = said(ready)
    mu = ready.mechanism.guarantee(ready.epsilon).mu
    pairs = re.findall(r"(\d+): ([0-9.]+)", promise.wording.text_level)
    assert [int(count) for count, _ in pairs] == list(statement._SEVERAL)
    for count, epsilon in pairs:
        together = mu * np.sqrt(int(count))
        assert curve.gaussian_delta(float(epsilon.rstrip(".")), together) <= 1e-5
        assert curve.gaussian_delta(float(epsilon.rstrip(".")) * 0.999, together) > 1e-5
    shared = said(
        ready_release(tmp_path, "gaussian", epsilon=1.0, subject="who", most=9)
    )
    assert 'All vectors of one value of "who", at most 9, are together (1' in (
        shared.wording.text_level
    )


def test_nothing_is_claimed_with_a_seed_or_beyond_what_is_drawn(tmp_path: Path) -> None:
    """A seed is public; so large an epsilon that rounding decides is no guarantee."""
    promise = said(ready_release(tmp_path), key="seed")
    assert promise.bound.notion == "none"
    assert promise.bound.worst_loss is None
    assert promise.wording.sentence.startswith(
        "No guarantee: anyone who knows the seed"
    )
    assert not promise.scope.conditions
    weak = said(ready_release(tmp_path, "laplace", epsilon=400.0, pool="word"))
    assert weak.wording.sentence.startswith("No meaningful protection. ")


def test_words_that_are_left_out_are_named(tmp_path: Path) -> None:
    """The vector of a word shows that it is not one of those; a mean does not."""
    over = {
        "lexicon": lexicon(tmp_path),
        "tokens": {"stop_word": "drop", "unknown": "drop"},
    }
    promises = {
        pool: said(release.prepare(release.parse(over, {"pool": pool})))
        for pool in ("word", "mean")
    }
    assert "Stop words have no vector" in " ".join(promises["word"].scope.not_covered)
    assert "Words outside the vocabulary" in " ".join(
        promises["word"].scope.not_covered
    )
    assert (
        promises["word"].scope.covered[0]
        == "words of the vocabulary other than stop words"
    )
    assert "have no vector" not in " ".join(promises["mean"].scope.not_covered)


def test_conditions_follow_the_settings(tmp_path: Path) -> None:
    """A key file, an id and a lexicon of one's own are named."""
    promise = said(
        ready_release(tmp_path), "key-file", identified=True, lexicon_is_custom=True
    )
    text = " ".join(promise.scope.conditions)
    assert "The key file is random and stays secret" in text
    assert "The lexicon is public" in text
    assert "with the same id" in text
    copied = "The id of each record is unchanged in the output, but not in a .npy file"
    assert any(line.startswith(copied) for line in promise.scope.not_covered)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_measures_agree_with_what_is_expected(mechanism: str, tmp_path: Path) -> None:
    """Means of measured distances and products, and noise lengths, by the formula."""
    ready = ready_release(tmp_path, mechanism, "word", epsilon=3.0)
    measures = statement.measure(ready)
    change = measures.distortion
    assert change.distance_error <= 3 * change.expected_distance
    assert change.corrected_error < change.distance_error
    assert 0.1 < change.product_error / change.expected_product_error < 2.0
    low, middle, high = measures.noise_lengths
    assert 0 < low < middle < high
    spread = ready.mechanism.spread(ready.epsilon) * np.sqrt(ready.dimensions)
    assert 0.5 * spread < middle < 1.2 * spread
    ruler = measures.ruler
    assert ruler.low <= max(ruler.nearest, ruler.best or 0.0) <= ruler.high


def test_the_ruler_rises_with_epsilon(tmp_path: Path) -> None:
    """From the best guess without a vector to certainty."""
    small, large = (
        statement.measure(
            ready_release(tmp_path, "gaussian", "word", epsilon=epsilon)
        ).ruler
        for epsilon in (0.1, 490.0)
    )
    assert small.best is not None
    assert small.best < 0.3
    assert large.nearest > 0.9
