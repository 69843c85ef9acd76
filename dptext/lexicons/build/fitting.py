"""Vectors fitted to relations: synonyms drawn together, antonyms pushed apart.

ATTRACT-REPEL (Mrksic et al. 2017): in each small set of pairs, a pair of synonyms must
be nearer than either word is to the nearest other word of the set, by a margin; a pair
of antonyms must be farther apart than either is from the farthest other word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Pairs = Sequence[tuple[int, int]]
MARGIN = 0.4
EPOCHS = 4
_SET, _RATE, _FIRST = 128, 0.05, 1e-6
_FAR = 9.0  # beyond any cosine


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
    squares = np.full_like(rows, _FIRST)
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
    # Along the vector itself nothing is to be gained.
    slope -= (slope * here).sum(axis=1, keepdims=True) * here
    words, row_of = np.unique(ids, return_inverse=True)
    total = np.zeros((len(words), rows.shape[1]))
    np.add.at(total, row_of, slope)
    squares[words] += total**2
    rows[words] -= _RATE * total / np.sqrt(squares[words])
