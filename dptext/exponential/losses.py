"""The exact losses of all pairs of inputs where P(y|x) ~ exp(-scale t(x, y) / 2).

t = min(d, truncation). Of two words the loss is scale t / 2 + |ln Z - ln Z'|; the
unknown word is an input but no output. Distances, sums and losses are float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dptext.exponential import sums, tiles
from dptext.exponential.distribution import DistanceDistribution
from dptext.exponential.lists import Lists
from dptext.geometry import pairs
from dptext.spaces import Space

_AT_ONCE = 64


@dataclass(frozen=True)
class Losses:
    """The losses over t of all pairs of the V + 1 inputs of a space, at any scale."""

    space: Space
    truncation: float

    @cached_property
    def _distribution(self) -> DistanceDistribution:
        return DistanceDistribution(
            self.space,
            Lists.of_all(self.space),
            truncation=lambda _scale: self.truncation,
        )

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return t from some inputs to all outputs: (n, V)."""
        distances = pairs.to_words(self.space, ids, 0, self.space.size)
        return np.minimum(distances, self.truncation, out=distances)

    @cached_property
    def unknown(self) -> NDArray[np.float64]:
        """Return t of the unknown word to all words: (V,)."""
        return np.asarray(self.rows(np.array([self.space.size]))[0])

    @cached_property
    def _beyond(self) -> NDArray[np.float64]:
        return np.full(self.space.size, np.nan)

    def beyond(self, ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return max over y of t(x, y) - t(unknown, y), (n,), kept once computed.

        The unknown word is no output, so that this may be less than t(x, unknown).
        """
        new = ids[np.isnan(self._beyond[ids])]
        for begin in range(0, len(new), tiles.ROWS):
            part = new[begin : begin + tiles.ROWS]
            self._beyond[part] = (self.rows(part) - self.unknown).max(axis=1)
        return self._beyond[ids]

    def worst(self, scale: float, few: int) -> tuple[float, NDArray[np.int64]]:
        """Return the largest loss over t of any ordered pair, and the worst few words.

        Pairs with t = 0 have one distribution and lose nothing.
        """
        weights = self._distribution.at(scale)
        log_z = np.append(
            np.log(sums.of_all_words(weights)), log_sums(self.unknown[None, :], scale)
        )
        steepest, other = self._steepest(log_z)
        top = np.argsort(-steepest, kind="stable")[:few]
        # Where all words lie at one point there is no pair to lose anything.
        differ = self.rows(np.zeros(1, np.int64)).max() > 0.0
        worst = 0.5 * scale + float(steepest[top[0]]) if differ else 0.0
        with_unknown, word = self._worst_unknown(scale, log_z, worst)
        words = np.append(np.unique(np.append(top, other[top])), word)
        return max(worst, with_unknown), words.astype(np.int64)

    def _steepest(
        self, log_z: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return max of |ln Z - ln Z'| / t for each word, and the other word: (V,)."""
        size = self.space.size
        steepest, other = np.zeros(size), np.zeros(size, np.int64)
        for rows, columns, tile in tiles.of_pairs(self.space):
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
        self, scale: float, log_z: NDArray[np.float64], floor: float
    ) -> tuple[float, int]:
        """Return the largest loss over t between the unknown word and a word.

        Exact where it is above floor, else at most floor.
        """
        words = np.flatnonzero(self.unknown > 0.0)
        if not len(words):
            return 0.0, 0
        gap, t = log_z[words] - log_z[-1], self.unknown[words]
        # From the word to the unknown word, the word itself is the worst output.
        loss = 0.5 * scale - gap / t
        # The other way round that is only a bound: exact where it matters.
        bound = 0.5 * scale + gap / t
        near = np.flatnonzero(bound > max(floor, float(loss.max())))
        exact = 0.5 * scale * self.beyond(words[near]) + gap[near]
        loss[near] = np.maximum(loss[near], exact / t[near])
        position = int(loss.argmax())
        return float(loss[position]), int(words[position])


def log_sums(rows: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return ln of the sum of exp(-scale t / 2) of each row: (n, V) -> (n,)."""
    sums_of_rows = np.empty(len(rows))
    for begin in range(0, len(rows), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        logs = rows[part] * (-0.5 * scale)
        top = logs.max(axis=1)
        logs -= top[:, None]
        sums_of_rows[part] = np.log(np.exp(logs, out=logs).sum(axis=1)) + top
    return sums_of_rows
