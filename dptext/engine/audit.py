"""Audits of a pipeline: public draws by the path of a release, findings in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from dptext.engine.release_audit import ReleaseCheck
from dptext.guarantees.audit.findings import (
    BATCH,
    AuditDraws,
    AuditResult,
    Power,
    ProgramTest,
)
from dptext.guarantees.sentences import measured
from dptext.mechanisms import NoiseMechanism
from dptext.pipeline import Pipeline
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.report.blocks import Figures
from dptext.types import BudgetKind, Eps, Ids, Notion, Points, Record, Strategy


def draws(pipeline: Pipeline) -> AuditDraws:
    """Return draws by public randomness: every call another record, or run."""
    randomness = pipeline.randomness(RunKey.from_seed(0))
    numbers, batches = count(), 0

    def bits(
        stream: Randomness, records: NDArray[np.int64], times: int = 1
    ) -> RandomBits:
        nonlocal batches
        batches += 1
        new = (Record(next(numbers), (), None) for _ in range(times))
        return stream.bits([stream.nonce(each) for each in new], records)

    def words(ids: Ids, eps: Eps) -> Ids:
        return pipeline.draw(ids, eps, bits(randomness, np.zeros(len(ids), np.int64)))

    def points(ids: Ids, eps: Eps) -> Iterator[tuple[NDArray[np.int64], Points]]:
        return pipeline.points(ids, eps, bits(randomness, np.zeros(len(ids), np.int64)))

    def released(ids: Ids, epsilon: float, times: int) -> Ids:
        if pipeline.profile.strategy is Strategy.DATA_SET:
            runs = (RunKey.from_seed(next(numbers)) for _ in range(times))
            streams = [pipeline.randomness(key) for key in runs]
            return np.stack([_records(each, ids, epsilon, 1)[0] for each in streams])
        step = max(1, BATCH // (2 * len(ids)))
        parts = (min(step, times - begin) for begin in range(0, times, step))
        drawn = [_records(randomness, ids, epsilon, part) for part in parts]
        return np.concatenate(drawn)

    def _records(stream: Randomness, ids: Ids, epsilon: float, times: int) -> Ids:
        """Draw for records that hold each word twice; return its second outputs."""
        texts = np.tile(np.tile(ids, 2), times)
        records = np.repeat(np.arange(times), 2 * len(ids))
        eps = np.full(len(texts), float(epsilon))
        drawn_by = bits(stream, records, times)
        drawn = pipeline.replace(
            ids=texts, eps=eps, bits=drawn_by, records=records, randomness=stream
        )
        return drawn.reshape(times, 2, len(ids))[:, 1]

    noisy = isinstance(pipeline.mechanism, NoiseMechanism)
    strategy = pipeline.profile.strategy
    return AuditDraws(
        words=words,
        points=points if noisy else None,
        released=None if strategy is Strategy.TOKEN or noisy else released,
        strategy=strategy,
        batches=lambda: batches,
    )


def view(
    finding: AuditResult, pipeline: Pipeline, checks: Sequence[ReleaseCheck] = ()
) -> Figures:
    """Return what an audit has found, each with its name."""
    claim, program = _claim(finding, pipeline), _program(finding.program)
    return Figures([*claim, *program, *_release(checks)])


def _release(checks: Sequence[ReleaseCheck]) -> Iterator[tuple[str, str]]:
    for check in checks:
        shown = f"no fault found: {check.covered}"
        if check.refuted:
            shown = f"REFUTED: {check.fault}; what was tested: {check.covered}"
        yield f"Release, {check.name}", shown


def _claim(finding: AuditResult, pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    epsilon = pipeline.budget.description.high
    promise = pipeline.mechanism.guarantee(epsilon)
    claim = f"none: {promise.reason}"
    if promise.notion is not Notion.NONE:
        claim = f"{promise.notion}, epsilon {epsilon:g}, distance {measured(promise)}"
    if pipeline.budget.description.kind is not BudgetKind.WORD:
        claim += "; of one word at the largest epsilon of the budget"
    yield "Claim", f"{pipeline.mechanism.name}: {claim}"
    yield "Method", f"{finding.method} ({finding.pairs:,} ordered pairs)"
    bound = "at least " if finding.confidence else ""
    proven = finding.proven is not None and finding.worst == finding.proven
    if not proven:
        by = f"{_against(finding.worst_pair)}, by the output {finding.worst_output!r}"
        if finding.claims:
            by += f" (claimed at most {_nats(finding.claim_of_worst)})"
        yield "Worst loss", f"{bound}{_nats(finding.worst)}: {by}"
    if finding.proven is not None and finding.proven_pair is not None:
        shown = f"{_at_least(finding.proven)}: {_against(finding.proven_pair)}"
        yield "Proven loss", shown
    if proven and finding.sampled is not None and finding.sampled_pair is not None:
        shown = f"{_at_least(finding.sampled)}: {_against(finding.sampled_pair)}"
        yield "By samples", f"{shown}, by {finding.sampled_output!r}"
    if finding.claims:
        shown = f"{bound}{finding.ratio:.6g}: {_against(finding.ratio_pair)}"
        yield "Worst loss over claim", shown
    yield "Infinite losses", f"{finding.infinite:.2%} of pairs"
    if finding.confidence:
        sure = f"{finding.confidence:.1%} that all limits from samples hold"
        yield "Confidence", sure
    yield "Claim against formula", _verdict(finding)


def _program(program: ProgramTest | None) -> Iterator[tuple[str, str]]:
    if program is None:
        return
    epsilons = " and ".join(f"{value:.4g}" for value in program.epsilons)
    tests = (
        f"{program.tests:,} tests of {program.draws:,} draws in {program.batches:,} "
        f"batches at epsilon {epsilons} ({program.method}); false alarms in at most "
        f"{program.alarm:.1%} of audits"
    )
    shown = f"no deviation in {tests}"
    if not program.tested:
        shown = f"not tested: {program.method}"
    elif (worst := program.deviation) is not None:
        shown = (
            f"REFUTED: {worst.event}: {worst.count:,} of {worst.draws:,} draws, "
            f"expected {worst.probability * worst.draws:.4g} (chance "
            f"{worst.p_value:.1e}); {tests}"
        )
    yield "Program against formula", shown
    # What would have been found with 95% power, the sharpest of each kind.
    best: dict[str, Power] = {}
    for each in program.power:
        kind = each.event.partition(", epsilon")[0]
        if kind not in best or each.smallest < best[kind].smallest:
            best[kind] = each
    for each in best.values():
        verdict = "is enough" if each.missing else f"above its {each.probability:.2g}"
        yield "Smallest faults found", f"{each.event}: {each.smallest:.2g} {verdict}"
    if program.untested:
        yield "Not tested", "; ".join(program.untested)


def _verdict(finding: AuditResult) -> str:
    if finding.refuted:
        return "REFUTED: a pair of words loses more than is claimed"
    if finding.claims and finding.confidence:
        return "not refuted (chosen pairs and samples cannot prove a claim)"
    if finding.claims:
        return "holds for every audited pair"
    stated = finding.published
    if stated is None:
        return "nothing is claimed; see the losses above"
    if not stated.refuted:
        return (
            "the published claim is not refuted by this audit; dptext itself claims "
            "nothing here"
        )
    exact = stated.by == "exact losses"
    loss = _nats(stated.loss) if exact else _at_least(stated.loss)
    return (
        f"the published claim is refuted: the loss of {_against(stated.pair)} is "
        f"{loss}, claimed at most {_nats(stated.bound)} ({stated.source}; by "
        f"{stated.by}); dptext itself claims nothing here"
    )


def _against(pair: tuple[str, str]) -> str:
    return f"{pair[0]!r} against {pair[1]!r}"


def _at_least(value: float) -> str:
    return _nats(value) if math.isinf(value) else f"at least {_nats(value)}"


def _nats(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.6g} nats"
