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

from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.mechanisms import Aim, _laws
from dptext.mechanisms._lists import within
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon

FAMILY = "choice"
# exp(epsilon) must leave room in a float64; far above any meaning.
LARGEST_EPSILON = 500.0
# k, c and p of closed laws where they are not given.
_LISTED, _FLATTENED, _BENT = 96, 10.0, 1.5
# The risk of weights fitted where there is neither a risk nor an epsilon of a word.
_USUAL = 0.2

Step = tuple[Annotated[int, Meta(ge=1)], Annotated[float, Meta(gt=0, le=1)]]


@dataclass(frozen=True, slots=True)
class Params:
    """How weights fall over the ranks: k listed words, then the floor.

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
            _laws.check(self.steps)
        elif self.steps:
            msg = f"weights {self.weights} take no steps; give weights: steps with them"
            raise ValueError(msg)

    @property
    def listed(self) -> int:
        """Return how many words the law lists if there are so many."""
        if self.weights != "steps":
            return self.k or _LISTED
        return min(self.k or self.steps[-1][0], self.steps[-1][0])


@dataclass(frozen=True, slots=True)
class State:
    """orders (V + 1, k), the last row for unknown words; size V; outputs |O|."""

    params: Params
    orders: NDArray[Any]
    size: int
    outputs: int


def fitted(params: Params, space: Space, aim: Aim) -> Params:
    """Put a shipped table in the place of weights fitted: the first that is enough.

    For a risk, the first whose own epsilon makes guesses succeed so often; for an
    epsilon, the first of at least as much; else that of risk 20%. Of fewer outputs than
    it was made for it lists fewer, and no more than the lexicon's orders hold.
    """
    if params.weights != "fitted":
        return params
    if aim.risk is not None and aim.prior is not None:
        risk, prior = aim.risk, aim.prior

        def enough(row: _laws.Row) -> bool:
            found = _risk(_cut(params, row, space), space, row.epsilon, prior)
            # A table's epsilon, rounded down, just misses its own risk.
            return found >= risk * 0.998

        row = _laws.first(enough, risk)
    elif aim.epsilon is not None:
        epsilon = aim.epsilon
        row = _laws.first(lambda row: row.epsilon >= epsilon * 0.998)
    else:
        row = _laws.first(lambda row: row.risk >= _USUAL)
    return _cut(params, row, space)


def _cut(params: Params, row: _laws.Row, space: Space) -> Params:
    outputs = _outputs(params, space)
    table = _laws.scaled(row.steps, outputs)
    most = min(outputs, longest(space, outputs), params.k or table[-1][0])
    table = _laws.cut(table, most)
    return replace(params, weights="steps", steps=table, k=table[-1][0])


def _risk(
    params: Params, space: Space, epsilon: float, prior: NDArray[np.float64]
) -> float:
    """Return the success of the best guess of a word, as the Bayes risk has it."""
    drawn_from = cache.digest(prior)
    what = (space.lexicon.digest, space.identity, asdict(params), drawn_from, epsilon)

    def compute() -> dict[str, float]:
        best = best_guesses(prepare(params, space), prior, epsilon, [(0, len(prior))])
        return {"success": float(best.sum())}

    return float(cache.numbers(cache.key_of("fitted", 1, *what), compute)["success"])


def prepare(params: Params, space: Space) -> State:
    """Take the first words of each order that may be written.

    Raises UsageError when the lexicon stores fewer. Weights fitted are those of risk
    20% where nothing has chosen them.
    """
    params = fitted(params, space, Aim())
    outputs = _outputs(params, space)
    stored = longest(space, outputs)
    if params.listed > stored and stored < outputs:
        key = "steps" if params.weights == "steps" else "k"
        msg = (
            f"mechanism.{key}: {params.listed} is more than the {stored} the lexicon "
            "stores"
        )
        raise UsageError(msg)
    listed = min(params.listed, outputs)
    return State(params, within(space, outputs, listed), space.size, outputs)


def _outputs(params: Params, space: Space) -> int:
    outputs = params.outputs or int(space.lexicon.meta.get("outputs", space.size))
    if outputs > space.size:
        msg = (
            f"mechanism.outputs: {outputs} is more than the {space.size} words there "
            "are"
        )
        raise UsageError(msg)
    return outputs


def longest(space: Space, outputs: int) -> int:
    """Return how many words the lexicon's orders list of the outputs."""
    lexicon = space.lexicon
    # Where only the first words are listed, a word itself comes on top of them.
    inside = int(lexicon.meta.get("outputs", space.size)) < space.size
    return int(lexicon.orders.shape[1]) - inside


def guarantee(state: State, epsilon: float) -> Guarantee:
    """Return epsilon-LDP over the whole vocabulary."""
    return Guarantee(
        notion="LDP",
        metric="1",
        unit="nats",
        max_distance=1.0,
        source="dptext rank mechanism",
        # A weight is e^(epsilon s), s in [0, 1]: d ln Z / d epsilon lies there, too.
        varying_epsilon=VaryingEpsilon(word=1.0, total=2.0, drift=1.0),
    )


def check(state: State, epsilon: float) -> None:
    """Refuse an epsilon beyond 500."""
    _bounded(epsilon)


def _bounded(epsilon: float) -> None:
    if epsilon > LARGEST_EPSILON:
        msg = f"epsilon: {epsilon:g} is beyond any meaning; rank takes up to 500"
        raise UsageError(msg)


def weights(params: Params, listed: int, eps: Eps) -> NDArray[np.float64]:
    """Return w(1) ... w(listed) for each epsilon, (m, listed); w is 1 beyond.

    Raises UsageError for an epsilon beyond 500.
    """
    _bounded(float(np.max(eps, initial=0.0)))
    law: NDArray[np.float64] = np.exp(eps[:, None] * steps(params, listed)[None, :])
    return law


def steps(params: Params, listed: int) -> NDArray[np.float64]:
    """Return ln w(r) / epsilon of the listed ranks, from 1 down, (listed,)."""
    if params.weights == "steps":
        return _laws.values(params.steps, listed)
    if params.weights == "staircase":
        return np.ones(listed)
    if params.weights == "arch":
        bent = _BENT if params.p is None else params.p
        return np.asarray(1.0 - (np.arange(listed) / listed) ** bent)
    c = _FLATTENED if params.c is None else params.c
    floor = listed + 1 + c
    ranks = np.arange(1, listed + 1) + c
    return np.asarray(np.log(floor / ranks) / np.log(floor / (1 + c)))


def choose(state: State, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
    """Draw a word for each word: ids (n,), eps (n,) nats -> (n,) ids.

    w = 1 + (w - 1): with probability |O|/Z a uniform output, else a listed rank by w
    - 1. Both parts keep their relative accuracy, whatever epsilon is.
    """
    integers = bits.integers(0)
    drawn = bits.below(integers[:, 1], state.outputs).astype(np.int32)
    uniform = bits.unit(integers[:, 0])
    if (eps == eps[:1]).all():
        values, which = eps[:1], np.zeros(len(eps), np.intp)
    else:
        values, which = np.unique(eps, return_inverse=True)
    _bounded(float(values.max(initial=0.0)))
    falls = steps(state.params, state.orders.shape[1])
    cumulative = np.cumsum(np.expm1(values[:, None] * falls[None, :]), axis=1)
    target = uniform * (cumulative[:, -1] + state.outputs)[which]
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
    if len(cumulative) == 1:
        return np.searchsorted(cumulative[0], target, side="right")
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
        for position, weight in enumerate(law):
            # Only who is likely enough to beat that is worth a look.
            rows = np.flatnonzero(own * weight > top)
            words = state.orders[begin + rows, position].astype(np.int64)
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
