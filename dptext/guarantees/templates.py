"""The templates of sentences.toml, with their blanks filled."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS, MAX_MEANINGFUL_TEXT_LOSS
from dptext.tokens.symbols import names


def read_templates(path: Path) -> dict[str, Any]:
    """Read a file of templates: tables by name and key, some by a value as well."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def find_template(templates: Mapping[str, Any], name: str) -> str:
    """Return the template with a dotted name."""
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
    """Return a template by its dotted name, with its blanks filled."""
    return find_template(TEMPLATES, name).format(**BLANKS, **parts)


def series(parts: tuple[str, ...]) -> str:
    """Join parts as in a sentence."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + " and " + parts[-1]
