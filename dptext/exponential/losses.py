"""Exact losses of all input pairs, and how far they allow the scale to be raised.

The general bound on the loss of P(y|x) ~ exp(-scale t(x, y) / 2), with a metric
t = min(d, truncation), is scale t. The exact loss of two words is scale t / 2 +
|ln Z - ln Z'|, often about half of the bound; the unknown word is an input but not an
output. Distances, sums and losses are float64.

The raised scale of an epsilon lies in [epsilon, 2 epsilon], where no pair of the V + 1
inputs loses more than epsilon t. It depends on public data only: lexicon, space,
truncation and epsilon. The loss over t need not grow with the scale, so the search
proves nothing: a few words propose a scale, and it is accepted only if the losses of
all pairs are within the claim; otherwise the pairs that failed join the few words, and
these propose again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext import cache, geometry
from dptext.errors import UsageError
from dptext.exponential import distribution
from dptext.exponential.distribution import DistanceDistribution, Lists, Weights
from dptext.spaces import Space
from dptext.types import Floats, Ints, blocks

# No pair may come nearer to its claim than this, relatively: rounding stays below.
MARGIN = 1e-9
# Different epsilons of a run: each takes passes over all pairs of V. Public, and few.
MOST = 8
# Below this many nats at the diameter all scales are alike, and rounding decides.
LEAST = 1e-6
_AT_ONCE = 64  # rows of logarithms of sums
# Words of each kind at the beginning of a search, that join after a round, and at most.
_FIRST, _MORE, _WORDS = 64, 64, 512
_ROUNDS = 10
_GRID = np.linspace(1.0, 2.0, 33)
_SEED = 1


def sums_of_all_words(weights: Weights, kind: type = np.float64) -> Floats:
    """Return the normaliser Z of every word: (V,); the last result is cached.

    kind: the dtype of distances and weights.
    """
    kept = weights.distribution.kept
    key = (weights.epsilon, kind)
    if key not in kept:
        kept.clear()
        kept[key] = _sums(weights, kind)
    return kept[key]


def _sums(weights: Weights, kind: type) -> Floats:
    rate: NDArray[np.floating] = weights.rate.astype(kind)
    sums = np.zeros(weights.size)
    for rows, columns, tile in distribution.distances_of_pairs(
        weights.distribution.space, kind
    ):
        tile = weights.measure(tile)
        # A tile off the diagonal holds each pair once, and counts for both words.
        both = columns.start != rows.start
        # The weights of the columns as inputs; their rates may differ.
        back = None
        if both and not weights.symmetric:
            back = np.exp(tile * -rate[columns])
        tile *= -rate[rows][:, None]
        np.exp(tile, out=tile)
        sums[rows] += tile.sum(axis=1)
        if both:
            sums[columns] += np.ones(len(tile), kind) @ (tile if back is None else back)
    return sums


@dataclass(frozen=True)
class Losses:
    """The losses over t of all pairs of a space's V + 1 inputs, at any scale."""

    space: Space
    #: The largest distance that counts.
    truncation: float

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        return DistanceDistribution(
            self.space,
            Lists.from_space(self.space),
            truncation=lambda _scale: self.truncation,
        )

    def rows(self, ids: Ints) -> Floats:
        """Return t from the given inputs to all outputs: (n, V)."""
        distances = geometry.distances_to_words(self.space, ids, 0, self.space.size)
        return np.minimum(distances, self.truncation, out=distances)

    @cached_property
    def unknown(self) -> Floats:
        """Return t from the unknown word to all words: (V,)."""
        return np.asarray(self.rows(np.array([self.space.size]))[0])

    def excess_over_unknown(self, ids: Ints) -> Floats:
        """Return max over y of t(x, y) - t(unknown, y): (n,).

        It may be less than t(x, unknown), since the unknown word is not an output.
        """
        beyond = np.empty(len(ids))
        for part in blocks(len(ids), distribution.ROWS):
            beyond[part] = (self.rows(ids[part]) - self.unknown).max(axis=1)
        return beyond

    def worst(self, scale: float, few: int) -> tuple[float, Ints]:
        """Return the largest loss over t of any ordered pair, and its worst words.

        Pairs with t = 0 share one distribution and lose nothing.
        """
        weights = self._distribution.at(scale)
        log_z = np.append(
            np.log(sums_of_all_words(weights)), log_sums(self.unknown[None, :], scale)
        )
        steepest, other = self._steepest(log_z)
        top = np.argsort(-steepest, kind="stable")[:few]
        # If all words have the same vector no pair loses anything.
        differ = self.rows(np.zeros(1, np.int64)).max() > 0.0
        worst = 0.5 * scale + float(steepest[top[0]]) if differ else 0.0
        with_unknown, word = self._worst_unknown(scale, log_z, worst)
        words = np.append(np.unique(np.append(top, other[top])), word)
        return max(worst, with_unknown), words.astype(np.int64)

    def _steepest(self, log_z: Floats) -> tuple[Floats, Ints]:
        """Return max |ln Z - ln Z'| / t for each word, and the other word: (V,)."""
        size = self.space.size
        steepest, other = np.zeros(size), np.zeros(size, np.int64)
        for rows, columns, tile in distribution.distances_of_pairs(self.space):
            self._distribution.measure(tile, self.truncation)
            tile[tile == 0.0] = math.inf
            gap = log_z[columns][None, :] - log_z[rows][:, None]
            np.abs(gap, out=gap)
            gap /= tile
            position = gap.argmax(axis=1)
            value = gap[np.arange(len(gap)), position]
            more = np.flatnonzero(value > steepest[rows])
            steepest[rows.start + more] = value[more]
            other[rows.start + more] = columns.start + position[more]
        return steepest, other

    def _worst_unknown(
        self, scale: float, log_z: Floats, floor: float
    ) -> tuple[float, int]:
        """Return the largest loss over t between the unknown word and any word.

        Exact if it exceeds floor, else at most floor.
        """
        words = np.flatnonzero(self.unknown > 0.0)
        if not len(words):
            return 0.0, 0
        gap, t = log_z[words] - log_z[-1], self.unknown[words]
        # From the word to the unknown word, the word itself is the worst output.
        loss = 0.5 * scale - gap / t
        # The other way round this is only a bound; computed exactly above floor.
        bound = 0.5 * scale + gap / t
        near = np.flatnonzero(bound > max(floor, float(loss.max())))
        exact = 0.5 * scale * self.excess_over_unknown(words[near]) + gap[near]
        loss[near] = np.maximum(loss[near], exact / t[near])
        position = int(loss.argmax())
        return float(loss[position]), int(words[position])


def log_sums(rows: Floats, scale: float) -> Floats:
    """Return ln of each row's sum of exp(-scale t / 2): (n, V) -> (n,)."""
    sums_of_rows = np.empty(len(rows))
    for part in blocks(len(rows), _AT_ONCE):
        logs = rows[part] * (-0.5 * scale)
        top = logs.max(axis=1)
        logs -= top[:, None]
        sums_of_rows[part] = np.log(np.exp(logs, out=logs).sum(axis=1)) + top
    return sums_of_rows


class SubsetLosses:
    """The losses over t among a few inputs and the unknown word, quick at any scale."""

    def __init__(self, losses: Losses, ids: Ints) -> None:
        """Take the distances between inputs given by row (n,)."""
        self.ids = np.unique(ids)
        self._rows = losses.rows(np.append(self.ids, losses.space.size))
        # From each of them, the unknown word last, to the n words: (n + 1, n).
        self._among = self._rows[:, self.ids]
        self._beyond = losses.excess_over_unknown(self.ids)

    def worst(self, scale: float) -> float:
        """Return the largest loss over t among these inputs."""
        log_z = log_sums(self._rows, scale)
        loss = 0.5 * scale * self._among + np.abs(log_z[:, None] - log_z[:-1])
        words = self._among[-1] * 0.5 * scale - log_z[:-1] + log_z[-1]
        unknown = self._beyond * 0.5 * scale + log_z[:-1] - log_z[-1]
        loss[-1] = np.maximum(words, unknown)
        share = np.divide(
            loss, self._among, out=np.zeros_like(loss), where=self._among > 0.0
        )
        return float(share.max())


@dataclass(frozen=True, slots=True)
class Scales:
    """The raised scale of each epsilon in a run, each searched once."""

    space: Space
    #: By epsilon and truncation.
    known: dict[tuple[float, float], float] = field(default_factory=dict)

    def at(self, epsilon: float, truncation: float) -> float:
        """Return the scale for epsilon. Raises UsageError beyond MOST epsilons."""
        settings = (float(epsilon), float(truncation))
        if settings not in self.known:
            if len(self.known) >= MOST:
                raise UsageError(
                    "recalibrate looks at all pairs of words for each epsilon, and "
                    f"this run asks for more than {MOST}: use the budget uniform with "
                    "an epsilon of each word, or leave recalibrate out"
                )
            self.known[settings] = recalibrated_scale(self.space, *settings)
        return self.known[settings]

    def check(self, epsilon: float) -> None:
        """Raise UsageError if epsilon is too small for exact losses in float64."""
        if epsilon * self.space.geometry.diameter < LEAST:
            raise UsageError(
                f"recalibrate needs an epsilon of each word: at {epsilon:.3g} (the "
                "share of a word in a long text) there is nothing to gain; use the "
                "budget uniform with an epsilon of each word, or leave it out"
            )


def describe(epsilon: float, raised: float) -> str:
    """Describe a raised scale, for reports."""
    return (
        f"The output distribution has the scale {raised:.6g} in place of the published "
        f"{epsilon:.6g} (recalibrate, {raised / epsilon:.4f} times): with this lexicon "
        "no pair of words loses more than epsilon allows, by the exact losses of all "
        "pairs, the unknown word's included. For other words or vectors this says "
        "nothing."
    )


def recalibrated_scale(
    space: Space, epsilon: float, truncation: float = math.inf
) -> float:
    """Return a scale in [epsilon, 2 epsilon] at which no loss exceeds epsilon t.

    Cached by lexicon, space, truncation and epsilon.
    """

    def compute() -> dict[str, float]:
        return {"eta": _search(Losses(space, truncation), epsilon)}

    def holds(kept: cache.Numbers) -> bool:
        # The words that the search begins with: often the decisive pairs are theirs.
        losses, raised = Losses(space, truncation), float(kept["eta"])
        words = SubsetLosses(losses, _first_words(losses))
        inside = epsilon <= raised <= 2.0 * epsilon
        return inside and (raised == epsilon or words.worst(raised) <= epsilon)

    limit = "none" if math.isinf(truncation) else truncation
    key = cache.key_of(
        "recalibration", 1, space.lexicon.digest, space.identity, limit, epsilon
    )
    work = "raising the scale as far as all pairs allow"
    return float(cache.numbers(key, compute, holds, work)["eta"])


def _search(losses: Losses, epsilon: float) -> float:
    """Return a scale that satisfies the claim for all pairs; epsilon always does."""
    words = SubsetLosses(losses, _first_words(losses))
    top = 2.0 * epsilon
    for turn in range(_ROUNDS):
        raised = _propose(words, epsilon, top)
        if raised <= epsilon:
            break
        worst, more = losses.worst(raised, _MORE)
        if worst <= epsilon * (1.0 - MARGIN):
            return raised
        known = words.ids if len(words.ids) < _WORDS else words.ids[:0]
        words = SubsetLosses(losses, np.append(known, more))
        # Usually the same few pairs fail; if new ones keep failing, lower the top.
        top = raised if turn < _ROUNDS // 2 else epsilon + 0.9 * (raised - epsilon)
    return epsilon


def _propose(words: SubsetLosses, epsilon: float, top: float) -> float:
    """Return the largest scale up to `top` that a few words allow, else epsilon.

    Searches a grid from above, then bisects.
    """
    limit = epsilon * (1.0 - 2.0 * MARGIN)
    grid = [scale for scale in (epsilon * _GRID).tolist() if scale < top]
    lower, upper = top, math.inf
    while words.worst(lower) > limit:
        if not grid:
            return epsilon
        lower, upper = grid.pop(), lower
    if math.isinf(upper):
        return lower
    while upper - lower > MARGIN * epsilon:
        middle = 0.5 * (lower + upper)
        if words.worst(middle) <= limit:
            lower = middle
        else:
            upper = middle
    return lower


def _first_words(losses: Losses) -> Ints:
    """Choose frequent words, random ones, and those nearest to the unknown word."""
    size = losses.space.size
    count = min(_FIRST, size)
    rng = np.random.default_rng(_SEED)
    near = np.argsort(losses.unknown, kind="stable")[:count]
    frequent, others = np.arange(count), rng.choice(size, count, replace=False)
    return np.unique(np.concatenate((near, frequent, others)))
