"""The contexts of each lemma: synsets near its meanings, words of its glosses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dptext.lexicons.build.evidence import divided, words_of
from dptext.lexicons.build.wordnet import WordNet
from dptext.tokens.regex import key_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

WINDOW = 4
# A sense counts its tags plus this, halved from sense to sense.
SENSE_PRIOR = 1.0
SENSE_DECAY = 0.5
PART = 0.02


def meanings(wordnet: WordNet, roots: Mapping[str, int]) -> csr_matrix:
    """Return the share of each synset in the use of each root: (roots, s).

    A part of a longer lemma ("York") has a little of its meaning.
    """
    from scipy import sparse

    rows, columns, weights = [], [], []
    for (lemma, _), senses in wordnet.senses.items():
        if " " in lemma:
            for word in dict.fromkeys(words_of(lemma)):
                if word in roots:
                    rows.append(roots[word])
                    columns.append(senses[0][0])
                    weights.append(PART)
            continue
        row = roots.get(lemma)
        if row is None:
            continue
        for position, (synset, count) in enumerate(senses):
            rows.append(row)
            columns.append(synset)
            weights.append(count + SENSE_PRIOR * SENSE_DECAY**position)
    shape = (len(roots), len(wordnet.synsets))
    matrix = sparse.csr_matrix((weights, (rows, columns)), shape=shape)
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return (sparse.diags(scale) @ matrix).tocsr()


def glosses(wordnet: WordNet, root_of: Mapping[str, int], count: int) -> csr_matrix:
    """Return how often each synset's gloss and lemmas use each root: (s, roots)."""
    from scipy import sparse

    rows, columns = [], []
    for number, synset in enumerate(wordnet.synsets):
        text = " ; ".join((*divided(synset.gloss)[0], *synset.lemmas))
        for word in words_of(text):
            root = root_of.get(key_of(word))
            if root is not None:
                rows.append(number)
                columns.append(root)
    shape = (len(wordnet.synsets), count)
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    return matrix.tocsr()


def neighbours(wordnet: WordNet, root_of: Mapping[str, int], count: int) -> csr_matrix:
    """Return how often two roots stand within the window in a gloss: (roots, roots)."""
    from scipy import sparse

    # Gaps between texts are wider than the window, so that no pair spans two texts.
    stream: list[int] = []
    for synset in wordnet.synsets:
        for parts in divided(synset.gloss):
            for text in parts:
                stream += [root_of.get(key_of(word), -1) for word in words_of(text)]
                stream += [-1] * WINDOW
    ids = np.array(stream, dtype=np.int64)
    total = sparse.csr_matrix((count, count))
    for step in range(1, WINDOW + 1):
        left, right = ids[:-step], ids[step:]
        both = (left >= 0) & (right >= 0)
        weights = np.full(int(both.sum()), 1.0 / step)
        pairs = (left[both], right[both])
        total = total + sparse.csr_matrix((weights, pairs), shape=(count, count))
    return (total + total.T).tocsr()


def alike(
    groups: Sequence[tuple[str, ...]], root_of: Mapping[str, int], count: int
) -> csr_matrix:
    """Return which groups of words (keys) each root is in: (roots, groups)."""
    from scipy import sparse

    cells = sorted(
        {
            (root_of[word], column)
            for column, group in enumerate(groups)
            for word in group
            if word in root_of
        }
    )
    rows, columns = [row for row, _ in cells], [column for _, column in cells]
    shape = (count, len(groups))
    matrix = sparse.csr_matrix((np.ones(len(cells)), (rows, columns)), shape=shape)
    return matrix.tocsr()
