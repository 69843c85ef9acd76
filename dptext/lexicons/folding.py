"""Entries of a file folded as words are looked up, with numbers and the unknown word.

What the splitter never yields as one word is dropped, all numbers become elements of
dptext.tokens.numbers, and unknown words get the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons import numbers
from dptext.lexicons.raw import RawVectors
from dptext.lexicons.schemes import Entries, Scheme
from dptext.tokens import kinds
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import is_elision, key_of, kind_of, split
from dptext.types import ENGLISH

# Zipf-Mandelbrot (Mandelbrot 1953): with this exponent the commonest of 50,000
# words is 5% of a text, as in English. An exponent of 1 makes it 3%, and risks look
# smaller than they are (benchmarks/imported.py risks).
_EXPONENT, _OFFSET = 1.13, 2.73
# Share of number tokens in running English, where the source has no numbers to count.
_NUMBER_SHARE = 0.01
# Their mean stands in for the vector of numbers, where the source has no numbers.
_NUMBER_WORDS = "one two three four five six seven eight nine ten".split()


class Folded(NamedTuple):
    """Which entries remain, with the counts of those merged into them."""

    rows: NDArray[np.intp]  # into the source, by descending count
    counts: NDArray[np.float64]
    numbers: NDArray[np.intp]
    number_count: float
    dropped: dict[str, int]


def arranged(
    raw: RawVectors, location: str, scheme: Scheme, language: str = ENGLISH
) -> tuple[Entries, dict[str, int]]:
    """Fold the entries of a file, put them in order, and set numbers and the last row.

    language decides which numbers there are. Returns also how many were dropped, by
    reason. Where the scheme wants only so many outputs, numbers are frequent enough to
    be some.
    """
    counts = zipf(len(raw.words)) if raw.counts is None else raw.counts
    folded = fold(raw.words, counts)
    if not len(folded.rows):
        msg = f"{location}: no entry in it is a word"
        raise LexiconError(msg)
    words = [normalize("NFC", raw.words[row]) for row in folded.rows.tolist()]
    names = numbers.names(language)
    counts = _number_counts(folded, scheme.outputs, names)
    few = len(counts)
    merged = np.append(folded.counts, counts)
    written, merged, order, outputs = scheme.arrange([*words, *names[:few]], merged)
    size, d = len(order), raw.vectors.shape[1]
    vectors = np.empty((size + 1, d), raw.vectors.dtype)
    # Straight to where they stay, without a copy between: this is most of the memory.
    # The rows that the last entries, numbers, take here are written over.
    entries = np.append(folded.rows, np.zeros(few, np.intp))[order]
    np.take(raw.vectors, entries, axis=0, out=vectors[:size], mode="clip")
    middle = _number_vector(raw, words, folded)
    rows = np.argsort(order)[-few:]
    vectors[rows] = middle
    vectors[size] = vectors[:size].mean(axis=0, dtype=np.float64)
    vectors[rows] = numbers.vectors(middle)[[NAMES.index(name) for name in names[:few]]]
    ordered = tuple(written[row] for row in order.tolist())
    return Entries(ordered, vectors, merged[order], outputs), folded.dropped


def _number_counts(
    folded: Folded, most: int | None, names: Sequence[str]
) -> NDArray[np.float64]:
    """Return the counts of the elements for numbers, or that of NUMBER alone: (m,).

    At least that of the last outputs, where only the first `most` words are outputs.
    """
    share = _NUMBER_SHARE * float(folded.counts.sum())
    total = folded.number_count or share
    size = len(folded.rows) if most is None else min(most, len(folded.rows))
    if size < numbers.FEWEST:
        return np.array([total])
    counts = np.array(list(numbers.counts(total, names).values()))
    least = 0.0
    if most is not None:
        last = np.sort(folded.counts)[::-1][size - len(counts) - 1]
        least = float(np.nextafter(last, np.inf))
    return np.asarray(np.maximum(counts, least))


def zipf(size: int) -> NDArray[np.float64]:
    """Return counts (size,) after Zipf and Mandelbrot, the last one 1."""
    ranks = np.arange(1, size + 1, dtype=np.float64)
    return np.asarray(((size + _OFFSET) / (ranks + _OFFSET)) ** _EXPONENT)


def fold(words: list[str], counts: NDArray[np.float64]) -> Folded:
    """Keep the most frequent entry of each key; its count is that of all of them."""
    kept: dict[str, int] = {}
    rows: list[int] = []
    sums: list[float] = []
    in_digits: list[int] = []
    dropped = {"not_words": 0, "numbers": 0, "merged": 0}
    for row in np.argsort(-counts, kind="stable").tolist():
        kind = _kind(words[row])
        if kind == kinds.NUMBER:
            in_digits.append(row)
            dropped["numbers"] += 1
        elif kind != kinds.WORD:
            dropped["not_words"] += 1
        elif (first := kept.setdefault(key_of(words[row]), len(rows))) < len(rows):
            sums[first] += float(counts[row])
            dropped["merged"] += 1
        else:
            rows.append(row)
            sums.append(float(counts[row]))
    return Folded(
        np.array(rows, np.intp),
        np.array(sums),
        np.array(in_digits, np.intp),
        float(counts[in_digits].sum()),
        dropped,
    )


def _kind(word: str) -> int:
    """Tell the kind of a word that is one piece; several pieces are no word."""
    # The splitter gives a piece the space before it, so a text cannot begin with one.
    if is_elision(word):  # one word before another, two pieces alone
        return kinds.WORD
    if word[:1] == " " or len(pieces := split(word)) != 1:
        return kinds.PUNCTUATION
    return kind_of(pieces[0])


def _number_vector(
    raw: RawVectors, words: list[str], folded: Folded
) -> NDArray[np.float64]:
    """Return the mean of the numbers, else of number words, else of all entries."""
    chosen = folded.numbers
    if not len(chosen):
        rows = folded.rows.tolist()
        row_of = {key_of(word): row for word, row in zip(words, rows, strict=True)}
        chosen = np.array([row_of[w] for w in _NUMBER_WORDS if w in row_of], np.intp)
    # All of them without an index: that would copy the whole matrix.
    vectors = raw.vectors[chosen] if len(chosen) else raw.vectors
    return np.asarray(vectors.mean(axis=0, dtype=np.float64))
