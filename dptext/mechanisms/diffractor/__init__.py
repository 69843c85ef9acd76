"""1-Diffractor: noise on a word's position in one-dimensional chains of the vocabulary.

One of the chains is drawn for each word; with i the word's position on it,
geometric: what is written stands at i plus two-sided geometric noise, cut at the ends;
    P ~ exp(-eps |i - j| / scale), and the ends take what lies beyond them.
tem: P(j|i) ~ exp(-eps min(|i - j| / scale, gamma) / 2).

Guarantee: epsilon * D (metric DP), D the distance of the positions over `scale`, the
largest over all chains; with tem epsilon * min(D, gamma). D is a number of places on a
greedy chain, not a distance in meaning. Unknown words have a position, so they are
covered.
Source: Meisenbacher, Chevli and Matthes, IWSPA 2024, arXiv:2405.01678.
Known gaps: words near in meaning may stand far apart on a chain, and then the loss
between them is large. The published code keeps stop words and unknown words (here a
setting of the tokens) and is seeded with 42 by default.
Example: dptext sanitize reviews.jsonl --mechanism diffractor --epsilon 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.mechanisms import Aim, Bands, WordMechanism
from dptext.mechanisms.diffractor._chains import Chains
from dptext.mechanisms.diffractor._geometric import Geometric
from dptext.mechanisms.diffractor._tem import Tem
from dptext.randomness import RandomBits
from dptext.spaces import Geometry, Space
from dptext.types import Eps, Guarantee, Ids, Metric, MetricKind, Notion, VaryingEpsilon

_ROWS = 32
_GAPS = (
    "The distance is a number of places on greedy chains of the vocabulary: words of "
    "near meaning may stand far apart on them.",
)


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """chains are drawn by the public seed; scale divides the distance in places.

    gamma bounds the distance of tem; when absent it follows from beta and epsilon:
    beta bounds the probability of an output farther than gamma.
    """

    noise: Literal["geometric", "tem"] = "geometric"
    chains: Annotated[int, Meta(ge=1, le=64)] = 1
    scale: Annotated[float, Meta(ge=1e-12, le=1e12)] = 1.0
    gamma: Annotated[float, Meta(ge=1e-12, le=1e12)] | None = None
    beta: Annotated[float, Meta(ge=1e-15, lt=1)] = 0.001
    seed: Annotated[int, Meta(ge=0)] = 0

    def prepare(self, space: Space, aim: Aim) -> Diffractor:
        """Build the chains, or take them from the cache."""
        chains = Chains.of(space, self.chains, self.seed)
        if self.noise == "tem":
            tem = Tem.of(space.size, self.scale, self.gamma, self.beta)
            return Diffractor(self, space, chains, tem)
        return Diffractor(self, space, chains, Geometric(space.size, self.scale))


@dataclass(frozen=True, eq=False)
class Diffractor(WordMechanism):
    """The chains, and the noise on the positions of each.

    P(j|i) = output(j) exp(-rate min(D, cut)) / total(i) for positions i and j of a
    chain, D = |i - j| / scale.
    """

    params: Params
    chains: Chains
    noise: Geometric | Tem

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return metric DP in the distance of positions."""
        params, largest, max_loss = self.params, self._max_distance, math.inf
        name = "distance of the two words' places on a public chain of the vocabulary"
        if params.chains > 1:
            name += f", the largest over {params.chains} chains"
        if params.scale != 1.0:
            name += f", divided by {params.scale:g}"
        cut, varying_epsilon = None, None
        if isinstance(self.noise, Tem):
            max_loss, cut = self.noise.max_loss, params.gamma
            varying_epsilon = VaryingEpsilon(
                word=largest, total=largest, drift=largest / 2.0, most=max_loss / 2.0
            )
        identity = f"{params.chains} chains, scale {params.scale!r}"
        return Guarantee(
            notion=Notion.METRIC,
            metric=Metric(MetricKind.CHAINS, name, identity, cut),
            unit="1/place" if params.scale == 1.0 else f"1/({params.scale:g} places)",
            max_distance=largest,
            source="Meisenbacher, Chevli and Matthes 2024",
            gaps=_GAPS,
            varying_epsilon=varying_epsilon,
            max_loss=max_loss,
        )

    @property
    def _max_distance(self) -> float:
        """Return the largest D, cut where the cut is the same for every epsilon."""
        largest = (self.chains.size - 1) / self.params.scale
        gamma = self.params.gamma if self.params.noise == "tem" else None
        return largest if gamma is None else min(largest, gamma)

    def claimed_loss(self, a: Ids, b: Ids, epsilon: float) -> NDArray[np.float64]:
        """Return the bound on the loss of pairs of inputs, (n,) nats."""
        distances = self.chains.distances(a, b) / self.params.scale
        cut = self.noise.cut(np.array([epsilon]))
        return np.asarray(epsilon * np.minimum(distances, cut))

    def geometry(self, epsilon: float) -> Geometry:
        """Return nearest, median and largest distance in the guarantee's own metric."""
        scale, largest = self.params.scale, self._max_distance
        nearest = float(np.median(self.chains.nearest())) / scale
        median = self.chains.median() / scale
        return Geometry(min(nearest, largest), min(median, largest), largest)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: ids (n,), eps (n,) 1/place -> (n,) ids."""
        integers = bits.integers(0)
        chain = bits.below(integers[:, 0], self.params.chains)
        positions = self.chains.positions[chain, ids].astype(np.int64)
        up = (integers[:, 1] & np.uint64(1)).astype(bool)
        moved = self.noise.moved(positions, eps, up, bits)
        return np.asarray(self.chains.words[chain, moved])

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x), the mean over the chains: (n, V) float64."""
        noise = self.noise
        cut, rate = noise.cut(eps)[:, None], noise.rate(eps)[:, None]
        log_sums = np.full((len(ids), self.space.size), -np.inf)
        for positions in self.chains.positions.astype(np.int64):
            inputs, outputs = positions[ids], positions[:-1]
            logs = np.abs(inputs[:, None] - outputs[None, :]) / self.params.scale
            np.minimum(logs, cut, out=logs)
            logs *= -rate
            logs += noise.log_outputs(outputs, eps)
            logs -= noise.log_totals(inputs, eps)[:, None]
            np.logaddexp(log_sums, logs, out=log_sums)
        log_sums -= math.log(self.params.chains)
        return log_sums

    def best_guesses(
        self, prior: NDArray[np.float64], epsilon: float, bands: Bands
    ) -> NDArray[np.float64]:
        """Return max of prior(x) P(y|x) over the x of each band: (bands, V).

        For one chain in O(V), by running maxima from either end of it; for several row
        by row, from tables by the number of positions.
        """
        eps = np.array([epsilon])
        if self.params.chains > 1:
            return self._best_of_several(prior, eps, bands)
        positions = self.chains.positions[0, :-1].astype(np.int64)
        line = np.arange(len(positions))
        slope = float(self.noise.rate(eps)[0])
        ramp, drop = slope / self.params.scale * line, slope * self.noise.cut(eps)
        with np.errstate(divide="ignore"):
            heights = np.log(prior) - self.noise.log_totals(positions, eps)
        best = np.empty((len(bands), len(positions)))
        for number, (begin, end) in enumerate(bands):
            peaks = np.full(len(positions), -np.inf)
            peaks[positions[begin:end]] = heights[begin:end]
            before = np.maximum.accumulate(peaks + ramp) - ramp
            after = np.maximum.accumulate((peaks - ramp)[::-1])[::-1] + ramp
            top = np.maximum(np.maximum(before, after), peaks.max() - drop)
            top += self.noise.log_outputs(line, eps)[0]
            best[number] = np.exp(top)[positions]
        return best

    def _best_of_several(
        self, prior: NDArray[np.float64], eps: Eps, bands: Bands
    ) -> NDArray[np.float64]:
        noise, size = self.noise, self.space.size
        line = np.arange(size)
        distances = np.minimum(line / self.params.scale, noise.cut(eps))
        table = np.exp(-noise.rate(eps) * distances)
        outputs = np.exp(noise.log_outputs(line, eps)[0])
        chains = self.chains.positions[:, :-1]
        totals = [
            np.exp(noise.log_totals(each.astype(np.int64), eps)) for each in chains
        ]
        best = np.zeros((len(bands), size))
        for number, (begin, end) in enumerate(bands):
            for start in range(begin, end, _ROWS):
                rows = slice(start, min(start + _ROWS, end))
                joint = np.zeros((rows.stop - rows.start, size))
                for positions, total in zip(chains, totals, strict=True):
                    one = table[np.abs(positions[rows, None] - positions[None, :])]
                    one *= outputs[positions]
                    one /= total[rows, None]
                    joint += one
                joint *= prior[rows, None] / self.params.chains
                np.maximum(best[number], joint.max(axis=0), out=best[number])
        return best

    def numerical_slack(self, epsilon: float) -> float:
        """Return how far finite uniforms may take the loss above its bound, in nats."""
        loss = self.guarantee(epsilon).worst(epsilon)
        return self.noise.numerical_slack(epsilon, loss)
