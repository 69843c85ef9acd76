"""An evaluation and a comparison as pages of blocks, and a comparison as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dptext.evaluation import OWNER
from dptext.evaluation.adapting import Adapted
from dptext.evaluation.classify import Task
from dptext.evaluation.comparison import Row
from dptext.evaluation.run import Known, Result, Settings
from dptext.measures.context_risk import (
    ALL,
    AT_LEAST,
    CONTENT,
    RARE,
    SAME_KIND,
    Reading,
)
from dptext.report import figures
from dptext.report.blocks import (
    Axis,
    Block,
    Bullets,
    Cell,
    Chart,
    Code,
    Column,
    Figures,
    Heading,
    More,
    Page,
    Paragraph,
    Point,
    Section,
    Table,
    paragraphs,
)
from dptext.report.figures import (
    MEANINGS,
    beside_chance,
    between,
    count,
    score,
    share,
    short,
)
from dptext.report.views import deniability

_LONGEST = 300  # characters of an example


def evaluation(result: Result) -> Page:
    """Return what a private file keeps and gives away as a page."""
    kept = result.kept
    note = (
        f"{count(kept.texts)} texts; PP, LOW and CS by the lexicon cover the "
        f"{count(kept.compared)} with as many words after as before. "
        f"{figures.CHANGED_BY_CHANCE}"
    )
    sections = [
        Section("Quality", (Figures(list(_kept(result))), Paragraph(note, "note"))),
        *_tasks("Utility: accuracy of a classifier", result.utility),
        *_tasks("Attacks on attributes: accuracy", result.attribute_attacks),
    ]
    if result.utility or result.attribute_attacks:
        meanings = Figures(list(result.meanings.items()))
        sections.append(Section("About these accuracies", (meanings,)))
    attacks = list(_attacks(result))
    if attacks:
        columns = [
            Column("attack"),
            Column("success", share, full=1.0),
            Column("words", count),
            Column("the attacker's knowledge"),
        ]
        sections.append(Section("Attacks on words", (Table(columns, attacks),)))
    if result.in_context:
        sections.append(_readers(result.in_context, result.public_text))
    if result.composite or result.trade_off is not None:
        sections.append(_together(result))
    return Page(
        "A private file compared with its original",
        sections,
        lead=(result.audience,),
        footer="dptext",
    )


def _kept(result: Result) -> Iterator[tuple[str | Code, Cell]]:
    """Yield what texts keep, then what the mechanism does."""
    kept = result.kept
    for name, value in (("PP", kept.perturbed), ("LOW", kept.low)):
        shown = beside_chance(share(value), kept.by_chance(name))
        yield name, f"{shown}: {MEANINGS[name]}"
    cosines = f"mean cosine {score(kept.similarity)}, of unrelated texts "
    cosines += f"{score(kept.unrelated)}, by {kept.encoder}"
    yield "CS", f"{share(kept.meaning)}: {MEANINGS['CS']} ({cosines})"
    known = f"{share(kept.known)} (before {share(kept.known_before)})"
    yield "known words", f"{known}: {MEANINGS['known words']}"
    for name, figure in kept.others():
        yield name, figures.measure(name, figure)
    if result.deniability is not None:
        yield from deniability(result.deniability)


def _tasks(title: str, tasks: Sequence[Task]) -> Iterator[Section]:
    if not tasks:
        return
    table = Table(
        [
            Column("field"),
            Column("chance", share),
            *(Column(name, str) for name in ("original", "private", "static")),
            Column("macro-F1 before", score),
            Column("after", score),
        ],
        [
            (
                *(task.field, task.chance),
                *map(str, (task.original, task.private, task.static)),
                *(task.original.macro_f1, task.private.macro_f1),
            )
            for task in tasks
        ],
    )
    about = ", ".join(f"{t.field}: {t.splits} splits, {t.classifier}" for t in tasks)
    note = Paragraph(f"Mean ± standard deviation; {about}.", "note")
    yield Section(title, (table, note))


def _attacks(result: Result) -> Iterator[tuple[str, float, int, str]]:
    """Yield name, success, number of words and the attacker's knowledge, of each."""
    for each in result.word_attacks:
        assumed = each.assumes
        if each.predicted is not None:
            assumed += f"; the Bayes risk's figure is {share(each.predicted)}"
        yield each.name, each.success, each.words, assumed
    masked = result.masked_word
    if masked is not None:
        name = f"masked word, {masked.model}"
        yield f"{name}, first guess", masked.first, masked.words, masked.assumes
        yield f"{name}, first five", masked.first_five, masked.words, masked.assumes


def _readers(readings: Sequence[Reading], known: Known | None) -> Section:
    readings = sorted(readings, key=lambda each: -each.success)
    about = "; ".join(f"{each.reader}: {each.assumes}" for each in readings)
    note = (
        "Readers see whole texts, drawn anew from the originals with the same "
        f"settings. They find at least this much. {about}."
    )
    if known is not None:
        note += (
            f" {SAME_KIND} counted the pairs of {count(known.counted)} words of "
            f"{known.file}."
        )
        note += f" {repeated(known)}." if known.repeated else ""
    tables = (readers_table(reading) for reading in readings)
    return Section("Readers of whole texts", (*tables, Paragraph(note, "note")))


def repeated(known: Known) -> str:
    """Say how many private texts occur in a public one, a private figure."""
    verb = "occurs" if known.repeated == 1 else "occur"
    return (
        f"{count(known.repeated)} of {count(known.texts)} private texts {verb} word "
        f"for word in {known.file}: anyone with that file knows them, so no reader "
        "was measured on them"
    )


def readers_table(reading: Reading) -> Table:
    """Return what a reader finds, by class of word."""
    return Table(
        [
            Column(f"words guessed by {reading.reader}"),
            Column("success", share, full=1.0),
            Column("95% interval", str),
            Column("words", count),
        ],
        [
            (each.name, each.success, between(each.low, each.high), each.words)
            for each in reading.classes
        ],
    )


def adapted(result: Adapted) -> Page:
    """Return what a lexicon of public text gives, measured by halves, as a page."""
    before = ""
    if result.unknown_before is not None:
        before = f" ({share(result.unknown_before)} before)"
    lead = [
        f"{count(result.words)} words, {count(result.new_words)} of them new; "
        f"{count(result.pairs)} pairs, from {count(result.counted)} words of text",
        f"words that the lexicon lacks: {share(result.unknown_after)}{before}",
    ]
    written = {
        "as drawn": result.drawn,
        "decoded by the pairs that ship": result.shipped,
        "decoded by pairs of this text": result.adapted,
    }
    table = Table(
        [Column("words"), Column("PP", share), Column("CS", share, full=1.0)],
        [(name, r.changed, r.meaning) for name, r in written.items() if r],
    )
    notes = paragraphs(*figures.legend("PP", "CS"), kind="note")
    risk = f"a risk of {share(result.risk)}"
    return Page(
        f"Lexicon {result.name}",
        [
            Section(f"What decoding gains, at {risk}", (table, *notes)),
            Section(
                f"What the reader of the kind finds, at {risk}",
                (readers_table(result.reading), Paragraph(AT_LEAST, "note")),
            ),
        ],
        lead=(*lead, "Measured on one half of the text, with the other half."),
        footer=f"use it: --lexicon {result.name}",
    )


def _together(result: Result) -> Section:
    rows = [
        (f"composite, alpha {each.alpha:g}", score(each.value))
        for each in result.composite
    ]
    if result.trade_off is not None:
        rows.append(("trade-off", figures.points(result.trade_off)))
    note = (
        f"Composite: {result.composite_formula}. Trade-off: the change in accuracy on "
        "the first label plus what the attack on the first attribute has lost."
    )
    blocks = Figures(rows), Paragraph(note, "note")
    return Section("Utility and privacy together", blocks)


KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
# The columns of a comparison in its CSV, with how people read them: "" where they do
# not look at it first.
_CSV = (
    *("mechanism", "level", "lexicon", "dimensions", "epsilon", "notion"),
    *("worst_loss", "risk", "n_w", "s_w", "pp", "cs", "cs_unrelated", "meaning"),
    *("low", "n_w_by_chance", "s_w_by_chance", "pp_by_chance", "low_by_chance"),
    *("reader", "reader_low", "reader_high", "reader_content", "reader_rare"),
    *("utility", "utility_sd", "utility_original", "utility_chance"),
    *("attack", "attack_sd", "attack_original", "attack_chance"),
    *("trade_off", "words_per_second", "megabytes", "reason"),
)
_COLUMNS = {
    "name": Column("mechanism"),
    "level": Column("level"),
    "epsilon": Column("epsilon", short),
    "notion": Column("guarantee"),
    "worst_loss": Column("worst loss, nats", short),
    "risk": Column("risk", share, full=1.0),
    "reader": Column("reader of the kind", share, full=1.0),
    "n_w": Column("N_w", share, full=1.0),
    "s_w": Column("S_w", figures.distinct),
    "pp": Column("PP", share, full=1.0),
    "meaning": Column("CS", share, full=1.0),
    "low": Column("LOW", share, full=1.0),
    "n_w_by_chance": Column("N_w", share),
    "s_w_by_chance": Column("S_w", figures.distinct),
    "pp_by_chance": Column("PP", share),
    "low_by_chance": Column("LOW", share),
    "words_per_second": Column("words a second", count),
    "megabytes": Column("peak memory, MB", count),
    "dimensions": Column("dimensions", count),
}
_LEARNED = (
    *(Column("mechanism"), Column("level"), Column("accuracy", str)),
    *(Column("on originals", str), Column("by chance", share)),
)
_SHOWN = ("shown", "original_shown", "chance")
_ACCURACY = (
    "Accuracy of a classifier trained and tested on private texts; on originals: "
    "trained and tested on the texts as they were; by chance: the share of the most "
    "frequent value."
)
_FIRST = ("n_w", "s_w", "pp", "meaning", "low")  # the figures of KEPT
_FIGURES = ("name", "level", "epsilon", "worst_loss", "risk", "reader", *_FIRST)
_BY_CHANCE = (
    *("name", "level", "n_w_by_chance", "s_w_by_chance"),
    *("pp_by_chance", "low_by_chance"),
)
_COST = ("name", "level", "dimensions", "words_per_second", "megabytes")
# What charts show upwards and across, by the keys of a row.
_UP = {
    "utility": ("Utility", Axis("accuracy on private texts", figures.percent)),
    "attack": (
        "Attack on the attribute",
        Axis("accuracy of the attack", figures.percent),
    ),
    "meaning": ("Meaning", Axis("CS, share of meaning kept", figures.percent)),
    "n_w / s_w": ("Deniability", Axis("N_w / S_w", short)),
}
_ACROSS = {
    "risk": Axis("risk (best guess of a word)", figures.percent),
    "worst_loss": Axis("worst loss of a word, nats", short),
}


def flat(row: Row) -> dict[str, Any]:
    """Return a row as one value for each column of the CSV; alphas are further ones."""
    cells: dict[str, Any] = {name: getattr(row, name, None) for name in _CSV}
    result = row.result
    if result is None:
        return cells
    kept, deny = result.kept, result.deniability
    if deny is not None:
        cells |= {"n_w": deny.n_w, "n_w_by_chance": deny.n_w_by_chance}
        cells |= {"s_w": deny.s_w, "s_w_by_chance": deny.s_w_by_chance}
    cells |= {"pp": kept.perturbed, "pp_by_chance": kept.by_chance("PP")}
    cells |= {"low": kept.low, "low_by_chance": kept.by_chance("LOW")}
    cells |= {"cs": kept.similarity, "cs_unrelated": kept.unrelated}
    cells["meaning"] = kept.meaning
    cells["trade_off"] = result.trade_off
    for reading in result.in_context:
        cells |= _same_kind(reading)
    for name, task in _first_tasks(result):
        cells[name] = task.private.accuracy
        cells[f"{name}_sd"] = task.private.accuracy_sd
        cells[f"{name}_original"] = task.original.accuracy
        cells[f"{name}_chance"] = task.chance
    for each in result.composite:
        cells[f"composite_{each.alpha:g}"] = each.value
    return cells


def _same_kind(reading: Reading) -> dict[str, float]:
    """Return the columns of a reader of the kind, the only one of a comparison."""
    shares = {each.name: each.success for each in reading.classes}
    columns = {"reader": ALL, "reader_content": CONTENT, "reader_rare": RARE}
    cells = {name: shares[kind] for name, kind in columns.items() if kind in shares}
    every = reading.classes[0]
    return {**cells, "reader_low": every.low, "reader_high": every.high}


def _first_tasks(result: Result) -> Iterator[tuple[str, Task]]:
    """Yield the classifier of the first label and that of the first attribute."""
    for task in result.utility[:1]:
        yield "utility", task
    for task in result.attribute_attacks[:1]:
        yield "attack", task


def as_csv(rows: Iterable[Row], settings: Settings) -> str:
    """Return a comparison as CSV."""
    alphas = [f"composite_{alpha:g}" for alpha in settings.alphas]
    out = io.StringIO()
    writer = csv.DictWriter(out, [*_CSV, *alphas], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flat, rows))
    return out.getvalue()


def line(row: Row) -> str:
    """Return the figures of a row that a person looks at first, in one line."""
    values = flat(row)
    names = ("epsilon", "risk", *_FIRST)
    columns = [(_COLUMNS[name], values[name]) for name in names]
    return ", ".join(
        f"{column.name} {column.cell(value) or figures.NOTHING}"
        for column, value in columns
    )


def comparison(rows: Sequence[Row], originals: Sequence[str] = ()) -> Page:
    """Return a comparison as a page; originals are the texts, in their order."""
    done = [row for row in rows if not row.reason]
    missing = [
        f"{row.mechanism}, {row.level}: {row.reason}" for row in rows if row.reason
    ]
    values = [_values(row) for row in done]
    legend = [*figures.legend("risk"), *_kind(done), *figures.legend(*KEPT)]
    notes = paragraphs(*legend, kind="note")
    chance = paragraphs(figures.DRAWN_BY_CHANCE, figures.CHANGED_BY_CHANCE, kind="note")
    sections = [
        Section("All figures", (_table(_FIGURES, values), *notes)),
        Section("What chance gives", (_table(_BY_CHANCE, values), *chance)),
        *_curves(values),
        *_composites(values, done),
        Section(
            "Guarantee and cost",
            (_table(("name", "level", "notion", *_COST[2:]), values),),
        ),
        Section("The first texts, before and after", _examples(done, originals)),
    ]
    if missing:
        sections.append(Section("Not run", (Bullets(missing),)))
    return Page(
        "Mechanisms compared",
        sections,
        lead=(f"{OWNER}; this page shows texts",),
        footer="dptext compare",
    )


def _kind(rows: Sequence[Row]) -> Iterator[str]:
    """Say once what the reader of the kind is, where one has read."""
    for row in rows:
        if row.result and row.result.public_text and row.result.in_context:
            known = row.result.public_text
            yield (
                "reader of the kind: how often a reader of whole texts finds a word, "
                f"from the pairs of {count(known.counted)} words of {known.file}; at "
                "least, since others may find more; empty where a mechanism has no "
                "output distribution to read by."
            )
            return


def _values(row: Row) -> dict[str, Any]:
    """Return the values of a row, those that only people read among them."""
    values = flat(row)
    values["name"] = _name(row)
    values["n_w / s_w"] = values["n_w"] / values["s_w"] if values["s_w"] else None
    for name, task in _first_tasks(row.result) if row.result else ():
        values[f"{name}_shown"] = str(task.private)
        values[f"{name}_original_shown"] = str(task.original)
    return values


def _name(row: Row) -> str:
    """Name a row by its mechanism, and its lexicon where that is another."""
    if row.lexicon in ("builtin", "english"):
        return row.mechanism
    return f"{row.mechanism} ({Path(row.lexicon).name})"


def _table(names: Sequence[str], values: Iterable[dict[str, Any]]) -> Table:
    rows = [[value.get(name) for name in names] for value in values]
    return Table([_COLUMNS[name] for name in names], rows).filled()


def _curves(values: Sequence[dict[str, Any]]) -> Iterator[Section]:
    """Yield a section for each measure that the rows have, against risk and loss."""
    for y, (title, up) in _UP.items():
        learned = [
            (*(row["name"], row["level"]), *(row[f"{y}_{n}"] for n in _SHOWN))
            for row in values
            if f"{y}_shown" in row
        ]
        blocks: list[Block] = []
        if learned:
            blocks = [Table(_LEARNED, learned), Paragraph(_ACCURACY, "note")]
        for x, across in _ACROSS.items():
            lines: dict[str, list[Point]] = {}
            for value in values:
                if value[x] is not None and value[y] is not None:
                    point = Point(value[x], value[y], value["level"])
                    lines.setdefault(value["name"], []).append(point)
            ordered = [
                (n, sorted(line, key=lambda p: p.x)) for n, line in lines.items()
            ]
            if ordered:
                blocks.append(Chart(f"{title} by {across.label}", across, up, ordered))
        if blocks:
            yield Section(title, blocks)


def _composites(
    values: Sequence[dict[str, Any]], rows: Sequence[Row]
) -> Iterator[Section]:
    results = [row.result for row in rows if row.result and row.result.composite]
    if results:
        names = [f"composite_{each.alpha:g}" for each in results[0].composite]
        columns = [Column(name.replace("_", " "), score, full=1.0) for name in names]
        head = [_COLUMNS["name"], _COLUMNS["level"]]
        cells = [[value.get(n) for n in ("name", "level", *names)] for value in values]
        note = Paragraph(f"Composite: {results[0].composite_formula}.", "note")
        blocks = Table([*head, *columns], cells), note
        yield Section("Utility and privacy together", blocks)


def _examples(rows: Sequence[Row], originals: Sequence[str]) -> list[Block]:
    """Return the first texts as each mechanism wrote them; pages only."""
    blocks: list[Block] = []
    columns = [Column("mechanism"), Column("level"), Column("text")]
    for number, text in enumerate(originals[: len(rows[0].examples) if rows else 0]):
        shown = [("original", "", _cut(text))]
        shown += [(_name(row), row.level, _cut(row.examples[number])) for row in rows]
        blocks += [Heading(f"Text {number + 1}"), Table(columns, shown)]
    return [More(blocks)]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
