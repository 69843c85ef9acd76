"""How far the scale of an exponential mechanism may be raised without more loss.

P(y|x) ~ exp(-eta t(x, y) / 2) with a metric t is promised eta t, but the loss of two
words is exactly eta t / 2 + |ln Z - ln Z'|, often near half of that. The scale of an
epsilon is an eta in [epsilon, 2 epsilon] at which no pair of the V + 1 inputs loses
more than epsilon t. All of it is public: lexicon, space, gamma and epsilon decide.

The loss over t need not grow with eta. So nothing rests on the search: words that
matter propose an eta, and it is taken only if the losses of all pairs hold at it;
otherwise the pairs that failed join the words and propose again. t = min(d, gamma).
Distances, sums and losses are float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.errors import UsageError
from dptext.geometry import pairs
from dptext.spaces import Space

# No pair may come nearer to its claim than this, relatively: rounding stays below.
MARGIN = 1e-9
# Every epsilon costs passes over all pairs of V: as many as this are few and public.
MOST = 8
# Below this many nats at the diameter all laws are alike, and rounding decides.
LEAST = 1e-6
_ROWS, _COLUMNS = 256, 1024
_FIRST, _MORE, _WORDS, _AT_ONCE = 64, 64, 512, 64
_ROUNDS = 10
_GRID = np.linspace(1.0, 2.0, 33)
_SEED = 1


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of the epsilons of a run, each found once."""

    space: Space
    known: dict[tuple[float, float], float] = field(default_factory=dict)

    def at(self, epsilon: float, gamma: float = math.inf) -> float:
        """Return eta for epsilon; UsageError beyond MOST different ones."""
        asked = (float(epsilon), float(gamma))
        if asked not in self.known:
            if len(self.known) >= MOST:
                msg = (
                    "recalibrate looks at all pairs of words for each epsilon, and "
                    f"this run asks for more than {MOST}: use the budget uniform with "
                    "an epsilon of each word, or leave recalibrate out"
                )
                raise UsageError(msg)
            self.known[asked] = scale(self.space, *asked)
        return self.known[asked]

    def check(self, epsilon: float) -> None:
        """Raise UsageError where epsilon is too small to be looked at in float64."""
        if epsilon * self.space.geometry.diameter < LEAST:
            msg = (
                f"recalibrate needs an epsilon of each word: at {epsilon:.3g} (the "
                "share of a word in a long text) there is nothing to gain; use the "
                "budget uniform with an epsilon of each word, or leave it out"
            )
            raise UsageError(msg)


def told(epsilon: float, eta: float) -> str:
    """Say that a scale was raised, for reports."""
    return (
        f"The law has the scale {eta:.6g} in place of the published {epsilon:.6g} "
        f"(recalibrate, {eta / epsilon:.4f} times): with this lexicon no pair of words "
        "loses more than epsilon allows, by the exact losses of all pairs, the unknown "
        "word's included. For other words or vectors this says nothing."
    )


def scale(space: Space, epsilon: float, gamma: float = math.inf) -> float:
    """Return eta in [epsilon, 2 epsilon] at which all losses are at most epsilon t.

    Found once for a lexicon, space, gamma and epsilon, then kept in the cache folder.
    """

    def compute() -> dict[str, float]:
        return {"eta": _search(Pairs(space, gamma), epsilon)}

    def holds(kept: cache.Numbers) -> bool:
        # The search began with these words; the pairs that decide are often theirs.
        pairs, eta = Pairs(space, gamma), float(kept["eta"])
        words = _Words(pairs, _first(pairs))
        inside = epsilon <= eta <= 2.0 * epsilon
        return inside and (eta == epsilon or words.worst(eta) <= epsilon)

    limit = "none" if math.isinf(gamma) else gamma
    key = cache.key_of(
        "recalibration", 1, space.lexicon.digest, space.identity, limit, epsilon
    )
    return float(
        cache.numbers(
            key, compute, holds, "raising the scale as far as all pairs allow"
        )["eta"]
    )


@dataclass(frozen=True)
class Pairs:
    """All pairs of the V + 1 inputs of a space, and their exact losses."""

    space: Space
    gamma: float

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return t from some inputs to all outputs: (n, V)."""
        return self._between(ids, 0, self.space.size)

    def _between(
        self, ids: NDArray[np.int64], begin: int, end: int
    ) -> NDArray[np.float64]:
        apart = pairs.to_words(self.space, ids, begin, end)
        np.minimum(apart, self.gamma, out=apart)
        return apart

    def _tiles(self) -> Iterator[tuple[slice, slice, NDArray[np.float64]]]:
        """Yield t of words (rows, columns), every pair once but for square tiles."""
        size = self.space.size
        for begin in range(0, size, _ROWS):
            end = min(begin + _ROWS, size)
            ids = np.arange(begin, end)
            edges = [begin, *range(end, size, _COLUMNS), size]
            for left, right in pairwise(edges):
                if left < right:
                    tile = self._between(ids, left, right)
                    yield slice(begin, end), slice(left, right), tile

    @cached_property
    def unknown(self) -> NDArray[np.float64]:
        """Return t of the unknown word to all words: (V,)."""
        row: NDArray[np.float64] = self.rows(np.array([self.space.size]))[0]
        return row

    @cached_property
    def _kept(self) -> NDArray[np.float64]:
        return np.full(self.space.size, np.nan)

    def beyond(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return max over y of t(x, y) - t(unknown, y), (n,), kept once computed.

        The unknown word is no output, so that this may be less than t(x, unknown).
        """
        new = ids[np.isnan(self._kept[ids])]
        for begin in range(0, len(new), _ROWS):
            part = new[begin : begin + _ROWS]
            self._kept[part] = (self.rows(part) - self.unknown).max(axis=1)
        found: NDArray[np.float64] = self._kept[ids]
        return found

    def log_z(self, eta: float) -> NDArray[np.float64]:
        """Return ln of the sum of exp(-eta t / 2) over V for all inputs: (V + 1,)."""
        sums = np.zeros(self.space.size)
        for rows, columns, tile in self._tiles():
            tile *= -0.5 * eta
            np.exp(tile, out=tile)
            sums[rows] += tile.sum(axis=1)
            if columns.start != rows.start:
                sums[columns] += tile.sum(axis=0)
        return np.append(np.log(sums), _log_sums(self.unknown[None, :], eta))

    def worst(
        self, eta: float, log_z: NDArray[np.float64], few: int
    ) -> tuple[float, NDArray[np.int64]]:
        """Return the largest loss over t of any ordered pair, and the worst few words.

        log_z is that of eta. Pairs with t = 0 have one law and lose nothing.
        """
        size = self.space.size
        best, other = np.zeros(size), np.zeros(size, np.int64)
        for rows, columns, tile in self._tiles():
            tile[tile == 0.0] = math.inf
            gap = log_z[columns][None, :] - log_z[rows][:, None]
            np.abs(gap, out=gap)
            gap /= tile
            position = gap.argmax(axis=1)
            value = gap[np.arange(len(gap)), position]
            more = np.flatnonzero(value > best[rows])
            best[rows.start + more] = value[more]
            other[rows.start + more] = columns.start + position[more]
        top = np.argsort(-best, kind="stable")[:few]
        # Where all words lie in one place there is no pair to lose anything.
        apart = self.rows(np.zeros(1, np.int64)).max() > 0.0
        found = 0.5 * eta + float(best[top[0]]) if apart else 0.0
        lost, word = self._worst_unknown(eta, log_z, found)
        words = np.append(np.unique(np.append(top, other[top])), word)
        return max(found, lost), words.astype(np.int64)

    def _worst_unknown(
        self, eta: float, log_z: NDArray[np.float64], floor: float
    ) -> tuple[float, int]:
        """Return the largest loss over t between the unknown word and a word.

        Exact where it is above floor, else at most floor.
        """
        apart = np.flatnonzero(self.unknown > 0.0)
        if not len(apart):
            return 0.0, 0
        gap, max_distance = log_z[apart] - log_z[-1], self.unknown[apart]
        # Seen from the word, the word itself is the output that tells most.
        loss = 0.5 * eta - gap / max_distance
        # Seen from the unknown word that is only a bound: exact where it matters.
        seen = 0.5 * eta + gap / max_distance
        near = np.flatnonzero(seen > max(floor, float(loss.max())))
        exact = 0.5 * eta * self.beyond(apart[near]) + gap[near]
        loss[near] = np.maximum(loss[near], exact / max_distance[near])
        position = int(loss.argmax())
        return float(loss[position]), int(apart[position])


class _Words:
    """A few inputs, the unknown one last, whose losses are quickly known at any eta."""

    def __init__(self, pairs: Pairs, ids: NDArray[np.int64]) -> None:
        self._pairs = pairs
        self.ids = np.unique(ids)
        self._rows = pairs.rows(np.append(self.ids, pairs.space.size))
        # (n + 1, n): from each of them to those that are words.
        self._among = self._rows[:, self.ids]
        self._beyond = pairs.beyond(self.ids)

    def worst(self, eta: float) -> float:
        """Return the largest loss over t among these inputs."""
        log_z = _log_sums(self._rows, eta)
        lost = 0.5 * eta * self._among + np.abs(log_z[:, None] - log_z[:-1])
        words = self._among[-1] * 0.5 * eta - log_z[:-1] + log_z[-1]
        unknown = self._beyond * 0.5 * eta + log_z[:-1] - log_z[-1]
        lost[-1] = np.maximum(words, unknown)
        share = np.divide(
            lost, self._among, out=np.zeros_like(lost), where=self._among > 0.0
        )
        return float(share.max())

    def propose(self, epsilon: float, top: float) -> float:
        """Return the largest eta up to top, by a grid and halving; else epsilon."""
        limit = epsilon * (1.0 - 2.0 * MARGIN)
        grid = [eta for eta in (epsilon * _GRID).tolist() if eta < top]
        below, above = top, math.inf
        while self.worst(below) > limit:
            if not grid:
                return epsilon
            below, above = grid.pop(), below
        if math.isinf(above):
            return below
        while above - below > MARGIN * epsilon:
            middle = 0.5 * (below + above)
            if self.worst(middle) <= limit:
                below = middle
            else:
                above = middle
        return below


def _search(pairs: Pairs, epsilon: float) -> float:
    """Return an eta at which all pairs hold; epsilon itself always does."""
    words = _Words(pairs, _first(pairs))
    top = 2.0 * epsilon
    for turn in range(_ROUNDS):
        eta = words.propose(epsilon, top)
        if eta <= epsilon:
            break
        lost, more = pairs.worst(eta, pairs.log_z(eta), _MORE)
        if lost <= epsilon * (1.0 - MARGIN):
            return eta
        known = words.ids if len(words.ids) < _WORDS else words.ids[:0]
        words = _Words(pairs, np.append(known, more))
        # Few pairs fail for long; where others do again and again, give way.
        top = eta if turn < _ROUNDS // 2 else epsilon + 0.9 * (eta - epsilon)
    return epsilon


def _first(pairs: Pairs) -> NDArray[np.int64]:
    """Choose frequent and random words, and those next to the unknown word."""
    size = pairs.space.size
    count = min(_FIRST, size)
    rng = np.random.default_rng(_SEED)
    near = np.argsort(pairs.unknown, kind="stable")[:count]
    frequent, others = np.arange(count), rng.choice(size, count, replace=False)
    return np.unique(np.concatenate((near, frequent, others)))


def _log_sums(rows: NDArray[np.float64], eta: float) -> NDArray[np.float64]:
    """Return ln of the sum of exp(-eta t / 2) of each row: (n, V) -> (n,)."""
    found = np.empty(len(rows))
    for begin in range(0, len(rows), _AT_ONCE):
        logs = rows[begin : begin + _AT_ONCE] * (-0.5 * eta)
        top = logs.max(axis=1)
        logs -= top[:, None]
        found[begin : begin + _AT_ONCE] = np.log(np.exp(logs, out=logs).sum(axis=1))
        found[begin : begin + _AT_ONCE] += top
    return found
