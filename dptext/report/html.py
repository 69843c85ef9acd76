"""Blocks as one HTML page, by the template page.html.

A page is one file without scripts that loads nothing: a content security policy in it
says so to the browser. All text is escaped by Jinja2.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dptext.report import charts
from dptext.report.blocks import TREATMENTS, Page, Section

if TYPE_CHECKING:
    from jinja2 import Template

# What would end a text, reorder it or be lost: shown as a replacement character.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def render(page: Page) -> bytes:
    """Return a page as UTF-8."""
    names = _names([section.title for section in page.sections])
    named = list(zip(page.sections, names, strict=True))
    # Boxes that follow each other stand side by side where there is room.
    rows = [list(row) for _, row in groupby(named, lambda each: _boxed(each[0]))]
    return _template().render(page=page, named=named, rows=rows, boxed=_boxed).encode()


def _boxed(section: Section) -> bool:
    return section.boxed or section.tone is not None


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        kind=lambda block: type(block).__name__, series=_series, drawn=charts.drawn
    )
    return environment.get_template("page.html")


def _shown(value: Any) -> Any:
    """Replace what cannot be shown in text; markup of the template stays as it is."""
    return _UNSHOWN.sub("\ufffd", value) if type(value) is str else value


def _series(treatment: str) -> int:
    """Return the number of a treatment's colour, 0 for one that is not known."""
    return TREATMENTS.index(treatment) + 1 if treatment in TREATMENTS else 0


def _names(titles: Sequence[str]) -> list[str]:
    """Return an id for each title, all different."""
    names: list[str] = []
    for title in titles:
        plain = unicodedata.normalize("NFKD", title.lower())
        name = re.sub("[^a-z0-9]+", "-", plain).strip("-")[:40] or "part"
        while name in names:
            name += "-more"
        names.append(name)
    return names
