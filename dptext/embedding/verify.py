"""Whether vectors are covered by the public report beside them, and it by a policy."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dptext import content
from dptext.embedding import document
from dptext.embedding.document import VectorDocument
from dptext.embedding.recompute import recomputed
from dptext.errors import UsageError
from dptext.guarantees.policy import ExportPolicy
from dptext.report import verify
from dptext.report.document import encode
from dptext.report.exports import SIDECAR, Export
from dptext.report.findings import Finding, Rule, of_rule
from dptext.report.verify import Verdict, failed
from dptext.types import Lexicon


def verdict(
    export: Export, policy: ExportPolicy, others: dict[str, Lexicon | None]
) -> Verdict:
    """Judge vectors: is the report of this file, untouched, and within the policy.

    others are lexicons by digest, to look in beside the installed ones.
    """
    assert export.report is not None
    try:
        report = document.decode(export.report, export.name + SIDECAR)
    except UsageError as error:
        return failed(Rule.INVALID, str(error))
    findings = of_rule(Rule.OTHER_FILE, _identity(report, export))
    if findings:
        return Verdict(tuple(findings))
    changed, gap = recomputed(report, others)
    if changed:
        return failed(Rule.CHANGED, f"its report was changed: {changed}")
    notes = []
    if gap is not None:
        line, finding = verify.incomplete(gap, policy)
        findings += finding
        notes += [] if finding else [line]
    ruler = report.measures.ruler if report.measures is not None else None
    risk = None if ruler is None else ruler.high
    table = report.run.lexicon_digest or report.run.table_digest
    terms = verify.terms(report.guarantee, risk, table, policy)
    findings += of_rule(Rule.POLICY, terms)
    if policy.copy is not None and report.output is not None:
        if (
            "id" in report.output.columns
            and report.run.layout.id_field not in policy.copy
        ):
            line = "the policy does not list its id under copy; copied"
            findings.append(Finding(Rule.FIELDS, line))
    return Verdict(tuple(findings), tuple(notes))


def _identity(report: VectorDocument, export: Export) -> Iterator[str]:
    """Yield what shows that the report is not the untouched public one of this file."""
    output = report.output
    if output is None or output.sha256 != export.sha256 or output.bytes != export.size:
        yield "its public report is of another file: the digests differ; embed again"
    elif output.file != export.name:
        yield "its public report is of a file with another name; embed again with it"
    if report.audience != "public" or report.private is not None:
        yield "its report is the internal one, which must not be released"
    data = export.report or b""
    if not verify.written(msgspec.json.decode(data), encode(report)):
        yield "its report holds keys that dptext does not write"
    if content.of_data(report.run.settings) != report.run.settings_digest:
        yield "its report was changed: the settings do not match their digest"
