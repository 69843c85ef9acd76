"""The fields of a report on its page of the docs."""

from __future__ import annotations

from typing import Any

from dptext.report import document
from tools import report_page


def test_the_page_has_the_fields_of_the_schema() -> None:
    """docs/report.md is current: python -m tools.report_page writes it."""
    text = report_page.PAGE.read_text("utf-8")
    assert text == report_page.page(text)


def test_every_field_is_described() -> None:
    """No field of a report goes without a description, and the page shows it."""
    schema: dict[str, Any] = document.schema()
    shown = report_page.fields(schema)
    for name, part in schema["$defs"].items():
        properties: dict[str, Any] = part.get("properties", {})
        for field, value in properties.items():
            assert report_page._description(value), f"{name}.{field}"
        assert not properties or f"### {name}\n" in shown
