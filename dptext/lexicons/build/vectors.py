"""Vectors of words: GloVe's, the same fitted to WordNet, and polarity.

GloVe's own tell what a word is about, the fitted ones which words mean nearly the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.build import closed, fitting, meaning, ordering, synonyms
from dptext.lexicons.build.fitting import unit
from dptext.lexicons.build.resources import English
from dptext.tokens.regex import key_of

# The length of the fitted part and of the best word's polarity beside GloVe's.
FITTED, POLARITY = 1.2, 0.6
# Words whose neighbours in WordNet are drawn together.
_FIRST = 30_000
# How far a word that has only the vector of its class lies from it.
_APART = 0.3
_ENDINGS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")


def of_words(
    english: English,
    keys: Sequence[str],
    row_of: Mapping[str, int],
    glove: NDArray[np.floating],
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return vectors of GloVe alone and the fitted ones, both (V, d) of length 1.

    keys by descending frequency; row_of the rows of glove.
    """
    rows = unit(np.array([_vector(key, row_of, glove) for key in keys]))
    centred = _centred(_with_classes(keys, rows, seed))
    stands = meaning.of_words(english.wordnet, keys, english.ties, english.weights)
    together = set(meaning.nearest(stands, min(_FIRST, len(keys))))
    ends, others = synonyms.synonyms(english.wordnet, keys, english.ties)
    for row, alike in enumerate(np.split(others, ends[:-1])):
        together.update((row, other) for other in alike.tolist() if row < other)
    opposed = [
        (row, other)
        for row, opposites in enumerate(
            ordering.antonyms(english.wordnet, keys, english.ties)
        )
        for other in opposites
        if row < other
    ]
    return centred, fitting.fitted(centred, sorted(together), opposed, seed)


def beside(
    glove: NDArray[np.float64],
    fitted: NDArray[np.float64],
    polarity: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return both vectors (V, d) and polarity (V,) in one: (V, 2 d + 1), length 1."""
    return unit(np.hstack((glove, FITTED * fitted, POLARITY * polarity[:, None])))


def _vector(
    key: str, row_of: Mapping[str, int], glove: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Return a word's vector, that of a contraction the mean of its parts; else 0."""
    parts = (key,) if key in row_of else _parts(key)
    rows = [row_of[part] for part in parts if part in row_of]
    if not rows:
        return np.zeros(glove.shape[1])
    return np.asarray(glove[rows].mean(axis=0, dtype=np.float64))


def _parts(key: str) -> tuple[str, ...]:
    for ending in _ENDINGS:
        if key.endswith(ending) and key != ending:
            return key[: -len(ending)], ending
    return ()


def _with_classes(
    keys: Sequence[str], rows: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Give words without a vector the mean of their closed class, a little apart."""
    row_of = {key: row for row, key in enumerate(keys)}
    rng = np.random.default_rng(seed)
    filled = rows.copy()
    for words in closed.classes().values():
        members = [row_of[key] for key in map(key_of, words) if key in row_of]
        for row in members:
            if not filled[row].any():
                mean = unit(rows[members].mean(axis=0, keepdims=True))[0]
                direction = rng.standard_normal(len(mean)) / np.sqrt(len(mean))
                filled[row] = mean + _APART * direction
    return unit(filled)


def _centred(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take out the mean and the one direction that all words share (Mu 2018)."""
    gaps = rows - rows.mean(axis=0)
    directions = np.linalg.svd(gaps.T @ gaps)[0]
    common = directions[:, :1]
    return unit(gaps - (gaps @ common) @ common.T)
