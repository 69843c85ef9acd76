"""About how often a word is guessed at any epsilon: to search by.

Z is that of the listed words and a public sample of the others; guesses are the words
listed and the most frequent ones. Made exact to single precision at one epsilon, it
stays near nearby. No result rests on it: what a search proposes is checked with
dptext.exponential.best_guesses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dptext.exponential import sums
from dptext.exponential.distribution import DistanceDistribution, Weights
from dptext.geometry import pairs

# Words sampled for Z, and most frequent words that are tried as guesses.
_SAMPLE, _FREQUENT = 128, 128
_SEED = 1
_ROWS = 4096
# With all of V listed nothing is far; infinity is no number to reckon with.
_MOST = 1e15


class DistanceEstimate:
    """An estimate of the success of the best guess, for a prior (V,)."""

    def __init__(
        self, distribution: DistanceDistribution, prior: NDArray[np.float64]
    ) -> None:
        self._distribution = distribution
        self._prior = prior
        space, size = distribution.space, distribution.space.size
        rates = distribution.at(1.0).rate
        # No probability grows faster with epsilon than exp(drift epsilon).
        widest = space.geometry.diameter ** (2 if distribution.squared else 1)
        self.drift = float(rates.max()) * widest
        rng = np.random.default_rng(_SEED)
        sample = np.sort(rng.choice(size, min(_SAMPLE, size), replace=False))
        self._frequent = np.argsort(-prior, kind="stable")[:_FREQUENT]
        self._listed = distribution.lists.listed[:size].astype(np.int64)
        # t of all in single precision; its truncation is left to each epsilon.
        far = np.minimum(distribution.lists.far[:size], _MOST).astype(np.float32)
        self._far = distribution.measure(far, np.inf)
        self._near = np.empty(self._listed.shape, np.float32)
        self._columns = np.empty((len(self._frequent), size), np.float32)
        for part in _parts(size):
            block = space.vectors[part]
            for rank in range(self._listed.shape[1]):
                gap = block - space.vectors[self._listed[part, rank]]
                self._near[part, rank] = np.sqrt(np.einsum("md,md->m", gap, gap))
            self._columns[:, part] = pairs.to_words(
                space, self._frequent, part.start, part.stop
            )
        self._sampled = np.empty((size, len(sample)), np.float32)
        for column, word in enumerate(sample):
            row = pairs.to_words(space, np.array([word]), 0, size)
            self._sampled[:, column] = row[0]
        for table in (self._near, self._sampled, self._columns):
            distribution.measure(table, np.inf)
        # Nearer than far are only the listed words, which are counted by themselves.
        np.maximum(self._sampled, self._far[:, None], out=self._sampled)
        self._factor = np.ones(size)

    def success(self, epsilon: float) -> float:
        """Estimate the success of the best guess at an epsilon."""
        weights = self._distribution.at(epsilon)
        near, total = self._sums(weights)
        worth = (self._prior / (total * self._factor)).astype(np.float32)
        best = worth.copy()
        for part in _parts(weights.size):
            listed = self._listed[part]
            # Distances are symmetric, but rates are those of the guess.
            from_listed = near[part]
            if not weights.symmetric:
                from_listed = _of_table(weights, self._near[part], listed)
            joint = (worth[listed] * from_listed).max(axis=1)
            np.maximum(best[part], joint, out=best[part])
            columns, guesses = self._columns[:, part], self._frequent[:, None]
            frequent = _of_table(weights, columns, guesses) * worth[guesses]
            np.maximum(best[part], frequent.max(axis=0), out=best[part])
        return float(best.sum(dtype=np.float64))

    def learn(self, epsilon: float) -> None:
        """Take the sums of all pairs at an epsilon, in single precision."""
        weights = self._distribution.at(epsilon)
        exact = sums.of_all_words(weights, np.float32)
        self._factor = exact / self._sums(weights)[1]

    def _sums(
        self, weights: Weights
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return the weights of the listed words, (V, k), and about Z, (V,)."""
        rows = np.arange(weights.size)[:, None]
        near = _of_table(weights, self._near, rows)
        floor = _of_table(weights, self._far[:, None], rows)
        sampled = _of_table(weights, self._sampled, rows)
        excess = np.maximum(near - floor, 0.0).sum(axis=1, dtype=np.float64)
        return near, excess + weights.size * sampled.mean(axis=1, dtype=np.float64)


def _parts(size: int) -> list[slice]:
    return [slice(begin, min(begin + _ROWS, size)) for begin in range(0, size, _ROWS)]


def _of_table(
    weights: Weights, table: NDArray[np.float32], inputs: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the weights of a table of t, the rates those of the inputs."""
    rates = weights.rate[:1] if weights.symmetric else weights.rate[inputs]
    rate = rates.astype(np.float32)
    logs: NDArray[np.float32] = table * -rate
    if weights.truncation != np.inf:
        # exp(-rate truncation) is the least weight.
        np.maximum(logs, -weights.truncation * rate, out=logs)
    return np.exp(logs, out=logs)
