"""The epsilons of texts: exact sums, and quantiles within a step of the histogram."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest

from dptext.engine.tally import EpsilonHistogram, EpsilonsSpent
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Eps, Words
from tests import small
from tests.metrics.batches import batch

LEXICON = small.english("the", "cat", "dog", "runs", "well")
METER = EpsilonHistogram(LEXICON)


def words_of(*texts: str) -> Words:
    """Divide texts into words."""
    return Tokenizer(LEXICON, Policy()).words(texts)


def spent(*batches: tuple[Words, Eps]) -> EpsilonsSpent:
    """Count batches."""
    nothing = (words_of(), np.empty(0))
    return reduce(
        METER.merge,
        [
            METER.observe(batch(LEXICON, words, words.ids, eps))
            for words, eps in (nothing, *batches)
        ],
    )


def test_epsilons_add_up_per_text() -> None:
    """Least, largest and total are exact; texts without a word spend nothing."""
    words = words_of("the cat", "", "dog", "...")
    total = spent((words, np.array([1.5, 2.5, 0.25])))
    shown = METER.result(total)
    assert (total.texts, shown["min"], shown["max"]) == (4, 0.25, 4.0)
    assert shown["total"] == 4.25
    assert METER.result(spent()) == {"total": 0.0}
    assert spent().texts == 0


@pytest.mark.parametrize("spread", [0.001, 1.0, 8.0])
def test_quantiles_are_within_half_a_percent(spread: float) -> None:
    """Median and p95 against the sorted sums, over batches, for any range."""
    rng = np.random.default_rng(1)
    batches, sums = [], []
    for _ in range(5):
        texts = ["cat " * int(count) for count in rng.integers(1, 30, 200)]
        words = words_of(*texts)
        eps = np.exp(rng.normal(0, spread, len(words.ids)))
        batches.append((words, eps))
        sums.append(np.bincount(words.texts, eps))
    every = np.sort(np.concatenate(sums))
    shown = METER.result(spent(*batches))
    for name, share in (("median", 0.5), ("p95", 0.95)):
        exact = every[int(np.ceil(share * len(every))) - 1]
        assert shown[name] == pytest.approx(exact, rel=0.005)
    assert shown["min"] == every[0]
    assert shown["max"] == every[-1]
    assert shown["total"] == math.fsum(every)
    assert shown["min"] <= shown["median"] <= shown["p95"] <= shown["max"]


def test_equal_texts_have_exact_quantiles() -> None:
    """A histogram step never shows where all texts spend the same."""
    shown = METER.result(spent((words_of(*["the cat"] * 9), np.full(18, 0.7))))
    assert shown["min"] == shown["median"] == shown["p95"] == shown["max"]


def test_the_total_of_the_widest_range_is_exact() -> None:
    """The smallest and the largest epsilons together are rounded once."""
    eps = np.array([1e7, 1e-40, 0.1, 1e-17] * 500)
    words = words_of(*["cat"] * len(eps))
    assert METER.result(spent((words, eps)))["total"] == math.fsum(eps)
