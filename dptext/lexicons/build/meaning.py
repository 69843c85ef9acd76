"""Where words stand in WordNet: shares of their meanings and of all above them.

A word has a share of each of its meanings, by tagged counts; a meaning passes it on to
those above it, less at each step, and to those that it is said to be similar to. Rarely
shared meanings weigh more (inverse document frequency).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from dptext.lexicons.build.forms import Link
from dptext.lexicons.build.wordnet import WordNet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# What a step up leaves of a share, and what is passed on by each other relation.
DECAY = 0.6
_PASSED = {"&": 0.6, "^": 0.6, "*": 0.6, "$": 0.6, ">": 0.6, "+": 0.4, "\\": 0.4}
_UP = ("@", "@i")
NEAREST, NEAR = 20, 0.2
_BLOCK = 512


def of_words(
    wordnet: WordNet,
    keys: Sequence[str],
    links: Mapping[str, tuple[Link, ...]],
    weights: Mapping[tuple[str, str], float],
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
    weights: Mapping[tuple[str, str], float],
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


def nearest(matrix: csr_matrix, first: int) -> list[tuple[int, int]]:
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
        ranked = -np.rint(cosines * 2.0**20) * 2.0**17 + np.arange(first)
        most = min(NEAREST, first)
        best = np.argpartition(ranked, most - 1, axis=1)[:, :most]
        for word, others in zip(here.tolist(), best, strict=True):
            close = others[cosines[word - begin, others] > NEAR].tolist()
            pairs.update((min(word, other), max(word, other)) for other in close)
    return sorted(pairs)
