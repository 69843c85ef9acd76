"""Truncated Gumbel, as published: no guarantee, for comparison only.

A number k of candidates is drawn, Poisson with mean ln V restricted to 1 ... V; the k
words nearest to x, x first, compete by distance plus truncated Gumbel noise of scale
b = 2 Delta_max / min(W0(2 alpha Delta_max), ln(alpha Delta_min)), with alpha = (eps -
2 (1 + ln V) / Delta_min) / 3 and Delta the distances of all pairs of V.

Guarantee: none. The published theorem (metric DP) is false: x is a candidate for
itself always and for a far word almost never, whatever the noise, so that the loss of
some pair is at least ln V! - (V - 1) ln ln V nats at every epsilon.
Instead: tem, made for the same purpose: few, near candidates. It gives every word a
chance that follows from epsilon, and epsilon * min(d, gamma) holds for every pair.
Source: Xu, Aggarwal, Feyisetan and Teissier, "Density-Aware Differentially Private
Textual Perturbations Using Truncated Gumbel Noise", FLAIRS 2021, algorithm 1.
Known gaps: as above. b exists only for epsilon above (5 + 2 ln V) / Delta_min;
low_epsilon: true does below it what published code does, the real part of W0 alone,
where a smaller epsilon may mean less noise.
Example: dptext sanitize reviews.jsonl --mechanism gumbel --epsilon 250
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.errors import UsageError
from dptext.exponential.lists import Lists
from dptext.geometry import neighbours, pairs
from dptext.mechanisms import Aim, WordMechanism
from dptext.mechanisms.gumbel import _truncated
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids

# More candidates have a chance below 1e-18 in any vocabulary of up to a million words.
_MOST = 64
_ENUMERATED = 200


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """low_epsilon lets an epsilon below the threshold through."""

    low_epsilon: bool = False

    def prepare(self, space: Space, aim: Aim) -> Gumbel:
        """Measure all pairs of V; UsageError where the mechanism is not defined."""
        closest = neighbours.closest_pair(space)
        if space.size < 2 or closest == 0.0:
            raise UsageError(
                "mechanism gumbel: needs two words and no two with the same vector "
                "(the smallest distance divides its parameters); use tem instead"
            )
        listed = neighbours.nearest_words(space, _MOST)
        lists = Lists.of(space.vectors, listed, np.zeros(len(listed)))
        shares = _truncated.poisson(space.size, listed.shape[1])
        widest = float(neighbours.farthest(space)[: space.size].max())
        return Gumbel(self, space, lists, np.cumsum(shares), closest, widest)


@dataclass(frozen=True, eq=False)
class Gumbel(WordMechanism):
    """The nearest words, P(k) summed up, and the distances Delta_min and Delta_max."""

    params: Params
    lists: Lists
    cumulative: NDArray[np.float64]
    closest: float
    widest: float

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return none, with a lower bound on the loss."""
        reason = (
            "the published theorem is false, because a word is always a candidate "
            "for itself and almost never for a far word, whatever the noise: some "
            "pair of words of this vocabulary loses at least "
            f"{math.floor(self._least_loss):,} nats at every epsilon. Use tem "
            "instead."
        )
        return Guarantee.nothing(
            reason, source="Xu et al. 2021, FLAIRS, algorithm 1", unit="1/distance"
        )

    @property
    def _least_loss(self) -> float:
        """Return ln P(k = 1) - ln P(k = V) = ln V! - (V - 1) ln ln V."""
        size = self.space.size
        return math.lgamma(size + 1.0) - (size - 1.0) * math.log(math.log(size))

    def least_loss(self) -> tuple[float, tuple[int, int]]:
        """Return a proven lower bound on the worst loss, in nats: of the farthest pair.

        x is the last candidate of x', and its own first.
        """
        size = self.space.size
        word = int(neighbours.farthest(self.space)[:size].argmax())
        distances = pairs.to_words(self.space, np.array([word]), 0, size)[0]
        # The last of those as far.
        last = size - 1 - int(distances[::-1].argmax())
        return self._least_loss, (last, word)

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> NDArray[np.float64]:
        """Return what the paper claims of pairs of words, epsilon d: (n,) nats."""
        bound = epsilon * pairs.of_ids(self.space, a, b)
        return mechanisms.of_known_words(bound, a, b)

    @property
    def least_epsilon(self) -> float:
        """Return the epsilon above which b is defined, (5 + 2 ln V) / Delta_min."""
        return (5.0 + 2.0 * math.log(self.space.size)) / self.closest

    def supports(self, epsilon: float) -> None:
        """Raise UsageError for an epsilon at which the mechanism is not defined."""
        self._scales(np.array([epsilon]))

    def _scales(self, eps: Eps) -> NDArray[np.float64]:
        """Return b for each epsilon, (n,)."""
        values, kind = np.unique(eps, return_inverse=True)
        low = values[0] if len(values) else math.inf
        if low <= self.least_epsilon and not self.params.low_epsilon:
            named = (math.floor(self.least_epsilon * 1000.0) + 1.0) / 1000.0
            raise UsageError(
                f"epsilon: {low:g} is too small for gumbel on this vocabulary, whose "
                "scale is defined above (5 + 2 ln V) / (smallest distance); give at "
                f"least {named:.3f}, use tem instead, or set mechanism.low_epsilon: "
                "true for what published code does below it"
            )
        scales = _truncated.scale(values, self.space.size, self.closest, self.widest)
        if np.isnan(scales).any():
            raise UsageError(
                f"epsilon: {values[np.isnan(scales)][0]:g} gives gumbel no positive "
                "scale, not even in the published code; give another epsilon, or use "
                "tem instead"
            )
        return np.asarray(scales[kind])

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        b = self._scales(eps)
        uniform = bits.uniform(0)[:, 0]
        counts = 1 + np.searchsorted(self.cumulative, uniform, side="right")
        np.minimum(counts, len(self.cumulative), out=counts)
        drawn = np.empty(len(ids), np.int32)
        for count in np.unique(counts).tolist():
            positions = np.flatnonzero(counts == count)
            inputs = rows[positions]
            uniforms = bits.take(positions).uniform(1, (count + 1) // 2)[:, :count]
            values = _truncated.draw(uniforms, b[positions, None], self.widest)
            values += self.lists.rows(inputs)[:, :count]
            drawn[positions] = self.lists.listed[inputs, values.argmin(axis=1)]
        return drawn

    @property
    def has_log_probs(self) -> bool:
        """Tell whether probabilities are enumerated: for at most 200 words."""
        return self.space.size <= _ENUMERATED

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x) by quadrature: (n, V) float64."""
        size = self.space.size
        shares = _truncated.poisson(size, size)
        vectors = self.space.vectors.astype(np.float64)
        log_probs = np.empty((len(ids), size))
        for row, (word, b) in enumerate(zip(ids, self._scales(eps), strict=True)):
            distances = np.linalg.norm(vectors[:size] - vectors[word], axis=1)
            # A word is first of its equals.
            keys = distances.copy()
            if word >= 0:
                keys[word] = -1.0
            order = np.argsort(keys, kind="stable")
            log_probs[row, order] = _truncated.log_probs(
                distances[order], float(b), self.widest, shares
            )
        return log_probs
