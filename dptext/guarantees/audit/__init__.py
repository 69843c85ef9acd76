"""Audits a privacy claim, and whether the program matches its formula.

The claim is tested against the formula (`losses`) with the first method that applies:
- identity: for P(y|x) ~ exp(-eta t(x, y) / 2) with a metric t, all pairs of V and the
  unknown word;
- rows: exact output distributions of chosen inputs, every ordered pair of them;
- pairs: for noise mechanisms the density at the words' vectors, and a lower bound from
  draws that needs no density;
- samples: a lower bound from drawn words; it can refute a claim, never prove it.

The program is tested against the formula by draws (`program`): of words if the output
distribution is exact, of noise for noise mechanisms.

If the mechanism has no guarantee, the claim of its paper is audited too
(`published`), together with the proven loss (`least_loss`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit import losses, program
from dptext.guarantees.audit.findings import AuditDraws, AuditResult, Progress, label
from dptext.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    NoiseMechanism,
    TextMechanism,
)

__all__ = ["DRAWS", "AuditDraws", "AuditResult", "audit"]
# Draws of words in a test of the program; of points, which take longer, a tenth.
DRAWS = 4_000_000


def audit(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws | None,
    *,
    inputs: int = 200,
    runs: int = 20000,
    number: int = DRAWS,
    progress: Progress = lambda line: None,
) -> AuditResult:
    """Audit a mechanism at an epsilon.

    draws runs the program on the release path; without it only formulas are
    tested. inputs is the number of words to choose; runs how often
    each of a few pairs of words is drawn if there is no exact output distribution;
    number, the draws that test the program; progress is called with
    lines of progress.
    UsageError for a mechanism of whole texts that offers no public rows, and for one
    that can only be sampled if draws is None.
    """
    if isinstance(mechanism, TextMechanism):
        log_probs = mechanism.example_log_probs(epsilon)
        result = losses.audit_texts(mechanism, epsilon, log_probs)
    elif isinstance(mechanism, NoiseMechanism) or not mechanism.has_log_probs:
        result = _by_draws(
            mechanism, epsilon, draws=draws, runs=runs, number=number, progress=progress
        )
    else:
        if isinstance(mechanism, ExponentialMechanism):
            progress("computing the losses of all pairs of words")
            result = losses.audit_all_pairs(mechanism, epsilon)
        else:
            progress(f"computing the losses of all pairs of {inputs} words")
            result = losses.audit_rows(mechanism, epsilon, inputs)
        if draws is not None:
            tested = program.audit_words(
                mechanism,
                epsilon,
                draws=draws,
                inputs=inputs,
                number=number,
                progress=progress,
            )
            result = replace(result, program=tested)
    result = _proven(mechanism, epsilon, result)
    if result.program is None or draws is None:
        return result
    batches = draws.batches()
    later = f"a fault that begins after the first {batches:,} batches of words"
    untested = (*result.program.untested, later)
    tested = replace(result.program, batches=batches, untested=untested)
    return replace(result, program=tested)


def _by_draws(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws | None,
    runs: int,
    number: int,
    progress: Progress,
) -> AuditResult:
    """Audit a mechanism that can only be sampled, on pairs of words.

    For noise, the program is tested first.
    """
    noisy = isinstance(mechanism, NoiseMechanism)
    if draws is None or (noisy and draws.points is None):
        raise UsageError(f"audit: {mechanism.name} can only be judged by draws")
    drawing = f"drawing pairs of words, {runs:,} draws of each"
    if not isinstance(mechanism, NoiseMechanism) or draws.points is None:
        progress(drawing)
        return losses.audit_samples(mechanism, epsilon, draws.words, runs)
    tested = program.audit_noise(
        mechanism, epsilon, draw=draws.points, number=number // 10, progress=progress
    )
    progress(drawing)
    result = losses.audit_pairs(mechanism, epsilon, draws.points, runs)
    mapping = "the mapping: it sees the noisy vector alone and can lose no more"
    tested = replace(tested, untested=(*tested.untested, mapping))
    return replace(result, program=tested)


def _proven(mechanism: Mechanism, epsilon: float, result: AuditResult) -> AuditResult:
    """Add the proven lower bound on a mechanism's worst loss."""
    proven = mechanism.least_loss()
    if proven is None:
        return result
    least, (a, b) = proven
    pair = (label(mechanism, a), label(mechanism, b))
    result = replace(result, proven=least, proven_pair=pair)
    if least > result.worst:
        result = replace(
            result,
            worst=least,
            worst_pair=pair,
            worst_output=pair[0],
            claim_of_worst=math.inf,
            infinite=result.infinite if math.isfinite(least) else 1.0,
        )
    inputs = np.array([a], np.int32), np.array([b], np.int32)
    stated = mechanism.published_loss(*inputs, epsilon)
    if result.published is None or not result.confidence or stated is None:
        return result
    bound = float(stated[0])
    if least <= bound:
        return result
    published = replace(result.published, refuted=True, by="proof", pair=pair)
    published = replace(published, ratio=least / bound, loss=least, bound=bound)
    return replace(result, published=published)
