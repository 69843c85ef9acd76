"""PP, LOW and CS against figures counted by hand, batch after batch."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest

from dptext.metrics import Batch, Meter, perturbation, rare_words, similarity
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import NUMBER, Ids, Words
from tests import small
from tests.metrics.batches import batch

WORDS = ("the", "cat", "dog", "runs", "well")
LEXICON = small.english(*WORDS)


def words_of(*texts: str) -> Words:
    """Divide texts into words."""
    return Tokenizer(LEXICON, Policy()).words(texts)


def drawn_as(*words: str) -> Ids:
    """Return the rows of words."""
    return np.array([LEXICON.words.index(word) for word in words], np.int32)


def figures(meter: Meter[Any], *batches: tuple[Words, Ids]) -> dict[str, Any]:
    """Return what a meter says of batches that come one after the other."""
    first, partials = 0, [meter.observe(Batch.empty())]
    for words, written in batches:
        each = batch(LEXICON, words, written, first_text=first)
        partials.append(meter.observe(each))
        first += len(words.ends)
    return dict(meter.result(reduce(meter.merge, partials)))


def test_changed_words_are_counted() -> None:
    """Two of five stay; an unknown word and a number are written otherwise."""
    meter = perturbation.Meter(LEXICON)
    first = (
        words_of("the cat 42", "zq dog"),
        drawn_as("the", "dog", NUMBER, "cat", "dog"),
    )
    assert figures(meter, first) == {"share_changed": pytest.approx(0.6), "words": 5}
    second = (words_of("cat"), drawn_as("cat"))
    shown = figures(meter, first, second)
    assert shown == {"share_changed": pytest.approx(0.5), "words": 6}


def test_what_has_no_row_of_its_own_is_compared_by_its_letters() -> None:
    """The same number is the same, another one of its element or a word is not."""
    number = LEXICON.words.index(NUMBER)
    written = np.array([number, number, -1, -1], np.int32)
    words = words_of("42 7 zq Qz")
    spelled = np.array([" 42", "8", "xy", " qz"], object)
    counted = perturbation.Meter(LEXICON).observe(
        Batch(words, written, spelled, np.ones(4), 0)
    )
    assert counted == (4, 2)


def test_without_words_no_share_is_claimed() -> None:
    """Nothing counted is null, not zero."""
    pp = figures(perturbation.Meter(LEXICON))
    assert pp == {"share_changed": None, "words": 0}
    assert figures(rare_words.Meter(LEXICON))["share_present"] is None
    assert figures(similarity.Meter(LEXICON))["mean_cosine"] is None


def test_rare_words_that_remain_are_counted() -> None:
    """Of the distinct words of the input, the share written at least once."""
    meter = rare_words.Meter(LEXICON)
    first = (
        words_of("the cat dog zq the"),
        drawn_as("the", "dog", "runs", "dog", "the"),
    )
    shown = figures(meter, first)
    assert shown == {"share_present": pytest.approx(2 / 3), "words": 3}
    shown = figures(meter, first, (words_of("runs"), drawn_as("cat")))
    assert shown == {"share_present": 1.0, "words": 4}


def test_only_the_rarest_words_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """By frequency in the input; of equals the rarer in the lexicon first."""
    monkeypatch.setattr(rare_words, "_RARE", 2)
    # the 3, cat 1, dog 1, runs 1: the two rarest are runs and dog.
    batch = (words_of("the the the cat dog runs"), drawn_as(*["the"] * 5, "dog"))
    shown = figures(rare_words.Meter(LEXICON), batch)
    assert shown == {"share_present": 0.5, "words": 2}


def test_similarity_is_the_cosine_of_weighted_means() -> None:
    """By hand: a / (a + p) weights, a = 0.001, mean over texts that have both sides."""
    words = words_of("the cat", "", "zq dog runs")
    drawn = drawn_as("dog", "cat", "well", "dog", "the")
    weights = 1e-3 / (1e-3 + LEXICON.counts / LEXICON.counts.sum())
    vectors = LEXICON.vectors.astype(np.float64)
    weighted = np.vstack([vectors[:-1] * weights[:, None], vectors[-1]])

    def cosine(before: list[int], after: list[int]) -> float:
        one, two = weighted[before].sum(axis=0), weighted[after].sum(axis=0)
        return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))

    ids, out = words.ids.tolist(), drawn.tolist()
    expected = (cosine(ids[:2], out[:2]) + cosine(ids[2:], out[2:])) / 2
    shown = figures(similarity.Meter(LEXICON), (words, drawn))
    assert shown["mean_cosine"] == pytest.approx(expected, abs=1e-5)
    assert shown["texts"] == 2


def test_the_same_words_are_perfectly_similar() -> None:
    """Nothing changed: cosine 1."""
    words = words_of("the cat runs", "dog")
    shown = figures(similarity.Meter(LEXICON), (words, words.ids))
    assert shown["mean_cosine"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("sizes", [(7,), (3, 4), (1, 1, 1, 1, 1, 1, 1), (5, 2)])
def test_similarity_is_that_of_the_first_texts(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first texts of the run are measured, wherever a batch ends."""
    monkeypatch.setattr(similarity, "_TEXTS", 4)
    texts = ["cat", "", "cat dog", "dog", "cat", "runs", "dog"]
    batches, end = [], 0
    for size in sizes:
        words = words_of(*texts[end : end + size])
        # The first four stay as they are, and all others change.
        keep = np.arange(end, end + size)[words.texts] < 4
        changed = drawn_as("well").repeat(len(words.ids))
        batches.append((words, np.where(keep, words.ids, changed)))
        end += size
    shown = figures(similarity.Meter(LEXICON), *batches)
    assert shown["texts"] == 3  # one of the first four has no words
    assert shown["mean_cosine"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("precision", [np.float32, np.float16])
def test_vectors_of_long_texts_are_sums_of_all_their_words(precision: type) -> None:
    """Whatever is added up at once: short, empty and long texts, batch by batch."""
    rng = np.random.default_rng(3)
    lexicon = small.lexicon(rng.normal(size=(49, 4)))
    lexicon = replace(lexicon, vectors=lexicon.vectors.astype(precision))
    before = lexicon.vectors.copy()
    weights = np.append(1e-3 / (1e-3 + lexicon.prior), 1.0)
    table = np.asarray(lexicon.vectors, np.float64) * weights[:, None]
    sizes = [3, 0, 2500, 1024, 1, 0, 700, 700, 700, 0]
    texts = np.repeat(np.arange(len(sizes)), sizes)
    vectors = similarity.Weighted(lexicon)
    for highest in (10, 49):
        ids = rng.integers(-1, highest, len(texts)).astype(np.int32)
        sums = vectors.of_texts(texts, ids, len(sizes))
        for text in range(len(sizes)):
            expected = table[ids[texts == text]].sum(axis=0)
            np.testing.assert_allclose(sums[text], expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(lexicon.vectors, before)
