"""What `dptext check` finds: rules by name, findings, and how machines read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dptext.types import JsonObject

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


class Rule(StrEnum):
    """What an export must keep; a rule never changes its meaning."""

    UNREADABLE = "unreadable-export"
    MISSING = "missing-report"
    INVALID = "invalid-report"
    OTHER_FILE = "report-of-another-file"
    CHANGED = "changed-report"
    SIGNATURE = "signature"
    NOT_RECOMPUTED = "not-recomputed"
    POLICY = "policy"
    FIELDS = "copied-fields"


MEANINGS = {
    Rule.UNREADABLE: "An export can be read.",
    Rule.MISSING: "An export has a public privacy report beside it.",
    Rule.INVALID: "The report follows the schema of dptext reports.",
    Rule.OTHER_FILE: "The report is the public report of this very file.",
    Rule.CHANGED: "The report agrees with its own settings.",
    Rule.SIGNATURE: "The report is signed with a key that is accepted, and unchanged.",
    Rule.NOT_RECOMPUTED: "The report can be recomputed on this machine.",
    Rule.POLICY: "The guarantee meets the policy.",
    Rule.FIELDS: "Only fields that the policy allows are copied.",
}


class Finding(NamedTuple):
    """Why an export does not pass, in one line that holds nothing of its content."""

    rule: Rule
    message: str


class Judged(NamedTuple):
    """An export by its path, why it does not pass, and what was not checked."""

    name: str
    findings: Sequence[Finding]
    notes: Sequence[str]


def of_rule(rule: Rule, lines: Iterable[str]) -> list[Finding]:
    """Return lines as findings of one rule."""
    return [Finding(rule, line) for line in lines]


def as_json(judged: Sequence[Judged], trust: str) -> JsonObject:
    """Return all that was judged as plain data; trust says whom the check trusts."""
    return {
        "success": not any(each.findings for each in judged),
        "trust": trust,
        "exports": [
            {
                "file": each.name,
                "success": not each.findings,
                "findings": [finding._asdict() for finding in each.findings],
                "notes": list(each.notes),
            }
            for each in judged
        ],
    }


def as_sarif(judged: Sequence[Judged], trust: str, version: str) -> JsonObject:
    """Return the findings as a log of SARIF 2.1.0 (OASIS, 2020)."""
    order = list(Rule)
    results = [
        {
            "ruleId": str(finding.rule),
            "ruleIndex": order.index(finding.rule),
            **_said("error", finding.message, each.name),
        }
        for each in judged
        for finding in each.findings
    ]
    notes = [_said("note", note, each.name) for each in judged for note in each.notes]
    rules = [
        {"id": str(rule), "shortDescription": {"text": MEANINGS[rule]}}
        for rule in order
    ]
    trusted = [_said("note", trust)] if trust else []
    invocation = {
        "executionSuccessful": True,
        "toolExecutionNotifications": [*trusted, *notes],
    }
    driver = {"name": "dptext check", "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _said(level: str, text: str, name: str = "") -> JsonObject:
    """Return a message on a file, if on one."""
    from urllib.parse import quote

    said: JsonObject = {"level": level, "message": {"text": text}}
    if name:
        uri = quote(name.replace("\\", "/"), safe="/", errors="surrogateescape")
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
        said["locations"] = [{"physicalLocation": location}]
    return said
