"""Exponential distributions over distances: P(y|x) ~ exp(-rate(x) min(t, truncation)).

t is the distance of the space or its square; rate and truncation follow from epsilon.
Here is what santext, tem and custext have in common: `distribution`, with the lists of
nearest words and exact draws; `losses` of all pairs, used to raise the scale; and
the base classes, with the Bayes risk and an estimate of it for searches.

The exact Bayes risk takes seconds. For each output y it needs the maximum over x of
worth(x) exp(-rate d(x, y)), worth(x) = prior(x) / Z(x), Z from
`losses.sums_of_all_words`. First the words listed for y are tried, then all words by
descending worth: a word that is not listed is at least far(y) away, so y is finished
once the worth of the next word times exp(-rate far(y)) is no more than the maximum so
far. The result is exact, in float64 (docs/guarantees.md, 6).

Searches for an epsilon use an estimate: Z from the listed words and a public sample of
the others, guesses from the listed words and the most frequent ones. It can be made
exact to single precision at one epsilon, and is then accurate nearby. No result depends
on it: `best_guesses` checks the epsilon that a search proposes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dptext import geometry
from dptext.arrays import log_normalised
from dptext.exponential import distribution, losses
from dptext.exponential.distribution import (
    DistanceDistribution,
    Lists,
    Sampler,
    Weights,
)
from dptext.exponential.losses import Scales, describe
from dptext.mechanisms import Bands, ExponentialMechanism, WordMechanism
from dptext.randomness import RandomBits
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, VaryingEpsilon, blocks

# Words tried together, and outputs with lists that are tried together.
_BLOCK, _LISTED = 128, 4096
# Bounds on distances are single precision: a product with this is surely a bound.
_BELOW = 1.0 - 1e-6
# If all of V is listed the bound is infinite; this large number avoids inf * 0.
_FAR = 1e15
# Of the estimate: words sampled for Z, and most frequent words tried as guesses.
_SAMPLE, _FREQUENT = 128, 128
_SEED = 1
_ROWS = 4096


def _maximise(weights: Weights, worth: Floats, bands: Bands) -> Floats:
    """Return max over x in each band of worth(x) exp(-rate d(x, y)): (bands, V)."""
    best = np.zeros((len(bands), weights.size))
    listed = weights.distribution.lists.listed
    for row, (begin, end) in enumerate(bands):
        # A word is at distance 0 of itself. Words of other bands have no worth here.
        best[row, begin:end] = worth[begin:end]
        inside = best[row].copy()
        if not inside.any():
            continue
        for part in blocks(weights.size, _LISTED):
            # exp is at most 1: only a larger worth can exceed the maximum so far.
            promising = inside[listed[part]] > best[row, part, None]
            outputs, positions = np.nonzero(promising)
            outputs += part.start
            inputs = listed[outputs, positions].astype(np.int64)
            value = inside[inputs] * weights.pairs(inputs, outputs)
            np.maximum.at(best[row], outputs, value)
        _try_others(weights, inside, best[row])
    return best


def _try_others(weights: Weights, worth: Floats, best: Floats) -> None:
    """Try words in descending worth until no output can gain: best (V,), in place."""
    order = np.argsort(-worth, kind="stable")
    far = np.minimum(weights.distribution.lists.far[: weights.size] * _BELOW, _FAR)
    # The largest weight of a word that is not listed for the output.
    lowest_rate = float(weights.rate[worth > 0.0].min())
    most = np.exp(-lowest_rate * weights.measure(far))
    outputs = np.arange(weights.size)
    product = distribution.DistanceProduct(weights.distribution.space, outputs)
    for start in range(0, len(order), _BLOCK):
        unfinished = worth[order[start]] * most[outputs] > best[outputs]
        if not unfinished.any():
            return
        # Making the product anew pays when a quarter of the outputs is finished.
        if unfinished.mean() < 0.75:
            outputs = outputs[unfinished]
            product = distribution.DistanceProduct(weights.distribution.space, outputs)
        inputs = order[start : start + _BLOCK]
        for part in blocks(len(outputs), distribution.COLUMNS):
            joint = weights.measure(product.distances(inputs, part))
            joint *= -weights.rate[inputs][:, None]
            np.exp(joint, out=joint)
            joint *= worth[inputs][:, None]
            words = outputs[part]
            best[words] = np.maximum(best[words], joint.max(axis=0))


class DistanceEstimate:
    """An estimate of the best guess's success rate, for a prior (V,)."""

    def __init__(self, distribution: DistanceDistribution, prior: Floats) -> None:
        self._distribution = distribution
        self._prior = prior
        space, size = distribution.space, distribution.space.size
        rates = distribution.at(1.0).rate
        #: No probability grows faster with epsilon than exp(drift epsilon).
        widest = space.geometry.diameter ** (2 if distribution.squared else 1)
        self.drift = float(rates.max()) * widest
        rng = np.random.default_rng(_SEED)
        sample = np.sort(rng.choice(size, min(_SAMPLE, size), replace=False))
        self._frequent = np.argsort(-prior, kind="stable")[:_FREQUENT]
        self._listed = distribution.lists.listed[:size].astype(np.int64)
        # Tables of t in single precision, not yet truncated: that depends on epsilon.
        far = np.minimum(distribution.lists.far[:size], _FAR).astype(np.float32)
        self._far = distribution.measure(far, np.inf)
        self._near = np.empty(self._listed.shape, np.float32)
        self._columns = np.empty((len(self._frequent), size), np.float32)
        self._sampled = np.empty((size, len(sample)), np.float32)
        for part in blocks(size, _ROWS):  # in float64 all would take gigabytes
            span, listed = (part.start, part.stop), self._listed[part]
            rows = np.arange(*span).repeat(listed.shape[1])
            squares = geometry.squared_single(space, rows, listed.ravel())
            self._near[part] = np.sqrt(squares).reshape(listed.shape)
            self._columns[:, part] = geometry.distances_to_words(
                space, self._frequent, *span
            )
            self._sampled[part] = geometry.distances_to_words(space, sample, *span).T
        for table in (self._near, self._sampled, self._columns):
            distribution.measure(table, np.inf)
        # WordList words are counted separately: in the sample they count as far.
        np.maximum(self._sampled, self._far[:, None], out=self._sampled)
        self._factor = np.ones(size)

    def success(self, epsilon: float) -> float:
        """Estimate the success rate of the best guess at an epsilon."""
        weights = self._distribution.at(epsilon)
        near, total = self._sums(weights)
        worth = (self._prior / (total * self._factor)).astype(np.float32)
        best = worth.copy()
        for part in blocks(weights.size, _ROWS):
            listed = self._listed[part]
            # Distances are symmetric, but the rate is that of the input.
            from_listed = near[part]
            if not weights.symmetric:
                from_listed = _table_weights(weights, self._near[part], listed)
            joint = (worth[listed] * from_listed).max(axis=1)
            np.maximum(best[part], joint, out=best[part])
            columns, guesses = self._columns[:, part], self._frequent[:, None]
            frequent = _table_weights(weights, columns, guesses) * worth[guesses]
            np.maximum(best[part], frequent.max(axis=0), out=best[part])
        return float(best.sum(dtype=np.float64))

    def learn(self, epsilon: float) -> None:
        """Calibrate Z with the exact sums at an epsilon, in single precision."""
        weights = self._distribution.at(epsilon)
        exact = losses.sums_of_all_words(weights, np.float32)
        self._factor = exact / self._sums(weights)[1]

    def _sums(self, weights: Weights) -> tuple[NDArray[np.float32], Floats]:
        """Return the listed words' weights (V, k) and the estimate of Z (V,).

        Z is V times the mean weight of the sample, plus the excess of the listed words
        over the weight at far.
        """
        rows = np.arange(weights.size)[:, None]
        near = _table_weights(weights, self._near, rows)
        floor = _table_weights(weights, self._far[:, None], rows)
        sampled = _table_weights(weights, self._sampled, rows)
        excess = np.maximum(near - floor, 0.0).sum(axis=1, dtype=np.float64)
        return near, excess + weights.size * sampled.mean(axis=1, dtype=np.float64)


def _table_weights(
    weights: Weights, table: NDArray[np.float32], inputs: Ints
) -> NDArray[np.float32]:
    """Return the weights for a table of t; inputs are the rows of its entries."""
    rates = weights.rate[:1] if weights.symmetric else weights.rate[inputs]
    rate = rates.astype(np.float32)
    logs: NDArray[np.float32] = table * -rate
    if weights.truncation != np.inf:
        # Truncating t at the top is truncating the exponent at the bottom.
        np.maximum(logs, -weights.truncation * rate, out=logs)
    return np.exp(logs, out=logs)


@dataclass(frozen=True, eq=False)
class DistanceMechanism(WordMechanism):
    """The methods that need only the output distribution."""

    @property
    @abstractmethod
    def distribution(self) -> DistanceDistribution:
        """Return the output distributions."""

    @cached_property
    def _sampler(self) -> Sampler:
        return Sampler(self.distribution)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word, exactly."""
        return self._sampler.sample(ids, eps, bits)

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) for all outputs: (n, V)."""
        return log_normalised(self.distribution.log_weights(ids, eps))

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max over x in each band of prior(x) P(y|x): (bands, V), cached."""
        kept, weights = self.distribution.kept, self.distribution.at(epsilon)
        key = (epsilon, hash(prior.tobytes()), tuple(bands))
        if key not in kept:
            worth = prior / losses.sums_of_all_words(weights)
            kept[key] = _maximise(weights, worth, bands)
        return kept[key].copy()

    def risk_estimate(self, prior: Floats) -> DistanceEstimate:
        """Return a Bayes-risk estimator for any epsilon, for searches."""
        return DistanceEstimate(self.distribution, prior)


@dataclass(frozen=True, eq=False)
class TruncatedMetricMechanism(DistanceMechanism, ExponentialMechanism):
    """P(y|x) ~ exp(-scale t / 2), t = min(d, truncation); the claim is epsilon t."""

    source: ClassVar[str]

    #: Of all inputs.
    lists: Lists
    #: Raise the scale above epsilon; None: the scale is epsilon.
    scales: Scales | None

    @property
    def cut(self) -> float | None:
        """Return the truncation distance fixed by the settings, else None."""
        return None

    @property
    def most(self) -> float:
        """Return epsilon times a truncation that depends on epsilon, else inf."""
        return math.inf

    def truncation(self, epsilon: float) -> float:
        """Return the largest distance that counts, inf if all do."""
        return self.most / epsilon if self.cut is None else self.cut

    def scale(self, epsilon: float) -> float:
        """Return the scale of the distances: epsilon itself or a raised value."""
        if self.scales is None:
            return epsilon
        return self.scales.at(epsilon, self.truncation(epsilon))

    @cached_property
    def distribution(self) -> DistanceDistribution:
        """Return the output distributions."""
        return DistanceDistribution(self.space, self.lists, self.scale, self.truncation)

    def metric(self, epsilon: float, ids: Ints, begin: int, end: int) -> Floats:
        """Return t from inputs to words begin to end: (n, end - begin)."""
        distances = geometry.distances_to_words(self.space, ids, begin, end)
        return np.minimum(distances, self.truncation(epsilon), out=distances)

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return epsilon t for pairs of inputs: (n,) nats."""
        distances = geometry.distances_by_id(self.space, a, b)
        return epsilon * np.minimum(distances, self.truncation(epsilon))

    def supports(self, epsilon: float) -> None:
        """Raise UsageError for an epsilon that cannot be recalibrated."""
        if self.scales is not None:
            self.scales.check(epsilon)

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP in the space's truncated distance."""
        farthest = min(self.space.geometry.diameter, self.cut or math.inf)
        metric = replace(self.space.distance, cut=self.cut)
        promise = Guarantee.metric_dp(metric, farthest, self.source, 1.0)
        promise = replace(promise, max_loss=self.most)
        if self.scales is None:
            varying = VaryingEpsilon.exponential(farthest, self.most)
            return replace(promise, varying_epsilon=varying)
        # Raised scales of two epsilons may differ more than these do.
        gaps = (describe(epsilon, self.scale(epsilon)),)
        return replace(promise, source=f"{self.source}, recalibrated", gaps=gaps)

    def numerical_slack(self, epsilon: float) -> float:
        """Return how many nats finite-precision uniforms may add to the loss."""
        farthest = min(self.truncation(epsilon), self.space.geometry.diameter)
        return self.distribution.numerical_slack(self.scale(epsilon) * farthest)
