"""CusText's output sets, from public order and public vocabulary alone.

Words are taken by descending public frequency, the order of the lexicon.

aggressive: every word has its own set, the k words nearest to it. Each word is alone in
    its class (but for chance: two words with the same k nearest words).
balanced: the most frequent word without a set opens one, its k nearest words; those of
    them that have no set yet get this one too. Sets overlap.
conservative: the most frequent word without a set opens one: itself and the k - 1
    nearest of the words without a set; all of them get it. The sets divide V; the last
    holds what is left over.

Unknown words have the set of their public row's nearest k words (aggressive) or that
of the word nearest to their row (balanced, conservative).
Published code walks over the words of the private corpus instead, and over what it
has counted there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.geometry import neighbours
from dptext.spaces import Space

_PART = 64


@dataclass(frozen=True, slots=True)
class OutputSets:
    """Output sets of all rows, with utilities that are computed as they are needed.

    sets (c, k) words, -1 where a set is smaller than k; classes (V + 1,) the set of
    each row; utilities (V + 1, k) float64, u of the words of a row's own set; squared
    says that u falls with the squared distance (cosine) instead of the distance.
    """

    vectors: NDArray[np.float32] = field(repr=False)
    sets: NDArray[np.int32]
    classes: NDArray[np.int64]
    squared: bool
    utilities: NDArray[np.float64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)

    def members(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the words of each row's set: (m,) -> (m, k)."""
        return self.sets[self.classes[rows]]

    def utility(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return u = 1 - (d - min) / (max - min) of each row's set: (m,) -> (m, k).

        1 where max = min; -inf where a set is smaller than k.
        """
        new = np.unique(rows[~self.known[rows]])
        for begin in range(0, len(new), _PART):
            part = new[begin : begin + _PART]
            self.utilities[part] = self._utility(part)
            self.known[part] = True
        return self.utilities[rows]

    def _utility(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        members = self.members(rows)
        gap = self.vectors[members].astype(np.float64)
        gap -= self.vectors[rows].astype(np.float64)[:, None, :]
        distances = np.einsum("mkd,mkd->mk", gap, gap)
        if not self.squared:
            np.sqrt(distances, out=distances)
        distances[members < 0] = np.inf
        low = distances.min(axis=1, keepdims=True)
        high = distances.max(axis=1, keepdims=True, where=members >= 0, initial=0.0)
        spread = np.where(high == low, 1.0, high - low)
        return np.asarray(1.0 - (distances - low) / spread)

    @property
    def alone(self) -> int:
        """Return how many words share their set with no other word."""
        words = self.classes[:-1]
        return int((np.bincount(words)[words] == 1).sum())


def build(space: Space, mapping: str, k: int, squared: bool) -> OutputSets:
    """Build the sets of a mapping, once for a lexicon and space; then from the cache.

    With squared, space holds vectors of length 1.
    """
    k = min(k, space.size)

    def compute() -> cache.Arrays:
        sets, classes = _BUILDERS[mapping](space, k)
        return {"sets": sets.astype(np.int32), "classes": classes}

    key = cache.key_of("sets", 1, space.lexicon.digest, space.identity, mapping, k)
    arrays = cache.arrays(
        key, compute, lambda kept: _sound(space, k, **kept), "forming output sets"
    )
    rows = space.size + 1
    # np.empty takes no memory before it is written to.
    return OutputSets(
        vectors=space.vectors,
        sets=arrays["sets"],
        classes=arrays["classes"],
        squared=squared,
        utilities=np.empty((rows, k)),
        known=np.zeros(rows, bool),
    )


def _sound(
    space: Space, k: int, sets: NDArray[np.int32], classes: NDArray[np.int64]
) -> bool:
    """Tell whether sets hold different words, and every input has one."""
    ordered = np.sort(sets, axis=1)
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    inside = sets.shape[1] == k and -1 <= sets.min() and sets.max() < space.size
    served = classes.shape == (space.size + 1,) and classes.min() >= 0
    return bool(inside and served and not same.any() and classes.max() < len(sets))


def _aggressive(space: Space, k: int) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    # Sets are compared as sets: the same k words in another order are the same set.
    nearest = np.sort(neighbours.nearest_words(space, k).astype(np.int32), axis=1)
    sets, classes = np.unique(nearest, axis=0, return_inverse=True)
    return sets, classes.reshape(-1).astype(np.int64)


def _balanced(space: Space, k: int) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    near = neighbours.nearest_words(space, k).astype(np.int64)
    classes = np.full(space.size + 1, -1, np.int64)
    leaders: list[int] = []
    for word in range(space.size):
        if classes[word] < 0:
            members = near[word]
            classes[members[classes[members] < 0]] = len(leaders)
            leaders.append(word)
    classes[-1] = classes[near[-1, 0]]
    return near[leaders], classes


def _conservative(
    space: Space, k: int
) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    left = neighbours.Remaining(space.vectors, space.size)
    classes = np.full(space.size + 1, -1, np.int64)
    sets = np.full((-(-space.size // k), k), -1, np.int64)
    count = 0
    for word in range(space.size):
        if classes[word] >= 0:
            continue
        left.take(np.array([word]))
        others = left.nearest(word, k - 1)
        left.take(others)
        sets[count, 0], sets[count, 1 : 1 + len(others)] = word, others
        classes[word] = classes[others] = count
        count += 1
    classes[-1] = classes[neighbours.nearest_of_all(space, space.size)[0]]
    return sets, classes


_BUILDERS = {
    "aggressive": _aggressive,
    "balanced": _balanced,
    "conservative": _conservative,
}
