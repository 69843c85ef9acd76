"""Vectors of closed-class words: from their groups and classes, not from glosses.

Glosses say too little of "his" or "because" to place them. Each group (words that can
stand for one another) and each class has a fixed-seed random direction; these are
nearly orthogonal to each other and to the content words, so that the nearest words of
a closed-class word are its group, then its class, then the other closed classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

GROUP, CLASS, ALL = 1.0, 0.6, 0.5
OWN = 0.15  # the part of the row that the word had
APART = 0.2  # a direction of its own, so that no two words coincide


def placement(
    words: Sequence[str],
    placed: NDArray[np.float64],
    groups: Sequence[tuple[str, ...]],
    classes: Mapping[str, Iterable[str]],
    grammatical: frozenset[str],
    seed: int,
) -> NDArray[np.float64]:
    """Return unit vectors (V, d) with new rows for grammatical words (keys)."""
    rng = np.random.default_rng(seed)
    toward: dict[str, list[NDArray[np.float64]]] = {word: [] for word in words}
    for group in groups:
        _lead(toward, group, _direction(rng, placed.shape[1]) * GROUP)
    for members in classes.values():
        _lead(toward, members, _direction(rng, placed.shape[1]) * CLASS)
    everyone = _direction(rng, placed.shape[1]) * ALL
    out: NDArray[np.float64] = placed.copy()
    for row, word in enumerate(words):
        if word in grammatical and toward[word]:
            led = np.sum(toward[word], axis=0)
            apart = _direction(rng, placed.shape[1]) * APART
            mixed = led / np.linalg.norm(led) + everyone + OWN * placed[row] + apart
            out[row] = mixed / np.linalg.norm(mixed)
    return out


def _lead(
    toward: Mapping[str, list[NDArray[np.float64]]],
    members: Iterable[str],
    direction: NDArray[np.float64],
) -> None:
    for word in dict.fromkeys(members):
        if word in toward:
            toward[word].append(direction)


def _direction(rng: np.random.Generator, dimensions: int) -> NDArray[np.float64]:
    drawn = rng.standard_normal(dimensions)
    drawn /= np.linalg.norm(drawn)
    return drawn
