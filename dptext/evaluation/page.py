"""An evaluation as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dptext.evaluation import result_rows
from dptext.evaluation.classify import Task
from dptext.evaluation.run import Result
from dptext.measures.context_risk import Reading, Success
from dptext.report import _page, _svg, figures
from dptext.report._page import Html, Section
from dptext.report.figures import share as _share


def render(result: Result) -> bytes:
    """Return the page as UTF-8."""
    kept = result.kept
    headers = ("measure", "value", "meaning")
    table = _page.table(headers, result_rows.kept(result), numbers=(1,))
    note = _page.note(
        f"{kept.texts:,} texts; PP, LOW and CS by the lexicon are of the "
        f"{kept.compared:,} that have as many words after as before."
    )
    sections = [Section("What is kept", (table, note))]
    if result.utility:
        sections.append(Section("Utility", _tasks(result.utility, "Utility")))
    if result.attribute_attacks:
        parts = _tasks(result.attribute_attacks, "Attack")
        sections.append(Section("Attacks on attributes", parts))
    attacks = list(result_rows.attacks(result))
    if attacks:
        named = ("attack", "success", "words", "what the attacker has")
        words = _page.table(named, attacks, numbers=(1, 2))
        sections.append(Section("Attacks on words", (words,)))
    if result.in_context:
        sections.append(Section("Readers of whole texts", _readers(result.in_context)))
    if result.composite:
        sections.append(Section("Utility and privacy together", (_together(result),)))
    lead = _page.note(result.audience)
    return _page.page("What a private file keeps", sections, lead=lead, footer="dptext")


def _tasks(tasks: Iterable[Task], title: str) -> tuple[Html, ...]:
    listed = list(tasks)
    groups = [
        _svg.Group(
            task.field,
            (task.original.accuracy, task.private.accuracy, task.static.accuracy),
        )
        for task in listed
    ]
    names = (
        "trained and tested on originals",
        "trained and tested on private texts",
        "trained on originals, tested on private texts",
    )
    picture = _svg.bars(
        groups, names, title=f"{title}: accuracy", most=1.0, show=_share
    )
    table = _page.table(
        ("field", "chance", *names, "macro-F1 before", "after"),
        [
            (
                task.field,
                _share(task.chance),
                *map(str, (task.original, task.private, task.static)),
                figures.score(task.original.macro_f1),
                figures.score(task.private.macro_f1),
            )
            for task in listed
        ],
    )
    about = ", ".join(f"{t.field}: {t.splits} splits, {t.classifier}" for t in listed)
    return picture, table, _page.note(f"Mean ± standard deviation; {about}.")


def _readers(readings: Sequence[Reading]) -> tuple[Html, ...]:
    rows = [
        (reading.reader, each.name, _share(each.success), _limits(each), each.words)
        for reading in readings
        for each in reading.classes
    ]
    headers = ("reader", "words guessed", "success", "95% interval", "words")
    table = _page.table(
        headers, [(*row[:4], f"{row[4]:,}") for row in rows], numbers=(2, 4)
    )
    about = "; ".join(f"{each.reader}: {each.assumes}" for each in readings)
    return table, _page.note(
        "Readers see whole texts, drawn anew from the originals with the same "
        f"settings. They find at least this much. {about}."
    )


def _limits(each: Success) -> str:
    return f"{_share(each.low)} to {_share(each.high)}"


def _together(result: Result) -> Html:
    note = _page.note(
        f"Composite: {result.composite_formula}. Trade-off: the change in accuracy on "
        "the first label plus what the attack on the first attribute has lost."
    )
    return _page.join(
        (_page.table(("measure", "value"), result_rows.together(result)), note)
    )
