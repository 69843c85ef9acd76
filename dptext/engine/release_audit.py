"""Audits a release as a whole, for faults that a mechanism audit cannot see.

A mechanism may follow its formula while the release reveals more than is stated:
steps that share their random bits, records with short nonces, a decoder that looks
at the text, a prior that is not that of replaced words, a budget that spends more
than it states (`budget_audit`). Each is tested through the release path, on public
texts made of the lexicon's own words.

`draws` gives the mechanism audit draws made on that path, and `view` puts the
findings of both into words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from numpy.typing import NDArray

from dptext.budgets import uniform
from dptext.engine import budget_audit
from dptext.engine.budget_audit import (
    COMPARED,
    SEED,
    alike,
    readable_rows,
    records,
    scripted,
)
from dptext.guarantees import binomial
from dptext.guarantees.audit.findings import (
    ALARM,
    BATCH,
    AuditDraws,
    AuditResult,
    Power,
    ProgramTest,
    Progress,
)
from dptext.guarantees.sentences import measured
from dptext.mechanisms import NoiseMechanism
from dptext.pipeline import Pipeline
from dptext.randomness import (
    BUDGET_LANE,
    JOINER_LANE,
    MAPPING_LANE,
    NUMBER_LANE,
    RandomBits,
    Randomness,
    RunKey,
)
from dptext.report.blocks import Figures
from dptext.types import (
    BudgetKind,
    Eps,
    Floats,
    Ids,
    Ints,
    Notion,
    Points,
    Record,
    Strategy,
)

# Number of records with compared counter blocks: with nonces of 32 bits, eight pairs of
# them would be equal.
NONCES = 2**18
_NONCE_BITS = 128
# Blocks by which dependent bits are found: far more than there are bits.
_RANKED = 1024
# Draws by which the success of a guess is compared with the risk that is printed.
_GUESSES = 400_000
# A calibrated risk lies at most so much below the one that was asked for, as a share.
_BELOW_RISK = 0.02
# How often texts are compared, with new draws.
_TURNS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseCheck:
    """A tested property of a release."""

    #: In short: "random bits", "nonces", "decoder", "prior" or "budget".
    name: str
    #: Description of the test, as a sentence.
    covered: str
    #: Description of the fault; "" without one.
    fault: str = ""

    @property
    def refuted(self) -> bool:
        """Return whether the program violates its guarantee."""
        return bool(self.fault)


class _BitsByOrdinal(Randomness):
    """Random bits derived from a record's ordinal instead of its texts."""

    def nonce(self, record: Record) -> bytes:
        return super().nonce(Record(record.ordinal, (), None))


def audit_release(
    pipeline: Pipeline,
    *,
    nonces: int = NONCES,
    progress: Progress = lambda line: None,
) -> tuple[ReleaseCheck, ...]:
    """Test a release as a whole; each check describes its fault, if any."""
    pipeline = pipeline.offline
    progress("comparing the epsilons of all words with the settings")
    covered, fault = budget_audit.audit_budget(pipeline, scripted(pipeline))
    budget = ReleaseCheck(name="budget", covered=covered, fault=fault)
    progress("comparing the prior with the frequencies of the replaced words")
    prior = check_prior(pipeline)
    progress(f"comparing the random bits of steps, words and {nonces:,} records")
    bits, distinct = check_random_bits(pipeline), check_nonces(pipeline, nonces)
    progress("writing texts that differ in what is not released")
    return budget, prior, bits, distinct, check_decoder(pipeline)


def check_prior(pipeline: Pipeline) -> ReleaseCheck:
    """Compare the prior with the lexicon's counts of replaced words."""
    prior = pipeline.channel.prior
    replaced, kept = readable_rows(pipeline)
    counts = pipeline.lexicon.counts.astype(np.float64)
    covered = (
        f"the frequencies of {len(replaced):,} replaced words in the prior are those "
        "of the lexicon"
    )

    def checked(fault: str) -> ReleaseCheck:
        return ReleaseCheck(name="prior", covered=covered, fault=fault)

    if not abs(float(prior.sum()) - 1.0) < 1e-9:
        return checked(f"the prior sums to {float(prior.sum()):.6g}, not to 1")
    if prior[kept].any():
        word = pipeline.lexicon.words[int(kept[prior[kept].argmax()])]
        return checked(f"{word!r} is never replaced and has a part of the prior")
    ratios = prior[replaced] / counts[replaced]
    middle = float(np.median(ratios))
    off = np.abs(ratios / middle - 1.0) > 1e-9 if middle > 0.0 else ratios >= 0.0
    if off.any():
        row = int(replaced[off.argmax()])
        return checked(
            f"the prior of {pipeline.lexicon.words[row]!r} is {prior[row]:.3g}, by the "
            f"lexicon's counts {middle * counts[row]:.3g}"
        )
    params = pipeline.profile.budget.params
    risk = params.risk if isinstance(params, uniform.Params) else None
    if risk is None or not pipeline.mechanism.has_best_guesses:
        return checked("")
    covered += (
        f"; the best guess of {_GUESSES:,} words drawn by these frequencies is right "
        f"as often as the risk of {risk:.3g} says"
    )
    return checked(_guessed(pipeline, counts, replaced, risk))


def _guessed(pipeline: Pipeline, counts: Floats, replaced: Ints, risk: float) -> str:
    """Describe how often a guess is right if it contradicts the risk, else ""."""
    rng = np.random.default_rng(SEED)
    shares = counts[replaced] / counts[replaced].sum()
    ids = rng.choice(replaced, _GUESSES, p=shares).astype(np.int32)
    epsilon = pipeline.budget.description.high
    streams = pipeline.randomness(RunKey.from_seed(SEED))
    bits = streams.bits([bytes(16)], np.zeros(len(ids), np.int64))
    drawn = pipeline.draw(ids, np.full(len(ids), epsilon), bits)
    prior = np.append(pipeline.channel.prior, 0.0)
    guess = pipeline.channel.candidates(epsilon, 1, prior).rows[drawn, 0]
    right = int((guess == ids).sum())
    low, high = binomial.limits(right, len(ids), ALARM)
    if low <= risk and high >= risk * (1.0 - _BELOW_RISK):
        return ""
    return f"the best guess is right for {right / len(ids):.2%}, not {risk:.2%}"


def check_random_bits(pipeline: Pipeline) -> ReleaseCheck:
    """Check that no block of random bits is used twice in some records."""
    asked: list[bytes] = []
    streams = pipeline.randomness(RunKey.from_seed(SEED)).watched(asked.append)
    batches = records(pipeline)
    for batch in batches:
        pipeline.privatize(batch, streams)
    seen: set[bytes] = set()
    fault = ""
    for block in asked:
        if block in seen:
            known = [record for batch in batches for record in batch]
            fault = _shared(block, known, streams)
            break
        seen.add(block)
    texts = sum(len(record.texts) for batch in batches for record in batch)
    covered = (
        f"no two steps, words or records share any of {len(asked):,} blocks of random "
        f"bits of {texts} texts (mechanism, budget, mapping, digits and numbers, as "
        "far as the settings have them)"
    )
    return ReleaseCheck(name="random bits", covered=covered, fault=fault)


def _shared(block: bytes, records: Sequence[Record], streams: Randomness) -> str:
    """Name the owners of a block of random bits."""
    for record in records:
        nonce = streams.nonce(record)
        if nonce[:8] == block[:8]:
            counter = int.from_bytes(nonce[8:], "little")
            counter ^= int.from_bytes(block[8:], "little")
            lane, word = counter & 0xFFFFFFFF, counter >> 32
            steps = {
                NUMBER_LANE: "numbers",
                JOINER_LANE: "digits",
                MAPPING_LANE: "mapping",
                BUDGET_LANE: "budget",
            }
            step = next((name for at, name in steps.items() if lane >= at), "mechanism")
            return (
                f"random bits are used twice: lane {lane} (the first ones of a step: "
                f"{step}) of word {word + 1} of a record"
            )
    return "random bits are used twice"


def check_nonces(pipeline: Pipeline, count: int = NONCES) -> ReleaseCheck:
    """Compare the first counter blocks of many records: all 128 bits must vary."""
    streams = pipeline.randomness(RunKey.from_seed(SEED))
    asked: list[bytes] = []
    watched = streams.watched(asked.append)
    third = count // 3
    several = [
        *(Record(ordinal, (), None) for ordinal in range(count - 2 * third)),
        *(Record(0, (), None, f"{n}") for n in range(third)),
        *(Record(0, (f"word {n}",), None) for n in range(third - 2)),
        # Texts that are one text when they are put together.
        Record(0, ("ab", "c"), None),
        Record(0, ("a", "bc"), None),
    ]
    nonces = [streams.nonce(record) for record in several]
    # Of so many bits two pairs are equal on average.
    most = int(2.0 * math.log2(len(several)) - 2.0)
    covered = (
        f"the nonces of {len(several):,} records, by number, id and texts, differ and "
        f"have {_NONCE_BITS} independent bits (finds nonces of up to some {most} bits)"
    )

    def checked(fault: str) -> ReleaseCheck:
        return ReleaseCheck(name="nonces", covered=covered, fault=fault)

    length = min(map(len, nonces))
    if length < _NONCE_BITS // 8:
        return checked(f"a nonce has {8 * length} bits")
    watched.bits(nonces, np.arange(len(nonces))).integers(0)
    for name, each in (("nonces", nonces), ("counter blocks", asked)):
        equal = len(each) - len(set(each))
        if equal:
            return checked(f"of {len(each):,} {name} {equal:,} are those of another")
        rank = binary_rank(each[:: max(1, len(each) // _RANKED)])
        if rank < _NONCE_BITS + 1:
            return checked(
                f"of the {_NONCE_BITS} bits of {name} at most {rank} are independent"
            )
    return checked("")


def binary_rank(rows: Sequence[bytes]) -> int:
    """Return the rank over GF(2) of rows of bits, each with a 1 appended.

    Because of the 1, a bit that is always set adds as little as one that never is.
    """
    basis: dict[int, int] = {}
    for row in rows:
        value = int.from_bytes(row, "big") << 1 | 1
        while value:
            top = value.bit_length()
            if top not in basis:
                basis[top] = value
                break
            value ^= basis[top]
    return len(basis)


def check_decoder(pipeline: Pipeline, turns: int = _TURNS) -> ReleaseCheck:
    """Check that equal draws give equal written words for different texts."""
    public = scripted(pipeline)
    # A word that is drawn once for several places is drawn as any other.
    public = replace(public, profile=replace(public.profile, strategy=Strategy.TOKEN))
    streams = _BitsByOrdinal(RunKey.from_seed(SEED), pipeline.identity)
    fault, compared = "", 0
    for turn in range(turns):
        first, *others = alike(pipeline, turn)
        wanted = public.privatize(_as_records(first, turn), streams)
        for texts in others:
            written = public.privatize(_as_records(texts, turn), streams)
            compared += len(texts)
            if written.texts != wanted.texts:
                fault = (
                    "texts with the same draws are written in another way where their "
                    "own words differ"
                )
    name = pipeline.profile.decoder.name
    covered = (
        f"{compared:,} texts with other words, known and unknown, numbers and word "
        "frequencies, are written byte for byte the same where the draws are the same "
        f"(decoder {name})"
    )
    return ReleaseCheck(name="decoder", covered=covered, fault=fault)


def _as_records(texts: list[str], turn: int) -> list[Record]:
    return [
        Record(turn * COMPARED + number, (text,), None)
        for number, text in enumerate(texts)
    ]


def draws(pipeline: Pipeline) -> AuditDraws:
    """Return draws with public randomness: each call uses another record or run."""
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
        """Draw for records that contain each word twice; return the second outputs."""
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
    """Return the findings of an audit by name."""
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
    loss = _nats(stated.loss) if stated.by == "exact losses" else _at_least(stated.loss)
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
