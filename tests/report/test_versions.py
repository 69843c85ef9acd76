"""Reports of earlier releases are read: within a version, fields are only added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dptext.report import document, verify

VERSIONS = Path(__file__).parent / "versions"
NAME = str(document.VERSION)


def _json(kind: str) -> Any:
    return json.loads((VERSIONS / f"{NAME}.{kind}.json").read_bytes())


def test_an_earlier_report_is_read() -> None:
    """One that lacks newer fields is read as it was written, and follows the schema."""
    report = _json("report")
    data = json.dumps(report).encode()
    again = document.encode(document.decode(data, "report"))
    assert verify.written(report, again)
    jsonschema.Draft202012Validator(document.schema()).validate(report)
    assert "signature" not in report


@pytest.mark.parametrize("change", ["more", "other", "shorter"])
def test_what_was_not_written_is_found(change: str) -> None:
    """Only keys may be absent: no value may differ, and no list be shorter."""
    report = _json("report")
    again = document.encode(document.decode(json.dumps(report).encode(), "report"))
    if change == "more":
        report["run"]["more"] = 1
    elif change == "other":
        report["run"]["profile"] = "other"
    else:
        report["guarantee"]["not_covered"].pop()
    assert not verify.written(report, again)


def test_the_schema_only_grows() -> None:
    """Fields of the version's first schema stay as they are; new ones have defaults."""
    first = _json("schema")
    now: dict[str, Any] = document.schema()
    assert first["$ref"] == now["$ref"]
    for name, part in first["$defs"].items():
        mine = now["$defs"][name]
        assert set(mine.get("required", ())) <= set(part.get("required", ())), name
        for field, kind in part.get("properties", {}).items():
            assert mine["properties"][field] == kind, f"{name}.{field}"
        if "enum" in part:
            assert set(part["enum"]) <= set(mine["enum"]), name
