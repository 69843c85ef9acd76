"""Views of an evaluation, of values found in texts, and of an adapted lexicon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dptext.attackers.endpoint import EndpointAttacker
from dptext.evaluation.adapting import AdaptationFigures
from dptext.evaluation.classify import LabelTask
from dptext.evaluation.identities import (
    COMMON,
    IdentitiesFound,
    IdentityMeter,
    Standing,
)
from dptext.evaluation.linkage import LinkageFigures
from dptext.evaluation.run import Attack, PublicTextUse, Result
from dptext.measures.context_risk import (
    AS_WRITTEN,
    AT_LEAST,
    SAME_KIND,
    Reading,
    Success,
)
from dptext.report import figures
from dptext.report.blocks import (
    Block,
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
_LINKAGE_ATTACKS = {
    "layout": "layout alone",
    "law": "law of the draws",
    "cosine": "TF-IDF, private file",
}
NOT_AGAIN = (
    "Do not run again until none is identities: no value would then ever come out as "
    "itself, so a name in the output would rule itself out for certain, an infinite "
    "loss. "
    "Leave the field or the record out, or choose other settings for the whole file."
)


def _limits(row: LinkageFigures | Standing | Success) -> str:
    return between(row.low, row.high)


def _knowledge(attack: Attack) -> str:
    if attack.predicted is None:
        return attack.assumes
    return f"{attack.assumes}; the Bayes risk's figure is {share(attack.predicted)}"


def _by_chance(row: tuple[str, Standing]) -> str:
    """Format the share of values found in private texts of other records."""
    _, standing = row
    if standing.by_chance is None:
        return "not known"
    limits = between(standing.by_chance_low, standing.by_chance_high)
    return f"{share(standing.by_chance)} ({limits})"


_TASKS = (
    Column("field"),
    Column("chance", share),
    *(Column(name, str) for name in ("original", "private", "static")),
    Column("macro-F1 before", score, path="original.macro_f1"),
    Column("after", score, path="private.macro_f1"),
)
_ATTACKS = (
    Column("attack", path="name"),
    Column("success", share, full=1.0),
    Column("words", count),
    Column("the attacker's knowledge", path=_knowledge),
)
_LINKAGE = (
    Column("somebody who has", path="knows"),
    Column("and goes by", path=lambda row: _LINKAGE_ATTACKS[row.attack]),
    Column("right at first", share, path="first"),
    Column("95% limits", path=_limits),
    Column("median place", short, path="median_rank"),
    Column("right of two", share, path="of_two"),
)
_SUCCESSES = (
    Column("success", share, full=1.0),
    Column("95% interval", str, path=_limits),
    Column("words", count),
)
# Of pairs: how values stand in texts, and their figures.
_STANDINGS = (
    Column("in private text", path="0"),
    Column("how many", count, path="1.count"),
    Column("share", share, full=1.0, path="1.share"),
    Column("95% interval", str, path=lambda row: _limits(row[1])),
    Column("by chance", str, path=_by_chance),
)
# Of pairs: how words are written, and their distortion.
_DECODED = (
    Column("words", path="0"),
    Column("PP", share, path="1.changed"),
    Column("CS", share, full=1.0, path="1.meaning"),
)


def evaluation(result: Result) -> Page:
    """Return the evaluation of a private file as a page."""
    kept = result.kept
    note = (
        "PP, LOW and CS by the lexicon cover texts with as many words after as before: "
        f"{count(kept.compared)} of {count(kept.texts)}. {figures.CHANGED_BY_CHANCE}"
    )
    learned = result.utility or result.attribute_attacks
    meanings = Figures(list(result.meanings.items()))
    return Page(
        "A private file compared with its original",
        [
            _identities(result.identities),
            Section("Quality", (Figures(list(_kept(result))), Paragraph(note, "note"))),
            _tasks("Utility: accuracy of a classifier", result.utility),
            _tasks("Attacks on attributes: accuracy", result.attribute_attacks),
            Section("About these accuracies", (meanings,) if learned else ()),
            _word_attacks(result),
            _attackers(result.in_context, result.public_text),
            _linkage(result.linkage),
            _together(result),
        ],
        lead=(result.audience,),
        footer="dptext",
    )


def _word_attacks(result: Result) -> Section:
    """Return a section on attacks on single words."""
    attacks = [*result.word_attacks]
    if (guessed := result.masked_word) is not None:
        name = f"masked word, {guessed.model}"
        first = Attack(
            name=f"{name}, first guess",
            success=guessed.first,
            words=guessed.words,
            assumes=guessed.assumes,
        )
        five = replace(first, name=f"{name}, first five", success=guessed.first_five)
        attacks += [first, five]
    table = Table.from_items(_ATTACKS, attacks)
    return Section("Attacks on words", (table,) if attacks else ())


def _together(result: Result) -> Section:
    """Return a section on the trade-off between utility and privacy."""
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
    return Section("Utility and privacy together", blocks if weighed else ())


def _linkage(linked: Sequence[LinkageFigures]) -> Section:
    """Return a section on linkage attacks."""
    blocks: list[Block] = []
    if linked:
        records = linked[0].records
        about = (
            f"Among {count(records)} records; chance is {share(1.0 / records)}. Layout "
            "and law are of new draws before decoding, by somebody who knows all "
            "settings; order and unchanged fields are not used."
        )
        blocks = [Table.from_items(_LINKAGE, linked), Paragraph(about, "note")]
    return Section("Who recognises the row of a text", blocks)


def _kept(result: Result) -> Iterator[tuple[str | Code, Cell]]:
    """Yield the figures for texts, then those for the mechanism."""
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


def _tasks(title: str, tasks: Sequence[LabelTask]) -> Section:
    blocks: list[Block] = []
    for task in tasks[:1]:
        splits = "One split"
        if task.splits > 1:
            splits = f"Mean ± standard deviation over {task.splits} splits"
        note = f"{splits}; classifier {task.classifier}."
        blocks = [Table.from_items(_TASKS, tasks), Paragraph(note, "note")]
    return Section(title, blocks)


def _attackers(readings: Sequence[Reading], known: PublicTextUse | None) -> Section:
    readings = sorted(readings, key=lambda each: -each.success)
    about = "; ".join(f"{each.attacker}: {each.assumes}" for each in readings)
    tables = (attackers_table(reading) for reading in readings)
    note = Paragraph(f"{attackers_note(known)} {about}.", "note")
    return Section("What attackers find", (*tables, note) if readings else ())


def attackers_note(known: PublicTextUse | None) -> str:
    """Explain what attackers know, with the counts of the same-kind attacker."""
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
    """Format how many private texts recur in the public text: a private figure."""
    verb = "recurs" if known.repeated == 1 else "recur"
    return (
        f"{count(known.repeated)} of {count(known.texts)} private texts {verb} in "
        f"{known.file}, word for word or nearly so: anyone with that file knows them, "
        "so no attacker was measured on them"
    )


def attackers_table(reading: Reading) -> Table:
    """Return a table of an attacker's success by word class."""
    named = f"words guessed by {reading.attacker}"
    if reading.attacker == AS_WRITTEN:
        named = "words unchanged as written"
    return Table.from_items((Column(named, path="name"), *_SUCCESSES), reading.classes)


def adapted(result: AdaptationFigures) -> Page:
    """Return a page on the benefit of an adapted lexicon, measured on halves."""
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
    known = ((name, each) for name, each in written.items() if each)
    table = Table.from_items(_DECODED, known)
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
        lead=(
            *lead,
            "Measured on one half of the text, with counts of the other half.",
        ),
        footer=f"use it: {noun('lexicon')} {result.name}",
    )


def _identities(result: IdentitiesFound | None) -> Section:
    """Return a section on values found in private texts."""
    title = "Values that must not appear"
    if result is None:
        return Section(title, ())
    standings = ("whole", result.whole), ("in part", result.in_part)
    table = Table.from_items(_STANDINGS, standings)
    note = (
        f"Different values in {result.file}: {count(result.values)}. Originals that "
        f"hold any: {count(result.records)}; values in them, each counted once in a "
        "record: "
        f"{count(result.occurrences)}. Whole: all words of a value side by side, "
        "whatever the capitals, marks and spaces. In part: whole, or at least one of "
        "its words "
        f"that is not among the {count(COMMON)} most frequent. {result.method} Values "
        f"whole in private texts whose originals do not hold them: "
        f"{count(result.elsewhere)}."
    )
    if result.not_in_originals:
        note += (
            " Spans that the originals of their records do not hold: "
            f"{count(result.not_in_originals)}."
        )
    if result.unsearchable:
        note += (
            " Values without letters and digits, which were not looked for: "
            f"{count(result.unsearchable)}."
        )
    blocks: list[Block] = [table, Paragraph(note, "note")]
    if result.in_part.count:
        blocks.append(Paragraph(NOT_AGAIN, "note"))
    return Section(title, blocks)


def warnings(result: Result, meter: IdentityMeter | None = None) -> Iterator[str]:
    """Yield warnings, for the owner only, on public text and on found values.

    meter: of the values that were searched for.
    """
    if result.public_text is not None and result.public_text.repeated:
        yield repeated_share(result.public_text)
    if meter is None:
        return
    records = (
        ("whole", meter.whole_records, meter.unlisted[0]),
        ("only in part", meter.part_records, meter.unlisted[1]),
    )
    for how, numbers, more in records:
        if numbers:
            shown = ", ".join(map(count, numbers))
            rest = f" and {count(more)} more" if more else ""
            noun = "record" if len(numbers) + more == 1 else "records"
            yield f"values of {meter.name} stand {how} in {noun} {shown}{rest}"
