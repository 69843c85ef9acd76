"""An evaluation as a page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dptext.evaluation.classify import Task
from dptext.evaluation.run import Result
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
        (
            "known words",
            _share(kept.known),
            f"{figures.MEANINGS['known words']}, after",
        ),
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
