"""Write the fields of a report into docs/report.md, from the schema.

The part above the mark is written by hand; the part below follows from the descriptions
of fields. To be run after a field of a report has changed, as a test demands:

    python -m tools.report_page
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dptext.report import document

PAGE = Path(__file__).parents[1] / "docs/report.md"
MARK = "<!-- Below: python -m tools.report_page -->\n"
_FIRST = "Document"
_PREFIX = "#/$defs/"


def fields(schema: dict[str, Any]) -> str:
    """Return a table for each part of a report, in the order of their first mention."""
    parts, text = schema["$defs"], []
    waiting, done = [_FIRST], {_FIRST}
    while waiting:
        name = waiting.pop(0)
        part = parts[name]
        if "properties" not in part:
            continue
        description = _one_line(part.get("description", ""))
        text += [f"### {name}", "", description, ""]
        text += ["| field | type | description |", "| --- | --- | --- |"]
        for field, value in part["properties"].items():
            described = _cell(_description(value))
            text.append(f"| `{field}` | {_cell(_type(value, parts))} | {described} |")
            for other in _names(value):
                if other not in done:
                    done.add(other)
                    waiting.append(other)
        text.append("")
    return "\n".join(text)


def page(text: str) -> str:
    """Return the page with the current fields below the mark."""
    above, _, _ = text.partition(MARK)
    return f"{above}{MARK}\n{fields(document.schema())}"


def _description(value: dict[str, Any]) -> str:
    """Return the description of a field."""
    inner = value.get("anyOf", ())
    found = [value.get("description"), *(each.get("description") for each in inner)]
    return next((_one_line(each) for each in found if each), "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _names(value: Any) -> list[str]:
    """Return the names of all parts that a type refers to."""
    if isinstance(value, dict):
        own = [value["$ref"].removeprefix(_PREFIX)] if "$ref" in value else []
        return own + [name for each in value.values() for name in _names(each)]
    if isinstance(value, list):
        return [name for each in value for name in _names(each)]
    return []


def _type(value: dict[str, Any], parts: dict[str, Any]) -> str:
    """Write a type as people read it."""
    if "$ref" in value:
        name = value["$ref"].removeprefix(_PREFIX)
        if "enum" in parts[name]:
            return _type(parts[name], parts)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(_type(each, parts) for each in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{json.dumps(each)}`" for each in value["enum"])
    if value.get("type") == "array":
        items = value.get("items")
        if isinstance(items, dict):
            return f"list of {_type(items, parts)}"
        return f"list of {len(value['prefixItems'])} numbers"
    if value.get("type") == "object":
        inner = value.get("additionalProperties")
        return f"object of {_type(inner, parts)}" if inner else "object"
    return str(value.get("type", "any value"))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
