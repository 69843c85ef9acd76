"""A lower bound on the loss from draws, with stated confidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit.finding import Finding, Tally, published_loss
from dptext.guarantees.audit.program import ALARM
from dptext.guarantees.audit.rows import chosen
from dptext.guarantees.binomial import limits
from dptext.mechanisms import Mechanism
from dptext.types import Eps, Ids

Draw = Callable[[Ids, Eps], Ids]
CONFIDENCE = 1.0 - ALARM
_EVENTS = 4


def audit(mechanism: Mechanism, epsilon: float, draw: Draw, runs: int) -> Finding:
    """Bound the loss of a few near pairs from below (Clopper-Pearson, split samples).

    Half of the runs choose the output words that tell a pair apart most, the other
    half tests them; all limits hold together with 99.9% confidence. With a claim of
    (epsilon, delta) it is ln((P(y|x) - delta) / P(y|x')) that must not exceed epsilon.
    """
    epsilons = np.full(runs, epsilon)
    inputs = chosen(mechanism, 24)
    inputs = inputs[inputs >= 0][:16]
    near = mechanism.space.lexicon.orders[inputs, 1].astype(np.int32)
    pairs = [(int(a), int(b)) for a, b in zip(inputs, near, strict=True) if a != b]
    if not pairs:
        msg = "audit: a lower bound from draws needs a lexicon of two words"
        raise UsageError(msg)
    alpha = (1.0 - CONFIDENCE) / (2 * len(pairs) * _EVENTS)
    words = sorted({*inputs.tolist(), *near.tolist()})
    found = {row: draw(np.full(runs, row, np.int32), epsilons) for row in words}
    delta = mechanism.guarantee(epsilon).delta
    tally = Tally()
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        loss, output = _lower(found[a], found[b], mechanism.space.size, alpha, delta)
        ids = np.array([a], np.int32), np.array([b], np.int32)
        tally.take(
            *ids,
            np.array([loss]),
            np.array([output]),
            mechanism.claimed_loss(*ids, epsilon),
            published_loss(mechanism, epsilon, *ids),
        )
    method = f"lower bound: {len(pairs)} near pairs, {runs} draws of each word"
    by = f"samples, {CONFIDENCE:.1%} confidence"
    made = tally.finding(mechanism, epsilon, method, len(words), by=by)
    return replace(
        made,
        confidence=CONFIDENCE,
        sampled=made.worst,
        sampled_pair=made.worst_pair,
        sampled_output=made.worst_output,
    )


def _lower(a: Ids, b: Ids, size: int, alpha: float, delta: float) -> tuple[float, int]:
    """Return ln((p_lo - delta) / q_hi) of the best of a few events, and its output."""
    half = len(a) // 2
    first = np.bincount(a[:half], minlength=size) + 0.5
    second = np.bincount(b[:half], minlength=size) + 0.5
    events = np.argsort(np.log(first / second) * np.sqrt(first))[::-1][:_EVENTS]
    best = (0.0, int(events[0]))
    for output in events.tolist():
        low, _ = limits(int((a[half:] == output).sum()), len(a) - half, alpha)
        _, high = limits(int((b[half:] == output).sum()), len(b) - half, alpha)
        if low > delta:
            best = max(best, (math.log((low - delta) / high), output))
    return best
