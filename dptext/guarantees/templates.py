"""Fills in the templates of sentences.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS
from dptext.tokens.symbols import names


def read_templates(path: Path) -> dict[str, Any]:
    """Read a file of templates: tables by name and key, some also by value."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def find_template(templates: Mapping[str, Any], name: str) -> str:
    """Look up a template by its dotted name."""
    template: Any = templates
    for key in name.split("."):
        template = template[key]
    return str(template)


TEMPLATES = read_templates(Path(__file__).with_name("sentences.toml"))
#: Values for every template.
BLANKS = {
    "word_limit": f"{MAX_MEANINGFUL_LOSS:g}",
    "text_limit": f"{MAX_MEANINGFUL_TEXT_LOSS:g}",
    "marks": ", ".join(names(marks=True)),
    "symbols": ", ".join(names(marks=False)),
}


def render(name: str, /, **parts: str) -> str:
    """Fill in the template with a dotted name."""
    return find_template(TEMPLATES, name).format(**BLANKS, **parts)


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence: "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]
