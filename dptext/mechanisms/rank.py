"""Rank mechanism: draw a rank from one fixed distribution, write the word there.

The outputs are a public set O, the most frequent words of V. Every word of V, and the
unknown word, has a public order of O, its best replacements first, and P(y|x) = w(rank
of y in the order of x) / Z with the same non-increasing w and the same Z for every x.
A word of O is first in its own order; no other word is ever written.

Weights are tables of (last rank, ln w / epsilon) pairs: up to this rank, from the one
before on. The first value is 1; beyond the last rank stands the floor, 0. The file
dptext/data/rank_weights.json holds one for each of a grid of risks, for all words and
for all but stop words (docs/rank.md); "fitted" takes the one that serves a lexicon and
an aim.

Guarantee: epsilon-LDP over all of V and over unknown words, exactly: Z does not depend
on x and ln w(1)/w(|O|) <= epsilon (docs/rank.md).
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
from dptext.errors import UsageError
from dptext.mechanisms import Aim, Bands, Likeliest, WordMechanism
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.types import Eps, Floats, Guarantee, Ids, VaryingEpsilon


def count_outputs(space: Space, wanted: int | None) -> int:
    """Return how many words can be written: wanted, else as the lexicon says, else all.

    Raises UsageError for more than there are.
    """
    outputs = wanted or int(space.lexicon.meta.get("outputs", space.size))
    if outputs > space.size:
        raise UsageError(
            f"mechanism.outputs: {outputs} is more than the {space.size} words there "
            "are"
        )
    return outputs


def longest(space: Space, outputs: int) -> int:
    """Return how many words the lexicon's orders list of the outputs."""
    lexicon = space.lexicon
    # Where only the first words are listed, a word itself comes on top of them.
    inside = int(lexicon.meta.get("outputs", space.size)) < space.size
    return int(lexicon.orders.shape[1]) - inside


def within(space: Space, outputs: int, listed: int) -> NDArray[np.integer]:
    """Return the first listed words below outputs of each order: (V + 1, listed).

    Where the lexicon's order names too few of them, the nearest of the others follow.
    listed <= outputs.
    """
    lexicon = space.lexicon
    stored = lexicon.orders
    if outputs == len(lexicon.words):
        return stored[:, :listed]
    if outputs == lexicon.meta.get("outputs"):
        # Only the word itself, which comes first, may lie beyond.
        lists = np.array(stored[:, :listed])
        lists[outputs:-1] = stored[outputs:-1, 1 : listed + 1]
        return lists
    writable = stored < outputs
    front = np.argsort(~writable, axis=1, kind="stable")[:, :listed]
    lists = np.take_along_axis(np.asarray(stored), front, axis=1)
    if (writable.sum(axis=1) >= listed).all():
        return lists
    # The nearest words stand where words stood that may not be written.
    from dptext.lexicons.orders import build_orders

    near = build_orders(space.vectors, listed, outputs=outputs)[0]
    for row in np.flatnonzero((lists >= outputs).any(axis=1)):
        kept = lists[row][lists[row] < outputs]
        others = near[row][~np.isin(near[row], kept)]
        lists[row] = np.concatenate((kept, others))[:listed]
    return lists


# Outputs of the built-in lexicon, for which the shipped tables are made.
OUTPUTS = 8000
Table = tuple[tuple[int, float], ...]


def check(table: Table) -> None:
    """Raise ValueError for a table that does not fall from 1 over rising ranks."""
    ranks, parts = [last for last, _ in table], [value for _, value in table]
    rise = all(one < other for one, other in pairwise([0, *ranks]))
    fall = all(one >= other > 0.0 for one, other in pairwise([1.0, *parts]))
    if not (table and rise and fall and parts[0] == 1.0):
        raise ValueError(
            "weights: steps needs a table of [last rank, part of epsilon] pairs whose "
            "ranks grow from 1 and whose parts fall from 1 and stay above 0"
        )


def values(table: Table, listed: int) -> Floats:
    """Return the values of the first ranks: (listed,), all within the table."""
    ends, steps = zip(*table, strict=True)
    return np.repeat(np.array(steps, np.float64), np.diff((0, *ends)))[:listed]


def scaled(table: Table, outputs: int, most: int) -> Table:
    """Return a table for fewer outputs than those it was made for, up to a rank.

    Ranks are in proportion, so that a small lexicon is not all top: of a step that
    shrinks to nothing no rank is left.
    """
    part = min(1.0, outputs / OUTPUTS)
    kept: list[tuple[int, float]] = []
    for last, value in table:
        shrunk = min(math.ceil(last * part), most)
        if not kept or shrunk > kept[-1][0]:
            kept.append((shrunk, value))
    return tuple(kept)


# The risk that is taken where there is neither a risk nor an epsilon of a word.
_USUAL = 0.2
# An epsilon of a table, rounded down, just misses its own risk.
_NEARLY = 0.998


@dataclass(frozen=True, slots=True)
class FittedTable:
    """A table made for a risk, and the epsilon that it takes with the built-in words.

    closeness: the expected cosine of a word and the one written for it, from 0.
    """

    risk: float
    epsilon: float
    closeness: float
    steps: Table


@lru_cache(maxsize=1)
def shipped() -> tuple[tuple[FittedTable, ...], ...]:
    """Return the tables that ship: rows by rising risk, of each prior."""
    path = Path(__file__).parents[1] / "data" / "rank_weights.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    kind = tuple[FittedTable, ...]
    return tuple(convert(each["weights"], kind) for each in tables)


def params(settings: Params, space: Space, aim: Aim) -> Params:
    """Put a shipped table in the place of weights fitted: the first that is enough.

    For a risk, the first whose own epsilon makes guesses succeed so often; for an
    epsilon, the first of at least as much; else that of risk 20%. Of fewer outputs than
    it was made for it lists fewer, and no more than the lexicon's orders hold.
    """
    if aim.risk is not None and aim.prior is not None:
        risk, prior = aim.risk, aim.prior

        def enough(row: FittedTable) -> bool:
            cut = _cut(settings, row, space)
            return _success(cut, space, row, prior) >= risk * _NEARLY

        # The first row of each prior that is enough, of these the nearest risk.
        rows = [_first(rows, enough) for rows in shipped()]
        row = min(rows, key=lambda row: abs(row.risk - risk))
    elif aim.epsilon is not None:
        least = aim.epsilon * _NEARLY
        row = _first(shipped()[0], lambda row: row.epsilon >= least)
    else:
        row = _first(shipped()[0], lambda row: row.risk >= _USUAL)
    return _cut(settings, row, space)


def _first(
    rows: tuple[FittedTable, ...], enough: Callable[[FittedTable], bool]
) -> FittedTable:
    """Return the first row that is enough, else the last; those after it must be, too.

    Looks at few of them.
    """
    return rows[bisect_left(rows[:-1], True, key=enough)]


def _cut(settings: Params, row: FittedTable, space: Space) -> Params:
    outputs = count_outputs(space, settings.outputs)
    most = min(outputs, longest(space, outputs), settings.k or outputs)
    table = scaled(row.steps, outputs, most)
    return replace(settings, weights="steps", steps=table, k=table[-1][0])


def _success(cut: Params, space: Space, row: FittedTable, prior: Floats) -> float:
    """Return the success of the best guess of a word, as the Bayes risk has it."""
    digest = cache.digest(prior)
    what = (space.lexicon.digest, space.identity, asdict(cut), digest, row.epsilon)

    def compute() -> dict[str, float]:
        mechanism = cut.prepare(space, Aim())
        best = mechanism.best_guesses(prior, row.epsilon, [(0, len(prior))])
        return {"success": float(best.sum())}

    return float(cache.numbers(cache.key_of("fitted", 1, *what), compute)["success"])


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
            check(self.steps)
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

    def exponents(self, listed: int) -> Floats:
        """Return ln w(r) / epsilon of the listed ranks, from 1 down: (listed,)."""
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
        """Take the first words of each order that may be written.

        Raises UsageError when the lexicon stores fewer.
        """
        if self.weights == "fitted":
            return params(self, space, aim).prepare(space, aim)
        outputs = count_outputs(space, self.outputs)
        stored = longest(space, outputs)
        if self.listed > stored and stored < outputs:
            key = "steps" if self.weights == "steps" else "k"
            raise UsageError(
                f"mechanism.{key}: {self.listed} is more than the {stored} the lexicon "
                "stores"
            )
        orders = within(space, outputs, min(self.listed, outputs))
        return Rank(self, space, orders, outputs)


@dataclass(frozen=True, eq=False)
class Rank(WordMechanism):
    """orders (V + 1, k), the last row for unknown words; outputs |O|."""

    # exp(epsilon) must leave room in a float64.
    largest_epsilon = 500.0

    params: Params
    orders: NDArray[np.integer]
    outputs: int

    @property
    def listed(self) -> int:
        """Return k, the number of listed words."""
        return int(self.orders.shape[1])

    @cached_property
    def exponents(self) -> Floats:
        """Return ln w(r) / epsilon of the listed ranks: (k,)."""
        return self.params.exponents(self.listed)

    @property
    def settings_before_aim(self) -> Mapping[str, object]:
        """Return `fitted` for a table that ships: a risk or an epsilon chose it."""
        asked = Params(outputs=self.params.outputs)
        rows = chain.from_iterable(shipped())
        if any(_cut(asked, row, self.space) == self.params for row in rows):
            return {"weights": asked.weights, "k": asked.k, "steps": [*asked.steps]}
        return {}

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return epsilon-LDP over the whole vocabulary."""
        return Guarantee.ldp(
            "dptext rank mechanism",
            # A weight is e^(epsilon s), s in [0, 1]; so lies d ln Z / d epsilon.
            varying_epsilon=VaryingEpsilon(word=1.0, total=2.0, drift=1.0),
        )

    def weights(self, eps: Eps) -> tuple[Floats, Floats]:
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
            ranks = mechanisms.count_at_most(cumulative, row_of, target)
        listed = np.flatnonzero(ranks < self.listed)
        drawn[listed] = self.orders[ids[listed], ranks[listed]]
        return drawn

    def log_probs(self, ids: Ids, eps: Eps) -> Floats:
        """Return ln P(y|x) of each word and output: (n, V), -inf outside O."""
        weights, totals = self.weights(eps)
        log_probs = np.full((len(ids), self.space.size), -np.inf)
        log_probs[:, : self.outputs] = -np.log(totals)[:, None]
        rows = np.arange(len(ids))[:, None]
        log_probs[rows, self.orders[ids]] = np.log(weights / totals[:, None])
        return log_probs

    def best_guesses(self, prior: Floats, epsilon: float, bands: Bands) -> Floats:
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
        self, prior: Floats, eps: Eps, count: int
    ) -> tuple[Ids, Floats]:
        """Return for each output the inputs x of largest prior(x) P(y|x), O(V k)."""
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
            # Who is worth no more than the last of the first cannot be among the best.
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
        """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

        The borders between ranks are exact to k + 8 times 2^-52 (rounded sums); the
        rarest output has probability 1/Z, and a loss has two sides.
        """
        _, totals = self.weights(np.array([epsilon]))
        return float((self.listed + 8) * 2.0**-51 * totals[0])
