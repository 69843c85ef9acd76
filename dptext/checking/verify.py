"""Checks an export against its public report, and the report against a policy.

Findings refer to named rules, and can be output as JSON or SARIF.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from dptext import profile, registry, settings, signatures
from dptext.checking import contents, exports, recompute, word_lists
from dptext.checking.exports import Export
from dptext.checking.policy import ExportPolicy, Unverified, usually_allowed
from dptext.errors import InputError, MissingExtra, UsageError
from dptext.guarantees import claims
from dptext.guarantees.claims import Unprotected, format_up
from dptext.guarantees.templates import series
from dptext.models import endpoint
from dptext.report import advice, blocks, document, names, protection, sections
from dptext.report.document import Document, encode
from dptext.run.choices import DEFAULT
from dptext.run.interface import option
from dptext.run.work import SIDECAR
from dptext.tokens.languages import name_of, names_without_special
from dptext.types import Level, Notion, Strategy
from dptext.vectors import Pool, columns

# The word among third parties of a policy that accepts any proxy.
PROXY = "proxy"
# How an output shows parts of texts, for all settings that leave them unprotected.
_SHOWN = {
    Unprotected.PUNCTUATION: "punctuation is shown",
    Unprotected.COMMON_WORDS: "common words are unchanged",
    Unprotected.STOP_WORD: "stop words are unchanged or left out",
    Unprotected.NUMBER: "numbers are unchanged, masked, or keep their length",
    Unprotected.UNKNOWN: "unknown words are unchanged, masked or left out",
    Unprotected.CASE: "capitals are shown",
    Unprotected.EQUAL_WORDS: "equal words are shown as equal",
    Unprotected.KEEP_LIST: "the words of the keep list are unchanged",
    Unprotected.CORPUS_WORDS: "words that many people wrote are unchanged",
    Unprotected.MASK_LIST: "the output shows where words of the mask list stood",
    Unprotected.FORMS: "dates, amounts, addresses and the like keep their layout",
    Unprotected.CLASSES: "the output shows where names, places and the like stood",
    Unprotected.GRAMMAR: "the grammatical form of replaced words is shown",
}


class Rule(StrEnum):
    """A check rule with a stable name and meaning."""

    UNREADABLE = "unreadable-export"
    MISSING = "missing-report"
    INVALID = "invalid-report"
    OTHER_FILE = "report-of-another-file"
    CHANGED = "changed-report"
    SIGNATURE = "signature"
    NOT_RECOMPUTED = "not-recomputed"
    POLICY = "policy"
    FIELDS = "copied-fields"
    NOT_CHECKED = "not-checked"
    IDENTIFYING = "identifying-columns"


MEANINGS = {
    Rule.UNREADABLE: "An export can be read.",
    Rule.MISSING: "An export has a public privacy report beside it.",
    Rule.INVALID: "The report follows the schema of dptext reports.",
    Rule.OTHER_FILE: "The report is the public report of this exact file.",
    Rule.CHANGED: "The report agrees with its own settings.",
    Rule.SIGNATURE: "The report has a valid signature by an accepted key.",
    Rule.NOT_RECOMPUTED: "The report can be recomputed on this machine.",
    Rule.POLICY: "The guarantee meets the policy.",
    Rule.FIELDS: "Only fields that the policy allows are unchanged.",
    Rule.NOT_CHECKED: "Everything in a folder is checked or known not to be an export.",
    Rule.IDENTIFYING: "No unchanged column looks identifying.",
}


class Finding(NamedTuple):
    """Why an export fails, in one line that holds none of its content."""

    rule: Rule
    message: str


class Verdict(NamedTuple):
    """The result for an export; its lines hold only names of fields."""

    #: Reasons to fail; empty if it passes.
    findings: tuple[Finding, ...]
    #: Parts that were not checked.
    notes: tuple[str, ...] = ()
    #: Path of the export.
    name: str = ""
    #: Why a file in a folder was not checked at all; "" for an export.
    unchecked: str = ""


def unchecked(name: str, reason: str, *, fails: bool) -> Verdict:
    """Return a verdict for a file in a folder that is not an export."""
    findings = as_findings(
        Rule.NOT_CHECKED, [f"not checked: {reason}"] if fails else []
    )
    return Verdict(tuple(findings), name=name, unchecked=reason)


def as_findings(rule: Rule, lines: Iterable[str]) -> list[Finding]:
    """Convert lines to findings of one rule."""
    return [Finding(rule, line) for line in lines]


def verdict(
    export: Export,
    policy: ExportPolicy,
    recomputer: recompute.Recomputer,
    keys: Sequence[signatures.Key] = (),
) -> Verdict:
    """Check that a report belongs to an export, is unchanged, and meets the policy.

    The report must follow the schema, with each key once and no others; its output
    section must match the file by digest, size, name, columns, types and rows; its
    figures and sentences must follow from its settings.

    keys: public keys that verify its author. Without them anybody can claim another
    version of dptext as the author, and forge its sentences.
    """
    data = export.report
    if data is None:
        return failed(Rule.MISSING, _missing(export))
    try:
        report = document.decode(data, export.name + SIDECAR)
    except UsageError as error:
        return failed(Rule.INVALID, str(error))
    findings = [
        *as_findings(Rule.OTHER_FILE, _identity(report, export)),
        *as_findings(Rule.CHANGED, _edited(report, data)),
    ]
    if findings:
        return Verdict(tuple(findings))
    outcome = recomputer.compare(report)
    if outcome.difference:
        return failed(Rule.CHANGED, f"its report was changed: {outcome.difference}")
    used = None if report.output is None else report.output.used
    notes = [] if used is None else [advice.third_party(used).sentence]
    if outcome.gap is not None:
        kind, reason = outcome.gap
        line = f"its report could not be recomputed: {reason}"
        forgeable = kind is Unverified.VERSION and not keys
        if kind in policy.unverified and not forgeable:
            notes.append(line)
        else:
            also = (
                f" and a signature that {option('verify-key')} verifies"
                if forgeable
                else ""
            )
            if kind is not None:
                line += f", or accept this with unverified: [{kind}]{also}"
            findings.append(Finding(Rule.NOT_RECOMPUTED, line))
    differing, unread = _compare_file(report, export)
    risk = recompute.known_risk(report)
    if risk is not None and outcome.risk is not None:
        risk = max(risk, outcome.risk)
    findings += [
        *as_findings(Rule.CHANGED, _contradictions(report)),
        *as_findings(Rule.CHANGED, differing),
        *as_findings(Rule.POLICY, _terms(report, risk, policy)),
        *as_findings(Rule.POLICY, _written(outcome.wanted or report, policy)),
        *as_findings(Rule.POLICY, _parts(report, policy)),
        *as_findings(Rule.POLICY, word_lists.against_policy(report, policy)),
        *as_findings(Rule.SIGNATURE, word_lists.unsigned(report, keys)),
        *as_findings(Rule.FIELDS, _fields(report, export, policy)),
        *([] if differing else _content(report, export, policy)),
    ]
    notes += [*word_lists.trusted(report, keys), *_languages(report)]
    return Verdict(tuple(findings), (*notes, *unread))


def _languages(report: Document) -> Iterator[str]:
    """Name the languages of the texts, and those without special categories."""
    if report.policy is None or not (codes := report.policy.languages):
        return
    line = f"its texts are read in {series(tuple(map(name_of, codes)))}"
    if without := names_without_special(codes):
        line += f"; no list of special categories (health, ...) in {series(without)}"
    yield line


def _missing(export: Export) -> str:
    """Report a missing report, and what to do."""
    sidecar = export.name + SIDECAR
    if advice := export.unstaged():
        return f"no public report: {sidecar} is not staged; {advice}"
    return (
        f"no public report: {sidecar} is missing; if this file is an original, do not "
        f"share it but run dptext init {shlex.quote(export.name)}; if it is an output, "
        "restore the report; to skip a file, list it under exclude in the policy"
    )


def failed(rule: Rule, line: str) -> Verdict:
    """Return the verdict for an export that fails immediately."""
    return Verdict((Finding(rule, line),))


def _identity(report: Document, export: Export) -> Iterator[str]:
    """Yield the reasons why the report is not the public report of this file."""
    output = report.output
    command = "sanitize" if report.vectors is None else "embed"
    key, named = report.run.key == "key-file", report.run.layout.id_field
    same = [name for name, is_used in (("key", key), ("id", named)) if is_used]
    again = (
        f"make it again from its original with the same {series((*same, 'settings'))}: "
        f"dptext {command} ORIGINAL -o {export.name}"
    )
    if output is None or output.sha256 != export.sha256:
        advice = export.unstaged() or again
        yield f"its public report belongs to another file: the digests differ; {advice}"
    elif output.bytes != export.size:
        yield "its report was changed: the file has a different size"
    elif output.file not in (None, export.name):
        yield (
            "its public report belongs to a file with another name; rename the file "
            f"back, or {again}"
        )
    if report.audience != "public" or report.private is not None:
        yield "its report is the internal report, which must not be released"
    layout = report.run.layout
    whole = {None: (), "text": (True,), "json": (True, False), "jsonl": (True, False)}
    if (layout.fields is None) not in whole.get(layout.format, (False,)):
        yield "its report was changed: its format does not support its fields"
    if not report.success:
        yield "its report belongs to a run that did not succeed"


def _compare_file(report: Document, export: Export) -> tuple[list[str], list[str]]:
    """Return differences between file and report, and reasons it was not read."""
    if report.run.layout.format not in registry.names("formats"):
        return [], []  # the finding on recomputing says so
    differing = _compare_vectors if report.words is None else _compare_words
    try:
        return list(differing(report, export)), []
    except (MissingExtra, exports.NotHere) as error:
        return [], [f"its columns are not checked: {error}"]
    except (InputError, UsageError):
        line = (
            "its report was changed: the file cannot be read with the layout in its "
            "report"
        )
        return [line], []


def _compare_words(report: Document, export: Export) -> Iterator[str]:
    """Compare the copied fields with those in the head of the file."""
    output = report.output
    assert output is not None
    if output.columns is not None or output.rows is not None:
        yield "its report was changed: it lists columns, which only vector reports do"
        return
    head = exports.read_head(report.run.layout, export)
    if head.copied != output.copied:
        yield "its report was changed: its unchanged fields differ from the file's"
    if head.sheets != output.sheets:
        yield "its report was changed: its sheets differ from the file's"


def _compare_vectors(report: Document, export: Export) -> Iterator[str]:
    """Compare a file's columns, types and rows with the report."""
    output, section = report.output, report.vectors
    assert output is not None
    assert section is not None
    names = _columns(report.run, export.name)
    if report.run.layout.changed or not report.run.layout.is_ordered:
        yield "its report was changed: it is a vector report with a layout for words"
        return
    if output.columns != names or output.copied is not None or output.rows is None:
        yield "its report was changed: dptext never writes these columns"
        return
    wanted = columns.Shape.from_names(names, output.rows, section.dimensions)
    with export.open() as plain:
        shape = columns.shape(plain, export.name)
    if shape.columns != wanted.columns:
        yield "its report was changed: its columns differ from the file's"
    elif shape.rows != wanted.rows:
        yield "its report was changed: the file has a different number of rows"


def _columns(run: sections.Run, name: str) -> tuple[str, ...]:
    """Return the columns of a vector file, from its settings and file name."""
    if columns.suffix(name) == ".npy":
        return ("vector",)
    options = run.settings.get("embed")
    pool = options.get("pool") if isinstance(options, dict) else None
    ids = ("id",) if run.layout.id_field is not None else ()
    words = ("word",) if pool == Pool.WORD else ()
    return (*ids, "record", "text", *words, "vector")


def _fields(report: Document, export: Export, policy: ExportPolicy) -> Iterator[str]:
    """Yield copied fields that violate the policy."""
    layout = report.run.layout
    yield from exports.against_policy(
        layout.replaced, policy, "pseudonyms", "a pseudonym is not"
    )
    if not policy.fields and policy.copy is None and not policy.deny_columns:
        return
    try:
        if report.words is not None:
            copied = list(exports.copied_fields(layout, export))
        else:
            with export.open() as plain:
                names = columns.shape(plain, export.name).columns
            copied = [layout.id_field or "id"] if "id" in names else []
    except MissingExtra as error:
        yield f"its fields cannot be read: {error}"
    except (InputError, UsageError):
        yield "its fields cannot be read, or differ from those in its report"
    else:
        yield from exports.against_policy(copied, policy)
        yield from exports.denied_fields(
            [*(layout.fields or ()), *layout.replaced, *copied], policy
        )


def _content(report: Document, export: Export, policy: ExportPolicy) -> list[Finding]:
    """Search all released values for columns that identify people."""
    if report.run.layout.format not in registry.names("formats"):
        return []  # the finding on recomputing says so
    try:
        export_contents = contents.read_export(report, export)
    except (MissingExtra, exports.NotHere) as error:
        if Unverified.CONTENT in policy.unverified:
            return []
        line = f"its columns were not checked: {error}; or accept this with "
        return as_findings(Rule.NOT_RECOMPUTED, [f"{line}unverified: [content]"])
    except (InputError, UsageError):
        line = "its columns cannot be checked: the file differs from its report"
        return as_findings(Rule.CHANGED, [line])
    return [
        *as_findings(Rule.CHANGED, export_contents.contradictions()),
        *as_findings(
            Rule.IDENTIFYING, map(str, export_contents.identifying(policy.identifying))
        ),
    ]


def _edited(report: Document, data: bytes) -> Iterator[str]:
    """Yield the reasons why dptext cannot have written this report."""
    if _has_twice(data):
        yield "its report has a duplicate key"
    elif msgspec.json.decode(data) != msgspec.json.decode(encode(report)):
        yield "its report has unknown keys, or lacks some"
    run = report.run
    if settings.digest_of_data(run.settings) != run.settings_digest:
        yield "its report was changed: the settings do not match their digest"


def _contradictions(report: Document) -> Iterator[str]:
    """Yield contradictions inside a report, for reports that cannot be recomputed."""
    promise, bound = report.guarantee, report.guarantee.bound
    run, layout = report.run, report.run.layout
    kept = {*(layout.fields or ()), *layout.replaced}
    signs = {
        "its strength does not match its figures": promise.strength
        != claims.judge(bound.notion, bound.level, bound.loss, bound.text_loss),
        "unprotected does not match the settings": promise.scope.unprotected
        != _unprotected(report),
        "dptext writes no such profile or lexicon name": not all(
            map(names.is_written, (run.profile, run.lexicon))
        ),
        "its layout is impossible for its format": layout.format
        in registry.names("formats")
        and layout.that_applies([layout.format]) != layout,
        "it lists pseudonyms without a key file": layout.replaced
        and run.key != "key-file",
        "a field is listed both as dropped and as kept": not kept.isdisjoint(
            layout.dropped
        ),
        "the third party differs from the settings": _party(report) != _asked(report),
    }
    for sign, is_seen in signs.items():
        if is_seen:
            yield f"its report was changed: {sign}"


def _asked(report: Document) -> tuple[str, str] | None:
    """Return host and model of the third party in the output section, or None."""
    used = None if report.output is None else report.output.used
    return None if used is None else (used.host, used.model)


def _party(report: Document) -> tuple[str, str] | None:
    """Return host and model of the third party in the settings, or None."""
    decoder = report.run.settings.get("decoder")
    if isinstance(decoder, dict) and decoder.get("name") == "endpoint":
        with contextlib.suppress(UsageError):
            host = endpoint.host_and_port(str(decoder.get("url")), "decoder.url")
            return host, str(decoder.get("model"))
    return None


def _unprotected(report: Document) -> tuple[Unprotected, ...]:
    """Return the parts of texts that settings leave unprotected; all if invalid.

    Vectors leave no token unprotected.
    """
    if report.words is None:
        return ()
    policy, strategy = report.policy, str(report.run.settings.get("strategy"))
    if policy is None or strategy not in [*Strategy]:
        return tuple(Unprotected)
    return claims.unprotected(policy, Strategy(strategy))


def _has_twice(data: bytes) -> bool:
    """Return whether a JSON object repeats a key, which readers treat differently."""

    def look(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            raise ValueError

    try:
        json.loads(data, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return True
    return False


def _terms(report: Document, risk: float | None, policy: ExportPolicy) -> Iterator[str]:
    """Yield policy violations by guarantee, risk, lexicon or third party."""
    bound, section = report.guarantee.bound, report.vectors
    if bound.notion not in policy.notion:
        wanted = " or ".join(policy.notion)
        yield f"guarantee is {bound.notion}, the policy requires {wanted}"
    elif not policy.limits_protection:
        yield from _unfit(report)
    bounded = bound.notion is Notion.LDP and bound.level is not Level.WORDS
    epsilon = bound.epsilon if bounded else bound.worst_loss
    for name, nats, limit in (
        ("epsilon between any two words", epsilon, policy.max_epsilon),
        ("worst loss", bound.worst_loss, policy.max_loss),
    ):
        if limit is not None and (nats is None or nats > limit):
            shown = "not bounded" if nats is None else f"{format_up(nats)} nats"
            yield f"{name} is {shown}, the policy allows {limit:g}"
    limit = policy.max_delta
    if limit is not None and bound.delta > limit:
        yield f"delta is {bound.delta:g}, the policy allows {limit:g}"
    if policy.max_risk is not None and (risk is None or risk > policy.max_risk):
        shown = "not measured" if risk is None else f"{risk:.2%}"
        yield f"risk is {shown}, the policy allows {policy.max_risk:.2%}"
    lexicon = report.run.lexicon_digest or (section.table_digest if section else "")
    if policy.lexicons is not None and lexicon not in policy.lexicons:
        yield "its lexicon is not listed in the policy (lexicons)"
    party, hosts = _party(report) or _asked(report), policy.third_parties
    if party is not None and hosts is not None and party[0] not in hosts:
        yield (
            f"draws were sent to {party[0]}, which is not listed in the policy "
            "(third_parties)"
        )
    used = None if report.output is None else report.output.used
    if used is not None and used.proxy and hosts is not None and PROXY not in hosts:
        yield (
            "draws were sent through a proxy, which is not listed in the policy "
            "(third_parties)"
        )


def _unfit(report: Document) -> Iterator[str]:
    """Yield the verdict of a run that should not be shared."""
    verdict, tone = protection.fitness(protection.Basis.from_document(report))
    if tone is blocks.Tone.BAD:
        yield (
            f"its verdict is: {verdict} To decide by limits instead, set max_epsilon, "
            "max_loss or max_risk in the policy"
        )


def _written(report: Document, policy: ExportPolicy) -> Iterator[str]:
    """Yield a violation if more words stayed original than a policy allows.

    report: the recomputed one if available, since this version's figures count.
    """
    written, most = report.written, policy.max_written
    if most is not None and (written is None or written > most):
        shown = "not measured for its settings" if written is None else f"{written:.2%}"
        yield (
            f"share of written words that are the original is {shown}, the policy "
            f"allows {most:.2%}"
        )


def _parts(report: Document, policy: ExportPolicy) -> Iterator[str]:
    """Yield unprotected parts that violate the policy; the last line has advice.

    The advice names the policy key that accepts them; kept words have another key.
    """
    allowed = policy.parts
    usual = allowed is None
    if allowed is None:
        allowed = usually_allowed(report.policy)
    shown = [each for each in report.guarantee.scope.unprotected if each not in allowed]
    words = word_lists.kept(report)
    if Unprotected.KEEP_LIST in shown and words is not None:
        shown.remove(Unprotected.KEEP_LIST)
        yield from word_lists.kept_against_policy(words, report, policy)
    unlike = {*usually_allowed(profile.load(DEFAULT).tokens)} if usual else set()
    for name in shown:
        line = f"{_SHOWN[name]}; the policy does not allow {name}"
        if name in unlike:
            line += f", except as {DEFAULT} shows it"
        if name == shown[-1]:
            line += f"; {_accepting(shown, allowed if usual else None)}"
        yield line


def _accepting(
    shown: Sequence[Unprotected], usual: Sequence[Unprotected] | None
) -> str:
    """Return the policy key and the option that accept unprotected parts.

    usual: the parts allowed by default; None if the policy names parts.
    """
    these = "this part" if len(shown) == 1 else f"these {len(shown)} parts"
    if usual is None:
        return (
            f"if {these} may be released, add to allow in the policy: "
            f"{', '.join(shown)}"
        )
    names = ", ".join(each for each in Unprotected if each in {*usual, *shown})
    return (
        f"if {these} may be released, give {option('set')} 'allow=[{names}]' or put "
        f"allow: [{names}] in the section check of .dptext.yaml"
    )
