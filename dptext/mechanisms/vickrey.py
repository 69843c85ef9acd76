"""Vickrey, as published: no guarantee, for comparison only.

The word's vector with multivariate Laplace noise; then the nearest word except the
input word, or the second nearest except it, with probabilities from their distances
d1, d2 to the noisy point: the nearest with (1 - t) d2 / (t d1 + (1 - t) d2).

Guarantee: none. Leaving the input word out looks at it again: it is never written for
itself and may be written for every other word, so that an output rules out one input
for sure, and the loss of every pair is infinite at every epsilon.
Instead: laplace with mapping two-nearest, the same rule over the full vocabulary: it
looks at the noisy vector alone, so that the epsilon * d of the noise holds.
Known as: Vickrey.
Source: Xu et al., PrivateNLP 2021, algorithm 1, arXiv:2104.11838.
Known gaps: as above. Unknown words are not in the vocabulary, so nothing is left out
for them.
Example: dptext sanitize reviews.jsonl --field text --mechanism vickrey --epsilon 50
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.errors import UsageError
from dptext.mappings import Index
from dptext.mechanisms import Aim, WordMechanism, laplace
from dptext.randomness import MAPPING_LANE, RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, Points, blocks

_CHUNK = 2048


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of Vickrey."""

    #: 0 always takes the nearest word, 1 always the second nearest.
    t: Annotated[float, Meta(ge=0, le=1)] = 0.5

    def prepare(self, space: Space, aim: Aim) -> Vickrey:
        """Check the space. Raises UsageError if it has fewer than three words."""
        if space.size < 3:
            raise UsageError(
                "mechanism vickrey: needs at least three words; use laplace with "
                "mapping two-nearest instead"
            )
        return Vickrey(self, space, laplace.Params().prepare(space, aim))


@dataclass(frozen=True, eq=False)
class Vickrey(WordMechanism):
    """The Vickrey mechanism; its output distribution has no closed form."""

    params: Params
    noise: laplace.Laplace

    @cached_property
    def _index(self) -> Index:
        return Index(self.space.vectors, self.space.size)

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return that there is no guarantee, with the reason."""
        reason = (
            "the input word is left out of the search, so it is never written for "
            "itself but may be written for any other word: every output rules out "
            "one input for sure, at every epsilon. Use laplace with mapping "
            "two-nearest instead."
        )
        return Guarantee.nothing(
            reason,
            source="Xu et al. 2021, algorithm 1, arXiv:2104.11838",
            unit="1/distance",
        )

    def least_loss(self) -> tuple[float, tuple[int, int]]:
        """Return inf for two words x, x': x' may become x, but x never does."""
        return math.inf, (1, 0)

    def published_loss(self, a: Ids, b: Ids, epsilon: float) -> Floats:
        """Return the paper's claim, epsilon d, for pairs of words: (n,) nats."""
        return mechanisms.distance_bound(self.space, a, b, epsilon)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
        drawn = np.empty(len(ids), np.int32)
        for part in blocks(len(ids), _CHUNK):
            bits_of_part = bits.take(np.arange(part.start, part.stop))
            points = self.noise.sample(ids[part], eps[part], bits_of_part)
            three = self._index.nearest(points, 3)
            drawn[part] = self._written(ids[part], points, three, bits_of_part)
        return drawn

    def _written(self, ids: Ids, points: Points, three: Ints, bits: RandomBits) -> Ints:
        """Choose one of the two nearest words other than the input: (n,)."""
        # The input word is left out if it is among the three, else the last of them.
        others = three != ids[:, None]
        others[others.all(axis=1), 2] = False
        two = three[others].reshape(-1, 2)
        second = bits.uniform(MAPPING_LANE)[:, 0] >= self._index.chance_of_first(
            points, two, self.params.t
        )
        return np.asarray(np.where(second, two[:, 1], two[:, 0]))

    def observe(self, ids: Ids, eps: Eps, bits: RandomBits) -> NDArray[np.float32]:
        """Return the noisy vector and five columns about the output y: (n, d + 5).

        They are the rows of the nearest and the second nearest word, exact in float32,
        and ln P(y | vector, x) for x the nearest, the second nearest and another word.
        """
        points = self.noise.sample(ids, eps, bits)
        three = self._index.nearest(points, 3)
        written = self._written(ids, points, three, bits)
        columns: list[NDArray[np.floating | np.integer]] = [points, three[:, :2]]
        # The candidates if x is the nearest, the second nearest or another word.
        for candidates in ([1, 2], [0, 2], [0, 1]):
            two = three[:, candidates]
            first = self._index.chance_of_first(points, two, self.params.t)
            chance = np.where(written == two[:, 0], first, 0.0)
            chance += np.where(written == two[:, 1], 1.0 - first, 0.0)
            with np.errstate(divide="ignore"):
                columns.append(np.log(chance)[:, None])
        return np.hstack(columns).astype(np.float32)

    def log_density(
        self, observed: NDArray[np.floating], eps: Eps, words: Ids
    ) -> NDArray[np.floating]:
        """Return the log density of `observe` given each word as the input."""
        near, second, *chances = np.split(observed[:, -5:], 5, axis=1)
        is_near, is_second = words == near, words == second
        density = self.noise.log_density(observed[:, :-5], eps, words)
        density += np.select([is_near, is_second], chances[:2], chances[2])
        return density
