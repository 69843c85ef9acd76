"""Lower bounds on the loss of pairs of words, from draws.

Of a noise mechanism:
- formula: where it gives `log_density`, the loss at the vectors themselves, where noise
  of one peak loses most;
- black box: how well the side of a plane across the line between two words
  shows which of them was there (Clopper-Pearson, thresholds from half of the draws).

Of a mechanism that can only be drawn from: the words that tell a pair apart most.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dptext.errors import UsageError
from dptext.guarantees import binomial
from dptext.guarantees.audit.exact import LossTally
from dptext.guarantees.audit.findings import (
    ALARM,
    BY_SAMPLES,
    CONFIDENCE,
    AuditResult,
    DrawPoints,
    DrawWords,
    chosen,
    points_of,
    with_samples,
)
from dptext.mechanisms import Mechanism, NoiseMechanism
from dptext.types import Floats, Ids, Points

_SEED = 5
_PAIRS, _FAR, _CANDIDATES, _PILOT = 8, 2, 24, 256
_EVENTS, _WORDS = 4, 400
# Shares of the draws at whose quantiles a plane is tried.
_SHARES = np.concatenate((np.linspace(0.02, 0.98, 49), [0.99, 0.995, 0.999]))
# Rounding of density ratios: relative, for pairs that are not much nearer than most.
_SLACK, _NEAREST = 1e-6, 1e-3
Pair = tuple[int, int]


def audit_pairs(
    mechanism: NoiseMechanism, epsilon: float, draw: DrawPoints, runs: int
) -> AuditResult:
    """Bound the loss of pairs from below."""
    if mechanism.space.size < 2:
        raise UsageError("audit: a lower bound from draws needs a lexicon of two words")
    pairs = _pairs(mechanism, epsilon, draw)
    tally = LossTally(mechanism, epsilon)
    for pair in pairs:
        first, second = (points_of(draw, row, epsilon, runs) for row in pair)
        _black_box(tally, mechanism, epsilon, pair, first, second, len(pairs))
    method = f"lower bound: {len(pairs)} pairs, {runs:,} draws of each word"
    plane = "a side of a plane between them"
    sampled = replace(
        tally.finding(method, 2 * len(pairs), by=BY_SAMPLES), worst_output=plane
    )
    result = _by_formula(mechanism, epsilon, sampled) or sampled
    return with_samples(result, sampled, plane, len(pairs))


def _by_formula(
    mechanism: NoiseMechanism, epsilon: float, sampled: AuditResult
) -> AuditResult | None:
    """Return the losses that the density itself says, where there is one."""
    if not mechanism.has_log_density or mechanism.guarantee(epsilon).delta > 0.0:
        return None
    ids = chosen(mechanism, _WORDS)
    vectors = mechanism.output_vectors[ids].astype(np.float64)
    eps = np.full(len(ids), epsilon)
    density = mechanism.log_density(vectors, eps, ids)
    losses = (np.diag(density)[:, None] - density).ravel() * (1.0 - _SLACK)
    a, b = np.repeat(ids, len(ids)), np.tile(ids, len(ids))
    claim = mechanism.claimed_loss(a, b, epsilon)
    clear = (a != b) & (claim > _NEAREST * float(np.median(claim)))
    tally = LossTally(mechanism, epsilon)
    if clear.any():
        tally.take(a[clear], b[clear], losses[clear], a[clear])
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
) -> Floats:
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
    tally: LossTally,
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


def _lower(mine: Floats, theirs: Floats, alpha: float, delta: float) -> float:
    """Return ln((p - delta) / q) of the best event {side >= t}, limits of each."""
    half = len(mine) // 2
    steps = np.unique(
        np.quantile(np.concatenate((mine[:half], theirs[:half])), _SHARES)
    )
    p = (mine[:half, None] >= steps).mean(axis=0) + 0.5 / half
    q = (theirs[:half, None] >= steps).mean(axis=0) + 3.0 / half
    return _best(
        p,
        q,
        lambda at: (mine[half:] >= steps[at], theirs[half:] >= steps[at]),
        alpha,
        delta,
    )[0]


def _best(
    p: NDArray[np.floating],
    q: NDArray[np.floating],
    hits: Callable[[int], tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    alpha: float,
    delta: float,
) -> tuple[float, int]:
    """Return ln((p - delta) / q), at least 0, of the best of a few events, and which.

    p and q (m,) say which events are worth a test; hits, which of the draws that are
    left for tests an event holds of, for both words.
    """
    events = np.argsort(np.log(p / q) * np.sqrt(p))[::-1][:_EVENTS].tolist()
    best = (0.0, events[0])
    for event in events:
        mine, theirs = hits(event)
        low = binomial.limits(int(mine.sum()), len(mine), alpha)[0]
        high = binomial.limits(int(theirs.sum()), len(theirs), alpha)[1]
        if low > delta:
            best = max(best, (math.log((low - delta) / high), event))
    return best


def audit_samples(
    mechanism: Mechanism, epsilon: float, draw: DrawWords, runs: int
) -> AuditResult:
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
    alpha = (1.0 - CONFIDENCE) / (2 * len(pairs) * _EVENTS)
    words = sorted({*inputs.tolist(), *near.tolist()})
    eps = np.full(runs, epsilon)
    drawn = {row: draw(np.full(runs, row, np.int32), eps) for row in words}
    delta = mechanism.guarantee(epsilon).delta
    tally = LossTally(mechanism, epsilon)
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
    first, second = (
        np.bincount(e[:half], minlength=size).astype(np.float64) + 0.5 for e in (a, b)
    )
    return _best(
        first, second, lambda at: (a[half:] == at, b[half:] == at), alpha, delta
    )
