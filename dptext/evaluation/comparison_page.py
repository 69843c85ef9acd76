"""A comparison as a page: curves, bars and examples side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dptext.evaluation import OWNER
from dptext.evaluation.classify import Task
from dptext.evaluation.comparison import ACCURACIES, Row
from dptext.report import _page, _svg, figures
from dptext.report._axis import plain
from dptext.report._page import Html, Section
from dptext.report._svg import Show
from dptext.streams import open_output

Value = Callable[[Row], float | None]


def render(rows: Sequence[Row], originals: Sequence[str]) -> bytes:
    """Return the page as UTF-8; originals are the texts, in their order."""
    done = [row for row in rows if not row.reason]
    sections = [
        Section("All figures", (_table(done), _meanings())),
        *_curves(done),
        *_composites(done),
        Section("Cost", (_cost(done),)),
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


def _name(row: Row) -> str:
    plain = row.lexicon in ("builtin", "english")
    return row.mechanism if plain else f"{row.mechanism}, {row.lexicon}"


def _utility(row: Row) -> float | None:
    tasks = row.result.utility if row.result else ()
    return tasks[0].private.accuracy if tasks else None


def _attack(row: Row) -> float | None:
    tasks = row.result.attribute_attacks if row.result else ()
    return tasks[0].private.accuracy if tasks else None


def _similarity(row: Row) -> float | None:
    return row.result.kept.similarity if row.result else None


def _ratio(row: Row) -> float | None:
    deny = row.result.deniability if row.result else None
    return deny.n_w / deny.s_w if deny and deny.s_w else None


def _risk(row: Row) -> float | None:
    return row.risk


def _loss(row: Row) -> float | None:
    return row.worst_loss


_ACROSS: tuple[tuple[str, Value, Show], ...] = (
    ("risk (best guess of a word)", _risk, figures.percent),
    ("worst loss of a word, nats", _loss, plain),
)


def _curves(rows: Sequence[Row]) -> list[Section]:
    """Return a section for each measure that the rows have, against risk and loss."""
    sections = []
    for title, label, value, shown in (
        ("Utility", "accuracy on private texts", _utility, figures.percent),
        ("Attack on the attribute", "accuracy of the attack", _attack, figures.percent),
        ("Meaning", "CS, mean cosine", _similarity, plain),
        ("Deniability", "N_w / S_w", _ratio, plain),
    ):
        charts = [
            _chart(rows, title, (label, value, shown), across)
            for across in _ACROSS
            if any(
                across[1](row) is not None and value(row) is not None for row in rows
            )
        ]
        if charts:
            sections.append(Section(title, (_page.beside(*charts),)))
    return sections


def _chart(
    rows: Sequence[Row],
    title: str,
    up_by: tuple[str, Value, Show],
    across_by: tuple[str, Value, Show],
) -> Html:
    label, value, y_show = up_by
    x_label, x, x_show = across_by
    series = []
    for name in dict.fromkeys(map(_name, rows)):
        points = [
            _svg.Point(float(across), float(up), row.level)
            for row in rows
            if _name(row) == name
            and (across := x(row)) is not None
            and (up := value(row)) is not None
        ]
        points.sort(key=lambda point: point.x)
        series.append(_svg.Series(name, tuple(points)))
    kept = [each for each in series if each.points]
    return _svg.lines(
        kept,
        title=f"{title} by {x_label}",
        x_label=x_label,
        y_label=label,
        x_show=x_show,
        y_show=y_show,
    )


def _composites(rows: Sequence[Row]) -> list[Section]:
    with_it = [row for row in rows if row.result and row.result.composite]
    if not with_it:
        return []
    first = with_it[0].result
    assert first is not None
    names = [f"alpha {each.alpha:g}" for each in first.composite]
    groups = [
        _svg.Group(
            f"{_name(row)}, {row.level}",
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


def _table(rows: Sequence[Row]) -> Html:
    headers = (
        *("mechanism", "level", "epsilon", "guarantee", "worst loss, nats", "risk"),
        *("N_w", "S_w", "PP", "CS", "LOW"),
        *("utility", "utility on originals", "utility by chance"),
        *("attack", "attack on originals", "attack by chance"),
    )
    return _page.table(
        headers,
        [
            (
                _name(row),
                row.level,
                f"{row.epsilon:.4g}",
                row.notion,
                "none" if row.worst_loss is None else f"{row.worst_loss:.4g}",
                figures.share(row.risk),
                *_of_mechanism(row),
                *_of_texts(row),
                *_accuracies(row.result.utility if row.result else ()),
                *_accuracies(row.result.attribute_attacks if row.result else ()),
            )
            for row in rows
        ],
        numbers=(2, *range(4, len(headers))),
    )


def _of_mechanism(row: Row) -> tuple[str, str]:
    deny = row.result.deniability if row.result else None
    if deny is None:
        return (figures.NOTHING, figures.NOTHING)
    return (figures.share(deny.n_w), figures.distinct(deny.s_w, deny.runs))


def _of_texts(row: Row) -> tuple[str, str, str]:
    if row.result is None:
        return (figures.NOTHING,) * 3
    kept = row.result.kept
    return (
        figures.share(kept.perturbed),
        figures.cosine(kept.similarity),
        figures.share(kept.low),
    )


def _accuracies(tasks: Sequence[Task]) -> tuple[str, str, str]:
    """Return the accuracy on private texts, on originals, and by chance."""
    if not tasks:
        return (figures.NOTHING,) * 3
    task = tasks[0]
    return str(task.private), str(task.original), figures.share(task.chance)


def _cost(rows: Sequence[Row]) -> Html:
    return _page.table(
        ("mechanism", "level", "dimensions", "words a second", "peak memory, MB"),
        [
            (
                _name(row),
                row.level,
                row.dimensions,
                f"{row.words_per_second or 0:,.0f}",
                f"{row.megabytes:.0f}",
            )
            for row in rows
        ],
        numbers=(2, 3, 4),
    )


def _examples(rows: Sequence[Row], originals: Sequence[str]) -> Html:
    parts = []
    for number, text in enumerate(originals[: len(rows[0].examples) if rows else 0]):
        parts.append(_page.heading(f"Text {number + 1}"))
        shown = [("original", "", _cut(text))]
        shown += [(_name(row), row.level, _cut(row.examples[number])) for row in rows]
        parts.append(_page.table(("mechanism", "level", "text"), shown, numbers=()))
    return _page.join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]} …"


def write(rows: Sequence[Row], originals: Sequence[str], path: Path) -> None:
    """Write the page to a file."""
    with open_output(str(path)) as sink:
        sink.stream.write(render(rows, originals))
