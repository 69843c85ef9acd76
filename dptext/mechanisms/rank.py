"""Rank mechanism: draw a rank from one fixed distribution, write the word there.

The outputs are a public set O, the most frequent words of V. Every word of V, and the
unknown word, has a public order of O, its best replacements first, and P(y|x) = w(rank
of y in the order of x) / Z with the same non-increasing w and the same Z for every x.
No word outside O is ever written. A word of O is first in its own order, except for
names of persons, which share one order and so are one input.

Weights are tables of (last rank, ln w / epsilon) pairs: up to this rank, from the one
before on. The first value is 1; beyond the last rank stands the floor, 0. The file
dptext/data/rank_weights.json holds one for each of a grid of risks, for all words and
for all but stop words (docs/results/rank.md); "fitted" takes the one that serves a
lexicon and an aim.

Guarantee: epsilon-LDP over all of V and over unknown words, exactly: Z does not depend
on x and ln w(1)/w(|O|) <= epsilon (docs/results/rank.md).
Source: dptext's own. Related: staircase mechanisms (Kairouz, Oh and Viswanath 2016,
arXiv:1407.1338), k-subset mechanisms (Ye and Barg 2018, arXiv:1702.00610).
Known gaps: no smoothness in meaning beyond epsilon: near words are not promised more
than far ones.
Example: dptext sanitize reviews.jsonl --field text --mechanism rank --epsilon 8
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta, convert
from numpy.typing import NDArray

from dptext import cache, mechanisms
from dptext.arrays import Likeliest, count_at_most
from dptext.errors import UsageError
from dptext.lexicons.orders import build_orders
from dptext.mechanisms import Aim, Bands, WordMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, VaryingEpsilon, blocks

# Outputs of the built-in lexicon, for which the shipped tables are made.
OUTPUTS = 8000
# The risk of the table for a profile with neither a risk nor an epsilon of a word.
_USUAL = 0.2
# The epsilon of a table is rounded down, and so just misses the risk it is made for.
_NEARLY = 0.998
# k, c and p of closed forms if they are not set.
_K, _C, _P = 96, 10.0, 1.5
# Pairs that are looked up together, to limit memory.
_PAIRS = 2**16
Table = tuple[tuple[int, float], ...]
Step = tuple[Annotated[int, Meta(ge=1)], Annotated[float, Meta(gt=0, le=1)]]


def count_outputs(space: Space, wanted: int | None) -> int:
    """Return the number of outputs: as set, else by lexicon, else all words.

    Raises UsageError if there are fewer words.
    """
    outputs = wanted or int(space.lexicon.meta.get("outputs", space.size))
    if outputs > space.size:
        raise UsageError(
            f"mechanism.outputs: {outputs} is more than the {space.size} words in the "
            "lexicon"
        )
    return outputs


def count_listed(space: Space) -> int:
    """Return how many outputs per word the lexicon's orders list."""
    lexicon = space.lexicon
    # If only the first words are outputs, each other word stands before its list.
    inside = int(lexicon.meta.get("outputs", space.size)) < space.size
    return int(lexicon.orders.shape[1]) - inside


def list_outputs(space: Space, outputs: int, listed: int) -> NDArray[np.integer]:
    """Return the first outputs of each lexicon order: (V + 1, listed).

    If an order has too few, the nearest other outputs follow. listed <=
    outputs.
    """
    lexicon = space.lexicon
    stored = lexicon.orders
    if outputs == len(lexicon.words):
        return stored[:, :listed]
    if outputs == lexicon.meta.get("outputs"):
        # A word that is not an output stands before its list: skip it.
        lists = np.array(stored[:, :listed])
        lists[outputs:-1] = stored[outputs:-1, 1 : listed + 1]
        return lists
    writable = stored < outputs
    front = np.argsort(~writable, axis=1, kind="stable")[:, :listed]
    lists = np.take_along_axis(np.asarray(stored), front, axis=1)
    if (writable.sum(axis=1) >= listed).all():
        return lists
    # Fill up with the nearest outputs.
    near = build_orders(space.vectors, listed, outputs=outputs)[0]
    for row in np.flatnonzero((lists >= outputs).any(axis=1)):
        kept = lists[row][lists[row] < outputs]
        others = near[row][~np.isin(near[row], kept)]
        lists[row] = np.concatenate((kept, others))[:listed]
    return lists


def check(table: Table) -> None:
    """Raise ValueError unless values fall from 1 as ranks rise."""
    ranks, parts = [last for last, _ in table], [value for _, value in table]
    rise = all(one < other for one, other in pairwise([0, *ranks]))
    fall = all(one >= other > 0.0 for one, other in pairwise([1.0, *parts]))
    if not (table and rise and fall and parts[0] == 1.0):
        raise ValueError(
            "weights: steps needs a table of [last rank, part of epsilon] pairs, with "
            "ranks ascending from 1 and parts descending from 1 to above 0"
        )


def values(table: Table, listed: int) -> Floats:
    """Return the table values of the first ranks: (listed,)."""
    ends, steps = zip(*table, strict=True)
    return np.repeat(np.array(steps, np.float64), np.diff((0, *ends)))[:listed]


def scaled(table: Table, outputs: int, most: int) -> Table:
    """Rescale a table to fewer outputs, up to a maximum rank.

    Ranks shrink in proportion, so that a small lexicon does not consist only of top
    ranks; steps that shrink to nothing are dropped.
    """
    part = min(1.0, outputs / OUTPUTS)
    kept: list[tuple[int, float]] = []
    for last, value in table:
        shrunk = min(math.ceil(last * part), most)
        if not kept or shrunk > kept[-1][0]:
            kept.append((shrunk, value))
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A shipped table of weights."""

    #: The risk that it was made for.
    risk: float
    #: The epsilon that gives this risk with the built-in words.
    epsilon: float
    #: The expected cosine of a word and its replacement.
    closeness: float
    steps: Table


@lru_cache(maxsize=1)
def shipped() -> tuple[tuple[FittedTable, ...], ...]:
    """Return the shipped tables: for each prior, rows sorted by risk."""
    path = Path(__file__).parents[1] / "data" / "rank_weights.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    kind = tuple[FittedTable, ...]
    return tuple(convert(each["weights"], kind) for each in tables)


def fit(settings: Params, space: Space, aim: Aim) -> Params:
    """Replace "fitted" weights by the first shipped table that meets the aim.

    For a risk, this is the first table whose guesses succeed that often at its epsilon;
    for an epsilon, the first with at least that epsilon; else the table of risk 20%. It
    is shortened for fewer outputs, and to the length of the lexicon's orders.
    """
    if aim.risk is not None and aim.prior is not None:
        risk, prior = aim.risk, aim.prior

        def enough(row: FittedTable) -> bool:
            shortened = _shorten(settings, row, space)
            return _success(shortened, space, row, prior) >= risk * _NEARLY

        # The first row of each prior that is enough; of these the one of nearest risk.
        rows = [_first(rows, enough) for rows in shipped()]
        row = min(rows, key=lambda row: abs(row.risk - risk))
    elif aim.epsilon is not None:
        least = aim.epsilon * _NEARLY
        row = _first(shipped()[0], lambda row: row.epsilon >= least)
    else:
        row = _first(shipped()[0], lambda row: row.risk >= _USUAL)
    return _shorten(settings, row, space)


def _first(
    rows: tuple[FittedTable, ...], enough: Callable[[FittedTable], bool]
) -> FittedTable:
    """Return the first sufficient row by bisection, else the last.

    All rows after a sufficient one must be sufficient.
    """
    return rows[bisect_left(rows[:-1], True, key=enough)]


def _shorten(settings: Params, row: FittedTable, space: Space) -> Params:
    outputs = count_outputs(space, settings.outputs)
    most = min(outputs, count_listed(space), settings.k or outputs)
    table = scaled(row.steps, outputs, most)
    return replace(settings, weights="steps", steps=table, k=table[-1][0])


def _success(settings: Params, space: Space, row: FittedTable, prior: Floats) -> float:
    """Return the Bayes risk at the epsilon of a table, cached."""
    digest = cache.digest(prior)
    parts = (
        space.lexicon.digest,
        space.identity,
        asdict(settings),
        digest,
        row.epsilon,
    )

    def compute() -> dict[str, float]:
        mechanism = settings.prepare(space, Aim())
        best = mechanism.best_guesses(prior, row.epsilon, [(0, len(prior))])
        return {"success": float(best.sum())}

    return float(cache.numbers(cache.key_of("fitted", 1, *parts), compute)["success"])


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of the rank mechanism: weights of listed words, then a floor."""

    #: fitted: the shipped table for the risk or else the epsilon of the budget; steps:
    #: the table below. ln w falls from epsilon to 0 over the list, with arch as
    #: 1 - ((r - 1) / k)^p, with power as a power of rank that c flattens; staircase:
    #: all listed words have the same weight.
    weights: Literal["fitted", "steps", "power", "staircase", "arch"] = "fitted"
    #: WordList words, at most so many for fitted and steps; None: 96 for the others.
    k: Annotated[int, Meta(ge=1)] | None = None
    #: None: 10.
    c: Annotated[float, Meta(ge=0, le=1e6)] | None = None
    #: None: 1.5.
    p: Annotated[float, Meta(ge=1e-6, le=1e6)] | None = None
    #: Pairs of last rank and part of epsilon, as [[3, 1], [48, 0.8]].
    steps: tuple[Step, ...] = ()
    #: Only this many first words of the vocabulary are written; None: as many as the
    #: lexicon says, else all.
    outputs: Annotated[int, Meta(ge=1)] | None = None

    def __post_init__(self) -> None:
        """Reject a table that does not decrease, or that the weights do not use."""
        if self.weights == "steps":
            check(self.steps)
        elif self.steps:
            raise ValueError(
                f"weights {self.weights} take no steps; give weights: steps with them"
            )

    @property
    def listed(self) -> int:
        """Return the number of words to list; small vocabularies may have fewer."""
        if self.weights != "steps":
            return self.k or _K
        return min(self.k or self.steps[-1][0], self.steps[-1][0])

    def exponents(self, listed: int) -> Floats:
        """Return ln w(r) / epsilon for the listed ranks, from 1 down: (listed,)."""
        if self.weights == "steps":
            return values(self.steps, listed)
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
        """Read the first outputs of each order.

        Raises UsageError if the lexicon stores fewer.
        """
        if self.weights == "fitted":
            return fit(self, space, aim).prepare(space, aim)
        outputs = count_outputs(space, self.outputs)
        stored = count_listed(space)
        if self.listed > stored and stored < outputs:
            key = "steps" if self.weights == "steps" else "k"
            raise UsageError(
                f"mechanism.{key}: {self.listed} is more than the {stored} the lexicon "
                "stores"
            )
        orders = list_outputs(space, outputs, min(self.listed, outputs))
        return Rank(self, space, orders, outputs)


@dataclass(frozen=True, eq=False)
class Rank(WordMechanism):
    """The rank mechanism with its orders of outputs."""

    # exp(epsilon) must leave room in a float64.
    largest_epsilon = 500.0

    params: Params
    #: The first words of each order: (V + 1, k), the last row for unknown words.
    orders: NDArray[np.integer]
    #: |O|, the number of outputs.
    outputs: int

    @property
    def listed(self) -> int:
        """Return k, the number of listed words."""
        return int(self.orders.shape[1])

    @cached_property
    def exponents(self) -> Floats:
        """Return ln w(r) / epsilon for the listed ranks: (k,)."""
        return self.params.exponents(self.listed)

    @property
    def settings_before_aim(self) -> Mapping[str, object]:
        """Return "fitted" as the weights if the aim chose a shipped table."""
        fitted = Params(outputs=self.params.outputs)
        rows = chain.from_iterable(shipped())
        if any(_shorten(fitted, row, self.space) == self.params for row in rows):
            return {"weights": fitted.weights, "k": fitted.k, "steps": [*fitted.steps]}
        return {}

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp(
            "dptext rank mechanism",
            # A weight is e^(epsilon s), s in [0, 1]; d ln Z / d epsilon is there, too.
            varying_epsilon=VaryingEpsilon(word=1.0, total=2.0, drift=1.0),
        )

    def weights(self, eps: Eps) -> tuple[Floats, Floats]:
        """Return listed ranks' w (m, k), which is 1 beyond, and Z for epsilons (m,).

        Raises UsageError for an epsilon above 500.
        """
        self.supports(float(eps.max(initial=0.0)))
        weights = np.exp(eps[:, None] * self.exponents[None, :])
        return weights, weights.sum(axis=1) + (self.outputs - self.listed)

    def sample(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word: ids (n,), eps (n,) nats -> (n,) ids.

        w = 1 + (w - 1): with probability |O|/Z a uniform output, else a listed rank by
        w - 1. Both parts keep their relative accuracy for any epsilon.
        """
        integers = bits.integers(0)
        drawn = bits.below(integers[:, 1], self.outputs).astype(np.int32)
        uniform = bits.unit(integers[:, 0])
        if (eps == eps[:1]).all():
            values, row_of = eps[:1], np.zeros(len(eps), np.int64)
        else:
            values, row_of = np.unique(eps, return_inverse=True)
        self.supports(float(values.max(initial=0.0)))
        excess = np.expm1(values[:, None] * self.exponents[None, :])
        cumulative = np.cumsum(excess, axis=1)
        target = uniform * (cumulative[:, -1] + self.outputs)[row_of]
        if len(cumulative) == 1:
            ranks = np.searchsorted(cumulative[0], target, side="right")
        else:
            ranks = count_at_most(cumulative, row_of, target)
        listed = np.flatnonzero(ranks < self.listed)
        drawn[listed] = self.orders[ids[listed], ranks[listed]]
        return drawn

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) for each word and output: (n, V), -inf outside O."""
        weights, totals = self.weights(eps)
        log_probs = np.full((len(ids), self.space.size), -np.inf)
        log_probs[:, : self.outputs] = -np.log(totals)[:, None]
        rows = np.arange(len(ids))[:, None]
        log_probs[rows, self.orders[ids]] = np.log(weights / totals[:, None])
        return log_probs

    def log_probs_of_pairs(self, inputs: Ids, outputs: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) for (input, output) pairs: (m,)."""
        values, which = np.unique(eps, return_inverse=True)
        weights, totals = self.weights(values)
        logs = -np.log(totals)[which]
        for part in blocks(len(inputs), _PAIRS):
            pairs, ranks = np.nonzero(self.orders[inputs[part]] == outputs[part, None])
            logs[part][pairs] += np.log(weights[which[part][pairs], ranks])
        logs[outputs >= self.outputs] = -np.inf
        return logs

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
        """Return max of prior(x) P(y|x) over x in each band: (bands, V), in O(V k)."""
        weights, totals = self.weights(np.array([epsilon]))
        best = np.zeros((len(bands), self.space.size))
        for number, (begin, end) in enumerate(bands):
            likely = prior[begin:end]
            # Every x that does not list y gives it weight 1, and the others at least 1.
            top = float(likely.max())
            best[number, : self.outputs] = top
            # Inputs that cannot exceed the maximum so far are skipped.
            some = np.flatnonzero(likely * weights.max() > top)
            for position, weight in enumerate(weights[0]):
                rows = some[likely[some] * weight > top]
                words = self.orders[begin + rows, position].astype(np.int64)
                np.maximum.at(best[number], words, likely[rows] * weight)
        best /= totals
        return best

    def likeliest_inputs(
        self, prior: Floats, eps: Eps, count: int
    ) -> tuple[Ids, Floats]:
        """Return each output's inputs x of largest prior(x) P(y|x), in O(V k)."""
        count = min(count, len(prior))
        values, which = np.unique(eps, return_inverse=True)
        weights, totals = self.weights(values)
        with np.errstate(divide="ignore"):
            worth = np.log(prior) - np.log(totals)[which]
        first = np.argsort(-worth, kind="stable")[:count]
        first = first[np.isfinite(worth[first])]
        inputs = Likeliest(self.space.size, count)
        least = worth[first[-1]] if len(first) == count else -np.inf
        listed = np.zeros((len(first), self.outputs), bool)
        index = np.full(len(prior), -1)
        index[first] = np.arange(len(first))
        for position in range(self.listed):
            logs = np.log(weights[which, position])
            # An input worth no more than the last of the first is not among the best.
            rows = np.flatnonzero((worth + logs > least) | (index >= 0))
            rows = rows[np.isfinite(worth[rows])]
            outputs = self.orders[rows, position].astype(np.int64)
            inside = index[rows] >= 0
            listed[index[rows[inside]], outputs[inside]] = True
            log_probs = logs[rows] - np.log(totals)[which[rows]]
            inputs.add_pairs(outputs, rows, worth[rows] + logs[rows], log_probs)
        at, outputs = np.nonzero(~listed)
        rows = first[at]
        inputs.add_pairs(outputs, rows, worth[rows], -np.log(totals)[which[rows]])
        return inputs.result()

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that 52-bit uniforms may add to the loss.

        Borders between ranks are rounded sums, exact to k + 8 times 2^-52; the rarest
        output has probability 1/Z; a loss is a ratio of two probabilities.
        """
        _, totals = self.weights(np.array([epsilon]))
        return float((self.listed + 8) * 2.0**-51 * totals[0])
