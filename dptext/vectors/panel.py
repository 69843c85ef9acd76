"""The report of vectors as a panel and as a page.

The report of vectors as a panel for people, and as a page.

What a report of vectors shows, in rows and badges, for the panel and the page.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dptext.guarantees.rounding import above
from dptext.report import _page, _plain, _promise, columns, html, terminal
from dptext.report._badges import Badge
from dptext.report._page import Section
from dptext.report._plain import Tone
from dptext.report.document import Document
from dptext.report.figures import share
from dptext.report.signatures import UNSIGNED
from dptext.types import Level, Notion
from dptext.vectors.measures import Measures

Row = tuple[str, str]
NOT_PUBLIC = "from private text"


def badges(document: Document) -> tuple[Badge, Badge]:
    """Return what the bound of one vector is worth, and that of several."""
    promise = document.guarantee
    if promise.notion is Notion.NONE:
        return _plain.verdict(promise), (Tone.BAD, "Several vectors: no guarantee")
    of = "words" if promise.level is Level.WORD else "texts of a person"
    if promise.notion is Notion.APPROXIMATE:
        line = f"n {of}: epsilon grows with sqrt(n) and more (see below)"
    else:
        line = f"n {of}: at most n times {above(promise.loss.farthest)} nats"
    return _plain.verdict(promise), (Tone.FAIR, line)


def measured(measures: Measures) -> tuple[Row, ...]:
    """Return the figures of public data."""
    errors, ruler = measures.distortion, measures.ruler
    low, middle, high = measures.noise_lengths
    best = "" if ruler.best is None else f", by the best guess {share(ruler.best)}"
    return (
        (
            "Distances, without noise",
            f"mean {errors.distance:.4g}; expected with noise "
            f"{errors.expected_distance:.4g}",
        ),
        (
            "Error of a distance",
            f"mean {errors.distance_error:.4g}; {errors.corrected_error:.4g} with the "
            "noise's known part taken off",
        ),
        (
            "Error of an inner product",
            f"mean {errors.product_error:.4g} (mean size {errors.product:.4g}); "
            f"expected standard deviation {errors.expected_product_error:.4g}",
        ),
        (
            "Length of the noise",
            f"5% {low:.4g}, 50% {middle:.4g}, 95% {high:.4g}",
        ),
        (
            "Ruler: the original is found",
            f"by the nearest of {ruler.choices:,} {ruler.of} {share(ruler.nearest)}"
            f"{best} (95% limits {share(ruler.low)} to {share(ruler.high)}); without "
            f"the vector {share(ruler.baseline)}",
        ),
    )


def private(document: Document) -> tuple[Row, ...]:
    """Return functions of the private text."""
    counted = document.private
    if counted is None or counted.vectors is None:
        return ()
    made = counted.vectors
    rows = [
        (
            f"Done ({NOT_PUBLIC})",
            f"{counted.records:,} records, {counted.faults:,} set aside, "
            f"{counted.texts:,} texts, {made.words:,} words, "
            f"{made.vectors:,} vectors in {counted.seconds:.1f} s",
        )
    ]
    if made.most_of_one is not None:
        together = made.epsilon_of_one
        lost = "" if together is None else f", together at most {above(together)} nats"
        rows.append(
            (
                f"Most vectors of one subject ({NOT_PUBLIC})",
                f"{made.most_of_one:,}{lost}",
            )
        )
    return tuple(rows)


def run(document: Document) -> tuple[Row, ...]:
    """Return what was run."""
    what_ran, output, section = document.run, document.output, document.vectors
    assert section is not None
    rows = [
        ("Vectors", f"{section.dimensions} dimensions, steps of {section.step:.6g}"),
        ("Epsilon of one vector", above(section.epsilon_each, 6)),
        ("Made private", columns.private(what_ran.layout)),
    ]
    if output is not None and output.columns is not None:
        rows.append(("Columns", ", ".join(output.columns)))
    mechanism = what_ran.settings["mechanism"]["name"]
    pool = what_ran.settings["embed"]["pool"]
    rows.append(
        (
            "Run",
            f"dptext {what_ran.dptext}, {mechanism}, {pool}, {what_ran.lexicon} "
            f"({section.table_digest[:12]}), key: {what_ran.key}",
        )
    )
    return tuple(rows)


def _measured(document: Document) -> tuple[Row, ...]:
    found = None if document.vectors is None else document.vectors.measures
    return () if found is None else measured(found)


def rows(document: Document) -> tuple[Row, ...]:
    """Return all rows of a report."""
    return (*_measured(document), *private(document), *run(document))


def show(document: Document, console: Console, signed: str = UNSIGNED) -> None:
    """Print a report; signed says who signed (dptext.report.signatures)."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name, value in rows(document):
        table.add_row(Text(name), Text(value))
    table.add_row("Signature", Text(signed))
    console.print(
        terminal.panel(
            document.guarantee,
            badges(document),
            table,
            name="vectors",
            audience=document.audience,
            several="Several vectors",
        )
    )


def render(document: Document, signed: str = UNSIGNED) -> bytes:
    """Return the page as UTF-8; signed says who signed (dptext.report.signatures)."""
    promise = document.guarantee
    (tone, label), other = badges(document)
    said = _page.element("p", promise.sentence, class_="said")
    several = _page.paragraphs((f"Several vectors: {promise.text_level}",))
    guarantee = Section(
        "Guarantee", (said, several), tone=tone, label=label, more=(other,)
    )
    sections: list[Section | tuple[Section, ...]] = [
        (guarantee, _promise.not_covered(promise)),
        Section("Holds if", (_page.bullets(promise.conditions or (_NOTHING,)),)),
    ]
    if figures := _measured(document):
        shown = _page.facts(list(figures))
        note = _page.note("Measured on public words or texts alone.")
        sections.append(Section("What is left of the vectors", (shown, note)))
    if document.private is not None:
        shown = _page.facts(list(private(document)))
        sections.append(Section("This run (functions of the private text)", (shown,)))
    flat = html.flat(document.run.settings)
    settings_rows = [
        *run(document),
        *((_page.code(name), value) for name, value in flat),
    ]
    sections.append(Section("Versions and settings", (_page.facts(settings_rows),)))
    output = document.output
    if output is not None:
        lines = [
            ("Released file", str(output.file)),
            ("SHA-256", _page.code(output.sha256)),
        ]
        parts = _page.facts(lines), html.signature(signed)
        sections.append(Section("How to check the file", parts))
    return _page.page(
        "Privacy report: vectors",
        sections,
        lead=_page.paragraphs((html.AUDIENCE[document.audience],)),
        footer=f"Written by dptext {document.run.dptext}. {_plain.scale(promise)}",
    )


_NOTHING = "There is no guarantee to hold."
