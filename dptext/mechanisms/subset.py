"""Subset selection: k of the K words, the input more often than any other.

With probability p = k e^epsilon / (k e^epsilon + K - k) the set holds the input and k -
1 of the other K - 1 words, else k of them, drawn evenly. Topics of whole texts
are written as the whole set, for estimates of shares (`dptext topics estimate`); of a
single word one member of the set is written, drawn evenly. k is given, or the number by
which shares are estimated best at the epsilon.

Guarantee: epsilon-LDP over the whole vocabulary: a set that holds the input is
e^epsilon times as likely as one that does not, and their numbers are the same for every
input. Unknown words, and texts without a topic, are taken as the commonest word.
Source: Ye and Barg 2018, arXiv:1702.00610; Wang et al. 2016, arXiv:1607.08025.
Known gaps: for aggregates. A reader of one row has a set of topics, which says less of
it than one topic of `rank` at the same epsilon.
Example: dptext sanitize reviews.jsonl --field text --mechanism subset --epsilon 8
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.errors import UsageError
from dptext.mechanisms import Aim, SetMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, blocks

_ROWS = 1024  # sets drawn at once
_WORDS = 65_535  # of the largest vocabulary of sets of several words


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of subset selection."""

    #: Words of a set; None: the number with the best estimates of shares.
    k: Annotated[int, Meta(ge=1, le=1024)] | None = None

    def prepare(self, space: Space, aim: Aim) -> Subset:
        """Choose k. Raises UsageError if the number of words does not allow it."""
        k = self.k
        if k is None:
            k = 1 if aim.epsilon is None else best_size(space.size, aim.epsilon)
        if k > 1 and (k >= space.size or space.size > _WORDS):
            raise UsageError(
                f"mechanism.k: {k} of {space.size} words; give fewer than there are, "
                f"of at most {_WORDS:,}"
            )
        return Subset(replace(self, k=k), space)


def included(words: int, k: int | Ints, eps: Floats) -> Floats:
    """Return the probability that a set of k words contains the input: by epsilon."""
    return np.asarray(1.0 / (1.0 + (words - k) / k * np.exp(-eps)))


def others(words: int, k: int | Ints, chance: Floats) -> Floats:
    """Return the probability that a set contains a given other word.

    chance: the probability that it contains the input.
    """
    return np.asarray((chance * (k - 1) + (1.0 - chance) * k) / max(words - 1, 1))


def best_size(words: int, epsilon: float) -> int:
    """Return the k that minimises the variance of estimated equal shares."""
    sizes = np.arange(1, min(max(words // 2, 1), 1024) + 1)
    chance = included(words, sizes, np.array(min(epsilon, 500.0)))
    other = others(words, sizes, chance)
    mean = sizes / words
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = mean * (1.0 - mean) / (chance - other) ** 2
    return int(np.where(np.isnan(variance), np.inf, variance).argmin()) + 1


@dataclass(frozen=True, eq=False)
class Subset(SetMechanism):
    """Subset selection with sets of params.k words."""

    # exp(epsilon) must leave room in a float64.
    largest_epsilon = 500.0

    params: Params

    @property
    def together(self) -> int:
        """Return the set size k."""
        return self.params.k or 1

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp("Ye and Barg 2018")

    def held(self, epsilon: float) -> float:
        """Return the probability that a set contains the input."""
        return float(included(self.space.size, self.together, np.array(epsilon)))

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that 52-bit uniforms may add to the loss."""
        # Relative errors of the probabilities that a set holds the input, and does not.
        chance, missed = self.held(epsilon), 1.0
        if self.together < self.space.size:
            size = self.space.size - self.together
            missed = size / (self.together * math.exp(epsilon) + size)
        integers = self.together * self.space.size * 2.0**-62
        return 2.0**-50 * (1.0 / chance + 1.0 / missed) + integers

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a set for each word and return one member: (n,), (n,) -> (n,) ids."""
        first = bits.integers(0)
        members = self._sets(ids, eps, bits, first)
        which = bits.below(first[:, 1], self.together)
        return members[np.arange(len(ids)), which].astype(np.int32)

    def sets(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a set for each word: (n,), (n,) -> (n, k) ids, ascending."""
        return self._sets(ids, eps, bits, bits.integers(0))

    def _sets(
        self, ids: Ids, eps: Eps, bits: RandomBits, first: NDArray[np.uint64]
    ) -> Ids:
        # first (n, 2): the bits of lane 0, of which the first half decides here.
        if len(eps):
            self.supports(float(eps.max()))
        size, k = self.space.size, self.together
        rows = np.maximum(ids, 0).astype(np.int64)
        holds = bits.unit(first[:, 0]) < included(size, k, eps)
        if k == size:
            return np.tile(np.arange(size, dtype=np.int32), (len(ids), 1))
        sets = np.empty((len(ids), k), np.int32)
        for part in blocks(len(ids), _ROWS):
            rest = _choose(bits.take(np.arange(part.start, part.stop)), size - 1, k)
            rest += rest >= rows[part][:, None]  # skips the input
            rest[:, -1] = np.where(holds[part], rows[part], rest[:, -1])
            sets[part] = np.sort(rest, axis=1)
        return sets


def _choose(bits: RandomBits, size: int, k: int) -> NDArray[np.int64]:
    """Choose k distinct numbers below size per row, uniformly: (n, k).

    Uses the first k steps of a Fisher-Yates shuffle.
    """
    integers = bits.integers(1, (k + 1) // 2)[:, :k]
    if k == 1:
        return bits.below(integers[:, 0], size)[:, None]
    order: Ints = np.tile(np.arange(size), (len(integers), 1))
    every = np.arange(len(integers))
    for position in range(k):
        other = position + bits.below(integers[:, position], size - position)
        swapped = order[every, other]
        order[every, other] = order[:, position]
        order[:, position] = swapped
    return order[:, :k].copy()
