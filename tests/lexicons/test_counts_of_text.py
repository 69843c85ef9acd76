"""Words and pairs of a public text, against counts that are made in another way.

Each word of the lexicon that ships, and each new one, occurs a different number of
times, in texts and batches of any size, so that a word that is counted twice, or not at
all, differs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from dptext import lexicons
from dptext.attackers.training import PairCounts
from dptext.lexicons import from_text, importing
from dptext.lexicons.from_text import CorpusCounts, KeyCounts, adapt, count_words
from dptext.lexicons.sources import RawVectors
from dptext.tokens import numbers
from dptext.tokens.regex import to_keys
from dptext.types import Lexicon
from tests import small
from tests.attackers import models

# New words in three spellings, so often each.
NEW = {"fritzbox": (("Fritzbox", 4), ("fritzbox", 2), ("FRITZBOX", 1))}
RARE = ("zqxjv", "qwxzj")
NUMERALS = ("4711", "12", "4711")


def texts_of(words: Sequence[str], batch: int) -> list[list[str]]:
    """Return texts of one to nine words, so many to a batch."""
    rng, texts, begin = np.random.default_rng(batch), [], 0
    while begin < len(words):
        length = int(rng.integers(1, 10))
        texts.append(" ".join(words[begin : begin + length]))
        begin += length
    return [texts[at : at + batch] for at in range(0, len(texts), batch)]


def occurrences(lexicon: Lexicon) -> Counter[str]:
    """Return how often each word is written: words of the lexicon by their row."""
    plain = [word for word in lexicon.words if word.isalpha() and word.isascii()]
    times = {word: 1 + row % 4 for row, word in enumerate(plain)}
    for forms in NEW.values():
        times |= dict(forms)
    times |= dict.fromkeys(RARE, 2) | Counter(NUMERALS)
    return Counter(times)


def counted(lexicon: Lexicon, batch: int) -> tuple[Counter[str], CorpusCounts]:
    """Count all words of a lexicon, in an order of chance."""
    times = occurrences(lexicon)
    written = sorted(times.elements())
    order = np.random.default_rng(batch).permutation(len(written))
    batches = texts_of([written[at] for at in order.tolist()], batch)
    known = {key: row for row, key in enumerate(to_keys(lexicon.words))}
    return times, count_words(lambda: batches, known, 3)


def by_row(lexicon: Lexicon, times: Counter[str]) -> np.ndarray:
    """Return how often each row was written."""
    row_of = lexicon.row_of
    expected = np.zeros(len(lexicon.words))
    for word, count in times.items():
        if word.lower() in row_of and not word.isdecimal():
            expected[row_of[word.lower()]] += count
    return expected


def test_every_word_is_counted_as_often_as_it_is_written(builtin: Lexicon) -> None:
    """Known words in any spelling, new ones seen often enough, and numbers."""
    times, counts = counted(builtin, 500)
    expected = by_row(builtin, times)
    wrong = np.flatnonzero(counts.known != expected)
    assert not len(wrong), [builtin.words[row] for row in wrong[:5]]
    assert counts.new == {"Fritzbox": 7.0}
    assert counts.numbers == float(len(NUMERALS))


@cache
def base() -> Lexicon:
    """Return a small lexicon of frequent words, which is adapted in no time."""
    whole = lexicons.find("builtin")
    rows = [row for row, word in enumerate(whole.words[:1500]) if word.isalpha()]
    raw = RawVectors(
        [whole.words[row] for row in rows],
        np.asarray(whole.vectors[rows, :20]),
        np.asarray(whole.counts[rows], np.float64),
    )
    settings = importing.Settings(outputs=600, listed=10, language="en")
    return importing.from_vectors(
        raw, name="small", settings=settings, source={}, location="words"
    )


def test_frequencies_of_an_adapted_lexicon_are_those_of_the_text() -> None:
    """Of each word its count and the base's part; new words stand beside them."""
    lexicon = base()
    times = occurrences(lexicon)
    written = sorted(times.elements())
    order = np.random.default_rng(1).permutation(len(written)).tolist()
    batches = texts_of([written[at] for at in order], 50)
    made = adapt(lexicon, "mine", lambda: batches, 3, {})
    expected = by_row(lexicon, times)
    rows = numbers.rows_in(lexicon.words)
    shares = numbers.counts(float(len(NUMERALS)), [lexicon.words[row] for row in rows])
    for row in rows:
        expected[row] = shares[lexicon.words[row]]
    different = np.count_nonzero(expected) + 1
    smoothed = expected + different * lexicon.prior
    # Words that are no outputs count no more than the 1,000th output.
    outputs = int(lexicon.meta["outputs"])
    least = np.sort(smoothed[:outputs])[::-1][: from_text._BANDS][-1]
    smoothed[outputs:] = np.minimum(smoothed[outputs:], least)
    rows_of = np.array([made.row_of[word.lower()] for word in lexicon.words])
    np.testing.assert_allclose(made.counts[rows_of], smoothed, rtol=1e-12)
    assert made.counts[made.row_of["fritzbox"]] == pytest.approx(min(7.0, least))
    assert made.meta["new_words"] == 1
    assert len(made.words) == len(lexicon.words) + 1


def test_every_pair_is_counted_once(builtin: Lexicon) -> None:
    """As often as a word is written it follows another word or begins a text."""
    times = occurrences(builtin)
    written = sorted(times.elements())
    order = np.random.default_rng(2).permutation(len(written)).tolist()
    counts = PairCounts(builtin)
    for batch in texts_of([written[at] for at in order], 20_000):
        counts.add(batch)
    keys, found = counts._pairs.total()
    size = len(builtin.words)
    for rows in (keys % (size + 2), keys // (size + 2)):
        seen = np.bincount(rows, found, size + 2)[:size]
        expected = by_row(builtin, times)
        seen[list(numbers.rows_in(builtin.words))] = 0.0
        wrong = np.flatnonzero(seen != expected)
        assert not len(wrong), [builtin.words[row] for row in wrong[:5]]
    assert counts.words == len(written)


def test_keys_are_counted_across_all_borders() -> None:
    """However they are added, and however many wait."""
    rng = np.random.default_rng(5)
    counts, every = KeyCounts(), []
    for size in (0, 1, 3_000_000, 7, 2_500_000, 100):
        every.append(rng.integers(0, 1000, size) ** 2)
        counts.add(every[-1])
        if size == 7:
            counts.total()
    keys, times = counts.total()
    wanted, expected = np.unique(np.concatenate(every), return_counts=True)
    np.testing.assert_array_equal(keys, wanted)
    np.testing.assert_array_equal(times, expected)


ENGLISH = small.english("the", "cat", "dog", "runs", "of", "barks", "at")


def sentences(count: int) -> list[list[str]]:
    """Return sentences of known words and one that is not known."""
    rng = np.random.default_rng(9)
    words = [*ENGLISH.words[:-1], "zqxjv"]
    weights = rng.dirichlet(np.ones(len(words)))
    return [
        rng.choice(words, int(rng.integers(1, 8)), p=weights).tolist()
        for _ in range(count)
    ]


def test_a_model_of_pairs_is_that_of_the_formula() -> None:
    """Probabilities of words alone are exact, those of pairs up to their codes."""
    written = sentences(400)
    texts = [
        ". ".join(map(" ".join, written[at : at + 4])) + "." for at in range(0, 400, 4)
    ]
    counts = PairCounts(ENGLISH)
    for begin in range(0, len(texts), 17):
        counts.add(texts[begin : begin + 17])
    size = len(ENGLISH.words)
    rows = {word: row for row, word in enumerate(ENGLISH.words)} | {"zqxjv": size}
    pairs: Counter[tuple[int, int]] = Counter()
    for sentence in written:
        line = [size + 1, *(rows[word] for word in sentence), size + 1]
        pairs.update(itertools.pairwise(line))
    assert counts.words == sum(map(len, written))
    model = counts.model(1, {})
    table = np.zeros((size + 2, size + 2))
    for pair, times in pairs.items():
        table[pair] = times

    def discount(values: np.ndarray) -> float:
        once, twice = (values == 1).sum(), (values == 2).sum()
        return float(once / (once + 2 * twice)) if once and twice else 0.5

    seen = table.sum(axis=0)
    taken = discount(seen[seen > 0])
    public = np.append(ENGLISH.prior * 0.98, [0.01, 0.01])
    alone = np.maximum(seen - taken, 0.0) + taken * (seen > 0).sum() * public
    alone /= alone.sum()
    np.testing.assert_allclose(np.exp(model.alone.astype(float)), alone, rtol=1e-5)
    totals, taken = table.sum(axis=1), discount(table[table > 0])
    spared = taken * (table > 0).sum(axis=1) / np.maximum(totals, 1)
    for one, other in pairs:
        chance = (table[one, other] - taken) / totals[one] + spared[one] * alone[other]
        found = models.log_probs(model, np.array([one]), np.array([other]))[0]
        assert found == pytest.approx(np.log(chance), abs=0.061)
