"""Verdicts as plain data and in SARIF, for other programs."""

from __future__ import annotations

from collections.abc import Sequence

from dptext._version import __version__
from dptext.checking.verify import MEANINGS, Rule, Verdict
from dptext.types import JsonObject

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def as_json(judged: Sequence[Verdict], trust: str) -> JsonObject:
    """Return verdicts as plain data; trust describes the trusted signers."""
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
            if not each.unchecked
        ],
        "not_checked": [
            {
                "file": each.name,
                "success": not each.findings,
                "reason": each.unchecked,
            }
            for each in judged
            if each.unchecked
        ],
    }


def as_sarif(judged: Sequence[Verdict], trust: str) -> JsonObject:
    """Return the findings as a log of SARIF 2.1.0 (OASIS, 2020)."""
    results = [
        {
            "ruleId": finding.rule,
            "ruleIndex": [*Rule].index(finding.rule),
            **_sarif_message("error", finding.message, each.name),
        }
        for each in judged
        for finding in each.findings
    ]
    notes = [_sarif_message("note", trust)] if trust else []
    notes += [
        _sarif_message("note", note, each.name)
        for each in judged
        for note in each.notes
    ]
    rules = [
        {"id": rule, "shortDescription": {"text": MEANINGS[rule]}} for rule in Rule
    ]
    driver = {"name": "dptext check", "version": __version__, "rules": rules}
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _sarif_message(level: str, text: str, name: str = "") -> JsonObject:
    """Return a message, with the location of a file if it has one."""
    from urllib.parse import quote

    message: JsonObject = {"level": level, "message": {"text": text}}
    if name:
        uri = quote(name.replace("\\", "/"), safe="/", errors="surrogateescape")
        location = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
        message["locations"] = [{"physicalLocation": location}]
    return message
