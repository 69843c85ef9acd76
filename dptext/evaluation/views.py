"""An evaluation and a comparison as pages of blocks, and a comparison as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dptext.evaluation import OWNER
from dptext.evaluation.adapting import Adapted
from dptext.evaluation.classify import Task
from dptext.evaluation.comparison import Row
from dptext.evaluation.run import Known, Result
from dptext.measures.context_risk import (
    ALL,
    AT_LEAST,
    CONTENT,
    RARE,
    SAME_KIND,
    Reading,
)
from dptext.readers.endpoint import EndpointReader
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
    accuracy,
    beside_chance,
    between,
    count,
    score,
    share,
    short,
)
from dptext.report.views import deniability

ENDPOINT = EndpointReader.name
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
    if result.word_attacks or result.masked_word is not None:
        columns = [
            Column("attack"),
            Column("success", share, full=1.0),
            Column("words", count),
            Column("the attacker's knowledge"),
        ]
        attacks = [
            (
                *(each.name, each.success, each.words),
                each.assumes
                if each.predicted is None
                else f"{each.assumes}; the Bayes risk's figure is "
                f"{share(each.predicted)}",
            )
            for each in result.word_attacks
        ]
        if (guessed := result.masked_word) is not None:
            name, known = f"masked word, {guessed.model}", guessed.assumes
            attacks += [
                (f"{name}, first guess", guessed.first, guessed.words, known),
                (f"{name}, first five", guessed.first_five, guessed.words, known),
            ]
        sections.append(Section("Attacks on words", (Table(columns, attacks),)))
    if result.in_context:
        sections.append(_readers(result.in_context, result.public_text))
    if result.composite or result.trade_off is not None:
        weighed = [
            (f"composite, alpha {a}", score(v)) for a, v in result.composite.items()
        ]
        if result.trade_off is not None:
            weighed.append(("trade-off", figures.points(result.trade_off)))
        about = (
            f"Composite: {result.composite_formula}. Trade-off: the change in accuracy "
            "on the first label plus what the attack on the first attribute has lost."
        )
        blocks = Figures(weighed), Paragraph(about, "note")
        sections.append(Section("Utility and privacy together", blocks))
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


KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
# What a reader finds, by the endings of the names of columns.
_FOUND = {
    "": f"{ALL}.success",
    "_low": f"{ALL}.low",
    "_high": f"{ALL}.high",
    "_content": f"{CONTENT}.success",
    "_rare": f"{RARE}.success",
}
# The columns of a comparison in its CSV, and where a row has their values.
_CSV = {
    **{
        name: name
        for name in (
            *("mechanism", "level", "lexicon", "dimensions", "epsilon", "notion"),
            *("worst_loss", "risk"),
        )
    },
    "n_w": "result.deniability.n_w",
    "s_w": "result.deniability.s_w",
    "pp": "result.kept.perturbed",
    "cs": "result.kept.similarity",
    "cs_unrelated": "result.kept.unrelated",
    "meaning": "result.kept.meaning",
    "low": "result.kept.low",
    "n_w_by_chance": "result.deniability.n_w_by_chance",
    "s_w_by_chance": "result.deniability.s_w_by_chance",
    "pp_by_chance": "result.kept.metrics.PP.by_chance",
    "low_by_chance": "result.kept.metrics.LOW.by_chance",
    **{
        f"{column}{ending}": f"result.in_context.{name}.classes.{path}"
        for column, name in (("reader", SAME_KIND), (ENDPOINT, ENDPOINT))
        for ending, path in _FOUND.items()
    },
    # The classifier of the first label and that of the first attribute.
    "utility": "result.utility.0.private.accuracy",
    "utility_sd": "result.utility.0.private.accuracy_sd",
    "utility_original": "result.utility.0.original.accuracy",
    "utility_original_sd": "result.utility.0.original.accuracy_sd",
    "utility_chance": "result.utility.0.chance",
    "attack": "result.attribute_attacks.0.private.accuracy",
    "attack_sd": "result.attribute_attacks.0.private.accuracy_sd",
    "attack_original": "result.attribute_attacks.0.original.accuracy",
    "attack_original_sd": "result.attribute_attacks.0.original.accuracy_sd",
    "attack_chance": "result.attribute_attacks.0.chance",
    "trade_off": "result.trade_off",
    **{name: name for name in ("words_per_second", "megabytes", "reason")},
}
# How people read them; those that they do not look at first have no column.
_COLUMNS = {
    "name": Column("mechanism"),
    "level": Column("level"),
    "epsilon": Column("epsilon", short),
    "notion": Column("guarantee"),
    "worst_loss": Column("worst loss, nats", short),
    "risk": Column("risk", share, full=1.0),
    "reader": Column("reader of the kind", share, full=1.0),
    ENDPOINT: Column("reader on a server", share, full=1.0),
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
_ACCURACY = (
    "Accuracy of a classifier trained and tested on private texts; on originals: "
    "trained and tested on the texts as they were; by chance: the share of the most "
    "frequent value."
)
_FIRST = ("n_w", "s_w", "pp", "meaning", "low")  # the figures of KEPT
_FIGURES = (
    "name",
    "level",
    "epsilon",
    "worst_loss",
    "risk",
    "reader",
    ENDPOINT,
    *_FIRST,
)
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
    """Return a value for each column of the CSV, and what only people read."""
    nested = msgspec.to_builtins(row)
    values = {name: _at(nested, path) for name, path in _CSV.items()}
    values["name"] = _name(row)
    values["n_w / s_w"] = values["n_w"] / values["s_w"] if values["s_w"] else None
    return values


def _at(value: Any, path: str) -> Any:
    """Return what stands at a path; of a list by number or name, null if absent."""
    for step in path.split("."):
        if isinstance(value, list | tuple):
            value = {str(n): item for n, item in enumerate(value)} | {
                item.get("name", item.get("reader")): item for item in value
            }
        if value is None:
            return None
        value = value.get(step)
    return value


def as_csv(rows: Iterable[Row]) -> str:
    """Return a comparison as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _CSV, extrasaction="ignore", lineterminator="\n")
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
    values = [flat(row) for row in done]
    legend = [*figures.legend("risk"), *_readings(done), *figures.legend(*KEPT)]
    notes = paragraphs(*legend, kind="note")
    chance = paragraphs(figures.DRAWN_BY_CHANCE, figures.CHANGED_BY_CHANCE, kind="note")
    sections = [
        Section("All figures", (_table(_FIGURES, values), *notes)),
        Section("What chance gives", (_table(_BY_CHANCE, values), *chance)),
        *_curves(values),
        Section(
            "Guarantee and cost",
            (_table(("name", "level", "notion", *_COST[2:]), values),),
        ),
        *_asked(done),
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


def _readings(rows: Sequence[Row]) -> Iterator[str]:
    """Say once what the readers are, where they have read."""
    least = (
        "at least, since others may find more; empty where a mechanism has no "
        "output distribution to read by."
    )
    results = (row.result for row in rows if row.result and row.result.in_context)
    result = next(results, None)
    if result is None:
        return
    if (known := result.public_text) is not None:
        yield (
            "reader of the kind: how often a reader of whole texts finds a word, "
            f"from the pairs of {count(known.counted)} words of {known.file}; {least}"
        )
    if any(each.reader == ENDPOINT for each in result.in_context):
        yield (
            "reader on a server: how often a language model, shown public texts with "
            f"their draws, finds a word; {least}"
        )


def _asked(rows: Sequence[Row]) -> Iterator[Section]:
    """Yield what a server was asked, with the requests, where one has read."""
    asked = [
        (_name(row), row.level, each.assumes)
        for row in rows
        for each in (row.result.in_context if row.result else ())
        if each.reader == ENDPOINT
    ]
    if asked:
        columns = [Column("mechanism"), Column("level"), Column("knowledge and cost")]
        yield Section("The reader on a server", (Table(columns, asked),))


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
            (
                *(row["name"], row["level"], accuracy(row[y], row[f"{y}_sd"])),
                accuracy(row[f"{y}_original"], row[f"{y}_original_sd"]),
                row[f"{y}_chance"],
            )
            for row in values
            if y in ("utility", "attack") and row[y] is not None
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
