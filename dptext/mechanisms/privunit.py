"""PrivUnit on public points: the direction of a vector, drawn from a finite set.

Vectors are projected to the m principal directions of the public vectors, around their
mean, and scaled to length 1. N public points lie on the unit sphere of m dimensions,
drawn from a public seed, each with its opposite. The k points nearest to a direction
have weight e^epsilon, all others weight 1, and one point is drawn. k follows from
epsilon: the number at which the drawn point is nearest to the direction on average.
That point is released, longer by a public factor so that its mean is about the
direction.

Guarantee: epsilon-LDP over all vectors, pure, of the program and not only of the
formula: under every input k points have weight e^epsilon and N - k have weight 1, so
that P(z|x) <= e^epsilon P(z|x') for any two inputs, whatever rounding does to the order
of points. A draw compares random bits with one number and takes a point by an integer.
Known as: PrivUnit.
Source: Bhowmick et al. 2018 (PrivUnit), arXiv:1812.00984, with a cap of fixed count
instead of fixed height; Ye and Barg 2018 (subset selection), arXiv:1702.00610;
docs/embed.md.
Known gaps: only the direction is kept, in few dimensions, and no finer than the points
are dense: above some 12 nats more points or other noise keep more. The principal
directions are public: they must not be made of private text.
Example: dptext sanitize reviews.jsonl --field text --mechanism privunit --epsilon 8
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms, noise
from dptext.mechanisms import Aim, Family, NoiseMechanism
from dptext.noise import unit
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, Inputs, Ints, Points, blocks

_TRIED = 256  # public directions by which the number of favoured points is chosen
_LONGEST = 1e15  # limit of released coordinates, for very small epsilons
_ROWS = 256  # directions compared with all points at once


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of PrivUnit."""

    family: ClassVar[Family] = Family.NOISE

    #: m, the number of principal directions.
    dimensions: Annotated[int, Meta(ge=1, le=64)] = 8
    #: N.
    points: Annotated[int, Meta(ge=16, le=65_536, multiple_of=2)] = 4096
    #: Public; determines the points.
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0

    def prepare(self, space: Space, aim: Aim) -> PrivUnit:
        """Find the principal directions of the public words, weighted by frequency."""
        counts = np.asarray(space.lexicon.counts, np.float64)
        axes = Axes.principal(space.vectors[:-1], counts, self.dimensions)
        return PrivUnit(self, space, axes)


class Axes(NamedTuple):
    """Principal directions of public vectors."""

    #: The mean of the vectors: (d,).
    mean: Floats
    #: The directions: (d, m).
    columns: Floats

    @classmethod
    def principal(
        cls, vectors: NDArray[np.floating], weights: Floats, count: int
    ) -> Axes:
        """Find the weighted principal axes of vectors, by decreasing variance."""
        rows = np.asarray(vectors, np.float64)
        shares = weights / weights.sum()
        mean = shares @ rows
        rows = rows - mean
        _, axes = np.linalg.eigh(rows.T @ (rows * shares[:, None]))
        columns = axes[:, ::-1][:, :count]
        # Libraries return an axis or its opposite: choose one of them.
        largest = np.abs(columns).argmax(axis=0)
        columns = columns * np.sign(columns[largest, np.arange(columns.shape[1])])
        return cls(mean, columns)


@lru_cache(maxsize=4)
def sphere(seed: int, number: int, width: int) -> Floats:
    """Draw public points of length 1, each with its antipode: (N, m)."""
    public = Randomness(RunKey.from_seed(seed), "privunit")
    bits = public.bits([bytes(16)], np.zeros(number // 2, np.int64))
    half = unit(bits.normal(0, width))
    return np.concatenate((half, -half))


@lru_cache(maxsize=4)
def _closeness(seed: int, number: int, width: int) -> Floats:
    """Return cumulative mean cosines of a direction and its nearest points: (N,)."""
    points = sphere(seed, number, width)
    tried = sphere(seed ^ 1, 2 * _TRIED, width)[:_TRIED]
    total = np.zeros(number)
    for part in blocks(_TRIED, 16):
        total += -np.sort(-noise.multiply(tried[part], points.T), axis=1).sum(axis=0)
    return np.cumsum(total / _TRIED)


class _Law(NamedTuple):
    """The distribution of points at one epsilon."""

    #: k.
    favoured: int
    #: With this probability one of the k is drawn, else one of all points.
    chance: float
    #: The mean cosine of the drawn point and the direction.
    kept: float


@dataclass(frozen=True, eq=False)
class PrivUnit(NoiseMechanism):
    """The PrivUnit mechanism with its projection."""

    # exp(epsilon) must leave room in a float64.
    largest_epsilon = 500.0

    params: Params
    #: The projection.
    axes: Axes = field(repr=False)
    #: The digest of the public texts that it was made of, "" for the lexicon.
    public: str = ""

    def along(self, vectors: Floats, public: str) -> PrivUnit:
        """Return the mechanism with the principal directions of other public vectors.

        vectors (n, d) are of public texts; public is their digest.
        """
        axes = Axes.principal(vectors, np.ones(len(vectors)), self.params.dimensions)
        return replace(self, axes=axes, public=public)

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the public texts behind the projection, if any."""
        return {"public": self.public} if self.public else {}

    @property
    def identity(self) -> tuple[object, ...]:
        """Return everything except epsilon that determines the output distribution."""
        return (*super().identity, self.public)

    @property
    def width(self) -> int:
        """Return the number of dimensions m."""
        return int(self.axes.columns.shape[1])

    @property
    def number(self) -> int:
        """Return the number of points N; in one dimension there are two directions."""
        return 2 if self.width == 1 else self.params.points

    @property
    def points(self) -> Floats:
        """Return the public points: (N, m)."""
        return sphere(self.params.seed, self.number, self.width)

    @property
    def inputs(self) -> NDArray[np.float32]:
        """Return the vectors before the projection: (V + 1, d)."""
        return self.space.vectors

    @cached_property
    def output_vectors(self) -> NDArray[np.float32]:
        """Return the directions of the words: (V + 1, m)."""
        return self.position(self.space.vectors.astype(np.float64)).astype(np.float32)

    @property
    def compared(self) -> NDArray[np.float32]:
        """Return the directions that released vectors are compared with."""
        return self.output_vectors

    def position(self, vectors: Floats) -> Floats:
        """Return the directions of vectors: (n, d) -> (n, m), 0 at the mean."""
        return unit(noise.multiply(vectors - self.axes.mean, self.axes.columns))

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp("Bhowmick et al. 2018, on public points")

    def guarantee_over(self, inputs: Inputs, epsilon: float) -> Guarantee:
        """Return the guarantee over any vectors, which is the same."""
        return self.guarantee(epsilon)

    def law(self, epsilon: float) -> _Law:
        """Return the distribution of points. Raises UsageError for epsilon over 500."""
        self.supports(epsilon)
        return _law(self.params.seed, self.number, self.width, epsilon)

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that 52-bit uniforms may add to the loss.

        A point that is not favoured has 1 - chance of the probability 1 / N, which is
        exact to 2^-50 of 1; integers below N are exact to N / 2^64.
        """
        law = self.law(epsilon)
        other = self.number / (self.number + law.favoured * math.expm1(epsilon))
        return 2.0**-49 / other + self.number * 2.0**-62

    @property
    def has_noise(self) -> bool:
        """Return True: any vector can be released."""
        return True

    def step(self, epsilon: float) -> float:
        """Return 0: public points are not on a grid."""
        return 0.0

    def spread(self, epsilon: float) -> float:
        """Return a released coordinate's approximate standard deviation."""
        scale = self._scale(self.law(epsilon))
        return math.sqrt(max(scale**2 - 1.0, 0.0) / self.width)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Points:
        """Draw a point for each word's direction: (n,), (n,) -> (n, m) float32."""
        points = np.empty((len(ids), self.width), np.float32)
        values, which = np.unique(eps, return_inverse=True)
        for number, epsilon in enumerate(values.tolist()):
            rows = np.flatnonzero(which == number)
            directions = self.output_vectors[ids[rows]]
            points[rows] = self.release(directions, epsilon, bits.take(rows))
        return points

    def release(
        self, positions: NDArray[np.floating], epsilon: float, bits: RandomBits
    ) -> NDArray[np.float32]:
        """Draw a point for each direction: (n, m) -> (n, m) float32."""
        law, integers = self.law(epsilon), bits.integers(0)
        near = bits.unit(integers[:, 0]) < law.chance
        drawn = bits.below(integers[:, 1], self.number)
        # Favoured points are computed only for rows that draw one of them.
        rows = np.flatnonzero(near)
        ranks = bits.below(integers[rows, 1], law.favoured)
        # Words repeat, and their favoured points are the same.
        directions, which = np.unique(positions[rows], axis=0, return_inverse=True)
        which = which.reshape(-1)
        for part in blocks(len(directions), _ROWS):
            favoured = self._favoured(directions[part], law.favoured)
            inside = np.flatnonzero((which >= part.start) & (which < part.stop))
            drawn[rows[inside]] = favoured[which[inside] - part.start, ranks[inside]]
        return (self.points * self._scale(law)).astype(np.float32)[drawn]

    def _favoured(self, directions: NDArray[np.floating], count: int) -> Ints:
        """Return the k points nearest to each direction, by number: (n, m) -> (n, k).

        There are always k distinct points, for any direction, so that the guarantee
        does not depend on cosines.
        """
        if count == self.number:
            return np.tile(np.arange(count), (len(directions), 1))
        cosines = noise.multiply(directions, self.points.T)
        return np.sort(np.argpartition(-cosines, count - 1, axis=1)[:, :count], axis=1)

    def _scale(self, law: _Law) -> float:
        return min(1.0 / max(law.kept, 1e-300), _LONGEST)

    def log_probs_of_points(
        self, directions: NDArray[np.floating], epsilon: float
    ) -> Floats:
        """Return ln P(z|x) of each point: directions (n, m) -> (n, N)."""
        law = self.law(epsilon)
        logs = np.zeros((len(directions), self.number))
        favoured = self._favoured(directions, law.favoured)
        logs[np.arange(len(directions))[:, None], favoured] = epsilon
        total = self.number + law.favoured * math.expm1(epsilon)
        return logs - math.log(total)

    def standard_noise(
        self, ids: Ids, points: NDArray[np.float32], eps: Eps
    ) -> tuple[Floats, Floats, float]:
        """Return uniform directions (n, 2) and Gamma(1) amounts for audits.

        They encode the drawn point's rank by nearness, and its rank by number
        among points of the same weight, each as a uniform number: ranks are spread by
        other uniform numbers. Points that are not public get an amount that no draw
        has.
        """
        digest = hashlib.sha256(np.ascontiguousarray(points).tobytes()).digest()
        spread = np.random.default_rng(list(digest)).random((2, len(ids)))
        amounts, turns = np.empty((2, len(ids)))
        for epsilon in np.unique(eps).tolist():
            rows = np.flatnonzero(eps == epsilon)
            amounts[rows], turns[rows] = self._places(
                ids[rows], points[rows], epsilon, spread[:, rows]
            )
        angles = 2.0 * np.pi * turns
        directions = np.stack((np.cos(angles), np.sin(angles)), axis=1)
        # 1 has no finite amount.
        return directions, -np.log1p(-np.minimum(amounts, 1.0 - 2.0**-53)), 1.0

    def _places(
        self, ids: Ids, points: NDArray[np.float32], epsilon: float, spread: Floats
    ) -> tuple[Floats, Floats]:
        """Return both ranks of points drawn at one epsilon, from 0 to 1: (n,) each."""
        law, number = self.law(epsilon), self.number
        scaled = (self.points * self._scale(law)).astype(np.float32)
        chances = np.full(number, 1.0 / (number + law.favoured * math.expm1(epsilon)))
        chances[: law.favoured] *= math.exp(epsilon)
        below = np.append(0.0, np.cumsum(chances))
        drawn = np.empty(len(ids), np.int64)
        for part in blocks(len(ids), _ROWS):
            drawn[part] = (points[part] @ self.points.T).argmax(axis=1)
        words, which = np.unique(ids, return_inverse=True)
        by_nearness, by_number = np.empty((2, len(ids)))
        for part in blocks(len(words), _ROWS):
            directions = self.output_vectors[words[part]]
            every = np.arange(len(directions))[:, None]
            is_favoured = np.zeros((len(directions), number), bool)
            is_favoured[every, self._favoured(directions, law.favoured)] = True
            nearness = noise.multiply(directions, self.points.T) + 4.0 * is_favoured
            ranks = np.empty((len(directions), number), np.int64)
            order = np.argsort(-nearness, axis=1, kind="stable")
            ranks[every, order] = np.arange(number)
            places = np.where(
                is_favoured,
                (np.cumsum(is_favoured, axis=1) - 1) / law.favoured,
                (np.cumsum(~is_favoured, axis=1) - 1) / max(number - law.favoured, 1),
            )
            inside = np.flatnonzero((which >= part.start) & (which < part.stop))
            at = which[inside] - part.start, drawn[inside]
            rank = ranks[at]
            by_nearness[inside] = below[rank] + chances[rank] * spread[0, inside]
            size = np.where(
                is_favoured[at], law.favoured, max(number - law.favoured, 1)
            )
            by_number[inside] = places[at] + spread[1, inside] / size
        by_nearness[(scaled[drawn] != points).any(axis=1)] = 1.0
        return by_nearness, by_number


@lru_cache(maxsize=64)
def _law(seed: int, number: int, width: int, epsilon: float) -> _Law:
    """Choose the k with the largest mean cosine of drawn point and direction.

    The sum of all N points is 0, so the mean of a drawn point is the mean of the
    favoured ones times the probability that they are drawn as such.
    """
    sums = _closeness(seed, number, width)
    counts, excess = np.arange(1, number + 1), math.expm1(epsilon)
    kept = sums * excess / (number + counts * excess)
    favoured = int(kept.argmax()) + 1
    chance = favoured * excess / (number + favoured * excess)
    return _Law(favoured, chance, float(kept[favoured - 1]))
