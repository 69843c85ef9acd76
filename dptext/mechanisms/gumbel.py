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
Known as: Truncated Gumbel, TGM.
Source: Xu, Aggarwal, Feyisetan and Teissier, "Density-Aware Differentially Private
Textual Perturbations Using Truncated Gumbel Noise", FLAIRS 2021, algorithm 1.
Known gaps: as above. b exists only for epsilon above (5 + 2 ln V) / Delta_min;
low_epsilon: true does below it what published code does, the real part of W0 alone,
where a smaller epsilon may mean less noise.
Example: dptext sanitize reviews.jsonl --field text --mechanism gumbel --epsilon 250
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext import geometry, mechanisms
from dptext.errors import UsageError
from dptext.exponential.distribution import Lists
from dptext.mechanisms import Aim, WordMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids

# Gauss-Legendre nodes of a panel, within which the densities are smooth.
_NODES = 24
# 2 Delta_max over the largest scale: exp of less cannot be told from 1.
_LEAST = 1e-6
# More candidates have a chance below 1e-18 in any vocabulary of up to a million words.
_MOST = 64
# Size of the largest vocabulary with computed probabilities, by quadrature.
_ENUMERATED = 200


def lambert(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return the principal branch W0 of Lambert's W by Halley's method.

    w exp(w) = z. w exp(w) = z. On the cut (real z < -1/e) the imaginary part is
    positive.
    """
    z = np.asarray(z, np.complex128)
    # A first guess for each region: the branch point, the far end, and between.
    root = np.sqrt(2.0 * (math.e * z + 1.0))
    far = np.where(np.abs(z) > 2.0, z, 3.0)
    logs = np.log(far)
    w = np.where(
        np.abs(z + 1.0 / math.e) < 1.0,
        -1.0 + root - root**2 / 3.0,
        np.where(np.abs(z) > 2.0, logs - np.log(logs), np.log1p(z)),
    )
    for _ in range(40):
        power = np.exp(w)
        off = w * power - z
        slope = w + 1.0
        flat = slope == 0.0  # z = -1/e, w = -1: already there
        slope = np.where(flat, 1.0, slope)
        step = off / (power * slope - (w + 2.0) * off / (2.0 * slope))
        w = w - np.where(flat, 0.0, step)
        if np.all(np.abs(step) <= 1e-15 * (1.0 + np.abs(w))):
            break
    return w


def alpha(eps: Floats, size: int, closest: float) -> Floats:
    """Return alpha = (eps - 2 (1 + ln W) / Delta_min) / 3 for each epsilon."""
    return (eps - 2.0 * (1.0 + math.log(size)) / closest) / 3.0


def scale(eps: Floats, size: int, closest: float, widest: float) -> Floats:
    """Return b = 2 Delta_max / min(W0(2 alpha Delta_max), ln(alpha Delta_min)).

    If the logarithm is not positive, the published code's 2 Delta_max over the real
    part of W0; nan if that is not positive either, or so small that truncated noise
    of that scale is lost in float64.
    """
    rates = alpha(eps, size, closest)
    branch = lambert((2.0 * rates * widest).astype(np.complex128)).real
    product = rates * closest
    proper = product > 1.0
    logs = np.log(np.where(proper, product, 2.0))
    divisor = np.where(proper, np.minimum(branch, logs), branch)
    positive = divisor > _LEAST
    return np.where(positive, 2.0 * widest / np.where(positive, divisor, 1.0), np.nan)


def poisson(size: int, most: int) -> Floats:
    """Return P(k), k = 1 ... most, of Poisson(ln W) restricted to 1 ... W."""
    rate = math.log(size)
    logs = np.arange(1, size + 1) * math.log(rate)
    logs -= np.cumsum(np.log(np.arange(1.0, size + 1.0)))
    weights = np.exp(logs - logs.max())
    return np.asarray(weights[:most] / weights.sum())


def draw(uniform: Floats, b: Floats, widest: float) -> Floats:
    """Convert uniforms to Gumbel(0, b) noise truncated to [-widest, widest]."""
    low, high = (np.exp(-np.exp(end / b)) for end in (widest, -widest))
    noise: Floats = -b * np.log(-np.log(low + uniform * (high - low)))
    return np.clip(noise, -widest, widest)


def truncated_log_probs(
    distances: Floats, b: float, widest: float, shares: Floats
) -> Floats:
    """Return the log probability of each candidate, nearest first: (W,).

    distances (W,) ascend; shares (W,): P(k). Candidate y wins at value t with
    density f(t - d_y) times the probability that no other of the k candidates is below
    t: an integral over t, by quadrature. Sums are in logarithms, since probabilities of
    far candidates underflow.
    """
    # Panels are cut where the density of a candidate begins: it is not smooth there.
    first, last = distances[0] - widest, distances[0] + widest
    begins = distances - widest
    edges = np.concatenate(
        (begins[begins < last], np.linspace(first, last, 2 + int(4.0 * widest / b)))
    )
    edges = np.unique(edges)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(edges) / 2.0
    points = ((edges[:-1] + edges[1:])[:, None] / 2.0 + half[:, None] * nodes).ravel()
    areas = (half[:, None] * weights).ravel()
    noise = points[None, :] - distances[:, None]
    inside = noise >= -widest
    rise = np.exp(np.minimum(-noise, widest) / b)
    end = math.exp(-widest / b)
    log_total = math.log(-math.expm1(end - math.exp(widest / b)))
    with np.errstate(divide="ignore"):
        # ln (F(widest) - F(g)) / (F(widest) - F(-widest)), without cancellation.
        tail = np.log(-np.expm1(end - rise)) - log_total
        tail = np.where(inside, tail, 0.0)
        density = end - rise + np.log(rise) - math.log(b) - log_total
        chances = np.cumsum(tail, axis=0) + np.log(shares)[:, None]
    chances = np.logaddexp.accumulate(chances[::-1], axis=0)[::-1]
    parts = np.where(inside, density - tail + chances, -np.inf) + np.log(areas)
    top = parts.max(axis=1)
    return np.asarray(np.log(np.exp(parts - top[:, None]).sum(axis=1)) + top)


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of truncated Gumbel."""

    #: Accept an epsilon below the one from which b is defined.
    low_epsilon: bool = False

    def prepare(self, space: Space, aim: Aim) -> Gumbel:
        """Measure all pairs of V. Raises UsageError if the mechanism is undefined."""
        closest = geometry.closest_pair(space)
        if space.size < 2 or closest == 0.0:
            raise UsageError(
                "mechanism gumbel: needs at least two words, all with different "
                "vectors (the smallest distance divides its parameters); use tem "
                "instead"
            )
        listed = geometry.nearest_words(space, _MOST)
        lists = Lists(space, listed, np.zeros(len(listed)))
        shares = poisson(space.size, listed.shape[1])
        widest = float(geometry.farthest_distances(space)[: space.size].max())
        return Gumbel(
            params=self,
            space=space,
            lists=lists,
            cumulative=np.cumsum(shares),
            closest=closest,
            widest=widest,
        )


@dataclass(frozen=True, eq=False)
class Gumbel(WordMechanism):
    """Truncated Gumbel mechanism with its statistics of the vocabulary."""

    params: Params
    #: The nearest words of each row.
    lists: Lists
    #: P(k or fewer candidates), k from 1.
    cumulative: Floats
    #: Delta_min, the smallest distance of two words.
    closest: float
    #: Delta_max, the largest.
    widest: float

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return that there is no guarantee, with a lower bound on the loss."""
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
        """Return a proven lower bound on the worst loss (nats), at the farthest pair.

        x is the last candidate of x', and the first of its own.
        """
        size = self.space.size
        word = int(geometry.farthest_distances(self.space)[:size].argmax())
        (distances,) = geometry.distances_to_words(
            self.space, np.array([word]), 0, size
        )
        # Of words at the largest distance the last: candidates tie by id.
        last = size - 1 - int(distances[::-1].argmax())
        return self._least_loss, (last, word)

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the paper's claim, epsilon d, for pairs of words: (n,) nats."""
        return mechanisms.distance_bound(self.space, a, b, epsilon)

    @property
    def least_epsilon(self) -> float:
        """Return the epsilon above which b is defined: (5 + 2 ln V) / Delta_min."""
        return (5.0 + 2.0 * math.log(self.space.size)) / self.closest

    def supports(self, epsilon: float) -> None:
        """Raise UsageError for an epsilon at which the mechanism is undefined."""
        self._scales(np.array([epsilon]))

    def _scales(self, eps: Eps) -> Floats:
        """Return b for each epsilon: (n,)."""
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
        scales = scale(values, self.space.size, self.closest, self.widest)
        if np.isnan(scales).any():
            raise UsageError(
                f"epsilon: {values[np.isnan(scales)][0]:g} gives gumbel no positive "
                "scale, not even in the published code; give another epsilon, or use "
                "tem instead"
            )
        return np.asarray(scales[kind])

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
        rows = ids.astype(np.int64) % (self.space.size + 1)
        b = self._scales(eps)
        uniform = bits.uniform(0)[:, 0]
        counts = 1 + np.searchsorted(self.cumulative, uniform, side="right")
        np.minimum(counts, len(self.cumulative), out=counts)
        most = int(counts.max(initial=1))
        uniforms = bits.uniform(1, (most + 1) // 2)[:, :most]
        values = draw(uniforms, b[:, None], self.widest)
        values += self.lists.rows(rows)[:, :most]
        values[np.arange(most) >= counts[:, None]] = np.inf
        return np.asarray(self.lists.listed[rows, values.argmin(axis=1)], np.int32)

    @property
    def has_log_probs(self) -> bool:
        """Return whether probabilities can be enumerated: up to 200 words."""
        return self.space.size <= _ENUMERATED

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) by quadrature: (n, V) float64."""
        size = self.space.size
        shares = poisson(size, size)
        vectors = self.space.vectors.astype(np.float64)
        log_probs = np.empty((len(ids), size))
        for row, (word, b) in enumerate(zip(ids, self._scales(eps), strict=True)):
            distances = np.linalg.norm(vectors[:size] - vectors[word], axis=1)
            # A word is first of its equals.
            keys = distances.copy()
            if word >= 0:
                keys[word] = -1.0
            order = np.argsort(keys, kind="stable")
            log_probs[row, order] = truncated_log_probs(
                distances[order], float(b), self.widest, shares
            )
        return log_probs
