"""Vectors of English words: GloVe's, the same fitted to WordNet, and polarity.

GloVe's own tell what a word is about, the fitted ones which words mean nearly the same.

Fitting is ATTRACT-REPEL (Mrksic et al. 2017): in each small set of pairs, a pair of
synonyms must be nearer than either word is to the nearest other word of the set, by a
margin; a pair of antonyms must be farther apart than either is from the farthest other
word. Neighbours in WordNet are drawn together, too: a word has a share of each of its
meanings, by tagged counts; a meaning passes it on to those above it, less at each
step, and to those that it is said to be similar to. Rarely shared meanings weigh more
(inverse document frequency).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dptext.lexicons.search import largest
from dptext.tokens.regex import key_of
from tools.english import forms as lists
from tools.english.forms import English
from tools.english.wordnet import (
    LemmaWeights,
    Link,
    Links,
    WordNet,
    antonyms,
    synonyms,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Pairs = Sequence[tuple[int, int]]
MARGIN = 0.4
EPOCHS = 4
_SET, _RATE, _TINY = 128, 0.05, 1e-6
_FAR = 9.0  # beyond any cosine
# The part of a share that a step up keeps, and that each other relation passes on.
DECAY = 0.6
_PASSED = {"&": 0.6, "^": 0.6, "*": 0.6, "$": 0.6, ">": 0.6, "+": 0.4, "\\": 0.4}
_UP = ("@", "@i")
NEAREST, NEAR = 20, 0.2
_BLOCK = 512
# The length of the fitted part and of the best word's polarity beside GloVe's.
FITTED, POLARITY = 1.2, 0.6
# The most frequent words, which are drawn together with their neighbours in WordNet.
_FIRST = 30_000
# How far a word that has only the vector of its class lies from it.
_APART = 0.3
_ENDINGS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")


def fitted(
    vectors: NDArray[np.float64],
    synonyms: Pairs,
    antonyms: Pairs,
    seed: int,
    epochs: int = EPOCHS,
) -> NDArray[np.float64]:
    """Return vectors (V, d) of length 1 that were moved to fit pairs of rows."""
    rng = np.random.default_rng(seed)
    rows = vectors.copy()
    squares = np.full_like(rows, _TINY)
    groups = [
        (sign, np.array(pairs, np.int64))
        for sign, pairs in ((1.0, synonyms), (-1.0, antonyms))
        if len(pairs)
    ]
    for _ in range(epochs):
        sets = [
            (sign, pairs[part])
            for sign, pairs in groups
            for part in np.array_split(
                rng.permutation(len(pairs)), max(1, len(pairs) // _SET)
            )
        ]
        for number in rng.permutation(len(sets)).tolist():
            _step(rows, squares, *sets[number])
    return unit(rows)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows (n, d) of length 1, or 0 where they have none."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.where(lengths > 1e-9, rows / np.maximum(lengths, 1e-9), 0.0))


def _step(
    rows: NDArray[np.float64],
    squares: NDArray[np.float64],
    sign: float,
    pairs: NDArray[np.int64],
) -> None:
    """Move the words of one set of pairs; sign 1 for synonyms, -1 for antonyms."""
    ids = pairs.T.ravel()
    here = unit(rows[ids])
    every = np.arange(len(ids))
    partner = np.roll(every, len(pairs))
    cosines = sign * (here @ here.T)
    between = cosines[every, partner]
    cosines[ids[:, None] == ids[None, :]] = -_FAR
    cosines[every, partner] = -_FAR
    nearest = cosines.argmax(axis=1)
    margin = MARGIN if sign > 0 else 0.0
    wrong = sign * (margin + cosines[every, nearest] > between)[:, None]
    slope = wrong * (here[nearest] - here[partner])
    np.add.at(slope, partner, -wrong * here)
    np.add.at(slope, nearest, wrong * here)
    # A step along the vector itself gains nothing.
    slope -= (slope * here).sum(axis=1, keepdims=True) * here
    words, row_of = np.unique(ids, return_inverse=True)
    total = np.zeros((len(words), rows.shape[1]))
    np.add.at(total, row_of, slope)
    squares[words] += total**2
    rows[words] -= _RATE * total / np.sqrt(squares[words])


def places_in_wordnet(
    wordnet: WordNet,
    keys: Sequence[str],
    links: Links,
    weights: LemmaWeights,
) -> csr_matrix:
    """Return rows of length 1, or 0 for words outside WordNet: (V, synsets)."""
    from scipy import sparse

    ancestors = cache(lambda number: _ancestors(wordnet, number))
    rows: list[int] = []
    columns: list[int] = []
    shares: list[float] = []
    for row, key in enumerate(keys):
        stands: dict[int, float] = {}
        for synset, share in _senses(wordnet, links.get(key, ()), weights):
            for above, part in ancestors(synset):
                stands[above] = stands.get(above, 0.0) + share * part
        rows += [row] * len(stands)
        columns += stands
        shares += stands.values()
    shape = (len(keys), len(wordnet.synsets))
    matrix = sparse.csr_matrix((np.sqrt(shares), (rows, columns)), shape=shape)
    having = np.maximum(np.bincount(columns, minlength=shape[1]), 1)
    matrix = matrix @ sparse.diags(np.log(len(keys) / having))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return (sparse.diags(1.0 / np.maximum(lengths, 1e-9)) @ matrix).tocsr()


def _senses(
    wordnet: WordNet,
    ties: Sequence[Link],
    weights: LemmaWeights,
) -> list[tuple[int, float]]:
    """Return the synsets of a word with its share of each."""
    uses = [tie.share * weights[tie.lemma, tie.pos] for tie in ties]
    senses = []
    for tie, use in zip(ties, uses, strict=True):
        counted = [
            (synset, count + 1.0 / (1 + number))
            for number, (synset, count) in enumerate(wordnet.senses[tie.lemma, tie.pos])
        ]
        total = sum(uses) * sum(count for _, count in counted)
        senses += [(synset, use * count / total) for synset, count in counted]
    return senses


def _ancestors(wordnet: WordNet, number: int) -> list[tuple[int, float]]:
    """Return what a share of a synset is passed on to, with the part of it."""
    parts = {number: 1.0}
    for here in (queue := [number]):  # grows: the way up, nearest first
        for pointer in wordnet.synsets[here].pointers:
            if pointer.symbol in _UP and pointer.target not in parts:
                parts[pointer.target] = parts[here] * DECAY
                queue.append(pointer.target)
    for pointer in wordnet.synsets[number].pointers:
        passed = _PASSED.get(pointer.symbol, 0.0)
        if passed:
            parts[pointer.target] = parts.get(pointer.target, 0.0) + passed
    return list(parts.items())


def near_pairs(matrix: csr_matrix, first: int) -> list[tuple[int, int]]:
    """Return pairs of the first words that stand near each other, the smaller first.

    Each word with its NEAREST others of a cosine above NEAR.
    """
    rows = matrix[:first]
    columns = rows.T.tocsc()
    pairs: set[tuple[int, int]] = set()
    for begin in range(0, first, _BLOCK):
        cosines = (rows[begin : begin + _BLOCK] @ columns).toarray()
        here = begin + np.arange(len(cosines))
        cosines[np.arange(len(cosines)), here] = 0.0
        best = largest(cosines, min(NEAREST, first))
        for word, others in zip(here.tolist(), best, strict=True):
            close = others[cosines[word - begin, others] > NEAR].tolist()
            pairs.update((min(word, other), max(word, other)) for other in close)
    return sorted(pairs)


def word_vectors(
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
    stands = places_in_wordnet(english.wordnet, keys, english.ties, english.weights)
    together = set(near_pairs(stands, min(_FIRST, len(keys))))
    ends, others = synonyms(english.wordnet, keys, english.ties)
    for row, alike in enumerate(np.split(others, ends[:-1])):
        together.update((row, other) for other in alike.tolist() if row < other)
    opposed = [
        (row, other)
        for row, opposites in enumerate(antonyms(english.wordnet, keys, english.ties))
        for other in opposites
        if row < other
    ]
    return centred, fitted(centred, sorted(together), opposed, seed)


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
    for words in lists.classes().values():
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
