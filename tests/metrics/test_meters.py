from __future__ import annotations

import numpy as np
import pytest

from dptext.metrics import perturbation, rare_words, similarity
from dptext.metrics.epsilons import EpsilonHistogram
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Ids, Words
from tests import small

WORDS = ("the", "cat", "dog", "runs", "well")
LEXICON = small.english(*WORDS)


def words_of(*texts: str) -> Words:
    """Divide texts into words."""
    return Tokenizer(LEXICON, Policy()).words(texts)


def drawn_as(*words: str) -> Ids:
    """Return the rows of words."""
    return np.array([LEXICON.words.index(word) for word in words], np.int32)


def test_changed_words_are_counted() -> None:
    """Two of five stay; unknown words and numbers always count as changed."""
    meter = perturbation.Meter(LEXICON)
    meter.add(
        words_of("the cat 42", "zq dog"), drawn_as("the", "dog", NUMBER, "cat", "dog")
    )
    assert meter.result() == {"share_changed": pytest.approx(0.6), "words": 5}
    meter.add(words_of("cat"), drawn_as("cat"))
    assert meter.result() == {"share_changed": pytest.approx(0.5), "words": 6}


def test_without_words_no_share_is_claimed() -> None:
    """Nothing counted is null, not zero."""
    assert perturbation.Meter(LEXICON).result() == {"share_changed": None, "words": 0}
    assert rare_words.Meter(LEXICON).result()["share_present"] is None
    assert similarity.Meter(LEXICON).result()["mean_cosine"] is None


def test_rare_words_that_remain_are_counted() -> None:
    """Of the distinct words of the input, the share written at least once."""
    meter = rare_words.Meter(LEXICON)
    meter.add(
        words_of("the cat dog zq the"), drawn_as("the", "dog", "runs", "dog", "the")
    )
    assert meter.result() == {"share_present": pytest.approx(2 / 3), "words": 3}
    meter.add(words_of("runs"), drawn_as("cat"))
    assert meter.result() == {"share_present": 1.0, "words": 4}


def test_only_the_rarest_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """By frequency in the input; of equals the rarer in the lexicon first."""
    monkeypatch.setattr(rare_words, "_RARE", 2)
    meter = rare_words.Meter(LEXICON)
    # the 3, cat 1, dog 1, runs 1: the two rarest are runs and dog.
    meter.add(words_of("the the the cat dog runs"), drawn_as(*["the"] * 5, "dog"))
    assert meter.result() == {"share_present": 0.5, "words": 2}


def test_similarity_is_the_cosine_of_weighted_means() -> None:
    """By hand: a / (a + p) weights, a = 0.001, mean over texts that have both sides."""
    meter = similarity.Meter(LEXICON)
    words = words_of("the cat", "", "zq dog runs")
    drawn = drawn_as("dog", "cat", "well", "dog", "the")
    meter.add(words, drawn)
    weights = 1e-3 / (1e-3 + LEXICON.counts / LEXICON.counts.sum())
    vectors = LEXICON.vectors.astype(np.float64)
    weighted = np.vstack([vectors[:-1] * weights[:, None], vectors[-1]])

    def cosine(before: list[int], after: list[int]) -> float:
        one, two = weighted[before].sum(axis=0), weighted[after].sum(axis=0)
        return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))

    ids, out = words.ids.tolist(), drawn.tolist()
    expected = (cosine(ids[:2], out[:2]) + cosine(ids[2:], out[2:])) / 2
    found = meter.result()
    assert found["mean_cosine"] == pytest.approx(expected, abs=1e-5)
    assert found["texts"] == 2


def test_the_same_words_are_perfectly_similar() -> None:
    """Nothing changed: cosine 1."""
    meter = similarity.Meter(LEXICON)
    words = words_of("the cat runs", "dog")
    meter.add(words, words.ids)
    assert meter.result()["mean_cosine"] == pytest.approx(1.0, abs=1e-6)


def test_similarity_stops_after_enough_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured on the first texts only, so that a run stays cheap."""
    monkeypatch.setattr(similarity, "_TEXTS", 2)
    meter = similarity.Meter(LEXICON)
    for _ in range(4):
        meter.add(words_of("cat"), drawn_as("cat"))
    assert meter.result()["texts"] == 2


def test_spending_adds_up_per_text() -> None:
    """Least, largest and total are exact; texts without a word spend nothing."""
    epsilons = EpsilonHistogram()
    words = words_of("the cat", "", "dog", "...")
    epsilons.add(words, np.array([1.5, 2.5, 0.25]))
    found = epsilons.result()
    assert (found["texts"], found["min"], found["max"]) == (4, 0.25, 4.0)
    assert found["total"] == 4.25
    assert EpsilonHistogram().result() == {"texts": 0, "total": 0.0}
    epsilons.add(words_of(), np.empty(0))
    assert epsilons.result() == found


@pytest.mark.parametrize("spread", [0.001, 1.0, 8.0])
def test_spending_quantiles_are_within_half_a_percent(spread: float) -> None:
    """Median and p95 against the sorted sums, over batches, whatever the range."""
    rng = np.random.default_rng(1)
    epsilons, sums = EpsilonHistogram(), []
    for _ in range(5):
        texts = ["cat " * int(count) for count in rng.integers(1, 30, 200)]
        words = words_of(*texts)
        eps = np.exp(rng.normal(0, spread, len(words.ids)))
        epsilons.add(words, eps)
        sums.append(np.bincount(words.texts, eps))
    every = np.sort(np.concatenate(sums))
    found = epsilons.result()
    for name, share in (("median", 0.5), ("p95", 0.95)):
        exact = every[int(np.ceil(share * len(every))) - 1]
        assert found[name] == pytest.approx(exact, rel=0.005)
    assert found["min"] == every[0]
    assert found["max"] == every[-1]
    assert found["total"] == pytest.approx(every.sum(), rel=1e-12)
    assert found["min"] <= found["median"] <= found["p95"] <= found["max"]


def test_equal_texts_have_exact_quantiles() -> None:
    """A histogram step never shows where all texts spend the same."""
    epsilons = EpsilonHistogram()
    epsilons.add(words_of(*["the cat"] * 9), np.full(18, 0.7))
    found = epsilons.result()
    assert found["min"] == found["median"] == found["p95"] == found["max"]
