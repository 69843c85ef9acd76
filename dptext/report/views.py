"""A report as a page of blocks: of words or of vectors, internal or public.

First the short answer, then all that the document holds; parts that are functions of
the private text are marked, and absent from public reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dptext.guarantees import sentences
from dptext.guarantees.claims import MAX_MEANINGFUL_LOSS, format_up, number
from dptext.guarantees.statement import Bound, Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import AS_WRITTEN, AT_LEAST
from dptext.measures.public import Deniability
from dptext.metrics import Figure
from dptext.report import answer, figures, protection, trade, whole_texts
from dptext.report.advice import RunOutputs
from dptext.report.attackers import (
    AttackerFigures,
    Attackers,
    category_rows,
)
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
    Show,
    Table,
    paragraphs,
)
from dptext.report.document import Document
from dptext.report.figures import (
    between,
    count,
    share,
    short,
    with_chance,
)
from dptext.report.language_models import NOT_MEASURED
from dptext.report.sections import Private, VectorSection, WordCounts, WordSection
from dptext.run.files import SIDECAR
from dptext.run.interface import option
from dptext.signatures import UNSIGNED
from dptext.types import Level, Notion

OWNER = "For the owner of the text only"
_AUDIENCE = {
    "internal": (
        "Internal report, for the owner of the text only: counts{kept} and the marked "
        "parts are computed from the private text. Do not release this page."
    ),
    "public": (
        "Public report: it tells nothing of the private texts beyond the released "
        "file itself."
    ),
}
_KEYS = {
    "system": "drawn by the operating system for this run, kept nowhere",
    "key-file": "a key file",
    "seed": "a seed: repeatable, no privacy",
}
# The attackers that ship, by their names.
_ATTACKERS = {
    AS_WRITTEN: "words as written",
    "alone": "one word at a time",
    "ngram": "pairs of words",
    "same-kind": "text of the kind",
}


def report(
    document: Document, signed: str = UNSIGNED, released: RunOutputs | None = None
) -> Page:
    """Return a report as a page; signed describes its signature.

    released: outputs of a run that just ends; its signature counts then.
    """
    if released is not None and released.signed:
        signed = released.signed
    released = replace(released or answer.outputs_named(document), signed=signed)
    if document.words is not None:
        name = document.run.profile
        known = answer.attackers_on(document, document.words)
        sections = [*_words(document.words, known)]
        kept = ", the line 'meaning'"
    else:
        assert document.vectors is not None
        name, sections, kept = "vectors", [_vectors(document.vectors)], ""
    failed = () if document.success else ("This run did not succeed.",)
    shown = answer.first_screen(document, released)
    return Page(
        f"Privacy report: {name}",
        [
            *guarantee(
                document.guarantee,
                of_texts=protection.is_of_texts(document),
                layouts=_layouts(document),
            ),
            *sections,
            *_private(
                document.private,
                document.guarantee.bound.delta,
                topics=None if document.words is None else document.words.topics,
            ),
            _run(document),
            _check(document, signed),
        ],
        lead=(*failed, _AUDIENCE[document.audience].format(kept=kept)),
        footer=f"Written by dptext {document.run.dptext}. This page has no scripts and "
        "loads nothing.",
        first=(*shown, *trade.blocks(document)),
    )


def _layouts(document: Document) -> tuple[str, ...]:
    """Return sentences on layouts of forms, by the settings of a public report."""
    policy = None if protection.is_of_texts(document) else document.policy
    return () if policy is None else sentences.form_layouts(policy)


def guarantee(
    promise: Statement, *, of_texts: bool = False, layouts: Sequence[str] = ()
) -> list[Section]:
    """Return the guarantee, its limits and its conditions.

    of_texts: for vectors or topics of whole texts; layouts: sentences on forms, for a
    statement that leaves them out.
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


def _loss(bound: Bound, of_texts: bool) -> Iterator[Block]:
    """Yield loss bounds as factors; none without a guarantee."""
    loss = bound.loss
    if bound.notion is Notion.NONE:
        return
    name = "one word differs"
    if bound.level is Level.WORDS:
        name = "each replaced word of a text"
    elif bound.equal_parts:
        name = "one word differs, in a text of one word (in longer ones no more)"
    rows, largest = [("any two words", loss.farthest)], None
    if of_texts:
        name, rows = "one text differs", [("any two texts", loss.farthest)]
    elif bound.notion is Notion.METRIC:
        rows = [
            ("half of the words, nearest other word", loss.nearest),
            ("half of all pairs of words, about", loss.median),
            ("farthest pair of words", loss.farthest),
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


def _words(words: WordSection, known: Attackers) -> Iterator[Section]:
    """Yield measures of released words, by public data alone."""
    if words.topics is not None:
        originals = whole_texts.blocks(words.topics, seeded=known.seeded)
        none = Paragraph(NOT_MEASURED, "note")
        yield Section("What attackers find", (*originals, none))
        return
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
        rows = Figures(deniability(deny))
        yield Section("Plausible deniability", (rows, note))


def attackers(known: Attackers) -> Iterator[Block]:
    """Yield the success of attackers: words as written, by reading, from one draw."""
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
    yield Paragraph(NOT_MEASURED if trial is None else trial.note, "note")
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


def _guesses(risk: Risk | None) -> list[tuple[object, ...]]:
    """Return the rows of the best guess from one draw."""
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
    """Return the row of an attacker in a kind of text."""
    name = _ATTACKERS.get(row.attacker, row.attacker)
    attacker = f"{name}: {row.kind or row.corpus}"
    limits = between(row.low, row.high)
    return attacker, row.success, limits, row.content, row.rare


def _corpus(row: AttackerFigures) -> str:
    """Describe the texts read, and the number of other texts counted."""
    texts = []
    if row.words:
        texts.append(f"{count(row.words)} words of {row.corpus}")
    if row.counted:
        texts.append(f"the attacker counted {count(row.counted)} others")
    about = f" ({'; '.join(texts)})" if texts else ""
    return f"{row.kind or row.corpus}{about}"


def _bands(risk: Risk) -> Iterator[Table]:
    """Yield the best guess of words by their public frequency."""
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


def deniability(deny: Deniability) -> Rows:
    """Return N_w and S_w, each with its meaning."""
    shown = {
        "N_w": (share(deny.n_w), deny.n_w_by_chance),
        "S_w": (figures.distinct(deny.s_w, deny.runs), deny.s_w_by_chance),
    }
    return [
        (name, f"{with_chance(*values)}: {figures.MEANINGS[name]}")
        for name, values in shown.items()
    ]


def _private(
    private: Private | None, delta: float, *, topics: whole_texts.TopicFigures | None
) -> Iterator[Section]:
    """Yield functions of the private texts, marked as such."""
    if private is None:
        return
    mark = (Badge(OWNER),)
    rows = [
        ("Inputs", ", ".join(private.inputs)),
        ("Records", f"{count(private.records)}, {count(private.faults)} set aside"),
        ("Texts", count(private.texts)),
    ]
    seconds = f"{private.seconds:.3g} s"
    if (words := private.words) is not None and topics is not None:
        other = words.metrics.get("PP", {}).get("share_changed")
        nearest, _ = whole_texts.kept_sentence(topics, other)
        happened = Figures([("Topics", nearest.replace(" (do not publish)", ""))])
        yield Section("What happened to the texts", (happened,), mark)
    elif words is not None:
        yield Section("What happened to the words", tuple(_tokens(words)), mark)
        yield Section("Epsilon per text", (_spent(words.epsilon_per_text),), mark)
        changed: list[Block] = [Figures(list(metrics(words.metrics)))]
        if not words.metrics:
            changed = [Paragraph(f"{answer.NOT_MEASURED.capitalize()}.")]
        elif "by_chance" in words.metrics.get("PP", {}):
            changed.append(Paragraph(figures.CHANGED_BY_CHANCE, "note"))
        yield Section("How much changed", changed, mark)
        named = words.fields.items()
        rows += [(f"Records with field {name}", count(n)) for name, n in named]
        seconds += f", {count(words.words_per_second)} words/s"
    elif (vectors := private.vectors) is not None:
        rows += [("Words", count(vectors.words)), ("Vectors", count(vectors.vectors))]
        if vectors.most_of_one is not None:
            nats = vectors.epsilon_of_one
            lost = "" if nats is None else f", together at most {format_up(nats)} nats"
            if lost and delta:
                lost += f" with delta {number(delta)}"
            most = f"{count(vectors.most_of_one)}{lost}"
            rows.append(("Most vectors of one subject", most))
    yield Section("What was read", (Figures([*rows, ("Time", seconds)]),), mark)


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
    how = "are unchanged"
    if words.describes == "rewritten texts":
        how = "were unchanged in the text that a third party then rewrote"
    yield Paragraph(
        f"{share(words.share_copied)} of the tokens that are neither punctuation nor "
        f"space {how}."
    )


def _spent(spent: Mapping[str, float]) -> Figures:
    """Return the epsilon of texts; bounds are rounded up."""
    names: dict[str, tuple[str, Show]] = {
        "min": ("least", short),
        "median": ("median", short),
        "p95": ("95 of 100 texts have at most about", short),
        "max": ("largest", figures.bound),
        "total": ("all texts together", figures.bound),
    }
    shown = ((*names[key], nats) for key, nats in spent.items() if key in names)
    return Figures([(name, show(nats)) for name, show, nats in shown])


def metrics(measured: Mapping[str, Mapping[str, Figure]]) -> Iterator[tuple[str, str]]:
    """Yield each metric with its value, meaning and further figures."""
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


def _vectors(section: VectorSection) -> Section:
    """Return measures of released vectors, by public data alone."""
    grid = f"steps of {section.step:.6g}" if section.step else "public points"
    rows = [
        ("Vectors", f"{section.dimensions} dimensions, {grid}"),
        ("Epsilon of one vector", format_up(section.epsilon_each, 6)),
    ]
    if section.measures is None:
        return Section("Vectors", (Figures(rows),))
    errors, ruler = section.measures.distortion, section.measures.ruler
    low, middle, high = map(short, section.measures.noise_lengths)
    measured = {
        "Mean distance without noise": errors.distance,
        "Expected with noise": errors.expected_distance,
        "Mean error of a distance": errors.distance_error,
        "With the noise's known part taken off": errors.corrected_error,
        "Mean size of an inner product": errors.product,
        "Mean error of an inner product": errors.product_error,
        "Expected standard deviation of that error": errors.expected_product_error,
    }
    best = "" if ruler.best is None else f", by the best guess {share(ruler.best)}"
    rows += [
        *((name, short(value)) for name, value in measured.items()),
        ("Length of the noise", f"5% {low}, 50% {middle}, 95% {high}"),
        (
            "Ruler: the original is found",
            f"by the nearest of {count(ruler.choices)} {ruler.of} "
            f"{share(ruler.nearest)}{best} (95% limits "
            f"{between(ruler.low, ruler.high)}); without the vector "
            f"{share(ruler.baseline)}",
        ),
    ]
    note = Paragraph("Errors are measured on public words or texts alone.", "note")
    return Section("Vectors", (Figures(rows), note))


def _run(document: Document) -> Section:
    run, layout, bound = document.run, document.run.layout, document.guarantee.bound
    words, vectors, output = document.words, document.vectors, document.output
    flat = dict(figures.flat(run.settings))
    head: Rows = [("dptext", run.dptext), ("Profile", run.profile)]
    if words is not None:
        size = f"{count(words.vocabulary)} words, {words.dimensions} dimensions"
        head.append(("Lexicon", f"{run.lexicon}: {size}"))
        more: Rows = [("Word frequencies", words.prior)] if words.prior else []
    else:
        assert vectors is not None
        head += [
            ("Mechanism", flat.get("mechanism.name", "not stated")),
            ("Pool", flat.get("embed.pool", "not stated")),
            ("Vectors of", run.lexicon),
        ]
        more = [("Digest of the vectors", Code(vectors.table_digest))]
    if output is not None and output.columns is not None:
        head.append(("Columns", ", ".join(output.columns)))
    if layout.id_field is not None:
        is_copied = layout.id_field not in (*layout.dropped, *layout.pseudonyms)
        named = "Names a record (unchanged, too)" if is_copied else "Names a record"
        head.append((named, layout.id_field))
    if layout.dropped:
        head.append(("Left out", ", ".join(layout.dropped)))
    if layout.pseudonyms:
        head.append(("Pseudonyms (no guarantee)", ", ".join(layout.pseudonyms)))
    head.append(("Source of randomness", _KEYS[run.key]))
    epsilon = f"{number(bound.epsilon)} {bound.unit}, level: {bound.level}"
    metric: Rows = []
    if bound.notion is Notion.METRIC:
        metric = [("Metric", document.guarantee.wording.distance)]
    facts: Rows = [
        ("Algorithm", run.algorithm),
        ("Lexicon digest", Code(run.lexicon_digest)),
        *more,
        ("Settings digest", Code(run.settings_digest)),
        ("Notion", str(bound.notion)),
        *metric,
        ("Epsilon", epsilon),
        ("Source of the guarantee", document.guarantee.wording.source),
    ]
    settings = [(Code(name), each) for name, each in flat.items()]
    details = More((Figures(facts), Heading("Settings"), Figures(settings)))
    return Section("Versions and settings", (Figures(head), details))


def _check(document: Document, signed: str) -> Section:
    """Describe how to check the file, and the signature of the public report."""
    output, rows = document.output, Rows()
    more: list[Block] = []
    if output is not None:
        rows = [
            ("File", output.file or "written to standard output"),
            ("Size", f"{count(output.bytes)} bytes"),
            ("SHA-256", Code(output.sha256)),
        ]
        if output.file is not None:
            line = (
                f"With the public report as {output.file}{SIDECAR} beside the file, "
                f"dptext check {output.file} ends with exit code 0 if the report is of "
                "this very file, says what its settings give, and meets the policy."
            )
            more.append(More((Paragraph(line),)))
    wrote = (
        "Anyone may have written the public report."
        if signed == UNSIGNED
        else (
            f"dptext check {option('verify-key')} finds every edit of the public "
            "report."
        )
    )
    rows.append(("Signature", f"{signed}. {wrote}"))
    return Section("How to check the file", (Figures(rows), *more))
