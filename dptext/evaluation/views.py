"""An evaluation and a comparison as pages of blocks, and a comparison as CSV."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from dptext.attackers.endpoint import EndpointAttacker
from dptext.evaluation import OWNER
from dptext.evaluation.adapting import AdaptationFigures
from dptext.evaluation.classify import LabelTask
from dptext.evaluation.comparison import CellRow
from dptext.evaluation.identity_views import identities_section
from dptext.evaluation.linkage import LinkageFigures
from dptext.evaluation.run import PublicTextUse, Result
from dptext.measures.context_risk import (
    ALL,
    AS_WRITTEN,
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
from dptext.report.figures import accuracy, between, count, score, share, short
from dptext.report.views import deniability, metrics

ENDPOINT = EndpointAttacker.name
KEPT = ("N_w", "S_w", "PP", "CS", "LOW")
_LONGEST = 300  # characters of an example
_ATTACKS = {
    "layout": "layout alone",
    "law": "law of the draws",
    "cosine": "TF-IDF, private file",
}
_FIGURES, _CHANCE = "All figures", "What chance gives"
_LEARNED, _COST = "Utility and attack", "Guarantee and cost"
_DENIABILITY, _METRICS = "result.deniability", "result.kept.metrics"
_S_W = Column("S_w", figures.distinct)
# Those that a person looks at first.
_FIRST = ("epsilon", "risk", "n_w", "s_w", "pp", "meaning", "low")
_ACCURACY = (
    "Utility, attack: accuracy of a classifier of the first label, of the first "
    "attribute, trained and tested on private texts; on originals: trained and tested "
    "on the texts as they were; by chance: the share of the most frequent value."
)
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


def evaluation(result: Result) -> Page:
    """Show the evaluation of a private file as a page."""
    kept = result.kept
    note = (
        "PP, LOW and CS by the lexicon cover texts with as many words after as before: "
        f"{count(kept.compared)} of {count(kept.texts)}. {figures.CHANGED_BY_CHANCE}"
    )
    sections = [
        Section("Quality", (Figures(list(_kept(result))), Paragraph(note, "note"))),
        *_tasks("Utility: accuracy of a classifier", result.utility),
        *_tasks("Attacks on attributes: accuracy", result.attribute_attacks),
    ]
    if result.utility or result.attribute_attacks:
        meanings = Figures(list(result.meanings.items()))
        sections.append(Section("About these accuracies", (meanings,)))
    if result.identities is not None:
        sections.insert(0, identities_section(result.identities))
    attacks = [
        (
            each.name,
            each.success,
            each.words,
            each.assumes
            if each.predicted is None
            else f"{each.assumes}; the Bayes risk's figure is {share(each.predicted)}",
        )
        for each in result.word_attacks
    ]
    if (guessed := result.masked_word) is not None:
        name, known = f"masked word, {guessed.model}", guessed.assumes
        attacks += [
            (f"{name}, first guess", guessed.first, guessed.words, known),
            (f"{name}, first five", guessed.first_five, guessed.words, known),
        ]
    if attacks:
        columns = [
            Column("attack"),
            Column("success", share, full=1.0),
            Column("words", count),
            Column("the attacker's knowledge"),
        ]
        sections.append(Section("Attacks on words", (Table(columns, attacks),)))
    if result.in_context:
        sections.append(_attackers(result.in_context, result.public_text))
    if result.linkage:
        sections.append(_linkage(result.linkage))
    if result.composite or result.trade_off is not None:
        sections.append(_together(result))
    return Page(
        "A private file compared with its original",
        sections,
        lead=(result.audience,),
        footer="dptext",
    )


def _together(result: Result) -> Section:
    """Show the figures that weigh utility against privacy."""
    weighed = [(f"composite, alpha {a}", score(v)) for a, v in result.composite.items()]
    about = []
    if result.composite:
        about.append(f"Composite: {result.composite_formula}.")
    if result.trade_off is not None:
        weighed.append(("trade-off", figures.points(result.trade_off)))
        about.append(
            "Trade-off: the change in accuracy on the first label plus what the "
            "attack on the first attribute has lost."
        )
    blocks = Figures(weighed), Paragraph(" ".join(about), "note")
    return Section("Utility and privacy together", blocks)


def _linkage(linked: Sequence[LinkageFigures]) -> Section:
    """Show the success of linkage attacks."""
    rows = [
        (
            each.knows,
            _ATTACKS[each.attack],
            each.first,
            between(each.low, each.high),
            each.median_rank,
            each.of_two,
        )
        for each in linked
    ]
    columns = [
        Column("somebody who has"),
        Column("and goes by"),
        Column("right at first", share),
        Column("95% limits"),
        Column("median place", short),
        Column("right of two", share),
    ]
    about = (
        f"Among {count(linked[0].records)} records; chance is "
        f"{share(1.0 / linked[0].records)}. Layout and law are of new draws before "
        "decoding, by somebody who knows all settings; order and unchanged fields are "
        "not used."
    )
    blocks = (Table(columns, rows), Paragraph(about, "note"))
    return Section("Who recognises the row of a text", blocks)


def _kept(result: Result) -> Iterator[tuple[str | Code, Cell]]:
    """Yield the figures of texts, then those of the mechanism."""
    kept = result.kept
    meaning = {
        "share_kept": kept.meaning,
        "mean_cosine": kept.similarity,
        "unrelated_cosine": kept.unrelated,
        "encoder": kept.encoder,
    }
    yield from metrics({**kept.metrics, "CS": meaning})
    shown = f"{share(kept.known)} (before {share(kept.known_before)})"
    yield "known words", f"{shown}: {figures.MEANINGS['known words']}"
    if result.deniability is not None:
        yield from deniability(result.deniability)


def _tasks(title: str, tasks: Sequence[LabelTask]) -> Iterator[Section]:
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
                task.field,
                task.chance,
                str(task.original),
                str(task.private),
                str(task.static),
                task.original.macro_f1,
                task.private.macro_f1,
            )
            for task in tasks
        ],
    )
    task = tasks[0]
    splits = "One split"
    if task.splits > 1:
        splits = f"Mean ± standard deviation over {task.splits} splits"
    note = Paragraph(f"{splits}; classifier {task.classifier}.", "note")
    yield Section(title, (table, note))


def _attackers(readings: Sequence[Reading], known: PublicTextUse | None) -> Section:
    readings = sorted(readings, key=lambda each: -each.success)
    about = "; ".join(f"{each.attacker}: {each.assumes}" for each in readings)
    tables = (attackers_table(reading) for reading in readings)
    note = Paragraph(f"{_attackers_note(known)} {about}.", "note")
    return Section("What attackers find", (*tables, note))


def _attackers_note(known: PublicTextUse | None) -> str:
    """Explain the knowledge of attackers, with the counts of the same-kind attacker."""
    note = (
        "Attackers see whole texts, drawn anew from the originals with the same "
        "settings. They find at least this much."
    )
    if known is not None:
        note += (
            f" {SAME_KIND} counted the pairs of {count(known.counted)} words of "
            f"{known.file}."
        )
        note += f" {repeated_share(known)}." if known.repeated else ""
    return note


def repeated_share(known: PublicTextUse) -> str:
    """Say how many private texts recur in a public one, a private figure."""
    verb = "recurs" if known.repeated == 1 else "recur"
    return (
        f"{count(known.repeated)} of {count(known.texts)} private texts {verb} in "
        f"{known.file}, word for word or nearly so: anyone with that file knows them, "
        "so no attacker was measured on them"
    )


def attackers_table(reading: Reading) -> Table:
    """Show the success of an attacker by class of word."""
    named = f"words guessed by {reading.attacker}"
    if reading.attacker == AS_WRITTEN:
        named = "words unchanged as written"
    return Table(
        [
            Column(named),
            Column("success", share, full=1.0),
            Column("95% interval", str),
            Column("words", count),
        ],
        [
            (each.name, each.success, between(each.low, each.high), each.words)
            for each in reading.classes
        ],
    )


def adapted(result: AdaptationFigures) -> Page:
    """Show the gain of a lexicon of public text, measured by halves, as a page."""
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
                f"What the attacker of the kind finds, at {risk}",
                (attackers_table(result.reading), Paragraph(AT_LEAST, "note")),
            ),
        ],
        lead=(*lead, "Measured on one half of the text, with the other half."),
        footer=f"use it: --lexicon {result.name}",
    )


class Figure(NamedTuple):
    """A figure of a row: its name in the CSV, its path in the row.

    Then the table of the page that has it, and its column; others are in the CSV alone.
    """

    name: str
    path: str
    table: str = ""
    column: Column = Column("")


def _attacker_figures(name: str, attacker: str, title: str) -> Iterator[Figure]:
    """Yield the success of an attacker by class of word."""
    path = f"result.in_context.{attacker}.classes"
    column = Column(title, share, full=1.0)
    yield Figure(name, f"{path}.{ALL}.success", _FIGURES, column)
    yield Figure(f"{name}_low", f"{path}.{ALL}.low")
    yield Figure(f"{name}_high", f"{path}.{ALL}.high")
    yield Figure(f"{name}_content", f"{path}.{CONTENT}.success")
    yield Figure(f"{name}_rare", f"{path}.{RARE}.success")


def _classifier_figures(name: str, path: str) -> Iterator[Figure]:
    """Yield accuracies of the classifier of the first label or attribute."""
    original, chance = Column("on originals", str), Column("by chance", share)
    yield Figure(name, f"{path}.private.accuracy", _LEARNED, Column(name, str))
    yield Figure(f"{name}_sd", f"{path}.private.accuracy_sd")
    original_path = f"{path}.original.accuracy"
    yield Figure(f"{name}_original", original_path, _LEARNED, original)
    yield Figure(f"{name}_original_sd", f"{original_path}_sd")
    yield Figure(f"{name}_chance", f"{path}.chance", _LEARNED, chance)


def _bar(name: str) -> Column:
    return Column(name, share, full=1.0)


_CSV = (
    Figure("mechanism", "mechanism"),
    Figure("level", "level"),
    Figure("lexicon", "lexicon"),
    Figure("dimensions", "dimensions", _COST, Column("dimensions", count)),
    Figure("epsilon", "epsilon", _FIGURES, Column("epsilon", short)),
    Figure("notion", "notion", _COST, Column("guarantee")),
    Figure("worst_loss", "worst_loss", _FIGURES, Column("worst loss, nats", short)),
    Figure("risk", "risk", _FIGURES, _bar("risk")),
    Figure("n_w", f"{_DENIABILITY}.n_w", _FIGURES, _bar("N_w")),
    Figure("s_w", f"{_DENIABILITY}.s_w", _FIGURES, _S_W),
    Figure("pp", "result.kept.perturbed", _FIGURES, _bar("PP")),
    Figure("cs", "result.kept.similarity"),
    Figure("cs_unrelated", "result.kept.unrelated"),
    Figure("meaning", "result.kept.meaning", _FIGURES, _bar("CS")),
    Figure("low", "result.kept.low", _FIGURES, _bar("LOW")),
    Figure(
        "n_w_by_chance", f"{_DENIABILITY}.n_w_by_chance", _CHANCE, Column("N_w", share)
    ),
    Figure("s_w_by_chance", f"{_DENIABILITY}.s_w_by_chance", _CHANCE, _S_W),
    Figure("pp_by_chance", f"{_METRICS}.PP.by_chance", _CHANCE, Column("PP", share)),
    Figure("low_by_chance", f"{_METRICS}.LOW.by_chance", _CHANCE, Column("LOW", share)),
    *_attacker_figures("attacker", SAME_KIND, "attacker of the kind"),
    *_attacker_figures(ENDPOINT, ENDPOINT, "attacker on a server"),
    *_classifier_figures("utility", "result.utility.0"),
    *_classifier_figures("attack", "result.attribute_attacks.0"),
    Figure("trade_off", "result.trade_off"),
    Figure("words_per_second", "words_per_second", _COST, Column("words/s", count)),
    Figure("megabytes", "megabytes", _COST, Column("peak memory, MB", count)),
    Figure("reason", "reason"),
)


def flat(row: CellRow) -> dict[str, Any]:
    """Return a value for each column of the CSV, and figures for the page alone."""
    nested = msgspec.to_builtins(row)
    values = {each.name: _at(nested, each.path) for each in _CSV}
    values["name"] = row.mechanism
    if row.lexicon not in ("builtin", "english"):
        values["name"] += f" ({Path(row.lexicon).name})"
    values["n_w / s_w"] = values["n_w"] / values["s_w"] if values["s_w"] else None
    return values


def _shown(figure: Figure, values: dict[str, Any]) -> Any:
    """Return accuracies with their standard deviation as text."""
    value = values[figure.name]
    sd = f"{figure.name}_sd"
    return value if value is None or sd not in values else accuracy(value, values[sd])


def _at(value: Any, path: str) -> Any:
    """Return the value at a path, in a list by number or name; None if absent."""
    for step in path.split("."):
        if isinstance(value, list | tuple):
            value = {str(n): item for n, item in enumerate(value)} | {
                item.get("name", item.get("attacker")): item for item in value
            }
        if value is None:
            return None
        value = value.get(step)
    return value


def as_csv(rows: Iterable[CellRow]) -> str:
    """Return a comparison as CSV."""
    out, names = io.StringIO(), [each.name for each in _CSV]
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(flat, rows))
    return out.getvalue()


def line(row: CellRow) -> str:
    """Return the figures of a row that a person looks at first, in one line."""
    values = flat(row)
    return ", ".join(
        f"{each.column.name} {each.column.cell(values[each.name]) or figures.NOTHING}"
        for each in _CSV
        if each.name in _FIRST
    )


def comparison(rows: Sequence[CellRow], originals: Sequence[str] = ()) -> Page:
    """Return a comparison as a page; originals are the texts, in their order."""
    done = [row for row in rows if not row.reason]
    missing = [
        f"{row.mechanism}, {row.level}: {row.reason}" for row in rows if row.reason
    ]
    values = [flat(row) for row in done]
    chance = figures.DRAWN_BY_CHANCE, figures.CHANGED_BY_CHANCE
    learned = [row for row in values if row["utility"] or row["attack"]]
    sections = [
        _table(_FIGURES, values, *figures.legend("risk", *KEPT)),
        _table(_CHANCE, values, *chance),
        _table(_LEARNED, learned, _ACCURACY),
        *_whole_text_attackers(done, values),
        Section("Curves", [*_charts(values)]),
        _table(_COST, values),
        Section(
            "The first texts, before and after", _examples(values, done, originals)
        ),
        Section("Not run", [Bullets(missing)] if missing else ()),
    ]
    return Page(
        "Mechanisms compared",
        [section for section in sections if section.blocks],
        lead=(f"{OWNER}; this page shows texts",),
        footer="dptext compare",
    )


def _table(title: str, values: Sequence[dict[str, Any]], *notes: str) -> Section:
    """Return a section of figures, without rows an empty one."""
    inside = [each for each in _CSV if each.table == title]
    rows = [
        (value["name"], value["level"], *(_shown(each, value) for each in inside))
        for value in values
    ]
    named = [Column("mechanism"), Column("level"), *(each.column for each in inside)]
    table = Table(named, rows).filled()
    return Section(title, (table, *paragraphs(*notes, kind="note")) if rows else ())


def _whole_text_attackers(
    rows: Sequence[CellRow], values: Sequence[dict[str, Any]]
) -> Iterator[Section]:
    """Yield the success of attackers of whole texts by mechanism, if measured."""
    results = [row.result for row in rows if row.result]
    names = ("mechanism", "level", "attacker")
    readings = [
        (value["name"], value["level"], each.attacker, each.success, each.assumes)
        for result, value in zip(results, values, strict=True)
        for each in result.in_context
    ]
    if readings:
        columns = [*map(Column, names), Column("success", share, full=1.0)]
        table = Table([*columns, Column("knowledge and cost")], readings)
        note = _attackers_note(next((r.public_text for r in results), None))
        note += (
            " A mechanism without an output distribution gives them nothing to read."
        )
        yield Section("Attackers of whole texts", (table, Paragraph(note, "note")))


def _charts(values: Sequence[dict[str, Any]]) -> Iterator[Chart]:
    """Yield a chart of each measure that the rows have, against risk and loss."""
    for (y, (title, up)), (x, across) in itertools.product(
        _UP.items(), _ACROSS.items()
    ):
        lines: dict[str, list[Point]] = {}
        for value in values:
            if value[x] is not None and value[y] is not None:
                point = Point(value[x], value[y], value["level"])
                lines.setdefault(value["name"], []).append(point)
        ordered = [(n, sorted(line, key=lambda p: p.x)) for n, line in lines.items()]
        if ordered:
            yield Chart(f"{title} by {across.label}", across, up, ordered)


def _examples(
    values: Sequence[dict[str, Any]], rows: Sequence[CellRow], originals: Sequence[str]
) -> list[Block]:
    """Return the first texts as each mechanism wrote them; pages only."""
    blocks: list[Block] = []
    columns = [Column("mechanism"), Column("level"), Column("text")]
    texts = [originals, *(row.examples for row in rows)]
    heads = [("original", ""), *((value["name"], value["level"]) for value in values)]
    for number, each in enumerate(zip(*texts, strict=False), 1):
        shown = [(*head, _cut(text)) for head, text in zip(heads, each, strict=True)]
        blocks += [Heading(f"Text {number}"), Table(columns, shown)]
    return [More(blocks)] if rows else []


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
