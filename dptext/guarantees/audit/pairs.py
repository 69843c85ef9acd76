"""Pairs of words of a noise mechanism: what its density claims, what its draws show.

- formula: where it gives `log_density`, the loss at the vectors themselves, where noise
  of one peak loses most;
- ratios, with it: of the draws from x and from x' with ln p'/p = t a share of
  1 / (1 + e^-t) comes from x', bin by bin, also at an epsilon at which draws of the two
  meet; with a delta, the mean of
  max(0, 1 - e^(epsilon - t)) is at most delta;
- black box, without it: how well the side of a plane across the line between two words
  shows which of them was there (Clopper-Pearson, thresholds from half of the draws).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.guarantees.audit.draws import DrawPoints, points_of
from dptext.guarantees.audit.finding import BY_SAMPLES, Finding, with_samples
from dptext.guarantees.audit.inputs import chosen
from dptext.guarantees.audit.program import ALARM, MultipleTests
from dptext.guarantees.audit.ratios import check_ratios
from dptext.guarantees.audit.tally import Tally
from dptext.guarantees.binomial import log_ratio
from dptext.mechanisms import NoiseMechanism
from dptext.types import Ids, Points

_SEED = 5
_PAIRS, _FAR, _CANDIDATES, _PILOT = 8, 2, 24, 256
_EVENTS, _WORDS = 4, 400
# Shares of the draws at whose quantiles a plane is tried.
_SHARES = np.concatenate((np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]))
# Spreads of log ratios, in nats, beyond which draws of two words hardly meet.
_WIDE = 2.0
# Rounding of density ratios: relative, for pairs that are not much nearer than most.
_SLACK, _NEAREST = 1e-6, 1e-3
Pair = tuple[int, int]


def audit(
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
    rng = np.random.default_rng(_SEED)
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
