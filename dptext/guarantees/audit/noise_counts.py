"""How often noise lies below the quantiles of what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit import _known
from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.program import MultipleTests
from dptext.mechanisms import NoiseMechanism
from dptext.types import Ids

_RANDOM = 16
_SEED = 6


@dataclass(slots=True)
class _Below:
    """How many values of some variables lay below known quantiles: hits (m, levels)."""

    event: str
    quantiles: NDArray[np.float64]
    hits: NDArray[np.int64]
    draws: int = 0

    def take(self, values: NDArray[np.float64]) -> None:
        """Take in values of each variable: (n, m)."""
        self.draws += len(values)
        for level, quantile in enumerate(self.quantiles):
            self.hits[:, level] += (values <= quantile).sum(axis=0)


class NoiseCounts:
    """Counts below the quantiles of what is known, at one epsilon.

    amounts (words, levels) of draws (words,); directions of a width, 0: not known.
    """

    def __init__(self, epsilon: float, words: int, shape: float, width: int) -> None:
        self.epsilon = epsilon
        self._steps = _known.gamma(shape)
        self._amounts = np.zeros((words, len(_known.LEVELS)), np.int64)
        self._draws = np.zeros(words, np.int64)
        self._directions: tuple[_Below, ...] = ()
        if width:
            rng = np.random.default_rng(_SEED)
            axes = rng.normal(size=(width, _RANDOM))
            self._axes = axes / np.linalg.norm(axes, axis=0)
            turns = _known.projection(width)
            self._directions = tuple(
                _Below(event, turns, np.zeros((count, len(turns)), np.int64))
                for event, count in (
                    ("a coordinate or projection of the direction", width + _RANDOM),
                    ("a projection of the direction of short noise", _RANDOM),
                    ("the product of two directions in a batch", 1),
                )
            )

    def take_amounts(
        self, rows: NDArray[np.int64], amounts: NDArray[np.float64]
    ) -> None:
        """Take in words and amounts of their noise: (n,) each."""
        self._draws += np.bincount(rows, minlength=len(self._draws))
        for level, step in enumerate(self._steps):
            below = rows[amounts <= step]
            self._amounts[:, level] += np.bincount(below, minlength=len(self._draws))

    def take_directions(
        self, directions: NDArray[np.float64], amounts: NDArray[np.float64]
    ) -> None:
        """Take in directions (n, d) and amounts (n,) of noise."""
        projections = np.hstack([directions, directions @ self._axes])
        median = self._steps[len(self._steps) // 2]
        # Each pair of neighbours once: draws that share no word are independent.
        even = len(directions) // 2 * 2
        near = np.einsum("nd,nd->n", directions[0:even:2], directions[1:even:2])
        every, short, products = self._directions
        every.take(projections)
        short.take(projections[amounts <= median, -_RANDOM:])
        products.take(near[:, None])

    def test(
        self, tests: MultipleTests, mechanism: NoiseMechanism, ids: Ids, alarm: float
    ) -> None:
        """Test all counts; of lengths that are only bounded no long one is a fault."""
        levels, total = _known.LEVELS, int(self._draws.sum())
        at = f"epsilon {self.epsilon:.6g}"
        exact = mechanism.has_standard_noise

        def capped(hits: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.int64]:
            # A bound from above: fewer short lengths than at most is no deviation.
            return hits if exact else np.maximum(hits, np.floor(n * levels).astype(int))

        every, each = np.array([total]), self._draws[:, None]
        tests.take(
            capped(self._amounts.sum(axis=0), every),
            every,
            levels,
            alarm / 4.0,
            lambda i: f"noise below its quantile {levels[i]:g}, {at}",
        )
        tests.take(
            capped(self._amounts, each),
            each,
            levels,
            alarm / 4.0,
            lambda i: (
                f"noise of {label(mechanism, ids[i // len(levels)])!r} below its "
                f"quantile {levels[i % len(levels)]:g}, {at}"
            ),
        )
        level = alarm / 8.0 / len(levels)
        tests.finds(f"noise below its median, {at}", 0.5, total, level)
        if self._directions:
            self._test_directions(tests, alarm / 6.0, at)

    def _test_directions(self, tests: MultipleTests, alarm: float, at: str) -> None:
        for below in self._directions:
            chances = _known.turns_below(len(below.quantiles))
            named = _named(f"{below.event}, {at}")
            tests.take(below.hits, below.draws, chances, alarm, named)
        every = self._directions[0]
        tests.finds(
            f"one side of a coordinate of the direction, {at}",
            0.5,
            every.draws,
            alarm / 2.0 / every.hits.size,
        )


def _named(event: str) -> Callable[[int], str]:
    return lambda _: event
