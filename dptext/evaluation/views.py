"""An evaluation, and an adapted lexicon, as pages of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dptext.attackers.endpoint import EndpointAttacker
from dptext.evaluation.adapting import AdaptationFigures
from dptext.evaluation.classify import LabelTask
from dptext.evaluation.identity_views import identities_section
from dptext.evaluation.linkage import LinkageFigures
from dptext.evaluation.run import PublicTextUse, Result
from dptext.measures.context_risk import (
    AS_WRITTEN,
    AT_LEAST,
    SAME_KIND,
    Reading,
)
from dptext.report import figures
from dptext.report.blocks import (
    Cell,
    Code,
    Column,
    Figures,
    Page,
    Paragraph,
    Section,
    Table,
    paragraphs,
)
from dptext.report.figures import between, count, score, share, short
from dptext.report.views import deniability, metrics
from dptext.run.interface import noun

ENDPOINT = EndpointAttacker.name
_ATTACKS = {
    "layout": "layout alone",
    "law": "law of the draws",
    "cosine": "TF-IDF, private file",
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
        "share_kept": kept.cs,
        "mean_cosine": kept.mean_cosine,
        "unrelated_cosine": kept.unrelated_cosine,
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
    note = Paragraph(f"{attackers_note(known)} {about}.", "note")
    return Section("What attackers find", (*tables, note))


def attackers_note(known: PublicTextUse | None) -> str:
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
        footer=f"use it: {noun('lexicon')} {result.name}",
    )
