"""The program of a noise mechanism: the noise against its known distribution.

Points are drawn by the path of a release, words and epsilons mixed in one batch.
- standard: where the mechanism gives its noise as a direction and an amount
  (`standard_noise`), amounts against their Gamma distribution, directions against the
  uniform one (coordinates, random projections, products of neighbours in the batch),
  each word alone as well; every word is drawn a few times, and those that stand out
  again;
- length: where the claim is epsilon times the distance of the space, noise of one
  density for all words whose logarithm is epsilon-Lipschitz is, on every ray, no
  shorter than Gamma(d, 1/epsilon) in the likelihood-ratio order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dptext.guarantees.audit.findings import (
    ALARM,
    DrawPoints,
    MultipleTests,
    ProgramTest,
    Progress,
    all_inputs,
    chosen,
    label,
    points_of,
    shuffled,
)
from dptext.mechanisms import NoiseMechanism
from dptext.types import Eps, Floats, Ids, Ints, Points

LEVELS = np.array(
    [1e-3, 0.01, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.99, 0.999]
)
_POINTS = 200_001


def gamma(shape: float) -> Floats:
    """Return the quantiles at LEVELS of Gamma(shape, 1), shape at least 1/2.

    By the density 2 s^(2 shape - 1) exp(-s^2) of the square root, which is smooth.
    """
    middle = math.sqrt(shape)
    s = np.linspace(max(middle - 10.0, 0.0), middle + 10.0, _POINTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = (2.0 * shape - 1.0) * np.log(s) - s**2
    log[np.isnan(log)] = 0.0  # 0 ln 0
    return _quantiles(s, log) ** 2


def projection(width: int) -> Floats:
    """Return the quantiles of a coordinate of a direction in so many dimensions.

    In one dimension the coordinate is -1 or 1: the one quantile that is left is 0. With
    t = sin(phi) the density is cos(phi)^(width - 2), smooth also in two dimensions.
    """
    if width == 1:
        return np.zeros(1)
    phi = np.linspace(-math.pi / 2.0, math.pi / 2.0, _POINTS)
    with np.errstate(divide="ignore"):
        log = (width - 2.0) * np.log(np.maximum(np.cos(phi), 1e-300))
    return np.sin(_quantiles(phi, log))


def _quantiles(points: Floats, log: Floats) -> Floats:
    density = np.exp(log - log.max())
    steps = np.diff(points) * (density[1:] + density[:-1]) / 2.0
    below = np.concatenate(([0.0], np.cumsum(steps)))
    below /= below[-1]
    inside = np.flatnonzero(np.diff(below, prepend=-1.0) > 0.0)
    return np.asarray(np.interp(LEVELS, below[inside], points[inside]))


_RANDOM, _SEED = 16, 4


@dataclass(slots=True)
class _Below:
    """How many values of some variables lay below known quantiles: hits (m, levels)."""

    event: str
    quantiles: Floats
    hits: Ints
    draws: int = 0

    def take(self, values: Floats) -> None:
        """Take in values of each variable: (n, m)."""
        self.draws += len(values)
        for level, quantile in enumerate(self.quantiles):
            self.hits[:, level] += (values <= quantile).sum(axis=0)


class NoiseCounts:
    """Counts below known quantiles, at one epsilon.

    amounts (words, levels) of draws (words,); directions of a width, 0: not known.
    """

    def __init__(self, epsilon: float, words: int, shape: float, width: int) -> None:
        self.epsilon = epsilon
        self._steps = gamma(shape)
        self._amounts = np.zeros((words, len(LEVELS)), np.int64)
        self._draws = np.zeros(words, np.int64)
        self._turns = LEVELS if width != 1 else np.array([0.5])
        self._directions: tuple[_Below, ...] = ()
        if width:
            rng = np.random.default_rng(_SEED + 2)
            axes = rng.normal(size=(width, _RANDOM))
            self._axes = axes / np.linalg.norm(axes, axis=0)
            turns = projection(width)
            self._directions = tuple(
                _Below(event, turns, np.zeros((count, len(turns)), np.int64))
                for event, count in (
                    ("a coordinate or projection of the direction", width + _RANDOM),
                    ("a projection of the direction of short noise", _RANDOM),
                    ("the product of two directions in a batch", 1),
                )
            )

    def take(self, rows: Ints, amounts: Floats, directions: Floats | None) -> None:
        """Take in noise: words and amounts (n,), directions (n, d) if known."""
        self._draws += np.bincount(rows, minlength=len(self._draws))
        for level, step in enumerate(self._steps):
            below = rows[amounts <= step]
            self._amounts[:, level] += np.bincount(below, minlength=len(self._draws))
        if directions is None:
            return
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
        levels, at = LEVELS, f"epsilon {self.epsilon:.6g}"

        def of_all(i: int) -> str:
            return f"noise below its quantile {levels[i]:g}, {at}"

        def of_word(i: int) -> str:
            word = label(mechanism, ids[i // len(levels)])
            quantile = f"{levels[i % len(levels)]:g}, {at}"
            return f"noise of {word!r} below its quantile {quantile}"

        total = self._draws.sum(keepdims=True)
        for hits, n, named in (
            (self._amounts.sum(axis=0), total, of_all),
            (self._amounts, self._draws[:, None], of_word),
        ):
            if not mechanism.has_standard_noise:
                # A bound from above: fewer short lengths than that are no deviation.
                hits = np.maximum(hits, np.floor(n * levels).astype(int))
            tests.take(hits, n, levels, alarm / 4.0, named)
        level = alarm / 8.0 / len(levels)
        tests.finds(f"noise below its median, {at}", 0.5, int(total[0]), level)
        for below in self._directions:
            name = f"{below.event}, {at}"
            tests.take(below.hits, below.draws, self._turns, alarm / 6.0, name)
        for every in self._directions[:1]:
            side = f"one side of a coordinate of the direction, {at}"
            tests.finds(side, 0.5, every.draws, alarm / 12.0 / every.hits.size)


_BATCH = 2**14
_CHOSEN, _SCREEN, _STANDING_OUT = 64, 8, 32
_PARTS = (1.0, 0.25)
# Noise that is not much larger than the rounding of a vector is not looked at.
_ROUNDED = 2.0**-10


def audit_noise(
    mechanism: NoiseMechanism,
    epsilon: float,
    draw: DrawPoints,
    number: int,
    progress: Progress,
) -> ProgramTest:
    """Test the noise by so many draws."""
    exact = mechanism.has_standard_noise
    # Else the claim must be epsilon times the distance of the space.
    promise = mechanism.guarantee(epsilon)
    if not exact and not promise.counts(mechanism.space.distance):
        untested = ("the noise itself: its distribution is not known to the audit",)
        return ProgramTest(False, False, "no formula of the noise", untested=untested)
    if not _fine(points_of(draw, 0, epsilon, 64)):
        untested = ("the noise itself: it is lost in the rounding of the vectors",)
        return ProgramTest(False, False, "noise too small", untested=untested)
    ids = chosen(mechanism, _CHOSEN)
    if mechanism.space.size + 1 > _CHOSEN:
        progress(f"drawing every word {_SCREEN} times at epsilon {epsilon:.4g}")
        extreme = _standing_out(mechanism, draw, epsilon)
        ids = np.unique(np.concatenate((ids, extreme)))
    progress(f"drawing {len(ids)} words {number:,} times, epsilons mixed")
    tallies = _tallied(mechanism, epsilon, draw, ids, number)
    tests = MultipleTests()
    for tally in tallies:
        tally.test(tests, mechanism, ids, ALARM / len(tallies))
    method = (
        f"amount and direction of the noise of {len(ids)} words"
        if exact
        else f"length of the noise of {len(ids)} words against the least that a claim "
        "at every distance allows (noise of one density for all words)"
    )
    epsilons = tuple(tally.epsilon for tally in tallies)
    program = ProgramTest(True, False, method, draws=number, epsilons=epsilons)
    return tests.concluded(program)


def _standard(
    mechanism: NoiseMechanism, ids: Ids, points: Points, eps: Eps
) -> tuple[Floats | None, Floats, float]:
    """Return directions (n, d) if they are known, amounts (n,) and their shape."""
    standard = mechanism.standard_noise(ids, points, eps)
    if standard is not None:
        return standard
    noise = points.astype(np.float64) - mechanism.space.vectors[ids]
    return None, eps * np.linalg.norm(noise, axis=1), float(noise.shape[1])


def _fine(points: Points) -> bool:
    """Tell whether noise is far above the rounding of float32 and below its limit."""
    spread = np.abs(points - np.median(points, axis=0)).mean()
    length = float(np.abs(points).max())
    # Points that all coincide are no rounded noise: that is for the tests.
    return bool(
        spread == 0.0 or (spread * _ROUNDED > length * 2.0**-24 and length < 1e12)
    )


def _standing_out(mechanism: NoiseMechanism, draw: DrawPoints, epsilon: float) -> Ids:
    """Choose the words whose noise is shortest or longest on average."""
    every = all_inputs(mechanism)
    sums = np.zeros(len(every))
    rng = np.random.default_rng(_SEED)
    for _, part in shuffled(len(every), _SCREEN, _BATCH, rng):
        eps = np.full(len(part), epsilon)
        for at, points in draw(every[part], eps):
            amounts = _standard(mechanism, every[part[at]], points, eps[at])[1]
            sums[part[at]] += amounts
    order = np.argsort(sums, kind="stable")
    return every[np.concatenate((order[:_STANDING_OUT], order[-_STANDING_OUT:]))]


def _tallied(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, ids: Ids, number: int
) -> list[NoiseCounts]:
    """Draw the words at random, epsilons mixed in each batch."""
    rng = np.random.default_rng(_SEED + 1)
    ladder = [epsilon * part for part in _PARTS]
    tallies: list[NoiseCounts] = []
    for begin in range(0, number, _BATCH):
        size = min(_BATCH, number - begin)
        rows, which = rng.integers(0, len(ids), size), rng.integers(0, 2, size)
        eps = np.array(ladder)[which]
        for at, points in draw(ids[rows], eps):
            directions, amounts, shape = _standard(
                mechanism, ids[rows[at]], points, eps[at]
            )
            if not tallies:
                width = 0 if directions is None else points.shape[1]
                tallies = [
                    NoiseCounts(value, len(ids), shape, width) for value in ladder
                ]
            for each, tally in enumerate(tallies):
                mine = which[at] == each
                turned = None if directions is None else directions[mine]
                tally.take(rows[at][mine], amounts[mine], turned)
    return tallies
