"""An evaluation as a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dptext.evaluation.classify import Task
from dptext.evaluation.run import Result
from dptext.measures.in_context import Reading, Success
from dptext.report import _page, _svg, figures
from dptext.report._page import Html, Section
from dptext.report.figures import share as _share
from dptext.streams import open_output


def render(result: Result) -> bytes:
    """Return the page as UTF-8."""
    kept = result.kept
    rows = [
        ("PP", _share(kept.perturbed), figures.MEANINGS["PP"]),
        ("LOW", _share(kept.low), figures.MEANINGS["LOW"]),
        (
            "CS",
            figures.cosine(kept.similarity),
            f"{figures.MEANINGS['CS']} (by {kept.encoder})",
        ),
        ("English", _share(kept.english), f"{figures.MEANINGS['English']}, after"),
    ]
    rows += [(name, figures.measure(name, value), "") for name, value in kept.others()]
    if result.deniability is not None:
        deny = result.deniability
        rows.append(("N_w", _share(deny.n_w), figures.MEANINGS["N_w"]))
        distinct = figures.distinct(deny.s_w, deny.runs)
        rows.append(("S_w", distinct, figures.MEANINGS["S_w"]))
    sections = [
        Section(
            "What is kept",
            (
                _page.table(("measure", "value", "meaning"), rows, numbers=(1,)),
                _page.note(
                    f"{kept.texts:,} texts; PP, LOW and CS by the lexicon are of the "
                    f"{kept.compared:,} that have as many words after as before."
                ),
            ),
        )
    ]
    if result.utility:
        sections.append(Section("Utility", _tasks(result.utility, "Utility")))
    if result.attribute_attacks:
        parts = _tasks(result.attribute_attacks, "Attack")
        sections.append(Section("Attacks on attributes", parts))
    if result.word_attacks or result.masked_word:
        sections.append(Section("Attacks on words", (_words(result),)))
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


def _words(result: Result) -> Html:
    rows = []
    for each in result.word_attacks:
        assumed = each.assumes
        if each.predicted is not None:
            assumed += f"; the Bayes risk's figure is {_share(each.predicted)}"
        rows.append((each.name, _share(each.success), f"{each.words:,}", assumed))
    masked = result.masked_word
    if masked is not None:
        for name, value in (
            ("masked word, first guess", masked.first),
            ("masked word, first five", masked.first_five),
        ):
            rows.append((name, _share(value), f"{masked.words:,}", masked.assumes))
    headers = ("attack", "success", "words", "what the attacker has")
    return _page.table(headers, rows, numbers=(1, 2))


def _together(result: Result) -> Html:
    rows = [(f"alpha {e.alpha:g}", figures.score(e.value)) for e in result.composite]
    if result.trade_off is not None:
        rows.append(("trade-off", figures.points(result.trade_off)))
    note = _page.note(
        f"Composite: {result.composite_formula}. Trade-off: the change in accuracy on "
        "the first label plus what the attack on the first attribute has lost."
    )
    return _page.join((_page.table(("measure", "value"), rows), note))


def write(result: Result, path: Path) -> None:
    """Write the page to a file."""
    with open_output(str(path)) as sink:
        sink.stream.write(render(result))
