"""1-Diffractor: noise on a word's position in one-dimensional chains of the vocabulary.

One of the chains is drawn for each word; with i the word's position on it,
geometric: the written word stands at i plus two-sided geometric noise, cut at the ends;
    P ~ exp(-eps |i - j| / scale), and the ends take what lies beyond them.
tem: P(j|i) ~ exp(-eps min(|i - j| / scale, gamma) / 2).

A chain starts at a word drawn by a public seed and goes on to the nearest word that it
has not visited; where all listed neighbours are visited, all words that are left are
searched. So each step is the nearest one left, but a chain must jump where it has used
up a region: positions on it are no measure of meaning. An unknown word stands where the
word nearest to its row does.

Geometric noise K is 0 with probability tanh(rate / 2); else its sign is a fair bit and
its size 1 + floor(E / rate), E a standard exponential. So each outcome keeps its
probability to about 2^-50 of it for each step on the way: no two large numbers are
subtracted, and a size beyond the line is the same end whatever it is.

Guarantee: epsilon * D (metric DP), D the distance of the positions over `scale`, the
largest over all chains; with tem epsilon * min(D, gamma). D is a number of places on a
greedy chain, not a distance in meaning. Unknown words have a position, so they are
covered.
Known as: 1-Diffractor.
Source: Meisenbacher, Chevli and Matthes, IWSPA 2024, arXiv:2405.01678.
Known gaps: words near in meaning may stand far apart on a chain, and then the loss
between them is large. The published code keeps stop words and unknown words (here a
setting of the tokens) and is seeded with 42 by default.
Example: dptext sanitize reviews.jsonl --field text --mechanism diffractor --epsilon 1
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache, geometry, mechanisms
from dptext.mechanisms import Aim, Bands, WordMechanism
from dptext.mechanisms.tem import product
from dptext.noise import leading_zeros
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space
from dptext.types import (
    Eps,
    Floats,
    Guarantee,
    Ids,
    Ints,
    Metric,
    MetricKind,
    VaryingEpsilon,
    blocks,
)

# Neighbours that a chain tries before it searches all words not yet visited.
_LISTED = 64
# With several chains the nearest word is sought this many places on each side.
_AROUND = 8
# Random pairs; their median estimates that of all, to about half a percent.
_PAIRS = 200_000
# exp(-rate) of a larger rate is nearly subnormal: a float64 that has lost digits.
_STEEPEST = 700.0
_ROWS = 32  # of inputs, for which a tile over all outputs is computed
_GAPS = (
    "The distance is a number of places on greedy chains of the vocabulary: words of "
    "near meaning may stand far apart on them.",
)


@dataclass(frozen=True, slots=True)
class WordChains:
    """Public one-dimensional orders of the vocabulary."""

    #: The word at each position: (c, V).
    words: NDArray[np.int32]
    #: The position of each row: (c, V + 1).
    positions: NDArray[np.int32]

    @classmethod
    def build(cls, space: Space, count: int, seed: int) -> WordChains:
        """Build `count` chains, each cached by lexicon, space and seed."""
        words = np.stack([_chain(space, seed, one) for one in range(count)])
        positions = np.empty((count, space.size + 1), np.int32)
        rows = np.arange(count)[:, None]
        positions[rows, words] = np.arange(space.size, dtype=np.int32)
        nearest, _ = geometry.nearest_word(space, space.size)
        positions[:, -1] = positions[:, nearest]
        return cls(words, positions)

    @property
    def size(self) -> int:
        """Return the vocabulary size V."""
        return int(self.words.shape[1])

    def distances(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
        """Return the largest distance of each pair over the chains, in places: (n,)."""
        gap = self.positions[:, a].astype(np.int64) - self.positions[:, b]
        return np.asarray(np.abs(gap).max(axis=0))

    def nearest(self) -> Ints:
        """Bound each word's distance to its nearest other word: (V,).

        Exact for one chain; for several an upper bound from the neighbours on each.
        """
        nearest = np.full(self.size, self.size, np.int64)
        steps = (*range(-_AROUND, 0), *range(1, _AROUND + 1))
        for chain in self.words:
            for step in steps if len(self.words) > 1 else (-1, 1):
                inside = np.arange(max(0, -step), self.size - max(0, step))
                words, others = chain[inside], chain[inside + step]
                distances = self.distances(words, others)
                nearest[words] = np.minimum(nearest[words], distances)
        return nearest

    def median(self) -> float:
        """Return the median distance of pairs of words, drawn with a fixed seed."""
        if self.size < 2:
            return 0.0
        pairs = np.random.default_rng(1).integers(0, self.size, (2, _PAIRS))
        pairs = pairs[:, pairs[0] != pairs[1]]
        return float(np.median(self.distances(*pairs)))


def _chain(space: Space, seed: int, number: int) -> NDArray[np.int32]:
    key = cache.key_of("chain", 1, space.lexicon.digest, space.identity, seed, number)

    def holds(kept: cache.Arrays) -> bool:
        # A valid chain has each word once; another order would still be a chain.
        return np.array_equal(np.sort(kept["chain"]), np.arange(space.size))

    def compute() -> cache.Arrays:
        digest = hashlib.blake2b(b"chain %d of seed %d" % (number, seed)).digest()
        word = int.from_bytes(digest[:8], "big") % space.size
        near = geometry.nearest_words(space, _LISTED)
        remaining = geometry.RemainingWords(space.vectors, space.size)
        chain = np.empty(space.size, np.int32)
        for step in range(space.size):
            chain[step] = word
            remaining.remove(np.array([word]))
            free = near[word][remaining.alive[near[word]]]
            if not len(free):
                free = remaining.nearest(word, 1)
            word = int(free[0]) if len(free) else -1
        return {"chain": chain}

    arrays = cache.arrays(key, compute, holds, "laying chains through the words")
    return arrays["chain"].astype(np.int32, copy=False)


def log_of_moves(rate: Floats) -> Floats:
    """Return -ln tanh(rate / 2), accurate for both small and large rates.

    tanh(rate / 2) = (1 - e) / (1 + e) with e = exp(-rate).
    """
    power = np.exp(-rate)
    with np.errstate(divide="ignore"):
        small, large = np.log(-np.expm1(-rate)), np.log1p(-power)
    # 1 - exp(-rate) cancels for small rates, its logarithm for large ones.
    log_numerator: Floats = np.where(rate < 0.5, small, large)
    return np.log1p(power) - log_numerator


def exponential(bits: RandomBits, lane: int) -> Floats:
    """Draw -ln(u), u uniform: (n,), from lanes lane, lane + 2, ...

    With w = 2^-(z + 2) (1 + m), z the zeros before the first 1 in a stream of bits and
    m uniform, w is uniform in (0, 1/2), and u is w or 1 - w by a fair bit. So very
    large and very small values have their probability up to a factor of 1 + 2^-52.
    """
    integers = bits.integers(lane)
    mantissa = RandomBits.unit(integers[:, 1])
    zeros = leading_zeros(integers[:, 0])
    # Each 64 zeros take another lane.
    waiting = np.flatnonzero(zeros == 64)
    while len(waiting):
        lane += 2
        more = leading_zeros(bits.take(waiting).integers(lane)[:, 0])
        zeros[waiting] += more
        waiting = waiting[more == 64]
    drawn = np.asarray((zeros + 2) * math.log(2.0) - np.log1p(mantissa), np.float64)
    # The fair bit is the lowest one, which is not part of the mantissa.
    other = np.flatnonzero(integers[:, 1] & np.uint64(1))
    share = np.ldexp(1.0 + mantissa[other], -2 - zeros[other])
    drawn[other] = -np.log1p(-share)
    return drawn


class Window:
    """Weights around positions (n,): a floor over all of V plus an excess nearby.

    A weight is exp(-rate min(steps, cut)): the floor exp(-rate cut) for all positions,
    and more for those within the cut.
    """

    def __init__(self, tem: TemDiffractor, positions: Ints, eps: Eps) -> None:
        """Compute floor, excess and total of each position.

        left and right are the numbers of positions on either side within the cut.
        """
        gamma, scale, last = tem.cut(eps), tem.params.scale, tem.space.size - 1
        inside = np.minimum(np.floor(gamma * scale), last).astype(np.int64)
        self._rate = eps / (2.0 * scale)  # nats a step
        self.floor = np.exp(eps * gamma / -2.0)
        self.left = np.minimum(positions, inside)
        self.right = np.minimum(last - positions, inside)
        sides = self.excess(self.left) + self.excess(self.right)
        self.total = tem.space.size * self.floor + (1.0 - self.floor) + sides

    def excess(self, count: Ints) -> Floats:
        """Return the sum of exp(-rate k) - floor over k = 1 ... count."""
        sums = np.expm1(-self._rate * count) / np.expm1(-self._rate)
        return np.maximum(sums * np.exp(-self._rate) - count * self.floor, 0.0)

    def steps(self, target: Floats, most: Ints) -> Ints:
        """Return the least count whose excess is above the target: (n,)."""
        low: Ints = np.minimum(1, most)
        high: Ints = most.copy()
        for _ in range(int(most.max(initial=0)).bit_length()):
            middle = (low + high) // 2
            enough = self.excess(middle) > target
            high = np.where(enough, middle, high)
            low = np.where(enough, low, np.minimum(middle + 1, high))
        return high


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of 1-Diffractor."""

    noise: Literal["geometric", "tem"] = "geometric"
    #: The number of chains.
    chains: Annotated[int, Meta(ge=1, le=64)] = 1
    #: Divides the distance in places.
    scale: Annotated[float, Meta(ge=1e-12, le=1e12)] = 1.0
    #: The largest distance that counts, for tem; None: by beta and epsilon.
    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    #: The largest probability of an output farther than gamma.
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    #: Public; the chains begin at words drawn by it.
    seed: Annotated[int, Meta(ge=0)] = 0

    def prepare(self, space: Space, aim: Aim) -> Diffractor:
        """Build the chains, once per lexicon and space."""
        chains = WordChains.build(space, self.chains, self.seed)
        kind = TemDiffractor if self.noise == "tem" else Diffractor
        return kind(self, space, chains)


@dataclass(frozen=True, eq=False)
class Diffractor(WordMechanism):
    """Adds geometric noise to positions on chains, clipped at their ends.

    P(j|i) = output(j) exp(-rate min(D, cut)) / total(i) for positions i and j of a
    chain, D = |i - j| / scale.
    """

    params: Params
    chains: WordChains

    def rate(self, eps: Eps) -> Floats:
        """Return the factor of D in the exponent: (n,)."""
        return eps

    def cut(self, eps: Eps) -> Floats:
        """Return the largest D that counts: (n,)."""
        return np.full(len(eps), np.inf)

    def log_totals(self, inputs: Ints, eps: Eps) -> Floats:
        """Return ln total(i), inputs (n,), eps (n,) or (1,): (n,); here 0."""
        return np.zeros(len(inputs))

    def log_outputs(self, outputs: Ints, eps: Eps) -> Floats:
        """Return ln output(j): (n, m); larger at the ends, which take clipped noise."""
        rate, size = eps / self.params.scale, self.space.size
        ends = -np.log1p(np.exp(-rate)) if size > 1 else np.zeros(len(eps))
        inside = ends + np.log(-np.expm1(-rate))
        at_end = (outputs == 0) | (outputs == size - 1)
        return np.where(at_end[None, :], ends[:, None], inside[:, None])

    def moved(
        self, positions: Ints, eps: Eps, up: NDArray[np.bool_], bits: RandomBits
    ) -> Ints:
        """Add noise to positions (n,), clipped at the ends; up (n,) are fair bits."""
        rate, size = eps / self.params.scale, self.space.size
        if (rate == rate[:1]).all():
            rate = rate[:1]
        stays = exponential(bits, 1) >= log_of_moves(rate)
        with np.errstate(over="ignore"):
            beyond = exponential(bits, 2) / rate
        steps = 1 + np.minimum(beyond, size).astype(np.int64)
        ends = np.clip(positions + np.where(up, steps, -steps), 0, size - 1)
        return np.where(stays, positions, ends)

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that finite uniforms may add.

        Each step of a move changes the probability of an output by a factor of 1 +
        2^-50 or so, as long as exp(-eps / scale) is a normal number.
        """
        if epsilon / self.params.scale > _STEEPEST:
            return math.inf
        return 2.0**-48 * (self.space.size + 128.0)

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP for the distance between positions."""
        params = self.params
        name = "distance of the two words' places on a public chain of the vocabulary"
        if params.chains > 1:
            name += f", the largest over {params.chains} chains"
        if params.scale != 1.0:
            name += f", divided by {params.scale:g}"
        identity = f"{params.chains} chains, scale {params.scale!r}"
        metric = Metric(MetricKind.CHAINS, name, identity)
        unit = "1/place" if params.scale == 1.0 else f"1/({params.scale:g} places)"
        source = "Meisenbacher, Chevli and Matthes 2024"
        promise = Guarantee.metric_dp(metric, self._max_distance, source)
        return replace(promise, unit=unit, gaps=_GAPS)

    @property
    def _max_distance(self) -> float:
        """Return the largest D, capped by gamma if set."""
        return (self.space.size - 1) / self.params.scale

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the loss bound for pairs of inputs: (n,) nats."""
        distances = self.chains.distances(a, b) / self.params.scale
        cut = self.cut(np.array([epsilon]))
        return np.asarray(epsilon * np.minimum(distances, cut))

    @property
    def geometry(self) -> Geometry:
        """Return nearest, median and largest distance in the guarantee's metric."""
        scale, largest = self.params.scale, self._max_distance
        nearest = float(np.median(self.chains.nearest())) / scale
        median = self.chains.median() / scale
        return Geometry(min(nearest, largest), min(median, largest), largest)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) 1/place -> (n,) ids."""
        integers = bits.integers(0)
        chain = bits.below(integers[:, 0], self.params.chains)
        positions = self.chains.positions[chain, ids].astype(np.int64)
        up = (integers[:, 1] & np.uint64(1)).astype(bool)
        moved = self.moved(positions, eps, up, bits)
        return np.asarray(self.chains.words[chain, moved])

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x), averaged over the chains: (n, V) float64."""
        cut, rate = self.cut(eps)[:, None], self.rate(eps)[:, None]
        log_sums = np.full((len(ids), self.space.size), -np.inf)
        for positions in self.chains.positions.astype(np.int64):
            inputs, outputs = positions[ids], positions[:-1]
            logs = np.abs(inputs[:, None] - outputs[None, :]) / self.params.scale
            np.minimum(logs, cut, out=logs)
            logs *= -rate
            logs += self.log_outputs(outputs, eps)
            logs -= self.log_totals(inputs, eps)[:, None]
            np.logaddexp(log_sums, logs, out=log_sums)
        log_sums -= math.log(self.params.chains)
        return log_sums

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max of prior(x) P(y|x) over x in each band: (bands, V).

        A single chain takes O(V log V), with maxima over doubling windows; several
        chains are computed row by row.
        """
        eps = np.array([epsilon])
        if self.params.chains > 1:
            return self._best_of_several(prior, eps, bands)
        positions = self.chains.positions[0, :-1].astype(np.int64)
        rate, line = float(self.rate(eps)[0]), np.arange(len(positions))
        with np.errstate(divide="ignore"):
            heights = np.log(prior) - self.log_totals(positions, eps)
        top = np.full((len(bands), len(positions)), -np.inf)
        for row, (begin, end) in zip(top, bands, strict=True):
            row[positions[begin:end]] = heights[begin:end]
        np.maximum(top, top.max(axis=1, keepdims=True) - rate * self.cut(eps), out=top)
        # top[j] becomes the largest height of any position i less rate times its
        # distance to j. After a step windows reach twice as far. Small drops are added
        # up; differences of heights would have no digits left at a large rate.
        reach = 1
        while reach < len(positions):
            drop = rate / self.params.scale * reach
            for here, there in (
                (top[:, reach:], top[:, :-reach]),
                (top[:, :-reach], top[:, reach:]),
            ):
                np.maximum(here, there - drop, out=here)
            reach *= 2
        top += self.log_outputs(line, eps)
        return np.asarray(np.exp(top)[:, positions])

    def _best_of_several(self, prior: Floats, eps: Eps, bands: Bands) -> Floats:
        size = self.space.size
        line = np.arange(size)
        distances = np.minimum(line / self.params.scale, self.cut(eps))
        table = np.exp(-self.rate(eps) * distances)
        outputs = np.exp(self.log_outputs(line, eps)[0])
        chains = self.chains.positions[:, :-1]
        totals = [np.exp(self.log_totals(each.astype(int), eps)) for each in chains]
        best = np.zeros((len(bands), size))
        for number, (begin, end) in enumerate(bands):
            for rows in blocks(end, _ROWS, begin):
                joint = np.zeros((rows.stop - rows.start, size))
                for positions, total in zip(chains, totals, strict=True):
                    one = table[np.abs(positions[rows, None] - positions[None, :])]
                    one *= outputs[positions]
                    one /= total[rows, None]
                    joint += one
                joint *= prior[rows, None] / self.params.chains
                np.maximum(best[number], joint.max(axis=0), out=best[number])
        return best


@dataclass(frozen=True, eq=False)
class TemDiffractor(Diffractor):
    """Truncated exponential mechanism on the positions of each chain."""

    @property
    def most(self) -> float:
        """Return epsilon times gamma, in nats, if gamma depends on beta; else inf."""
        params = self.params
        return math.inf if params.gamma else product(params.beta, self.space.size)

    def rate(self, eps: Eps) -> Floats:
        """Return half of epsilon, as normalisation costs the other half: (n,)."""
        return eps / 2.0

    def cut(self, eps: Eps) -> Floats:
        """Return gamma: (n,)."""
        gamma = self.params.gamma
        return self.most / eps if gamma is None else np.full(len(eps), gamma)

    def log_totals(self, inputs: Ints, eps: Eps) -> Floats:
        """Return ln total(i), inputs (n,), eps (n,) or (1,): (n,)."""
        return np.asarray(np.log(Window(self, inputs, eps).total))

    def log_outputs(self, outputs: Ints, eps: Eps) -> Floats:
        """Return 0: (n, m); normalisation depends only on inputs."""
        return np.zeros((len(eps), len(outputs)))

    def moved(
        self, positions: Ints, eps: Eps, up: NDArray[np.bool_], bits: RandomBits
    ) -> Ints:
        """Draw a position from the parts of the window: (n,).

        One uniform selects the floor, where all positions are equally likely, or the
        excess of the position itself, of positions to its left, or to its right.
        """
        window, size = Window(self, positions, eps), self.space.size
        integers = bits.integers(1)
        target = RandomBits.unit(integers[:, 0]) * window.total - size * window.floor
        anywhere = bits.below(integers[:, 1], size)
        beyond = target < 0.0
        target -= 1.0 - window.floor
        itself = target < 0.0
        left = window.excess(window.left)
        leftwards = target < left
        target = np.where(leftwards, target, target - left)
        steps = window.steps(target, np.where(leftwards, window.left, window.right))
        near = positions + np.where(leftwards, -steps, steps)
        return np.where(beyond, anywhere, np.where(itself, positions, near))

    def numerical_slack(self, epsilon: float) -> float:
        """Return the nats that finite uniforms may add.

        The rarest output has probability exp(-loss / 2) / V, exact to 2^-52.
        """
        loss = self.guarantee(epsilon).worst(epsilon)
        return float(2.0**-50 * self.space.size * np.exp(min(loss, 600.0) / 2.0))

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: metric DP in the truncated distance of positions."""
        promise = super().guarantee(epsilon)
        varying = VaryingEpsilon.exponential(promise.max_distance, self.most)
        metric = replace(promise.metric, cut=self.params.gamma)
        return replace(
            promise, metric=metric, varying_epsilon=varying, max_loss=self.most
        )

    @property
    def _max_distance(self) -> float:
        return min(super()._max_distance, self.params.gamma or math.inf)
