"""Rank mechanism: draw a rank from one fixed law, write the word at that rank.

The outputs are a public set O, the most frequent words of V. Every word of V, and the
unknown word, has a public order of O, its best replacements first, and P(y|x) = w(rank
of y in the order of x) / Z with the same non-increasing w and the same Z for every x.
A word of O is first in its own order; no other word is ever written.

Guarantee: epsilon-LDP over all of V and over unknown words, exactly: Z does not depend
on x and ln w(1)/w(|O|) <= epsilon (docs/rank.md).
Source: dptext's own. Related: staircase laws (Kairouz, Oh and Viswanath 2016,
arXiv:1407.1338), k-subset mechanisms (Ye and Barg 2018, arXiv:1702.00610).
Known gaps: no smoothness in meaning beyond epsilon: near words are not promised more
than far ones.
Example: dptext sanitize reviews.jsonl --mechanism rank --epsilon 8
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.mechanisms._lists import within
from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Uneven

FAMILY = "choice"
# exp(epsilon) must leave room in a float64; far above any meaning.
_LARGEST_EPSILON = 500.0


@dataclass(frozen=True, slots=True)
class Params:
    """law and its shape: k listed words, then the floor.

    arch: ln w falls from epsilon to 0 over the list as 1 - ((r - 1) / k)^p, a straight
    line for p = 1, slowly at first for more; power: as a power of rank, c flattens it;
    staircase: all listed words alike. outputs: only the first so many words of the
    vocabulary are written; None: as many as the lexicon says, else all.
    """

    law: Literal["power", "staircase", "arch"] = "power"
    k: Annotated[int, Meta(ge=1)] = 96
    c: Annotated[float, Meta(ge=0)] = 10.0
    p: Annotated[float, Meta(gt=0)] = 1.5
    outputs: Annotated[int, Meta(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class State:
    """orders (V + 1, k), the last row for unknown words; size V; outputs |O|."""

    params: Params
    orders: NDArray[Any]
    size: int
    outputs: int


def prepare(params: Params, space: Space) -> State:
    """Take the first k words of each order that may be written.

    Raises UsageError when the lexicon stores fewer.
    """
    lexicon, size = space.lexicon, space.size
    outputs = params.outputs or int(lexicon.meta.get("outputs", size))
    if outputs > size:
        msg = f"mechanism.outputs: {outputs} is more than the {size} words there are"
        raise UsageError(msg)
    stored = lexicon.orders.shape[1]
    # Where only the first words are listed, a word itself comes on top of them.
    stored -= int(lexicon.meta.get("outputs", size)) < size
    if params.k > stored and stored < outputs:
        msg = f"mechanism.k: {params.k} is more than the {stored} the lexicon stores"
        raise UsageError(msg)
    listed = min(params.k, outputs)
    return State(params, within(space, outputs, listed), size, outputs)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return epsilon-LDP over the whole vocabulary."""
    return Guarantee(
        notion="LDP",
        metric="1",
        unit="nats",
        reach=1.0,
        source="dptext rank mechanism",
        # A weight is e^(epsilon s), s in [0, 1]: d ln Z / d epsilon lies there, too.
        uneven=Uneven(word=1.0, total=2.0, drift=1.0),
    )


def weights(params: Params, listed: int, eps: Eps) -> NDArray[np.float64]:
    """Return w(1) ... w(listed) for each epsilon, (m, listed); w is 1 beyond.

    Raises UsageError for an epsilon beyond 500.
    """
    if np.max(eps, initial=0.0) > _LARGEST_EPSILON:
        msg = f"epsilon: {np.max(eps):g} is beyond any meaning; rank takes up to 500"
        raise UsageError(msg)
    law: NDArray[np.float64] = np.exp(eps[:, None] * steps(params, listed)[None, :])
    return law


def steps(params: Params, listed: int) -> NDArray[np.float64]:
    """Return ln w(r) / epsilon of the listed ranks, from 1 down, (listed,)."""
    if params.law == "staircase":
        return np.ones(listed)
    if params.law == "arch":
        return np.asarray(1.0 - (np.arange(listed) / listed) ** params.p)
    ranks = np.arange(1, listed + 1) + params.c
    floor = listed + 1 + params.c
    return np.asarray(np.log(floor / ranks) / np.log(floor / (1 + params.c)))


def choose(state: State, ids: Ids, eps: Eps, noise: Noise) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids.

    w = 1 + (w - 1): with probability |O|/Z a uniform output, else a listed rank by w
    - 1. Both parts keep their relative accuracy, whatever epsilon is.
    """
    bits = noise.bits(0)
    drawn = noise.below(bits[:, 1], state.outputs).astype(np.int32)
    uniform = noise.unit(bits[:, 0])
    values, which = np.unique(eps, return_inverse=True)
    cumulative = np.cumsum(
        weights(state.params, state.orders.shape[1], values) - 1.0, axis=1
    )
    target = uniform * (cumulative[which, -1] + state.outputs)
    ranks = _ranks(cumulative, which, target)
    listed = np.flatnonzero(ranks < state.orders.shape[1])
    drawn[listed] = state.orders[ids[listed], ranks[listed]]
    return drawn


def _ranks(
    cumulative: NDArray[np.float64],
    which: NDArray[np.intp],
    target: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the entries of each word's row that are at most its target: (n,)."""
    if len(cumulative) <= 1 + len(which) // 64:
        ranks = np.empty(len(which), np.int64)
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(cumulative) + 1))
        for row, (begin, end) in enumerate(pairwise(ends)):
            part = order[begin:end]
            ranks[part] = np.searchsorted(cumulative[row], target[part], side="right")
        return ranks
    ranks = np.zeros(len(which), np.int64)
    for begin in range(0, len(which), 4096):
        some = slice(begin, begin + 4096)
        ranks[some] = (cumulative[which[some]] <= target[some, None]).sum(axis=1)
    return ranks


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return ln w(rank of y) for each word and output: (n, V), -inf outside O."""
    law = np.log(weights(state.params, state.orders.shape[1], eps))
    out = np.full((len(ids), state.size), -np.inf)
    out[:, : state.outputs] = 0.0
    rows = np.arange(len(ids))[:, None]
    out[rows, state.orders[ids].astype(np.int64)] = law
    return out


def best_guesses(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V), in O(V k)."""
    listed = state.orders.shape[1]
    law = weights(state.params, listed, np.array([epsilon]))[0]
    best = np.zeros((len(bands), state.size))
    for number, (begin, end) in enumerate(bands):
        own = prior[begin:end]
        # Every x that does not list y gives it weight 1, and the others at least 1.
        top = float(own.max())
        best[number, : state.outputs] = top
        for place, weight in enumerate(law):
            # Only who is likely enough to beat that is worth a look.
            rows = np.flatnonzero(own * weight > top)
            words = state.orders[begin + rows, place].astype(np.int64)
            np.maximum.at(best[number], words, own[rows] * weight)
    best /= law.sum() + (state.outputs - listed)
    return best


def resolution(state: State, epsilon: float) -> float:
    """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

    The borders between ranks are exact to listed + 8 times 2^-52 (rounded sums); the
    rarest output has probability 1/Z, and a loss has two sides.
    """
    listed = state.orders.shape[1]
    law = weights(state.params, listed, np.array([epsilon]))[0]
    return float((listed + 8) * 2.0**-51 * (law.sum() + (state.outputs - listed)))
