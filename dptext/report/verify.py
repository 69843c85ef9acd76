"""Whether an export is covered by its public report, and the report by a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from dptext import content
from dptext.errors import UsageError
from dptext.guarantees import adjacency, scale
from dptext.guarantees.adjacency import Unprotected
from dptext.guarantees.policy import ExportPolicy
from dptext.guarantees.rounding import above
from dptext.guarantees.statement import Statement
from dptext.report.document import Document, decode, encode
from dptext.report.exported_fields import against_policy, named
from dptext.report.exports import SIDECAR, Export
from dptext.report.findings import Finding, Rule, of_rule
from dptext.report.recompute import Gap, Recomputer
from dptext.tokens.policy import Policy
from dptext.types import Level, Notion, Strategy


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why an export does not pass; notes on what was not checked.

    No line holds anything of the file's content but names of fields.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def verdict(export: Export, policy: ExportPolicy, recomputer: Recomputer) -> Verdict:
    """Judge an export: is the report of this file, untouched, and within the policy."""
    beside = export.name + SIDECAR
    if export.report is None:
        line = f"no public report: {beside} is missing; run dptext sanitize -o"
        return failed(Rule.MISSING, line)
    try:
        document = decode(export.report, beside)
    except UsageError as error:
        return failed(Rule.INVALID, str(error))
    findings = [
        *of_rule(Rule.OTHER_FILE, _identity(document, export)),
        *of_rule(Rule.CHANGED, _edited(document, export.report)),
    ]
    if findings:
        return Verdict(tuple(findings))
    outcome = recomputer.compare(document)
    if outcome.difference:
        return failed(Rule.CHANGED, f"its report was changed: {outcome.difference}")
    notes = []
    if outcome.gap is not None:
        line, finding = incomplete(outcome.gap, policy)
        findings += finding
        notes += [] if finding else [line]
    findings += [
        *of_rule(Rule.CHANGED, _contradictions(document)),
        *of_rule(Rule.CHANGED, named(document, export)),
        *of_rule(Rule.POLICY, _terms(document, policy)),
        *of_rule(Rule.FIELDS, against_policy(document, export, policy)),
    ]
    return Verdict(tuple(findings), tuple(notes))


def failed(rule: Rule, line: str) -> Verdict:
    """Return the verdict of an export that need not be looked at further."""
    return Verdict((Finding(rule, line),))


def incomplete(gap: Gap, policy: ExportPolicy) -> tuple[str, list[Finding]]:
    """Say why a report was not recomputed, and find that unless it is accepted."""
    line = f"its report cannot be recomputed: {gap.reason}"
    if gap.kind in policy.unverified:
        return line, []
    accept = f"or accept that with unverified: [{gap.kind}]"
    return line, of_rule(Rule.NOT_RECOMPUTED, [f"{line}, {accept}"])


def _identity(document: Document, export: Export) -> Iterator[str]:
    """Yield what shows that the report is not the public one of this file."""
    output = document.output
    if output is None or output.sha256 != export.sha256:
        yield "its public report is of another file: the digests differ; sanitize again"
    elif output.bytes != export.size:
        yield "its report was changed: the file has another size"
    elif output.file not in (None, export.name):
        yield (
            "its public report is of a file with another name; sanitize again with -o "
            "and this name"
        )
    layout = document.run.layout
    if layout.format is None or (layout.fields is None) != (layout.format == "text"):
        yield "its report was changed: its format does not go with its fields"
    if document.audience != "public" or document.private is not None:
        yield "its report is the internal one, which must not be released"
    if not document.success:
        yield "its report is of a run that did not succeed"


def _edited(document: Document, data: bytes) -> Iterator[str]:
    """Yield what shows that the report was not written as it is."""
    if _has_twice(data):
        yield "its report holds a key twice"
    elif not written(msgspec.json.decode(data), encode(document)):
        yield "its report holds keys that dptext does not write"
    run = document.run
    if content.of_data(run.settings) != run.settings_digest:
        yield "its report was changed: the settings do not match their digest"


def written(report: object, again: bytes) -> bool:
    """Tell whether a report that was read holds nothing but what is written again.

    A key that has a default may be absent: an earlier dptext did not know it.
    """
    return _within(report, msgspec.json.decode(again))


def _within(part: object, full: object) -> bool:
    if isinstance(part, dict) and isinstance(full, dict):
        return all(key in full and _within(part[key], full[key]) for key in part)
    if isinstance(part, list) and isinstance(full, list):
        pairs = zip(part, full, strict=False)
        return len(part) == len(full) and all(_within(*pair) for pair in pairs)
    return part == full


def _contradictions(document: Document) -> Iterator[str]:
    """Yield what contradicts the rest of a report, where it cannot be recomputed."""
    promise = document.guarantee
    figures = promise.notion, promise.level, promise.loss, promise.text_loss
    if scale.judge(*figures) != promise.strength:
        yield "its report was changed: its strength does not follow from its figures"
    if _unprotected(document.run.settings) != promise.unprotected:
        yield "its report was changed: unprotected does not follow from the settings"


def _unprotected(settings: Mapping[str, object]) -> tuple[Unprotected, ...]:
    """Return what settings leave unprotected: all, where they are none."""
    try:
        policy = msgspec.convert(settings.get("tokens"), Policy)
        strategy = Strategy(str(settings.get("strategy")))
    except (msgspec.ValidationError, ValueError):
        return tuple(Unprotected)
    return adjacency.unprotected(policy, strategy)


def _has_twice(data: bytes) -> bool:
    """Tell whether an object holds a key twice: readers differ in which they take."""
    twice = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal twice
        twice = twice or len(dict(pairs)) < len(pairs)

    try:
        json.loads(data, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return True
    return twice


def _terms(document: Document, policy: ExportPolicy) -> Iterator[str]:
    risk = None if document.risk is None else document.risk.success
    yield from terms(document.guarantee, risk, document.run.lexicon_digest, policy)
    yield from _classes(document, policy)


def terms(
    promise: Statement, risk: float | None, lexicon: str, policy: ExportPolicy
) -> Iterator[str]:
    """Yield what a policy misses in a guarantee, a risk and the digest of a lexicon."""
    if promise.notion not in policy.notion:
        wanted = " or ".join(policy.notion)
        yield f"guarantee is {promise.notion}, the policy asks for {wanted}"
    limit = policy.max_epsilon
    bounded = promise.notion is Notion.LDP and promise.level is not Level.WORDS
    epsilon = promise.epsilon if bounded else promise.worst_loss
    if limit is not None and (epsilon is None or epsilon > limit):
        shown = "not bounded" if epsilon is None else f"{above(epsilon)} nats"
        yield f"epsilon between any two words is {shown}, the policy allows {limit:g}"
    loss, limit = promise.worst_loss, policy.max_loss
    if limit is not None and (loss is None or loss > limit):
        shown = "not bounded" if loss is None else above(loss)
        yield f"worst loss is {shown} nats, the policy allows {limit:g}"
    limit = policy.max_delta
    if promise.delta and limit is not None and promise.delta > limit:
        yield f"delta is {promise.delta:g}, the policy allows {limit:g}"
    if policy.max_risk is not None and (risk is None or risk > policy.max_risk):
        shown = "not measured" if risk is None else f"{risk:.2%}"
        yield f"risk is {shown}, the policy allows {policy.max_risk:.2%}"
    if policy.lexicons is not None and lexicon not in policy.lexicons:
        yield "its lexicon is not one that the policy names"


def _classes(document: Document, policy: ExportPolicy) -> Iterator[str]:
    for name in document.guarantee.unprotected:
        if name in policy.allow:
            continue
        if name is Unprotected.EQUAL_WORDS:
            yield "equal words are shown as equal; the policy does not allow it"
        else:
            yield f"tokens of class {name} are not protected; the policy wants it"
