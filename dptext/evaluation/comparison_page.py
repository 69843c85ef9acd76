"""A comparison as a page: curves, bars and examples side by side."""

from __future__ import annotations

from collections.abc import Sequence

from dptext.evaluation import OWNER
from dptext.evaluation.comparison import ACCURACIES, Row
from dptext.evaluation.comparison_table import KEPT, cells, flat, named, of_task
from dptext.report import _page, _svg, figures
from dptext.report._axis import plain
from dptext.report._page import Html, Section
from dptext.report._svg import Show

_FIGURES = (
    *("mechanism", "level", "epsilon", "guarantee", "worst loss, nats", "risk", *KEPT),
    *(*of_task("utility"), *of_task("attack")),
)
_WORDS = ("mechanism", "level", "guarantee")
_COST = ("mechanism", "level", "dimensions", "words a second", "peak memory, MB")


def render(rows: Sequence[Row], originals: Sequence[str]) -> bytes:
    """Return the page as UTF-8; originals are the texts, in their order."""
    done = [row for row in rows if not row.reason]
    sections = [
        Section("All figures", (_table(done, _FIGURES), _meanings())),
        *_curves(done),
        *_composites(done),
        Section("Cost", (_table(done, _COST),)),
        Section(
            "The first texts, and how they came out", (_examples(done, originals),)
        ),
    ]
    missing = [row for row in rows if row.reason]
    if missing:
        reasons = [f"{row.mechanism}, {row.level}: {row.reason}" for row in missing]
        sections.append(Section("What could not be run", (_page.bullets(reasons),)))
    lead = _page.note(f"{OWNER}; this page shows texts")
    return _page.page(
        "Mechanisms compared", sections, lead=lead, footer="dptext compare"
    )


# Figures of a row by their columns in the table; how they are named and written.
_ACROSS: tuple[tuple[str, str, Show], ...] = (
    ("risk (best guess of a word)", "risk", figures.percent),
    ("worst loss of a word, nats", "worst_loss", plain),
)
_UP: tuple[tuple[str, str, str, Show], ...] = (
    ("Utility", "accuracy on private texts", "utility", figures.percent),
    ("Attack on the attribute", "accuracy of the attack", "attack", figures.percent),
    ("Meaning", "CS, mean cosine", "cs", plain),
    ("Deniability", "N_w / S_w", "n_w / s_w", plain),
)


def _values(row: Row) -> dict[str, float | None]:
    values = flat(row)
    ratio = values["n_w"] / values["s_w"] if values["s_w"] else None
    return {**values, "n_w / s_w": ratio}


def _curves(rows: Sequence[Row]) -> list[Section]:
    """Return a section for each measure that the rows have, against risk and loss."""
    values = [(row, _values(row)) for row in rows]
    sections = []
    for title, y_label, y, y_show in _UP:
        charts = []
        for x_label, x, x_show in _ACROSS:
            series: dict[str, list[_svg.Point]] = {}
            for row, value in values:
                across, up = value[x], value[y]
                if across is not None and up is not None:
                    point = _svg.Point(across, up, row.level)
                    series.setdefault(named(row), []).append(point)
            if series:
                charts.append(
                    _svg.lines(
                        [
                            _svg.Series(name, tuple(sorted(points, key=lambda p: p.x)))
                            for name, points in series.items()
                        ],
                        title=f"{title} by {x_label}",
                        x_label=x_label,
                        y_label=y_label,
                        x_show=x_show,
                        y_show=y_show,
                    )
                )
        if charts:
            sections.append(Section(title, (_page.beside(*charts),)))
    return sections


def _composites(rows: Sequence[Row]) -> list[Section]:
    with_it = [row for row in rows if row.result and row.result.composite]
    if not with_it:
        return []
    first = with_it[0].result
    assert first is not None
    names = [f"alpha {each.alpha:g}" for each in first.composite]
    groups = [
        _svg.Group(
            f"{named(row)}, {row.level}",
            tuple(each.value for each in row.result.composite) if row.result else (),
        )
        for row in with_it
    ]
    chart = _svg.bars(groups, names, title="Composite", most=1.0)
    return [
        Section(
            "Utility and privacy together",
            (chart, _page.note(f"Composite: {first.composite_formula}.")),
        )
    ]


def _meanings() -> Html:
    named = figures.legend(("risk", "N_w", "S_w", "PP", "CS", "LOW"))
    return _page.join(map(_page.note, (*named, ACCURACIES)))


def _table(rows: Sequence[Row], headings: Sequence[str]) -> Html:
    """Return columns of the table."""
    listed = [[cells(row)[name] for name in headings] for row in rows]
    numbers = [n for n, name in enumerate(headings) if name not in _WORDS]
    return _page.table(headings, listed, numbers=numbers)


def _examples(rows: Sequence[Row], originals: Sequence[str]) -> Html:
    parts = []
    for number, text in enumerate(originals[: len(rows[0].examples) if rows else 0]):
        parts.append(_page.heading(f"Text {number + 1}"))
        shown = [("original", "", _cut(text))]
        shown += [(named(row), row.level, _cut(row.examples[number])) for row in rows]
        parts.append(_page.table(("mechanism", "level", "text"), shown, numbers=()))
    return _page.join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]} …"
