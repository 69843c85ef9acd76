"""Entries of a file folded as words are looked up; what is no one word is dropped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import kinds
from dptext.tokens.regex import is_elision, key_of, kind_of, split

# Zipf-Mandelbrot (Mandelbrot 1953): with this exponent the commonest of 50,000
# words is 5% of a text, as in English. An exponent of 1 makes it 3%, and risks look
# smaller than they are (benchmarks/imported.py risks).
_EXPONENT, _OFFSET = 1.13, 2.73


class Folded(NamedTuple):
    """Which entries remain, with the counts of those merged into them."""

    rows: NDArray[np.intp]  # into the source, by descending count
    counts: NDArray[np.float64]
    numbers: NDArray[np.intp]
    number_count: float
    dropped: dict[str, int]


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
