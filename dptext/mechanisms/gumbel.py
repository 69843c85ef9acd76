"""Truncated Gumbel, as published: no guarantee, for comparison only.

A number k of candidates is drawn, Poisson with mean ln V restricted to 1 ... V; the k
words nearest to x, x first, compete by distance plus truncated Gumbel noise of scale
b = 2 Delta_max / min(W0(2 alpha Delta_max), ln(alpha Delta_min)), with alpha = (eps -
2 (1 + ln V) / Delta_min) / 3 and Delta the distances of all pairs of V.

Guarantee: none. The published theorem (metric DP) is false: x is a candidate for
itself always and for a far word almost never, whatever the noise, so that the loss of
some pair is at least ln V! - (V - 1) ln ln V nats at every epsilon.
Instead: tem, made for the same purpose: few, near candidates. Its law gives every word
a chance that follows from epsilon, and epsilon * min(d, gamma) holds for every pair.
Source: Xu, Aggarwal, Feyisetan and Teissier, "Density-Aware Differentially Private
Textual Perturbations Using Truncated Gumbel Noise", FLAIRS 2021, algorithm 1.
Known gaps: as above. b exists only for epsilon above (5 + 2 ln V) / Delta_min;
low_epsilon: true does below it what published code does, the real part of W0 alone,
where a smaller epsilon may mean less noise.
Example: dptext sanitize reviews.jsonl --mechanism gumbel --epsilon 250
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.mechanisms import _by_distance, _neighbours, _truncated_gumbel
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids

FAMILY = "choice"
# More candidates have a chance below 1e-18 in any vocabulary of up to a million words.
_MOST = 64
_ENUMERATED = 200


@dataclass(frozen=True, slots=True)
class Params:
    """low_epsilon lets an epsilon below the threshold through."""

    low_epsilon: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """The nearest words, the law of k, and the distances Delta_min and Delta_max."""

    params: Params
    space: Space
    lists: _by_distance.Lists
    cumulative: NDArray[np.float64]
    closest: float
    widest: float


def prepare(params: Params, space: Space) -> State:
    """Measure all pairs of V; UsageError where the mechanism is not defined."""
    closest = _neighbours.closest_pair(space)
    if space.size < 2 or closest == 0.0:
        msg = (
            "mechanism gumbel: needs two words and no two with the same vector (the "
            "smallest distance divides its parameters); use tem instead"
        )
        raise UsageError(msg)
    listed = _neighbours.nearest_words(space, _MOST)
    lists = _by_distance.Lists.of(space.vectors, listed, np.zeros(len(listed)))
    shares = _truncated_gumbel.poisson(space.size, listed.shape[1])
    widest = float(_neighbours.farthest(space)[: space.size].max())
    return State(params, space, lists, np.cumsum(shares), closest, widest)


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return none, with a lower bound on the loss."""
    return Guarantee.nothing(
        (
            "the published theorem is false, because a word is always a candidate for "
            "itself and almost never for a far word, whatever the noise: some pair of "
            "words of this vocabulary loses at least "
            f"{math.floor(least_loss(state)):,} nats at every epsilon. Use tem instead."
        ),
        source="Xu et al. 2021, FLAIRS, algorithm 1",
        unit="1/distance",
    )


def least_loss(state: State) -> float:
    """Return a proven lower bound on the loss of some pair, at every epsilon, in nats.

    The farthest pair: ln P(k = 1) - ln P(k = V) = ln V! - (V - 1) ln ln V.
    """
    size = state.space.size
    return math.lgamma(size + 1.0) - (size - 1.0) * math.log(math.log(size))


def least_pair(state: State) -> tuple[int, int]:
    """Return two words x, x' whose loss, by the output x, least_loss bounds."""
    size = state.space.size
    word = int(_neighbours.farthest(state.space)[:size].argmax())
    apart = _by_distance.distances(state.space, np.array([word]), 0, size)[0]
    # x is the last candidate of x', the last of those as far.
    return size - 1 - int(apart[::-1].argmax()), word


def published(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what the paper claims of pairs of words, epsilon d: (n,) nats.

    inf for the unknown word, of which it says nothing.
    """
    bound = epsilon * _by_distance.of_pairs(state.space, a, b)
    return np.where((a < 0) | (b < 0), np.inf, bound)


def least_epsilon(state: State) -> float:
    """Return the epsilon above which b is defined, (5 + 2 ln V) / Delta_min."""
    return (5.0 + 2.0 * math.log(state.space.size)) / state.closest


def check(state: State, epsilon: float) -> None:
    """Raise UsageError for an epsilon at which the mechanism is not defined."""
    _scales(state, np.array([epsilon]))


def _scales(state: State, eps: Eps) -> NDArray[np.float64]:
    """Return b for each epsilon, (n,)."""
    values, which = np.unique(eps, return_inverse=True)
    least = least_epsilon(state)
    low = values[0] if len(values) else math.inf
    if low <= least and not state.params.low_epsilon:
        named = (math.floor(least * 1000.0) + 1.0) / 1000.0
        msg = (
            f"epsilon: {low:g} is too small for gumbel on this vocabulary, whose scale "
            "is defined above (5 + 2 ln V) / (smallest distance); give at least "
            f"{named:.3f}, use tem instead, or set mechanism.low_epsilon: true for "
            "what published code does below it"
        )
        raise UsageError(msg)
    scales = _truncated_gumbel.scale(
        values, state.space.size, state.closest, state.widest
    )
    if np.isnan(scales).any():
        msg = (
            f"epsilon: {values[np.isnan(scales)][0]:g} gives gumbel no positive scale, "
            "not even in the published code; give another epsilon, or use tem instead"
        )
        raise UsageError(msg)
    b: NDArray[np.float64] = scales[which]
    return b


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) 1/distance -> (n,) ids."""
    rows = ids.astype(np.int64) % (state.space.size + 1)
    b = _scales(state, eps)
    most = len(state.cumulative)
    uniform = bits.uniform(0)[:, 0]
    counts = 1 + np.searchsorted(state.cumulative, uniform, side="right")
    np.minimum(counts, most, out=counts)
    drawn = np.empty(len(ids), np.int32)
    for count in np.unique(counts).tolist():
        positions = np.flatnonzero(counts == count)
        own = bits.take(positions).uniform(1, (count + 1) // 2)[:, :count]
        values = _truncated_gumbel.draw(own, b[positions, None], state.widest)
        values += state.lists.rows(rows[positions])[:, :count]
        drawn[positions] = state.lists.listed[rows[positions], values.argmin(axis=1)]
    return drawn


def has_law(state: State) -> bool:
    """Tell whether the law is enumerated: for at most 200 words."""
    return state.space.size <= _ENUMERATED


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return ln P(y|x) by quadrature: (n, V) float64.

    Raises UsageError for more than 200 words.
    """
    size = state.space.size
    if not has_law(state):
        msg = (
            f"the law of gumbel is enumerated for at most {_ENUMERATED} words, and "
            f"this vocabulary has {size}; it can only be sampled"
        )
        raise UsageError(msg)
    shares = _truncated_gumbel.poisson(size, size)
    vectors = state.space.vectors.astype(np.float64)
    out = np.empty((len(ids), size))
    for number, (word, b) in enumerate(zip(ids, _scales(state, eps), strict=True)):
        apart = np.linalg.norm(vectors[:size] - vectors[word], axis=1)
        keys = apart.copy()
        if word >= 0:
            keys[word] = -1.0
        order = np.argsort(keys, kind="stable")
        out[number, order] = _truncated_gumbel.log_law(
            apart[order], float(b), state.widest, shares
        )
    return out
