"""Shows a report as a page of blocks: words or vectors, internal or public.

The page begins with the summary, followed by everything in the document; parts that
depend on the private text are marked, and missing from public reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dptext.guarantees import form_sentences, sentences, statement
from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS, format_up, number
from dptext.measures import bayes_risk, public
from dptext.measures.context_risk import AS_WRITTEN, AT_LEAST, AttackerFigures
from dptext.metrics import Figure
from dptext.report import answer, figures, layout, protection, trade
from dptext.report.attackers import Attackers, category_rows
from dptext.report.blocks import (
    Badge,
    Block,
    Bullets,
    Code,
    Column,
    Figures,
    Heading,
    More,
    Page,
    Paragraph,
    Rows,
    Section,
    Table,
    paragraphs,
)
from dptext.report.document import Document
from dptext.report.figures import between, count, share, with_chance
from dptext.report.lines import page_rows, say
from dptext.report.sections import Private, TopicFigures, WordCounts
from dptext.report.units import Topics, Unit, Vectors, Words, kept_line, unit_of
from dptext.run.work import SIDECAR
from dptext.signatures import UNSIGNED
from dptext.types import Level, Notion

# Sections by their titles, rows on the reading, and the speed.
_Happened = tuple[Sequence[tuple[str, Sequence[Block]]], Rows, str]
OWNER = "For the owner of the text only"
# The attackers that ship, by their names.
_ATTACKERS = {
    AS_WRITTEN: "words as written",
    "alone": "one word at a time",
    "ngram": "pairs of words",
    "same-kind": "text of the kind",
}


def report(
    document: Document,
    signed: str = UNSIGNED,
    released: layout.RunOutputs | None = None,
) -> Page:
    """Return a report as a page; signed describes its signature.

    released: outputs of a run that is just ending; its signature counts then.
    """
    if released is not None and released.signed:
        signed = released.signed
    released = replace(released or answer.outputs_named(document), signed=signed)
    unit = unit_of(document)
    is_text = unit.noun == "text"
    policy = None if is_text else document.policy
    measures, happened = _PARTS[type(unit)]
    failed = () if document.success else (say("page.failed"),)
    shown = answer.first_screen(document, released)
    return Page(
        say(f"page.{unit.key}", unit),
        [
            *guarantee(
                document.guarantee,
                of_texts=is_text,
                layouts=() if policy is None else form_sentences.form_layouts(policy),
            ),
            *measures(unit),
            *_private(unit, happened),
            _run(unit),
            _check(document, signed),
        ],
        lead=(*failed, say(f"page.{document.audience}", rows=unit.released == "rows")),
        footer=say("page.footer", unit),
        first=(*shown, *trade.blocks(document)),
    )


def guarantee(
    promise: statement.Statement, *, of_texts: bool = False, layouts: Sequence[str] = ()
) -> list[Section]:
    """Return the sections on the guarantee, its limits and its conditions.

    of_texts: for vectors or topics of whole texts; layouts: sentences on forms, for a
    statement without them.
    """
    scope, wording = promise.scope, promise.wording
    lines = paragraphs(
        wording.text_level, wording.translation, wording.decoding, scope.subjects
    )
    blocks = (
        Paragraph(wording.sentence, "lead"),
        *lines,
        *_loss(promise.bound, of_texts),
    )
    held = (Bullets(scope.conditions),) if scope.conditions else ()
    title, shown = "Layouts of forms", wording.form_layouts
    if layouts and not shown:
        # Settings name forms; another version may have had others by these names.
        title, shown = f"{title}, as this version of dptext has them", tuple(layouts)
    return [
        Section("Guarantee", blocks, (protection.badge(promise),)),
        Section("Not covered", (Bullets(scope.not_covered),)),
        *([Section(title, (Bullets(shown),))] if shown else ()),
        *(Section("Holds if", (each,)) for each in held),
    ]


def _loss(bound: statement.Bound, of_texts: bool) -> Iterator[Block]:
    """Yield loss bounds as factors, nothing without a guarantee."""
    loss = bound.loss
    if bound.notion is Notion.NONE:
        return
    name = "one word differs"
    if bound.level is Level.WORDS:
        name = "each replaced word of a text"
    elif bound.equal_parts:
        name = "one word differs, in a text of one word (no higher in longer texts)"
    rows, largest = [("any two words", loss.farthest)], None
    if of_texts:
        name, rows = "one text differs", [("any two texts", loss.farthest)]
    elif bound.notion is Notion.METRIC:
        rows = [
            ("median distance to the nearest other word", loss.nearest),
            ("median distance between words, about", loss.median),
            ("largest distance between words", loss.farthest),
        ]
        largest = loss.farthest if math.isfinite(loss.farthest) else None
    columns = [
        Column(name),
        Column("loss in nats, at most", figures.bound, largest),
        Column("factor", figures.factor),
    ]
    yield Table(columns, [(words, nats, nats) for words, nats in rows])
    limit = f" Delta is {number(bound.delta)}." if bound.delta else ""
    yield Paragraph(
        "A loss of x nats is a factor of e^x. The protection of a word is strong up to "
        f"1 nat, limited up to 10, weak up to {MAX_MEANINGFUL_LOSS:g}, and not "
        "meaningful above; that of a text as a whole is not meaningful above 10."
        f"{limit}",
        "note",
    )


def _words(unit: Words) -> Iterator[Section]:
    """Yield sections on released words from public data alone."""
    words, known = unit.section, unit.known
    bands: Iterable[Block] = ()
    if words.risk is not None and not known.other_language:
        bands = _bands(words.risk)
    note = Paragraph(words.risk_note, "note")
    yield Section("What attackers find", (*attackers(known), *bands, note))
    if words.deniability is not None:
        deny = words.deniability
        method = f"Method: {deny.method}."
        if deny.n_w_by_chance is not None:
            method += f" {figures.DRAWN_BY_CHANCE}"
        note = Paragraph(method, "note")
        yield Section("Plausible deniability", (Figures(deniability(deny)), note))


def _topics(unit: Topics) -> Iterator[Section]:
    """Yield sections on released topics from public data alone."""
    seeded = unit.document.run.key == "seed"
    none = Paragraph(say("not_measured.language_model"), "note")
    shown = topic_blocks(unit.topics, seeded=seeded)
    yield Section("What attackers find", (*shown, none))


def topic_blocks(topics: TopicFigures, *, seeded: bool) -> tuple[Block, ...]:
    """Return a table on attackers who have originals."""
    if seeded:
        reason = say("not_measured.seed")
        return (Paragraph(f"Someone with original texts: {reason}"),)
    held = f"one of {count(topics.originals)} originals"
    bound = Column("picks the right one in at most", sentences.percent, full=1.0)
    table = Table(
        [
            Column("someone who holds"),
            bound,
            Column("without output", sentences.percent),
        ],
        [
            (f"{held}, on average", topics.picked, 1.0 / topics.originals),
            (f"{held}, after any one output", topics.picked_after, None),
            ("one of two originals", topics.picked_of_two, 0.5),
        ],
        title="Someone with original texts",
    )
    return (table, Paragraph(say("page.originals", topics), "note"))


def attackers(known: Attackers) -> Iterator[Block]:
    """Yield blocks on attackers: words as written, reading, one draw."""
    missing = known.not_measured
    if known.other_language or not known.written:
        yield Paragraph(f"Words as written: {missing}")
    if known.other_language or not known.attackers:
        yield Paragraph(f"Reading whole texts: {missing}")
    shown = () if known.other_language else (*known.written, *known.attackers)
    rows: list[tuple[object, ...]] = [*map(_attacker, shown)]
    profile, trial = known.trial or ("", None)
    for each in () if trial is None else trial.rows:
        attacker = f"large language model, `{profile}`: {each.texts}"
        limits = between(each.low, each.high)
        rows.append((attacker, each.share, limits, None, each.rare))
    risk = None if known.other_language else known.risk
    rows += _guesses(risk)
    columns = [
        Column("attacker"),
        Column("all words", share, full=1.0),
        Column("95% limits"),
        Column("content", share),
        Column("rare", share),
    ]
    if rows:
        yield Table(columns, rows, title=f"Share of {known.words} found").filled()
    note = say("not_measured.language_model") if trial is None else trial.note
    yield Paragraph(note, "note")
    if shown and (special := category_rows(known)):
        named = Column("words of special categories")
        by_reading, as_written = Column("found by reading"), Column("written unchanged")
        yield Table([named, by_reading, as_written], special)
        yield Paragraph(
            "Words of public lists for health, religion, origin, sexuality, politics, "
            "crime and money. A decoder writes one only where it was drawn; an "
            "attacker may still guess it from the words around it.",
            "note",
        )
    if shown:
        # The attacker who counted other texts comes last and describes its kind.
        corpora = {each.kind: _corpus(each) for each in shown}
        texts = f"{known.public_texts}: {', '.join(corpora.values())}"
        yield Paragraph(f"Measured on {texts}. {AT_LEAST}", "note")
    if known.attackers_risk is not None and known.attackers and shown:
        yield Paragraph(
            "Attackers who read whole texts were measured at risk "
            f"{share(known.attackers_risk)}, which protects more: here they find at "
            "least as much.",
            "note",
        )
    if risk is not None:
        sure = ""
        if risk.confidence:
            sure = f" The upper limit holds with {share(risk.confidence)} confidence."
        yield Paragraph(f"Best guess from one draw: {risk.method}.{sure}", "note")


def _guesses(risk: bayes_risk.Risk | None) -> list[tuple[object, ...]]:
    """Return rows on the best guess from one draw."""
    if risk is None:
        return []
    limits = None if risk.low is None else between(risk.low, risk.high)
    shares = {
        "one draw, best guess": risk.success,
        "no output, best guess": risk.baseline,
        "one draw and its form, best guess": risk.success_with_form,
        "its form alone, best guess": risk.baseline_with_form,
    }
    rows: list[tuple[object, ...]] = []
    for name, success in shares.items():
        if success is not None:
            rows.append((name, success, None if rows else limits, None, None))
    return rows


def _attacker(row: AttackerFigures) -> tuple[object, ...]:
    """Return an attacker's row for a kind of text."""
    name = _ATTACKERS.get(row.attacker, row.attacker)
    attacker = f"{name}: {row.kind or row.corpus}"
    return attacker, row.success, between(row.low, row.high), row.content, row.rare


def _corpus(row: AttackerFigures) -> str:
    """Describe the texts read, and how many other texts were counted."""
    texts = []
    if row.words:
        texts.append(f"{count(row.words)} words of {row.corpus}")
    if row.counted:
        texts.append(f"the attacker counted {count(row.counted)} others")
    about = f" ({'; '.join(texts)})" if texts else ""
    return f"{row.kind or row.corpus}{about}"


def _bands(risk: bayes_risk.Risk) -> Iterator[Table]:
    """Yield tables of the best guess by public word frequency."""
    columns = [
        Column("best guess from one draw, by frequency"),
        Column("share of text", share),
        Column("from a draw", share, full=1.0),
        Column("knowing the band", share),
        Column("without output", share),
    ]
    rows = [
        (
            f"{band.name} ({count(band.words)})",
            band.share,
            band.success,
            band.success_band_known,
            band.baseline,
        )
        for band in risk.bands
    ]
    if rows:
        yield Table(columns, rows)


def deniability(deny: public.Deniability) -> Rows:
    """Return N_w and S_w with their meanings."""
    shown = {
        "N_w": (share(deny.n_w), deny.n_w_by_chance),
        "S_w": (figures.distinct(deny.s_w, deny.runs), deny.s_w_by_chance),
    }
    return [
        (name, f"{with_chance(*values)}: {figures.MEANINGS[name]}")
        for name, values in shown.items()
    ]


def _private(
    unit: Unit, happened: Callable[[Any, Private], _Happened]
) -> Iterator[Section]:
    """Yield sections that depend on the private texts, marked as such."""
    if (private := unit.document.private) is None:
        return
    mark = (Badge(OWNER),)
    sections, read, speed = happened(unit, private)
    for title, blocks in sections:
        yield Section(title, blocks, mark)
    time = ("Time", f"{private.seconds:.3g} s{speed}")
    words = private.words
    special = words.special if words is not None else None
    number = "" if special is None else count(special.records)
    named = "" if special is None else special.named
    rows = page_rows("read", private, number=number, special=named)
    yield Section("What was read", (Figures([*rows, *read, time]),), mark)


def _texts_happened(unit: Topics, private: Private) -> _Happened:
    """Return the share of nearest topics for the private section."""
    assert private.words is not None
    changed = private.words.metrics.get("PP", {}).get("share_changed")
    nearest = kept_line(unit.topics, changed, warns=False).sentence
    shown = (Figures([("Topics", nearest)]),)
    return [("What happened to the texts", shown)], [], ""


def _words_happened(unit: Words, private: Private) -> _Happened:
    """Return token counts, epsilon per text and metrics for the private section."""
    assert private.words is not None
    words = private.words
    changed: list[Block] = [Figures(list(metrics(words.metrics)))]
    if not words.metrics:
        changed = [Paragraph(f"{say('not_measured.rewritten').capitalize()}.")]
    elif "by_chance" in words.metrics.get("PP", {}):
        changed.append(Paragraph(figures.CHANGED_BY_CHANCE, "note"))
    spent = page_rows("spent", None, **words.epsilon_per_text)
    sections: list[tuple[str, Sequence[Block]]] = [
        ("What happened to the words", [*_tokens(words)]),
        ("Epsilon per text", [Figures(spent)]),
        ("How much changed", changed),
    ]
    fields = words.fields.items()
    read: Rows = [(f"Records with field {name}", count(n)) for name, n in fields]
    return sections, read, f", {count(words.words_per_second)} words/s"


def _vectors_happened(unit: Vectors, private: Private) -> _Happened:
    """Return counts of vectors and the maximum per subject, marked private."""
    assert private.vectors is not None
    vectors, delta = private.vectors, unit.document.guarantee.bound.delta
    most, nats = vectors.most_of_one, vectors.epsilon_of_one
    shown = "" if most is None else count(most)
    with_delta = number(delta) if delta and nats is not None else ""
    return [], page_rows("vectors_read", vectors, most=shown, delta=with_delta), ""


def _tokens(words: WordCounts) -> Iterator[Block]:
    total = sum(words.tokens.values()) or 1
    columns = [
        Column("class of token"),
        Column("treatment"),
        Column("tokens", count),
        Column("share", share, full=1.0),
    ]
    rows = []
    for name, tokens in words.tokens.items():
        treatment = words.treatment.get(name, "not stated")
        rows.append((name.replace("_", " "), treatment, tokens, tokens / total))
    yield Table(columns, rows)
    if words.forms:
        named = (Column("form"), Column("pieces", count))
        yield Table(named, sorted(words.forms.items()))
    if words.languages:
        named = (Column("language of texts"), Column("texts", count))
        shown = [(code or "none of these", n) for code, n in words.languages.items()]
        yield Table(named, shown)
    how = "are unchanged"
    if words.describes == "rewritten texts":
        how = "were unchanged in the text that a third party then rewrote"
    yield Paragraph(
        f"{share(words.share_copied)} of the tokens that are neither punctuation nor "
        f"space {how}."
    )


def metrics(measured: Mapping[str, Mapping[str, Figure]]) -> Iterator[tuple[str, str]]:
    """Yield each metric with its value, meaning and additional figures."""
    for name, metric in measured.items():
        rows = list(metric.items()) or [("", None)]
        if rows[0] == ("share_kept", None):
            del rows[0]  # one text, or none: there are no others to compare it with
        (key, value), *others = rows
        about = ", ".join(
            f"{key.replace('_', ' ')}: {figures.measure(key, value)}"
            for key, value in others
            if key != "by_chance"
        )
        meaning = figures.MEANINGS.get(name, key.replace("_", " "))
        if key == "mean_cosine":  # of a single text, with no other rows
            meaning = "mean cosine of texts before and after; 1 is an equal text"
        shown = figures.measure(key if name == "CS" else name, value)
        chance = metric.get("by_chance")
        shown = with_chance(shown, chance if isinstance(chance, float) else None)
        yield name, f"{shown}: {meaning} ({about})" if about else f"{shown}: {meaning}"


def _vectors(unit: Vectors) -> list[Section]:
    """Return sections on released vectors from public data alone."""
    section = unit.section
    grid = f"steps of {section.step:.6g}" if section.step else "public points"
    epsilon = format_up(section.epsilon_each, 6)
    shown = page_rows("released", section, grid=grid, epsilon=epsilon)
    if section.measures is None:
        return [Section("Vectors", (Figures(shown),))]
    shown += page_rows("measured", section.measures)
    note = Paragraph("Errors are measured on public words or texts alone.", "note")
    return [Section("Vectors", (Figures(shown), note))]


_PARTS: dict[
    type[Unit],
    tuple[Callable[[Any], Iterable[Section]], Callable[[Any, Private], _Happened]],
] = {
    Words: (_words, _words_happened),
    Topics: (_topics, _texts_happened),
    Vectors: (_vectors, _vectors_happened),
}


def _run(unit: Unit) -> Section:
    """Return the section on versions and settings."""
    run, promise = unit.document.run, unit.document.guarantee
    name, others = run.layout.id_field, run.layout.changed
    flat = dict(figures.flat(run.settings))
    head = [
        *page_rows("run", unit),
        *page_rows(
            unit.key,
            unit,
            mechanism=flat.get("mechanism.name", "not stated"),
            pool=flat.get("embed.pool", "not stated"),
        ),
        *page_rows(
            "layout",
            unit,
            copied="" if name in others else name,
            named=name if name in others else "",
            key=say(f"key.{run.key}"),
        ),
    ]
    metric = promise.wording.distance if promise.bound.notion is Notion.METRIC else ""
    facts = page_rows("facts", unit, metric=metric)
    settings = [(Code(name), each) for name, each in flat.items()]
    details = More((Figures(facts), Heading("Settings"), Figures(settings)))
    return Section("Versions and settings", (Figures(head), details))


def _check(document: Document, signed: str) -> Section:
    """Return the section on verifying the file and its public report's signature."""
    output = document.output
    shown, more = Rows(), list[Block]()
    if output is not None:
        name = output.file or "written to standard output"
        private, copied = (
            [
                sheet
                for sheet, is_private in (output.sheets or {}).items()
                if is_private is wanted
            ]
            for wanted in (True, False)
        )
        shown = page_rows("file", output, name=name, private=private, copied=copied)
        if output.file is not None:
            line = say("page.check", file=output.file, sidecar=SIDECAR)
            more = [More((Paragraph(line),))]
    key = "page.unsigned" if signed == UNSIGNED else "page.signed"
    shown.append(("Signature", say(key, signed=signed)))
    return Section("How to check the file", (Figures(shown), *more))
