"""The report of vectors as a panel for people, and as a page."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext.embedding import facts
from dptext.embedding.document import VectorDocument
from dptext.report import _page, _plain, _promise, html, terminal
from dptext.report._page import Section


def show(document: VectorDocument, console: Console) -> None:
    """Print a report."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name, value in facts.rows(document):
        table.add_row(Text(name), Text(value))
    console.print(
        terminal.panel(
            document.guarantee,
            facts.badges(document),
            table,
            name="vectors",
            audience=document.audience,
            several="Several vectors",
        )
    )


def render(document: VectorDocument) -> bytes:
    """Return the page as UTF-8."""
    promise = document.guarantee
    (tone, label), other = facts.badges(document)
    said = _page.element("p", promise.sentence, class_="said")
    several = _page.paragraphs((f"Several vectors: {promise.text_level}",))
    guarantee = Section(
        "Guarantee", (said, several), tone=tone, label=label, more=(other,)
    )
    sections: list[Section | tuple[Section, ...]] = [
        (guarantee, _promise.not_covered(promise)),
        Section("Holds if", (_page.bullets(promise.conditions or (_NOTHING,)),)),
    ]
    if document.measures is not None:
        shown = _page.facts(list(facts.measured(document.measures)))
        note = _page.note("Measured on public words or texts alone.")
        sections.append(Section("What is left of the vectors", (shown, note)))
    if document.private is not None:
        shown = _page.facts(list(facts.private(document)))
        sections.append(Section("This run (functions of the private text)", (shown,)))
    flat = html.flat(document.run.settings)
    settings_rows = [
        *facts.run(document),
        *((_page.code(name), value) for name, value in flat),
    ]
    sections.append(Section("Versions and settings", (_page.facts(settings_rows),)))
    output = document.output
    if output is not None:
        lines = [("Released file", output.file), ("SHA-256", _page.code(output.sha256))]
        sections.append(Section("How to check the file", (_page.facts(lines),)))
    return _page.page(
        "Privacy report: vectors",
        sections,
        lead=_page.paragraphs((html.AUDIENCE[document.audience],)),
        footer=f"Written by dptext {document.run.dptext}. {_plain.scale(promise)}",
    )


_NOTHING = "There is no guarantee to hold."
