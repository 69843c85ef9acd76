"""Whether a claim is true, and whether the program does what its formula says.

The claim against the formula, the first that fits:
- identity: for P(y|x) ~ exp(-eta t(x, y) / 2) with a metric t, all pairs of V and the
  unknown word;
- rows: exact output distributions of chosen inputs, every ordered pair of them;
- pairs: for noise mechanisms the density at the words' vectors, and a lower bound from
  draws that needs no density;
- samples: a lower bound from the words drawn; it can refute a claim, never prove one.

The program against the formula, by draws: sampler where the output distribution is
exact, noise for noise mechanisms.

Where the mechanism promises nothing, the claim of its paper is audited as well
(`published`), beside the loss that is proven (`least_loss`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dptext.errors import UsageError
from dptext.guarantees.audit import exact, noise, pairs, sampler
from dptext.guarantees.audit.findings import (
    AuditDraws,
    AuditResult,
    Deviation,
    Power,
    ProgramTest,
    Progress,
    Published,
    label,
)
from dptext.mechanisms import (
    ExponentialMechanism,
    Mechanism,
    NoiseMechanism,
    TextMechanism,
)

__all__ = [
    "DRAWS",
    "AuditDraws",
    "AuditResult",
    "Deviation",
    "Power",
    "ProgramTest",
    "Published",
    "audit",
]
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

    draws runs the program by the path of a release; without it only formulas are
    looked at. inputs is how many words an audit of chosen words takes; runs how often
    each of a few pairs of words is drawn where there is no exact output distribution;
    number, the draws that hold the program against its formula; progress is called with
    lines for people.
    UsageError for a mechanism of whole texts that offers no rows of any, and for one
    that can only be drawn from where draws is None.
    """
    if isinstance(mechanism, TextMechanism):
        log_probs = mechanism.example_log_probs(epsilon)
        if log_probs is None:
            raise UsageError(
                f"{mechanism.name} looks at the whole text, so there is no table of "
                "words to audit: its epsilon rests on the range to which it cuts its "
                f"scores (see dptext list mechanisms {mechanism.name})"
            )
        result = exact.audit_texts(mechanism, epsilon, log_probs)
    elif isinstance(mechanism, NoiseMechanism):
        points = number // 10
        result = _of_noise(mechanism, epsilon, draws, runs, points, progress)
    elif not mechanism.has_log_probs:
        result = _of_samples(mechanism, epsilon, draws, runs, progress)
    else:
        result = _of_rows(mechanism, epsilon, inputs, progress)
        if draws is not None:
            program = sampler.audit_sampler(
                mechanism, epsilon, draws, inputs, number, progress
            )
            result = replace(result, program=program)
    result = _proven(mechanism, epsilon, result)
    if result.program is None or draws is None:
        return result
    batches = draws.batches()
    later = f"a fault that begins after the first {batches:,} batches of words"
    untested = (*result.program.untested, later)
    program = replace(result.program, batches=batches, untested=untested)
    return replace(result, program=program)


def _of_rows(
    mechanism: Mechanism, epsilon: float, inputs: int, progress: Progress
) -> AuditResult:
    """Audit exact output distributions."""
    if isinstance(mechanism, ExponentialMechanism):
        progress("computing the losses of all pairs of words")
        return exact.audit_all_pairs(mechanism, epsilon)
    progress(f"computing the losses of all pairs of {inputs} words")
    return exact.audit_rows(mechanism, epsilon, inputs)


def _of_samples(
    mechanism: Mechanism,
    epsilon: float,
    draws: AuditDraws | None,
    runs: int,
    progress: Progress,
) -> AuditResult:
    """Audit a mechanism that can only be drawn from, by pairs of words."""
    if draws is None:
        raise UsageError(f"audit: {mechanism.name} can only be judged by draws")
    progress(f"drawing pairs of words, {runs:,} draws of each")
    result = pairs.audit_samples(mechanism, epsilon, draws.words, runs)
    program = ProgramTest(
        False,
        False,
        "there is no exact output distribution of a vocabulary of this size",
        untested=("the program: there is nothing exact to hold it against",),
    )
    return replace(result, program=program)


def _of_noise(
    mechanism: NoiseMechanism,
    epsilon: float,
    draws: AuditDraws | None,
    runs: int,
    number: int,
    progress: Progress,
) -> AuditResult:
    """Audit noise: the program first, then pairs of words."""
    if draws is None or draws.points is None:
        raise UsageError(f"audit: {mechanism.name} can only be judged by draws")
    program = noise.audit_noise(mechanism, epsilon, draws.points, number, progress)
    progress(f"drawing pairs of words, {runs:,} draws of each")
    result = pairs.audit_pairs(mechanism, epsilon, draws.points, runs)
    mapping = "the mapping: it sees the noisy vector alone and can lose no more"
    program = replace(program, untested=(*program.untested, mapping))
    return replace(result, program=program)


def _proven(mechanism: Mechanism, epsilon: float, result: AuditResult) -> AuditResult:
    """Take in the proven lower bound on the worst loss of a mechanism."""
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
            worst_output=label(mechanism, a),
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
    source = result.published.source
    by = Published(source, True, "proof", least / bound, pair, least, bound)
    return replace(result, published=by)
