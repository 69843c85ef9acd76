"""The program of a noise mechanism: the noise itself, held against what is known.

Points are drawn by the path of a release, words and epsilons mixed in one batch.
- standard: where the mechanism gives its noise as a direction and an amount
  (`standard`), amounts against their Gamma distribution, directions against the uniform
  one (coordinates, random projections, products of neighbours in the batch), each word
  alone as well; every word is drawn a few times, and those that stand out again;
- ratios: where it gives `log_density`, the density ratio of pairs of words, bin by bin:
  of the points with ln p'/p = t from either word, a share of 1 / (1 + e^-t) is from x';
- length: where the claim is epsilon times the distance of the space, noise of one
  density for all words whose logarithm is epsilon-Lipschitz is, on every ray, no
  shorter than Gamma(d, 1/epsilon) in the likelihood-ratio order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.guarantees.audit import _known
from dptext.guarantees.audit.draws import Draws
from dptext.guarantees.audit.finding import label
from dptext.guarantees.audit.program import ALARM, Book, Program
from dptext.guarantees.audit.rows import chosen
from dptext.mechanisms import NoiseMechanism
from dptext.types import Eps, Ids, Points

_SEED = 4
_BATCH = 2**14
_CHOSEN, _SCREEN, _STANDING_OUT = 64, 8, 32
_RANDOM = 16
_PARTS = (1.0, 0.25)
# Noise that is not much larger than the rounding of a vector is not looked at.
_ROUNDED = 2.0**-10
Progress = Callable[[str], None]


def audit(
    mechanism: NoiseMechanism,
    epsilon: float,
    draws: Draws,
    number: int,
    progress: Progress,
) -> tuple[Program, Book]:
    """Test the noise by so many draws; the book is open for tests of pairs."""
    book = Book()
    known = mechanism.has_standard_noise
    if not known and not dominated(mechanism, epsilon):
        untested = ("the noise itself: its distribution is not known to the audit",)
        return Program(False, False, "no formula of the noise", untested=untested), book
    if not _fine(mechanism, epsilon, draws):
        untested = ("the noise itself: it is lost in the rounding of the vectors",)
        return Program(False, False, "noise too small", untested=untested), book
    ids = chosen(mechanism, _CHOSEN)
    if mechanism.space.size + 1 > _CHOSEN:
        progress(f"drawing every word {_SCREEN} times at epsilon {epsilon:.4g}")
        extreme = _standing_out(mechanism, draws, epsilon)
        ids = np.unique(np.concatenate((ids, extreme)))
    progress(f"drawing {len(ids)} words {number:,} times, epsilons mixed")
    tallies = _tallied(mechanism, epsilon, draws, ids, number)
    for tally in tallies:
        tally.test(book, mechanism, ids, ALARM / 2.0 / len(tallies))
    method = (
        f"amount and direction of the noise of {len(ids)} words"
        if known
        else f"length of the noise of {len(ids)} words against the least that a claim "
        "at every distance allows (noise of one density for all words)"
    )
    return (
        Program(
            tested=True,
            refuted=book.worst is not None,
            method=method,
            draws=number,
            epsilons=tuple(tally.epsilon for tally in tallies),
        ),
        book,
    )


def dominated(mechanism: NoiseMechanism, epsilon: float) -> bool:
    """Tell whether the claim is epsilon times the distance of the space."""
    return mechanism.guarantee(epsilon).counts(mechanism.space.distance)


def _standard(
    mechanism: NoiseMechanism, ids: Ids, points: Points, eps: Eps
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64], float]:
    """Return directions (n, d) if they are known, amounts (n,) and their shape."""
    standard = mechanism.standard_noise(ids, points, eps)
    if standard is not None:
        return standard
    noise = points.astype(np.float64) - mechanism.space.vectors[ids]
    return None, eps * np.linalg.norm(noise, axis=1), float(noise.shape[1])


def _fine(mechanism: NoiseMechanism, epsilon: float, draws: Draws) -> bool:
    """Tell whether noise is far above the rounding of float32 and below its limit."""
    assert draws.points is not None
    ids = np.zeros(64, np.int32)
    points = np.concatenate([p for _, p in draws.points(ids, np.full(64, epsilon))])
    spread = np.abs(points - np.median(points, axis=0)).mean()
    length = float(np.abs(points).max())
    # Points that are all alike are no rounded noise: that is for the tests.
    return bool(
        spread == 0.0 or (spread * _ROUNDED > length * 2.0**-24 and length < 1e12)
    )


def _standing_out(mechanism: NoiseMechanism, draws: Draws, epsilon: float) -> Ids:
    """Choose the words whose noise is shortest or longest on average."""
    assert draws.points is not None
    every = np.append(np.arange(mechanism.space.size), -1).astype(np.int32)
    rng = np.random.default_rng(_SEED)
    sums = np.zeros(len(every))
    for _ in range(_SCREEN):
        order = rng.permutation(len(every))
        for begin in range(0, len(every), _BATCH):
            part = order[begin : begin + _BATCH]
            eps = np.full(len(part), epsilon)
            for at, points in draws.points(every[part], eps):
                amounts = _standard(mechanism, every[part[at]], points, eps[at])[1]
                sums[part[at]] += amounts
    order = np.argsort(sums, kind="stable")
    picked: Ids = every[np.concatenate((order[:_STANDING_OUT], order[-_STANDING_OUT:]))]
    return picked


def _tallied(
    mechanism: NoiseMechanism, epsilon: float, draws: Draws, ids: Ids, number: int
) -> list[_Tally]:
    assert draws.points is not None
    rng = np.random.default_rng(_SEED + 1)
    ladder = [epsilon * part for part in _PARTS]
    tallies: list[_Tally] = []
    for begin in range(0, number, _BATCH):
        size = min(_BATCH, number - begin)
        rows, which = rng.integers(0, len(ids), size), rng.integers(0, 2, size)
        eps = np.array(ladder)[which]
        for at, points in draws.points(ids[rows], eps):
            parts = _standard(mechanism, ids[rows[at]], points, eps[at])
            if not tallies:
                width = points.shape[1]
                tallies = [
                    _Tally.of(value, len(ids), width, parts[2]) for value in ladder
                ]
            for each, tally in enumerate(tallies):
                mine = which[at] == each
                directions = None if parts[0] is None else parts[0][mine]
                tally.take(rows[at][mine], directions, parts[1][mine])
    return tallies


@dataclass(slots=True)
class _Tally:
    """Counts below the quantiles of what is known, at one epsilon.

    amounts (words, levels), projections (projections, levels), near (levels,).
    """

    epsilon: float
    steps: NDArray[np.float64]
    turns: NDArray[np.float64]
    axes: NDArray[np.float64]
    amounts: NDArray[np.int64]
    draws: NDArray[np.int64]
    projections: NDArray[np.int64]
    short: NDArray[np.int64]
    near: NDArray[np.int64]
    pairs: int = 0
    shorter: int = 0
    directed: bool = False
    middle: float = field(default=0.0)

    @classmethod
    def of(cls, epsilon: float, words: int, width: int, shape: float) -> _Tally:
        """Begin with the quantiles of a width and of the shape of the amounts."""
        rng = np.random.default_rng(_SEED + 2)
        axes = rng.normal(size=(width, _RANDOM))
        axes /= np.linalg.norm(axes, axis=0)
        steps, turns = _known.gamma(shape), _known.projection(width)
        count = len(_known.LEVELS)
        return cls(
            epsilon,
            steps,
            turns,
            axes,
            np.zeros((words, count), np.int64),
            np.zeros(words, np.int64),
            np.zeros((width + _RANDOM, len(turns)), np.int64),
            np.zeros((_RANDOM, len(turns)), np.int64),
            np.zeros(len(turns), np.int64),
            middle=float(steps[len(steps) // 2]),
        )

    def take(
        self,
        rows: NDArray[np.int64],
        directions: NDArray[np.float64] | None,
        amounts: NDArray[np.float64],
    ) -> None:
        """Take in words (n,), directions (n, d) and amounts (n,)."""
        self.draws += np.bincount(rows, minlength=len(self.draws))
        for level, step in enumerate(self.steps):
            below = rows[amounts <= step]
            self.amounts[:, level] += np.bincount(below, minlength=len(self.draws))
        if directions is None:
            return
        self.directed = True
        seen = np.hstack([directions, directions @ self.axes])
        short = seen[amounts <= self.middle, -_RANDOM:]
        # Each pair of neighbours once: draws that share no word are independent.
        even = len(directions) // 2 * 2
        near = np.einsum("nd,nd->n", directions[0:even:2], directions[1:even:2])
        self.pairs += len(near)
        self.shorter += len(short)
        for level, turn in enumerate(self.turns):
            self.projections[:, level] += (seen <= turn).sum(axis=0)
            self.short[:, level] += (short <= turn).sum(axis=0)
            self.near[level] += int((near <= turn).sum())

    def test(
        self, book: Book, mechanism: NoiseMechanism, ids: Ids, alarm: float
    ) -> None:
        """Test all counts; of lengths that are only bounded no long one is a fault."""
        levels, total = _known.LEVELS, int(self.draws.sum())
        at = f"epsilon {self.epsilon:.6g}"
        exact = mechanism.has_standard_noise

        def capped(hits: NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[Any]:
            # A bound from above: fewer short lengths than at most is no deviation.
            return hits if exact else np.maximum(hits, np.floor(n * levels).astype(int))

        every, each = np.array([total]), self.draws[:, None]
        book.take(
            capped(self.amounts.sum(axis=0), every),
            every,
            levels,
            alarm / 4.0,
            lambda i: f"noise below its quantile {levels[i]:g}, {at}",
        )
        book.take(
            capped(self.amounts, each),
            each,
            levels,
            alarm / 4.0,
            lambda i: (
                f"noise of {label(mechanism, ids[i // len(levels)])!r} below its "
                f"quantile {levels[i % len(levels)]:g}, {at}"
            ),
        )
        book.finds(
            f"noise below its median, {at}", 0.5, total, alarm / 8.0 / len(levels)
        )
        if self.directed:
            self._directions(book, total, alarm / 6.0, at)

    def _directions(self, book: Book, total: int, alarm: float, at: str) -> None:
        chances = _known.turns_below(len(self.turns))
        events = (
            ("a coordinate or projection of the direction", self.projections, total),
            ("a projection of the direction of short noise", self.short, self.shorter),
            ("the product of two directions in a batch", self.near, self.pairs),
        )
        for name, hits, n in events:
            book.take(hits, n, chances, alarm, _named(f"{name}, {at}"))
        level = alarm / 2.0 / self.projections.size
        book.finds(
            f"one side of a coordinate of the direction, {at}", 0.5, total, level
        )


def _named(name: str) -> Callable[[int], str]:
    return lambda _: name
