"""Whether vectors are covered by the public report beside them, and it by a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from dptext import __version__, content, lexicons
from dptext.embedding import document, release, settings
from dptext.embedding.document import VectorDocument
from dptext.errors import DptextError, UsageError
from dptext.guarantees.policy import ExportPolicy, Unverified
from dptext.report import verify
from dptext.report.differences import differences
from dptext.report.document import encode
from dptext.report.exports import SIDECAR, Export
from dptext.report.recompute import Gap
from dptext.report.verify import Verdict
from dptext.types import Lexicon

# The parts of a report that follow from its settings, and table.
_PARTS = ("run", "guarantee", "measures")
# Draws are counted, and machines differ in the last bits of what they sum.
_SAMPLED = 0.01


def verdict(
    export: Export, policy: ExportPolicy, others: dict[str, Lexicon | None]
) -> Verdict:
    """Judge vectors: is the report of this file, untouched, and within the policy.

    others are lexicons by digest, to look in beside the installed ones.
    """
    assert export.report is not None
    try:
        told = document.decode(export.report, export.name + SIDECAR)
    except UsageError as error:
        return Verdict((str(error),))
    findings = list(_identity(told, export))
    if findings:
        return Verdict(tuple(findings))
    changed, gap = _recomputed(told, others)
    if changed:
        return Verdict((f"its report was changed: {changed}",))
    notes = []
    if gap is not None:
        line = f"its report cannot be recomputed: {gap.reason}"
        if gap.kind in policy.unverified:
            notes.append(line)
        else:
            accept = f"or accept that with unverified: [{gap.kind}]"
            findings.append(f"{line}, {accept}")
    ruler = told.measures.ruler if told.measures is not None else None
    risk = None if ruler is None else ruler.high
    table = told.run.lexicon_digest or told.run.table_digest
    findings += verify.terms(told.guarantee, risk, table, policy)
    if policy.copy is not None and told.output is not None:
        if "id" in told.output.columns and told.run.layout.id_field not in policy.copy:
            findings.append("the policy does not list its id under copy; copied")
    return Verdict(tuple(findings), tuple(notes))


def _identity(told: VectorDocument, export: Export) -> Iterator[str]:
    """Yield what shows that the report is not the untouched public one of this file."""
    output = told.output
    if output is None or output.sha256 != export.sha256 or output.bytes != export.size:
        yield "its public report is of another file: the digests differ; embed again"
    elif output.file != export.name:
        yield "its public report is of a file with another name; embed again with it"
    if told.audience != "public" or told.private is not None:
        yield "its report is the internal one, which must not be released"
    data = export.report or b""
    if msgspec.json.decode(data) != msgspec.json.decode(encode(told)):
        yield "its report holds keys that dptext does not write"
    if content.of_data(told.run.settings) != told.run.settings_digest:
        yield "its report was changed: the settings do not match their digest"


def _recomputed(
    told: VectorDocument, others: dict[str, Lexicon | None]
) -> tuple[str, Gap | None]:
    """Return the first difference from what the settings give; else why none is known.

    Raises nothing: settings that cannot be carried out are a difference.
    """
    run, lexicon = told.run, None
    if run.dptext != __version__:
        return "", Gap(Unverified.VERSION, "another version of dptext wrote it")
    if run.lexicon_digest:
        digest = run.lexicon_digest
        lexicon = others.get(digest) or lexicons.by_digest(digest)
        if lexicon is None:
            return "", Gap(Unverified.LEXICON, "its lexicon is not on this machine")
        lexicon = replace(lexicon, name=run.table)
    try:
        chosen = settings.of_plain(run.settings, run.table)
        ready = release.of(chosen, lexicon=lexicon)
        wanted = _plain(document.stated(ready, run.key, run.layout))
    except DptextError as error:
        return "", Gap(Unverified.PARTS, str(error))
    except (ArithmeticError, ValueError, TypeError, AssertionError):
        return "its settings cannot be carried out", None
    return _difference(wanted, _plain(told)), None


def _difference(wanted: dict[str, Any], actual: dict[str, Any]) -> str:
    """Say what differs first, "" where nothing does."""
    for part in _PARTS:
        for path, value in differences(wanted[part], actual[part], part):
            if not _near(value, actual, path):
                return f"{path} does not follow from the settings"
    return ""


def _near(wanted: object, actual: Any, path: str) -> bool:
    """Tell whether a measured figure differs by no more than machines do."""
    if not path.startswith("measures."):
        return False
    for key in path.split("."):
        actual = actual[key]
    if isinstance(wanted, list):
        pairs = list(zip(wanted, actual, strict=True))
    else:
        pairs = [(wanted, actual)]
    return all(
        isinstance(one, float | int)
        and isinstance(other, float | int)
        and abs(one - other) <= _SAMPLED * max(abs(one), 0.5)
        for one, other in pairs
    )


def _plain(told: VectorDocument) -> dict[str, Any]:
    return msgspec.json.decode(encode(told), type=dict[str, Any])
