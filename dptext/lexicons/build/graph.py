"""The relations of WordNet as a walk between synsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dptext.lexicons.build.wordnet import WordNet

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# How readily a walk takes each relation. Antonyms and topics are left out: opposites
# are related, not similar.
RELATIONS = {
    "@": 1.0, "@i": 1.0, "~": 0.5, "~i": 0.1, "&": 1.0, "^": 0.5, "$": 1.0, "+": 0.7,
    "\\": 0.7, "=": 0.5, "*": 0.5, ">": 0.5, "<": 0.7, "#m": 0.2, "#s": 0.3, "#p": 0.3,
    "%m": 0.1, "%s": 0.2, "%p": 0.2,
}  # fmt: skip
DAMPING = 0.7
STEPS = 4
# Cells of the walk below this are dropped; they carry noise and fill memory.
SMALLEST = 2e-3


def walk(wordnet: WordNet) -> csr_matrix:
    """Return the chance to be at each synset: (s, s), damped sum over the steps."""
    from scipy import sparse

    step = DAMPING * _steps(wordnet)
    here = sparse.identity(step.shape[0], format="csr")
    total = here.copy()
    for _ in range(STEPS):
        here = pruned(here @ step, SMALLEST)
        total = total + here
    return total.tocsr()


def pruned(matrix: csr_matrix, smallest: float) -> csr_matrix:
    """Return the matrix without its cells below smallest."""
    matrix = matrix.tocsr()
    matrix.data[matrix.data < smallest] = 0.0
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def _steps(wordnet: WordNet) -> csr_matrix:
    from scipy import sparse

    rows, columns, weights = [], [], []
    for number, synset in enumerate(wordnet.synsets):
        for pointer in synset.pointers:
            weight = RELATIONS.get(pointer.symbol, 0.0)
            if weight:
                rows.append(number)
                columns.append(pointer.target)
                weights.append(weight)
    count = len(wordnet.synsets)
    matrix = sparse.csr_matrix((weights, (rows, columns)), shape=(count, count))
    out = np.asarray(matrix.sum(axis=1)).ravel()
    return (sparse.diags(1.0 / np.maximum(out, 1e-12)) @ matrix).tocsr()
