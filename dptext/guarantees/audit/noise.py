"""Audits of noise mechanisms: draws of the noise, and density ratios of pairs of words.

The program of a noise mechanism: the noise itself, held against what is known.

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

How often noise lies below the quantiles of what is known of it.

Quantiles of a Gamma variable and of a coordinate of a uniform direction.

Pairs of words of a noise mechanism: what its density claims, what its draws show.

- formula: where it gives `log_density`, the loss at the vectors themselves, where noise
  of one peak loses most;
- ratios, with it: of the draws from x and from x' with ln p'/p = t a share of
  1 / (1 + e^-t) comes from x', bin by bin, also at an epsilon at which draws of the two
  meet; with a delta, the mean of
  max(0, 1 - e^(epsilon - t)) is at most delta;
- black box, without it: how well the side of a plane across the line between two words
  shows which of them was there (Clopper-Pearson, thresholds from half of the draws).

The density ratio of a pair of words, held against draws of both.

A lower bound on the loss from draws, with stated confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.guarantees.audit.finding import (
    BY_SAMPLES,
    CONFIDENCE,
    Finding,
    label,
    with_samples,
)
from dptext.guarantees.audit.inputs import (
    DrawPoints,
    DrawWords,
    Progress,
    all_inputs,
    chosen,
    points_of,
    shuffled,
)
from dptext.guarantees.audit.program import ALARM, MultipleTests, Program
from dptext.guarantees.audit.tally import Tally
from dptext.guarantees.binomial import log_ratio
from dptext.mechanisms import Mechanism, NoiseMechanism
from dptext.types import Eps, Ids, Points

LEVELS = np.array(
    [1e-3, 0.01, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.99, 0.999]
)
_POINTS = 200_001


def gamma(shape: float) -> NDArray[np.float64]:
    """Return the quantiles at LEVELS of Gamma(shape, 1), shape at least 1/2.

    By the density 2 s^(2 shape - 1) exp(-s^2) of the square root, which is smooth.
    """
    middle = math.sqrt(shape)
    s = np.linspace(max(middle - 10.0, 0.0), middle + 10.0, _POINTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        log = (2.0 * shape - 1.0) * np.log(s) - s**2
    log[np.isnan(log)] = 0.0  # 0 ln 0
    return _quantiles(s, log) ** 2


def projection(width: int) -> NDArray[np.float64]:
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


def turns_below(count: int) -> NDArray[np.float64]:
    """Return the chances that belong to so many quantiles of a coordinate."""
    return LEVELS if count == len(LEVELS) else np.array([0.5])


def _quantiles(
    points: NDArray[np.float64], log: NDArray[np.float64]
) -> NDArray[np.float64]:
    density = np.exp(log - log.max())
    steps = np.diff(points) * (density[1:] + density[:-1]) / 2.0
    below = np.concatenate(([0.0], np.cumsum(steps)))
    below /= below[-1]
    inside = np.flatnonzero(np.diff(below, prepend=-1.0) > 0.0)
    return np.asarray(np.interp(LEVELS, below[inside], points[inside]))


_RANDOM = 16
_SEED_OF_COUNTS = 6


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
        self._steps = gamma(shape)
        self._amounts = np.zeros((words, len(LEVELS)), np.int64)
        self._draws = np.zeros(words, np.int64)
        self._directions: tuple[_Below, ...] = ()
        if width:
            rng = np.random.default_rng(_SEED_OF_COUNTS)
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
        levels, total = LEVELS, int(self._draws.sum())
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
            chances = turns_below(len(below.quantiles))
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


_SEED = 4
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
    tests: MultipleTests,
) -> Program:
    """Test the noise by so many draws; the tests stays open for tests of pairs."""
    exact = mechanism.has_standard_noise
    if not exact and not dominated(mechanism, epsilon):
        untested = ("the noise itself: its distribution is not known to the audit",)
        return Program(False, False, "no formula of the noise", untested=untested)
    if not _fine(points_of(draw, 0, epsilon, 64)):
        untested = ("the noise itself: it is lost in the rounding of the vectors",)
        return Program(False, False, "noise too small", untested=untested)
    ids = chosen(mechanism, _CHOSEN)
    if mechanism.space.size + 1 > _CHOSEN:
        progress(f"drawing every word {_SCREEN} times at epsilon {epsilon:.4g}")
        extreme = _standing_out(mechanism, draw, epsilon)
        ids = np.unique(np.concatenate((ids, extreme)))
    progress(f"drawing {len(ids)} words {number:,} times, epsilons mixed")
    tallies = _tallied(mechanism, epsilon, draw, ids, number)
    for tally in tallies:
        tally.test(tests, mechanism, ids, ALARM / 2.0 / len(tallies))
    method = (
        f"amount and direction of the noise of {len(ids)} words"
        if exact
        else f"length of the noise of {len(ids)} words against the least that a claim "
        "at every distance allows (noise of one density for all words)"
    )
    epsilons = tuple(tally.epsilon for tally in tallies)
    return Program(True, False, method, draws=number, epsilons=epsilons)


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
                tally.take_amounts(rows[at][mine], amounts[mine])
                if directions is not None:
                    tally.take_directions(directions[mine], amounts[mine])
    return tallies


_BINS = 32
_SEED_OF_RATIOS = 5


def check_ratios(
    tests: MultipleTests,
    mechanism: NoiseMechanism,
    epsilon: float,
    pair: tuple[int, int],
    first_points: Points,
    second_points: Points,
    alarm: float,
) -> float:
    """Test the density ratio of a pair against its draws; return its log's spread."""
    words = np.array(pair, np.int32)
    eps = np.full(len(first_points), epsilon)
    logs = [
        mechanism.log_density(points.astype(np.float64), eps, words).astype(np.float64)
        for points in (first_points, second_points)
    ]
    first, second = (each[:, 1] - each[:, 0] for each in logs)
    part = len(first) // 4
    pooled = np.concatenate((first[:part], second[:part]))
    inner = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _BINS + 1)[1:-1]))
    mine = np.concatenate((first[part:], second[part:]))
    counts, totals, chances = _shares(mine, inner)
    names = f"{label(mechanism, pair[0])!r} and {label(mechanism, pair[1])!r}"
    claim = f"the density ratio of {names}, epsilon {epsilon:.6g}"
    tests.take(counts, totals, chances, alarm / 2.0, lambda _: claim)
    delta = mechanism.guarantee(epsilon).delta
    if delta > 0.0:
        name = f"a loss of {names} above epsilon {epsilon:.6g} (delta)"
        for losses in (-first, second):
            _beyond(tests, losses, epsilon, delta, alarm / 4.0, name)
    # Noise of a normal kind has a mean of half the variance; other noise may have more.
    return float(max(first.std(), math.sqrt(2.0 * abs(first.mean()))))


def _beyond(
    tests: MultipleTests,
    losses: NDArray[np.float64],
    epsilon: float,
    delta: float,
    alarm: float,
    name: str,
) -> None:
    """Test that losses leave at most delta above epsilon.

    max(0, 1 - e^(epsilon - loss)) has a mean of at most delta; taken as the chance of a
    success, by public coins, it makes a binomial count of it.
    """
    coins = np.random.default_rng(_SEED_OF_RATIOS).random(len(losses))
    above = -np.expm1(np.minimum(epsilon - losses, 0.0))
    count = int((coins < above).sum())
    if count > delta * len(losses):
        tests.take(
            np.array([count]), len(losses), np.array([delta]), alarm, lambda _: name
        )


def _shares(
    logs: NDArray[np.float64], edges: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Count the draws from x', all draws, and the share that is due, bin by bin.

    logs (2 n,), those of x' in the second half; of all bins below an edge together as
    well. Every bin has a draw at least, or a share of a half of none.
    """
    due = 0.5 * (1.0 + np.tanh(logs / 2.0))
    bins, size = np.searchsorted(edges, logs, side="right"), len(edges) + 1
    ours = np.bincount(bins[len(logs) // 2 :], minlength=size)
    total = np.bincount(bins, minlength=size)
    expected = np.bincount(bins, weights=due, minlength=size)
    ours, total, expected = (
        np.concatenate((each, np.cumsum(each))) for each in (ours, total, expected)
    )
    share = np.divide(expected, total, out=np.full(2 * size, 0.5), where=total > 0)
    return ours, total, np.clip(share, 0.0, 1.0)


_SEED_OF_PAIRS = 5
_PAIRS, _FAR, _CANDIDATES, _PILOT = 8, 2, 24, 256
_EVENTS, _WORDS = 4, 400
# Shares of the draws at whose quantiles a plane is tried.
_SHARES = np.concatenate((np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]))
# Spreads of log ratios, in nats, beyond which draws of two words hardly meet.
_WIDE = 2.0
# Rounding of density ratios: relative, for pairs that are not much nearer than most.
_SLACK, _NEAREST = 1e-6, 1e-3
Pair = tuple[int, int]


def audit_pairs(
    mechanism: NoiseMechanism,
    epsilon: float,
    draw: DrawPoints,
    runs: int,
    tests: MultipleTests,
) -> Finding:
    """Bound the loss of pairs from below; tests of ratios go into the tests."""
    if mechanism.space.size < 2:
        raise UsageError("audit: a lower bound from draws needs a lexicon of two words")
    pairs = _pairs(mechanism, epsilon, draw)
    share = ALARM / 4.0 / len(pairs)
    tally = Tally(mechanism, epsilon)
    for pair in pairs:
        first, second = (points_of(draw, row, epsilon, runs) for row in pair)
        _black_box(tally, mechanism, epsilon, pair, first, second, len(pairs))
        if mechanism.has_log_density:
            spread = check_ratios(tests, mechanism, epsilon, pair, first, second, share)
            if spread > _WIDE:
                # Words too far from each other to meet do so at a smaller epsilon.
                less = epsilon / spread
                first, second = (points_of(draw, row, less, runs) for row in pair)
                check_ratios(tests, mechanism, less, pair, first, second, share)
    method = f"lower bound: {len(pairs)} pairs, {runs:,} draws of each word"
    plane = "a side of a plane between them"
    sampled = replace(
        tally.finding(method, 2 * len(pairs), by=BY_SAMPLES), worst_output=plane
    )
    result = _by_formula(mechanism, epsilon, sampled) or sampled
    return with_samples(result, sampled, plane, len(pairs))


def _by_formula(
    mechanism: NoiseMechanism, epsilon: float, sampled: Finding
) -> Finding | None:
    """Return the losses that the density itself says, where there is one."""
    if not mechanism.has_log_density or mechanism.guarantee(epsilon).delta > 0.0:
        return None
    ids = chosen(mechanism, _WORDS)
    vectors = mechanism.output_vectors[ids].astype(np.float64)
    eps = np.full(len(ids), epsilon)
    density = mechanism.log_density(vectors, eps, ids)
    losses = np.diag(density)[:, None] - density
    tally = Tally(mechanism, epsilon)
    for row in range(len(ids)):
        others = np.delete(np.arange(len(ids)), row)
        a, b = np.repeat(ids[row], len(others)), ids[others]
        claim = mechanism.claimed_loss(a, b, epsilon)
        clear = claim > _NEAREST * float(np.median(claim))
        others, a, b = others[clear], a[clear], b[clear]
        if len(others):
            tally.take(a, b, losses[row, others] * (1.0 - _SLACK), a)
    if not tally.pairs:
        return None
    method = "formula: density ratios at the vectors of chosen words"
    result = tally.finding(method, len(ids))
    return replace(
        result,
        worst_output=f"a point at {result.worst_output}",
        refuted=result.refuted or sampled.refuted,
        published=sampled.published or result.published,
    )


def _pairs(mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints) -> list[Pair]:
    """Choose words and for each another from which draws can be told, but not surely.

    And the two farthest pairs of some hundred words.
    """
    rng = np.random.default_rng(_SEED_OF_PAIRS)
    size = mechanism.space.size
    ids = chosen(mechanism, max(4 * _PAIRS, 8))
    ids = ids[np.linspace(0, len(ids) - 1, _PAIRS).astype(int)]
    near = np.asarray(mechanism.space.lexicon.orders)[:, :4].astype(np.int32)
    pairs: list[Pair] = []
    for row in np.unique(ids).tolist():
        others = np.concatenate((near[row], rng.integers(0, size, _CANDIDATES)))
        others = np.unique(others[others != row]).astype(np.int32)
        if len(others):
            best = _spread(mechanism, epsilon, draw, row, others).argmin()
            pairs.append((row, int(others[best])))
    some = chosen(mechanism, _WORDS)
    wide = mechanism.output_vectors[some].astype(np.float64)
    squares = np.einsum("nd,nd->n", wide, wide)
    gaps = squares[:, None] + squares[None] - 2.0 * wide @ wide.T
    for _ in range(_FAR):
        a, b = np.unravel_index(int(gaps.argmax()), gaps.shape)
        gaps[[a, b]] = gaps[:, [a, b]] = -1.0
        if a != b:
            pairs.append((int(some[a]), int(some[b])))
    return list(dict.fromkeys(pairs))


def _spread(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, row: int, others: Ids
) -> NDArray[np.float64]:
    """Return how far the spread of ln p'/p is from one nat, or else the distance."""
    vectors = mechanism.output_vectors
    if not mechanism.has_log_density:
        gap = vectors[others].astype(np.float64) - vectors[row]
        return np.asarray(np.linalg.norm(gap, axis=1))
    points = points_of(draw, row, epsilon, _PILOT).astype(np.float64)
    words = np.append(others, row).astype(np.int32)
    eps = np.full(_PILOT, epsilon)
    density = mechanism.log_density(points, eps, words)
    spread = (density[:, :-1] - density[:, -1:]).std(axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.abs(np.log(spread)))


def _black_box(
    tally: Tally,
    mechanism: NoiseMechanism,
    epsilon: float,
    pair: Pair,
    first: Points,
    second: Points,
    pairs: int,
) -> None:
    vectors = mechanism.output_vectors
    line = vectors[pair[1]].astype(np.float64) - vectors[pair[0]]
    length = float(np.linalg.norm(line))
    if length > 0.0:
        line /= length
    sides = first @ line, second @ line
    delta = mechanism.guarantee(epsilon).delta
    alpha = ALARM / (2 * pairs * _EVENTS)
    (a, b), (low, high) = pair, sides
    for x, other, mine, theirs in ((a, b, -low, -high), (b, a, high, low)):
        loss = _lower(mine, theirs, alpha, delta)
        tally.take_pair((x, other), loss, x)


def _lower(
    mine: NDArray[np.float64], theirs: NDArray[np.float64], alpha: float, delta: float
) -> float:
    """Return ln((p - delta) / q) of the best event {side >= t}, limits of each."""
    half = len(mine) // 2
    steps = np.unique(
        np.quantile(np.concatenate((mine[:half], theirs[:half])), _SHARES)
    )
    p = (mine[:half, None] >= steps).mean(axis=0) + 0.5 / half
    q = (theirs[:half, None] >= steps).mean(axis=0) + 3.0 / half
    best = 0.0
    for step in steps[np.argsort(np.log(p / q) * np.sqrt(p))[::-1][:_EVENTS]].tolist():
        hits, other_hits = (int((each[half:] >= step).sum()) for each in (mine, theirs))
        best = max(best, log_ratio(hits, other_hits, len(mine) - half, alpha, delta))
    return best


_SAMPLED_EVENTS = 4


def audit_samples(
    mechanism: Mechanism, epsilon: float, draw: DrawWords, runs: int
) -> Finding:
    """Bound the loss of a few near pairs from below (Clopper-Pearson, split samples).

    Half of the runs choose the output words that tell a pair apart most, the other
    half tests them; all limits hold together with 99.9% confidence. With a claim of
    (epsilon, delta) it is ln((P(y|x) - delta) / P(y|x')) that must not exceed epsilon.
    """
    inputs = chosen(mechanism, 24)
    inputs = inputs[inputs >= 0][:16]
    near = mechanism.space.lexicon.orders[inputs, 1].astype(np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(inputs, near, strict=True) if a != b]
    if not pairs:
        raise UsageError("audit: a lower bound from draws needs a lexicon of two words")
    alpha = (1.0 - CONFIDENCE) / (2 * len(pairs) * _SAMPLED_EVENTS)
    words = sorted({*inputs.tolist(), *near.tolist()})
    eps = np.full(runs, epsilon)
    drawn = {row: draw(np.full(runs, row, np.int32), eps) for row in words}
    delta = mechanism.guarantee(epsilon).delta
    tally = Tally(mechanism, epsilon)
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        loss, output = _lower_limit(
            drawn[a], drawn[b], mechanism.space.size, alpha, delta
        )
        tally.take_pair((a, b), loss, output)
    method = f"lower bound: {len(pairs)} near pairs, {runs} draws of each word"
    result = tally.finding(method, len(words), by=BY_SAMPLES)
    return with_samples(result, result, result.worst_output)


def _lower_limit(
    a: Ids, b: Ids, size: int, alpha: float, delta: float
) -> tuple[float, int]:
    """Return ln((p_lo - delta) / q_hi) of the best of a few events, and its output."""
    half = len(a) // 2
    first = np.bincount(a[:half], minlength=size) + 0.5
    second = np.bincount(b[:half], minlength=size) + 0.5
    events = np.argsort(np.log(first / second) * np.sqrt(first))[::-1][:_SAMPLED_EVENTS]
    best = (0.0, int(events[0]))
    for output in events.tolist():
        hits, other_hits = (int((each[half:] == output).sum()) for each in (a, b))
        loss = log_ratio(hits, other_hits, len(a) - half, alpha, delta)
        best = max(best, (loss, output))
    return best
