"""Rank mechanism: draw a rank from one fixed distribution, write the word there.

The outputs are a public set O, the most frequent words of V. Every word of V, and the
unknown word, has a public order of O, its best replacements first, and P(y|x) = w(rank
of y in the order of x) / Z with the same non-increasing w and the same Z for every x.
A word of O is first in its own order; no other word is ever written.

Guarantee: epsilon-LDP over all of V and over unknown words, exactly: Z does not depend
on x and ln w(1)/w(|O|) <= epsilon (docs/rank.md).
Source: dptext's own. Related: staircase mechanisms (Kairouz, Oh and Viswanath 2016,
arXiv:1407.1338), k-subset mechanisms (Ye and Barg 2018, arXiv:1702.00610).
Known gaps: no smoothness in meaning beyond epsilon: near words are not promised more
than far ones.
Example: dptext sanitize reviews.jsonl --mechanism rank --epsilon 8
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms
from dptext.errors import UsageError
from dptext.mechanisms import Aim, Bands, WordMechanism
from dptext.mechanisms.rank import _fitted, _inverse, _lists, _tables
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon

# exp(epsilon) must leave room in a float64; far above any meaning.
LARGEST_EPSILON = 500.0
# k, c and p of closed forms where they are not given.
_K, _C, _P = 96, 10.0, 1.5

Step = tuple[Annotated[int, Meta(ge=1)], Annotated[float, Meta(gt=0, le=1)]]


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """weights and their shape: k listed words, then the floor.

    fitted: the table that ships for the budget's risk, or else for its epsilon; steps:
    a table of [last rank, part of epsilon], as [[3, 1], [48, 0.8]]; both list at most k
    words if k is given. arch: ln w falls from epsilon to 0 over the list as
    1 - ((r - 1) / k)^p, p 1.5 if not given; power: as a power of rank, flattened by c,
    10 if not given; staircase: all listed words alike; for these k is 96 if not given.

    outputs: only the first so many words of the vocabulary are written; None: as many
    as the lexicon says, else all.
    """

    weights: Literal["fitted", "steps", "power", "staircase", "arch"] = "fitted"
    k: Annotated[int, Meta(ge=1)] | None = None
    c: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    p: Annotated[float, Meta(ge=1e-6, le=1e6)] | None = None
    steps: tuple[Step, ...] = ()
    outputs: Annotated[int, Meta(ge=1)] | None = None

    def __post_init__(self) -> None:
        """Refuse a table that does not fall, and one that nothing asks for."""
        if self.weights == "steps":
            _tables.check(self.steps)
        elif self.steps:
            raise ValueError(
                f"weights {self.weights} take no steps; give weights: steps with them"
            )

    @property
    def listed(self) -> int:
        """Return how many words are listed if there are so many."""
        if self.weights != "steps":
            return self.k or _K
        return min(self.k or self.steps[-1][0], self.steps[-1][0])

    def exponents(self, listed: int) -> NDArray[np.float64]:
        """Return ln w(r) / epsilon of the listed ranks, from 1 down: (listed,)."""
        if self.weights == "steps":
            return _tables.values(self.steps, listed)
        if self.weights == "staircase":
            return np.ones(listed)
        if self.weights == "arch":
            power = _P if self.p is None else self.p
            return np.asarray(1.0 - (np.arange(listed) / listed) ** power)
        c = _C if self.c is None else self.c
        floor = listed + 1 + c
        ranks = np.arange(1, listed + 1) + c
        return np.asarray(np.log(floor / ranks) / np.log(floor / (1 + c)))

    def prepare(self, space: Space, aim: Aim) -> Rank:
        """Take the first words of each order that may be written.

        Raises UsageError when the lexicon stores fewer.
        """
        if self.weights == "fitted":
            return _fitted.params(self, space, aim).prepare(space, aim)
        outputs = _lists.count_outputs(space, self.outputs)
        stored = _lists.longest(space, outputs)
        if self.listed > stored and stored < outputs:
            key = "steps" if self.weights == "steps" else "k"
            raise UsageError(
                f"mechanism.{key}: {self.listed} is more than the {stored} the lexicon "
                "stores"
            )
        orders = _lists.within(space, outputs, min(self.listed, outputs))
        return Rank(self, space, orders, outputs)


@dataclass(frozen=True, eq=False)
class Rank(WordMechanism):
    """orders (V + 1, k), the last row for unknown words; outputs |O|."""

    params: Params
    orders: NDArray[np.integer]
    outputs: int

    @property
    def listed(self) -> int:
        """Return k, the number of listed words."""
        return int(self.orders.shape[1])

    @cached_property
    def exponents(self) -> NDArray[np.float64]:
        """Return ln w(r) / epsilon of the listed ranks: (k,)."""
        return self.params.exponents(self.listed)

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp(
            "dptext rank mechanism",
            # A weight is e^(epsilon s), s in [0, 1]; so lies d ln Z / d epsilon.
            varying_epsilon=VaryingEpsilon(word=1.0, total=2.0, drift=1.0),
        )

    def supports(self, epsilon: float) -> None:
        """Refuse an epsilon beyond 500."""
        if epsilon > LARGEST_EPSILON:
            raise UsageError(
                f"epsilon: {epsilon:g} is beyond any meaning; rank takes up to 500"
            )

    def weights(self, eps: Eps) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return w of the listed ranks, (m, k), 1 beyond, and Z, for each epsilon (m,).

        Raises UsageError for an epsilon beyond 500.
        """
        self.supports(float(eps.max(initial=0.0)))
        weights = np.exp(eps[:, None] * self.exponents[None, :])
        return weights, weights.sum(axis=1) + (self.outputs - self.listed)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids.

        w = 1 + (w - 1): with probability |O|/Z a uniform output, else a listed rank by
        w - 1. Both parts keep their relative accuracy, whatever epsilon is.
        """
        integers = bits.integers(0)
        drawn = bits.below(integers[:, 1], self.outputs).astype(np.int32)
        uniform = bits.unit(integers[:, 0])
        if (eps == eps[:1]).all():
            values, row_of = eps[:1], np.zeros(len(eps), np.intp)
        else:
            values, row_of = np.unique(eps, return_inverse=True)
        self.supports(float(values.max(initial=0.0)))
        excess = np.expm1(values[:, None] * self.exponents[None, :])
        cumulative = np.cumsum(excess, axis=1)
        target = uniform * (cumulative[:, -1] + self.outputs)[row_of]
        ranks = _ranks(cumulative, row_of, target)
        listed = np.flatnonzero(ranks < self.listed)
        drawn[listed] = self.orders[ids[listed], ranks[listed]]
        return drawn

    def log_probs(self, ids: Ids, eps: Eps) -> NDArray[np.float64]:
        """Return ln P(y|x) of each word and output: (n, V), -inf outside O."""
        weights, totals = self.weights(eps)
        log_probs = np.full((len(ids), self.space.size), -np.inf)
        log_probs[:, : self.outputs] = -np.log(totals)[:, None]
        rows = np.arange(len(ids))[:, None]
        log_probs[rows, self.orders[ids]] = np.log(weights / totals[:, None])
        return log_probs

    def best_guesses(
        self, prior: NDArray[np.float64], epsilon: float, bands: Bands
    ) -> NDArray[np.float64]:
        """Return max of prior(x) P(y|x) over the x of each band: (bands, V), O(V k)."""
        weights, totals = self.weights(np.array([epsilon]))
        best = np.zeros((len(bands), self.space.size))
        for number, (begin, end) in enumerate(bands):
            likely = prior[begin:end]
            # Every x that does not list y gives it weight 1, and the others at least 1.
            top = float(likely.max())
            best[number, : self.outputs] = top
            for position, weight in enumerate(weights[0]):
                # Only who is likely enough to beat that is worth a look.
                rows = np.flatnonzero(likely * weight > top)
                words = self.orders[begin + rows, position].astype(np.int64)
                np.maximum.at(best[number], words, likely[rows] * weight)
        best /= totals
        return best

    def likeliest_inputs(
        self, prior: NDArray[np.float64], eps: Eps, count: int
    ) -> tuple[Ids, NDArray[np.float64]]:
        """Return for each output the inputs x of largest prior(x) P(y|x), O(V k)."""
        return _inverse.likeliest(self, prior, eps, count)

    def numerical_slack(self, epsilon: float) -> float:
        """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

        The borders between ranks are exact to k + 8 times 2^-52 (rounded sums); the
        rarest output has probability 1/Z, and a loss has two sides.
        """
        _, totals = self.weights(np.array([epsilon]))
        return float((self.listed + 8) * 2.0**-51 * totals[0])


def _ranks(
    cumulative: NDArray[np.float64],
    row_of: NDArray[np.intp],
    target: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the entries of each word's row that are at most its target: (n,).

    cumulative (m, k), a row for each epsilon; row_of (n,) the row of each word.
    """
    if len(cumulative) == 1:
        return np.searchsorted(cumulative[0], target, side="right")
    ranks = np.empty(len(row_of), np.int64)
    if len(cumulative) <= 1 + len(row_of) // 64:
        order = np.argsort(row_of, kind="stable")
        ends = np.searchsorted(row_of[order], np.arange(len(cumulative) + 1))
        for row, (begin, end) in enumerate(pairwise(ends)):
            part = order[begin:end]
            ranks[part] = np.searchsorted(cumulative[row], target[part], side="right")
        return ranks
    for begin in range(0, len(row_of), 4096):
        block = slice(begin, begin + 4096)
        ranks[block] = (cumulative[row_of[block]] <= target[block, None]).sum(axis=1)
    return ranks
