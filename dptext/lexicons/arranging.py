"""Folded entries put in order, with the elements for numbers and the unknown word.

All numbers become elements of dptext.tokens.numbers; unknown words get the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from dptext.errors import LexiconError
from dptext.lexicons import numbers
from dptext.lexicons.folding import Folded, fold, zipf
from dptext.lexicons.raw import RawVectors
from dptext.lexicons.schemes import Entries, Scheme
from dptext.tokens.numbers import NAMES
from dptext.tokens.regex import key_of
from dptext.types import ENGLISH

# Share of number tokens in running English, where the source has no numbers to count.
_NUMBER_SHARE = 0.01
# Their mean stands in for the vector of numbers, where the source has no numbers.
_NUMBER_WORDS = "one two three four five six seven eight nine ten".split()


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
