"""CusText: the exponential mechanism inside a set of output words.

P(y|x) ~ exp(eps u(x, y) / 2) for y in the output set of x, where u = 1 - (d - min) /
(max - min) falls from 1 at the nearest word of the set to 0 at the farthest (u = 1
where all are equally far).

Guarantee: with mapping one_set, where the output set of every word is all of V,
epsilon-LDP over V and over unknown words: u lies in [0, 1] whatever x is. With the
published mappings (aggressive, balanced, conservative) none over V: a word outside a
set is never written for a word inside it. What holds there is epsilon-LDP among the
words of one published class; which class a word is in is disclosed.
Instead: mapping one_set, the same law over one output set, all of V; or rank.
Source: Chen et al., Findings of ACL 2023, algorithms 1 and 2, arXiv:2207.01193.
Known gaps: the published mappings as above; keeping stop words or unknown words, as the
published code does, is a setting of the tokens; numbers are words here, not a number
plus noise.
Example: dptext sanitize reviews.jsonl --mechanism custext --epsilon 12
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext.mechanisms import (
    _by_distance,
    _neighbours,
    _output_sets,
    _rough,
    _tiles,
)
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon

FAMILY = "choice"
_CHUNK = 8192


@dataclass(frozen=True, slots=True)
class Params:
    """mapping from a word to its output set, of k words where it is not all of V.

    distance is what u is made of: Euclidean, or 1 - cosine.
    """

    k: Annotated[int, Meta(ge=1, le=1024)] = 20
    mapping: Literal["one_set", "aggressive", "balanced", "conservative"] = "one_set"
    distance: Literal["euclidean", "cosine"] = "euclidean"


@dataclass(frozen=True, slots=True)
class OneSet:
    """All of V as the output set of every row.

    spread (V + 1,) max - min of each row, in squared distances where squared.
    """

    near: _by_distance.Near
    spread: NDArray[np.float64]
    squared: bool

    def score(
        self, distances: NDArray[np.float64], eps: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return -d / 2; the row's spread divides epsilon instead."""
        return distances**2 * -0.5 if self.squared else distances * -0.5

    def scaled(self, ids: Ids, eps: Eps) -> Eps:
        """Return epsilon over the spread of each row; 0 where it has none."""
        spread = self.spread[ids]
        flat = spread == 0.0
        return np.where(flat, 0.0, eps / np.where(flat, 1.0, spread))


State = OneSet | _output_sets.Sets


def prepare(params: Params, space: Space) -> State:
    """Build the output sets, or take the spread of the distances over V."""
    squared = params.distance == "cosine"
    if squared:
        space = _directions(space)
    if params.mapping != "one_set":
        return _output_sets.build(space, params.mapping, params.k, squared)
    spread = _neighbours.farthest(space).copy()
    low = _neighbours.nearest_of_all(space, space.size)[1]
    spread = spread**2 if squared else spread
    # A word is itself in V: only the row of unknown words has no word at distance 0.
    spread[-1] -= low**2 if squared else low
    return OneSet(_by_distance.Near.of(space), spread, squared)


def _directions(space: Space) -> Space:
    """Scale vectors to length 1: half the squared distance is then 1 - cosine."""
    wide = space.vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    return replace(
        space,
        name=f"directions of {space.name}",
        metric=f"angle in the {space.metric}",
        vectors=(wide / lengths).astype(np.float32),
    )


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return epsilon-LDP for one set, none for the published mappings."""
    source = "Chen et al. 2023, algorithms 1 and 2"
    if isinstance(state, OneSet):
        return Guarantee.ldp(
            source,
            varying_epsilon=VaryingEpsilon(word=1.0, total=1.0, drift=0.5),
        )
    alone = int(state.alone().sum())
    return Guarantee.nothing(
        (
            "epsilon-LDP holds only inside the published classes (words with the same "
            "output set), and the class of each word is disclosed, because words of "
            f"other sets are never written; {alone} of {len(state.classes) - 1} words "
            "are alone in their class and have no protection. Use mapping one_set "
            "instead."
        ),
        source=source,
    )


def published(
    state: State, epsilon: float, a: NDArray[Any], b: NDArray[Any]
) -> NDArray[np.float64]:
    """Return what the paper claims of any two words, epsilon: (n,) nats.

    inf for the unknown word, of which it says nothing.
    """
    return np.where((a < 0) | (b < 0), np.inf, epsilon)


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids."""
    if isinstance(state, OneSet):
        scaled = state.scaled(ids, eps)
        return _by_distance.choose(state.near, ids, scaled, state.score, bits)
    rows = ids.astype(np.int64) % len(state.classes)
    uniform = bits.uniform(0)[:, 0]
    drawn = np.empty(len(ids), np.int32)
    for begin in range(0, len(ids), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        weights = np.exp(_exponents(state, rows[part], eps[part]))
        cumulative = np.cumsum(weights, axis=1)
        # A product that is rounded up to the whole sum would be beyond the set.
        last = np.nextafter(cumulative[:, -1], 0.0)
        target = np.minimum(uniform[part] * cumulative[:, -1], last)
        positions = (cumulative <= target[:, None]).sum(axis=1)
        drawn[part] = state.sets[state.classes[rows[part]], positions]
    return drawn


def _exponents(
    sets: _output_sets.Sets, rows: NDArray[np.int64], eps: Eps
) -> NDArray[np.float64]:
    """Return eps (u - 1) / 2 of each row's own set: (n, k), at most 0."""
    exponents: NDArray[np.float64] = eps[:, None] * (sets.rows(rows) - 1.0) / 2.0
    return exponents


def log_weights(state: State, ids: Ids, eps: Eps) -> NDArray[np.float64]:
    """Return eps u(x, y) / 2 up to a constant per row, -inf outside the set: (n, V)."""
    if isinstance(state, OneSet):
        scaled = state.scaled(ids, eps)
        return _by_distance.log_weights(state.near.space, ids, scaled, state.score)
    rows = ids.astype(np.int64) % len(state.classes)
    out = np.full((len(ids), len(state.classes) - 1), -np.inf)
    members = state.sets[state.classes[rows]]
    exponents = _exponents(state, rows, eps)
    inside = np.nonzero(members >= 0)
    out[inside[0], members[inside]] = exponents[inside]
    return out


def best_guesses(
    state: State,
    prior: NDArray[np.float64],
    epsilon: float,
    bands: list[tuple[int, int]],
) -> NDArray[np.float64]:
    """Return max of prior(x) P(y|x) over the x of each band: (bands, V)."""
    if isinstance(state, OneSet):
        return _tiles.best(_law(state, epsilon), prior, bands)
    best = np.zeros((len(bands), len(prior)))
    for number, (begin, end) in enumerate(bands):
        for start in range(begin, end, _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, end))
            weights = np.exp(_exponents(state, rows, np.full(len(rows), epsilon)))
            weights *= (prior[rows] / weights.sum(axis=1))[:, None]
            members = state.sets[state.classes[rows]]
            inside = members >= 0
            np.maximum.at(best[number], members[inside], weights[inside])
    return best


def _law(state: OneSet, epsilon: float) -> _tiles.Law:
    ids = np.arange(state.near.space.size, dtype=np.int32)
    rate = state.scaled(ids, np.full(len(ids), epsilon)) / 2.0
    return _tiles.Law(state.near, rate, squared=state.squared)


def risk_estimate(
    state: State, prior: NDArray[np.float64]
) -> _rough.RiskEstimate | None:
    """Return an estimate of the Bayes risk at any epsilon; None where that is quick."""
    if not isinstance(state, OneSet):
        return None
    return _rough.RiskEstimate(lambda epsilon: _law(state, epsilon), prior)


def numerical_slack(state: State, epsilon: float) -> float:
    """Return the nats that finite uniforms may add to the loss (inside a class)."""
    if isinstance(state, OneSet):
        return _by_distance.numerical_slack(state.near, epsilon)
    size = state.sets.shape[1]
    return float(2.0**-50 * size * np.exp(min(epsilon, 600.0) / 2.0))
