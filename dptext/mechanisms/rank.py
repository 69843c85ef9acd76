"""Rank mechanism: draw a rank from one fixed law, write the word at that rank.

Every word has a public order of the whole vocabulary, its best replacements first, and
P(y|x) = w(rank of y in the order of x) / Z with the same non-increasing w and the same
Z for every x.

Guarantee: epsilon-LDP over all of V and over unknown words, exactly: Z does not depend
on x and ln w(1)/w(V) <= epsilon.
Source: dptext's own. Related: staircase laws (Kairouz, Oh and Viswanath 2016,
arXiv:1407.1338), k-subset mechanisms (Ye and Barg 2018, arXiv:1702.00610).
Known gaps: no smoothness in meaning beyond epsilon: near words are not promised more
than far ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.randomness import Noise
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, Uneven

FAMILY = "choice"
# exp(epsilon) must leave room in a float64; far above any meaning.
_LARGEST_EPSILON = 500.0


@dataclass(frozen=True, slots=True)
class Params:
    """law and its shape: k listed words, then the floor; c flattens the power law."""

    law: Literal["power", "staircase"] = "power"
    k: Annotated[int, Meta(ge=1)] = 96
    c: Annotated[float, Meta(ge=0)] = 10.0


@dataclass(frozen=True, slots=True)
class State:
    """orders (V + 1, k), the last row for unknown words; size V."""

    params: Params
    orders: NDArray[Any]
    size: int


def prepare(params: Params, space: Space) -> State:
    """Take the first k entries of the lexicon's orders.

    Raises UsageError when the lexicon stores fewer.
    """
    orders = space.lexicon.orders
    stored = orders.shape[1]
    if params.k > stored and stored < space.size:
        msg = f"mechanism.k: {params.k} is more than the {stored} the lexicon stores"
        raise UsageError(msg)
    return State(params, orders[:, : min(params.k, stored)], space.size)


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
    if params.law == "staircase":
        return np.exp(np.repeat(eps[:, None], listed, axis=1))
    ranks = np.arange(1, listed + 1) + params.c
    floor = listed + 1 + params.c
    steps = np.log(floor / ranks) / np.log(floor / (1 + params.c))
    law: NDArray[np.float64] = np.exp(eps[:, None] * steps[None, :])
    return law


def choose(state: State, ids: Ids, eps: Eps, noise: Noise) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids.

    w = 1 + (w - 1): with probability V/Z a uniform word, else a listed rank by w - 1.
    Both parts keep their relative accuracy, whatever epsilon is.
    """
    bits = noise.bits(0)
    drawn = noise.below(bits[:, 1], state.size).astype(np.int32)
    uniform = noise.unit(bits[:, 0])
    values, which = np.unique(eps, return_inverse=True)
    cumulative = np.cumsum(
        weights(state.params, state.orders.shape[1], values) - 1.0, axis=1
    )
    target = uniform * (cumulative[which, -1] + state.size)
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
    """Return ln w(rank of y) for each word and output: (n, V) float64."""
    law = np.log(weights(state.params, state.orders.shape[1], eps))
    out = np.zeros((len(ids), state.size))
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
    best = np.empty((len(bands), state.size))
    for number, (begin, end) in enumerate(bands):
        # Every x that does not list y gives it weight 1, and the others at least 1.
        best[number] = prior[begin:end].max()
        for place, weight in enumerate(law):
            words = state.orders[begin:end, place].astype(np.int64)
            np.maximum.at(best[number], words, prior[begin:end] * weight)
    best /= law.sum() + (state.size - listed)
    return best


def resolution(state: State, epsilon: float) -> float:
    """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

    The borders between ranks are exact to listed + 8 times 2^-52 (rounded sums); the
    rarest output has probability 1/Z, and a loss has two sides.
    """
    listed = state.orders.shape[1]
    law = weights(state.params, listed, np.array([epsilon]))[0]
    return float((listed + 8) * 2.0**-51 * (law.sum() + (state.size - listed)))
