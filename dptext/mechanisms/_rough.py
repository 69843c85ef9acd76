"""About how often a word is guessed at any epsilon, for laws of a distance: to search.

Z is that of the listed words and a public sample of the others; guesses are the words
listed and the most frequent ones. Made exact to single precision at one epsilon, it
stays near nearby. No result rests on it: what a search finds is checked with
dptext.mechanisms._tiles.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import _tiles
from dptext.mechanisms._by_distance import distances

# Words sampled for Z, and most frequent words that are tried as guesses.
_SAMPLE, _FREQUENT = 128, 128
_SEED = 1
_ROWS = 4096
# With all of V listed nothing is far; infinity is no number to reckon with.
_MOST = 1e15


class RiskEstimate:
    """An estimate of the Bayes vulnerability, by law_of(epsilon) and a prior (V,)."""

    def __init__(
        self, law_of: Callable[[float], _tiles.Law], prior: NDArray[np.float64]
    ) -> None:
        self._law_of = law_of
        self._prior = prior
        law = law_of(1.0)
        near, size = law.near, law.size
        space = near.space
        widest = space.geometry.diameter ** (2 if law.squared else 1)
        # No probability grows faster with epsilon than exp(drift epsilon).
        self.drift = float(law.rate.max()) * widest
        rng = np.random.default_rng(_SEED)
        sample = np.sort(rng.choice(size, min(_SAMPLE, size), replace=False))
        self._frequent = np.argsort(-prior, kind="stable")[:_FREQUENT]
        # All distances in single precision; min with gamma is left to each epsilon.
        plain = _tiles.Law(near, law.rate, squared=law.squared)
        far = np.minimum(near.every.far[:size], _MOST).astype(np.float32)
        self._far = plain.max_distance(far)
        self._listed = near.every.listed[:size].astype(np.int64)
        self._near = np.empty(self._listed.shape, np.float32)
        self._sampled = np.empty((size, len(sample)), np.float32)
        self._columns = np.empty((len(self._frequent), size), np.float32)
        for begin in range(0, size, _ROWS):
            part = slice(begin, min(begin + _ROWS, size))
            block = space.vectors[part]
            for position in range(self._listed.shape[1]):
                gap = block - space.vectors[self._listed[part, position]]
                self._near[part, position] = np.sqrt(np.einsum("md,md->m", gap, gap))
            # Nearer than far only the listed words are, which are counted apart.
            self._columns[:, part] = distances(
                space, self._frequent, part.start, part.stop
            )
        for position, word in enumerate(sample):
            self._sampled[:, position] = distances(space, np.array([word]), 0, size)[0]
        for table in (self._near, self._sampled, self._columns):
            plain.max_distance(table)
        np.maximum(self._sampled, self._far[:, None], out=self._sampled)
        self._factor = np.ones(size)

    def success(self, epsilon: float) -> float:
        """Estimate the success of the best guess at an epsilon."""
        law = self._law_of(epsilon)
        near, total = self._sums(law)
        worth = (self._prior / (total * self._factor)).astype(np.float32)
        found = worth.copy()
        for begin in range(0, law.size, _ROWS):
            part = slice(begin, min(begin + _ROWS, law.size))
            listed = self._listed[part]
            # Distances are symmetric, but rates are those of the guess.
            weights = near[part]
            if not law.even:
                weights = _weights(law, self._near[part], listed)
            best = (worth[listed] * weights).max(axis=1)
            np.maximum(found[part], best, out=found[part])
            frequent = _weights(law, self._columns[:, part], self._frequent[:, None])
            frequent *= worth[self._frequent][:, None]
            np.maximum(found[part], frequent.max(axis=0), out=found[part])
        return float(found.sum(dtype=np.float64))

    def learn(self, epsilon: float) -> None:
        """Take the sums of all pairs at an epsilon, in single precision."""
        law = self._law_of(epsilon)
        self._factor = _tiles.sums(law, np.float32) / self._sums(law)[1]

    def _sums(self, law: _tiles.Law) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return the weights of the listed words, (V, k), and about Z, (V,)."""
        rows = np.arange(law.size)[:, None]
        near = _weights(law, self._near, rows)
        floor = _weights(law, self._far[:, None], rows)
        sampled = _weights(law, self._sampled, rows).mean(axis=1, dtype=np.float64)
        excess = np.maximum(near - floor, 0.0).sum(axis=1, dtype=np.float64)
        return near, excess + law.size * sampled


def _weights(
    law: _tiles.Law, max_distance: NDArray[np.float32], inputs: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return exp(-rate min(t, gamma)) of a table, the rates those of the inputs."""
    rate = law.rate[:1] if law.even else law.rate[inputs]
    found: NDArray[np.float32] = max_distance * -rate.astype(np.float32)
    if law.gamma != np.inf:
        # exp(-rate gamma) is the least weight.
        np.maximum(found, -law.gamma * rate.astype(np.float32), out=found)
    return np.exp(found, out=found)
