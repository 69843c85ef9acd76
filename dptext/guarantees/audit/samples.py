"""A lower bound on the loss from draws, with stated confidence."""

from __future__ import annotations

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit.draws import DrawWords
from dptext.guarantees.audit.finding import (
    BY_SAMPLES,
    CONFIDENCE,
    Finding,
    with_samples,
)
from dptext.guarantees.audit.inputs import chosen
from dptext.guarantees.audit.tally import Tally
from dptext.guarantees.binomial import log_ratio
from dptext.mechanisms import Mechanism
from dptext.types import Ids

_EVENTS = 4


def audit(mechanism: Mechanism, epsilon: float, draw: DrawWords, runs: int) -> Finding:
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
    tally = Tally(mechanism, epsilon)
    for a, b in [*pairs, *((b, a) for a, b in pairs)]:
        loss, output = _lower(drawn[a], drawn[b], mechanism.space.size, alpha, delta)
        tally.take_pair((a, b), loss, output)
    method = f"lower bound: {len(pairs)} near pairs, {runs} draws of each word"
    result = tally.finding(method, len(words), by=BY_SAMPLES)
    return with_samples(result, result, result.worst_output)


def _lower(a: Ids, b: Ids, size: int, alpha: float, delta: float) -> tuple[float, int]:
    """Return ln((p_lo - delta) / q_hi) of the best of a few events, and its output."""
    half = len(a) // 2
    first = np.bincount(a[:half], minlength=size) + 0.5
    second = np.bincount(b[:half], minlength=size) + 0.5
    events = np.argsort(np.log(first / second) * np.sqrt(first))[::-1][:_EVENTS]
    best = (0.0, int(events[0]))
    for output in events.tolist():
        hits, other_hits = (int((each[half:] == output).sum()) for each in (a, b))
        loss = log_ratio(hits, other_hits, len(a) - half, alpha, delta)
        best = max(best, (loss, output))
    return best
