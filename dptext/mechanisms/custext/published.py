"""The published mappings: a small output set for each class of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.mechanisms import Bands, WordMechanism, log_normalised, of_known_words
from dptext.mechanisms.custext.output_sets import OutputSets
from dptext.randomness import RandomBits
from dptext.types import Eps, Guarantee, Ids

_CHUNK = 8192


@dataclass(frozen=True, eq=False)
class PublishedSets(WordMechanism):
    """P(y|x) ~ exp(eps u(x, y) / 2) for y in the output set of the class of x."""

    sets: OutputSets

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return none, and why."""
        reason = (
            "epsilon-LDP holds only inside the published classes (words with the "
            "same output set), and the class of each word is disclosed, because "
            "words of other sets are never written; "
            f"{self.sets.alone} of {self.space.size} words are alone in their "
            "class and have no protection. Use mapping one_set instead."
        )
        return Guarantee.nothing(reason, source="Chen et al. 2023, algorithms 1 and 2")

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> NDArray[np.float64]:
        """Return what the paper claims of any two words, epsilon: (n,) nats."""
        return of_known_words(epsilon, a, b)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word of each word's set."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        uniform = bits.uniform(0)[:, 0]
        drawn = np.empty(len(ids), np.int32)
        for begin in range(0, len(ids), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            weights = np.exp(self._exponents(rows[part], eps[part]))
            cumulative = np.cumsum(weights, axis=1)
            # A product that is rounded up to the sum of all would be beyond the set.
            last = np.nextafter(cumulative[:, -1], 0.0)
            target = np.minimum(uniform[part] * cumulative[:, -1], last)
            positions = (cumulative <= target[:, None]).sum(axis=1)
            drawn[part] = self.sets.sets[self.sets.classes[rows[part]], positions]
        return drawn

    def _exponents(self, rows: NDArray[np.int64], eps: Eps) -> NDArray[np.float64]:
        """Return eps (u - 1) / 2 of the words of each row's set: (n, k), at most 0."""
        return eps[:, None] * (self.sets.utility(rows) - 1.0) / 2.0

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x) of all outputs, -inf outside of the set: (n, V)."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        logs = np.full((len(ids), self.space.size), -np.inf)
        members = self.sets.members(rows)
        inside = np.nonzero(members >= 0)
        logs[inside[0], members[inside]] = self._exponents(rows, eps)[inside]
        return log_normalised(logs)

    def best_guesses(
        self, prior: NDArray[np.float64], epsilon: float, bands: Bands
    ) -> NDArray[np.float64]:
        """Return max of prior(x) P(y|x) over the x of each band: (bands, V)."""
        best = np.zeros((len(bands), len(prior)))
        for number, (begin, end) in enumerate(bands):
            for start in range(begin, end, _CHUNK):
                rows = np.arange(start, min(start + _CHUNK, end))
                weights = np.exp(self._exponents(rows, np.full(len(rows), epsilon)))
                weights *= (prior[rows] / weights.sum(axis=1))[:, None]
                members = self.sets.members(rows)
                inside = members >= 0
                np.maximum.at(best[number], members[inside], weights[inside])
        return best

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add to the loss inside a class."""
        words = self.sets.sets.shape[1]
        return float(2.0**-50 * words * np.exp(min(epsilon, 600.0) / 2.0))
