"""A report as a page of blocks: of words or of vectors, internal or public.

First the short answer, then all that the document holds; parts that are functions of
the private text are marked, and absent from public reports. The picture of what risk
settings trade is from figures that ship (python -m tools.readers), of public news: how
much the strongest measured reader finds, and how often a classifier that learned topics
from private texts sorts others right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from dptext import cache
from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above, factor, number
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.calibrate import shipped_readers
from dptext.measures.context_risk import AT_LEAST, InContext
from dptext.measures.public import Deniability
from dptext.report import answer, figures
from dptext.report.blocks import (
    Axis,
    Badge,
    Block,
    Bullets,
    Chart,
    Code,
    Column,
    Figures,
    Heading,
    More,
    Page,
    Paragraph,
    Point,
    Rows,
    Section,
    Table,
    paragraphs,
)
from dptext.report.document import (
    Document,
    Private,
    ReaderFigures,
    VectorSection,
    WordCounts,
    WordSection,
)
from dptext.report.exports import SIDECAR
from dptext.report.figures import (
    beside_chance,
    between,
    count,
    percent,
    share,
    whole,
)
from dptext.report.signatures import UNSIGNED
from dptext.types import Level, Notion
from dptext.vectors.figures import Measures

OWNER = "For the owner of the text only"
_AUDIENCE = {
    "internal": (
        "Internal report, for the owner of the text only: counts, the line 'kept' and "
        "the marked parts are computed from the private text. Do not release this "
        "page."
    ),
    "public": (
        "Public report: nothing in it depends on the private text except what it "
        "says about the released file."
    ),
}
_KEYS = {
    "system": "drawn by the operating system for this run, kept nowhere",
    "key-file": "a key file",
    "seed": "a seed: repeatable, no privacy",
}
# What the readers are that ship, by their names.
_READERS = {
    "alone": "one word at a time",
    "ngram": "all of a text, model of word pairs",
}


def report(document: Document, signed: str = UNSIGNED) -> Page:
    """Return a report as a page; signed says who signed (dptext.report.signatures)."""
    words, private = document.words, document.private
    if words is not None:
        name = document.run.profile
        sections = [*_words(words), *_private_words(private)]
    else:
        assert document.vectors is not None
        name = "vectors"
        sections = [*_vectors(document.vectors), *_private_vectors(private)]
    failed = () if document.success else ("This run did not succeed.",)
    lines = answer.answer(document)
    return Page(
        f"Privacy report: {name}",
        [
            *guarantee(document.guarantee),
            *sections,
            _run(document),
            _check(document, signed),
        ],
        lead=(*failed, _AUDIENCE[document.audience]),
        footer=f"Written by dptext {document.run.dptext}. This page has no scripts and "
        "loads nothing.",
        first=(
            Figures([(line.name, line.sentence) for line in lines]),
            *trade(document),
        ),
    )


def guarantee(promise: Statement) -> tuple[Section, ...]:
    """Return what is promised, what is not, and under which conditions."""
    lines = paragraphs(
        promise.text_level, promise.translation, promise.decoding, promise.subjects
    )
    blocks = (Paragraph(promise.sentence, "lead"), *lines, *_loss(promise))
    sections = [
        Section("Guarantee", blocks, (answer.verdict(promise),)),
        Section("Not covered", (Bullets(promise.not_covered),)),
    ]
    if promise.conditions:
        sections.append(Section("Holds if", (Bullets(promise.conditions),)))
    return tuple(sections)


def _loss(promise: Statement) -> Iterator[Block]:
    """Yield bounds of nats as factors; none where there is no guarantee."""
    loss = promise.loss
    if promise.notion is Notion.NONE:
        return
    name = "one word differs"
    if promise.level is Level.WORDS:
        name = "each replaced word of a text"
    elif promise.equal_parts:
        name = "one word differs, in a text of one word (in longer ones no more)"
    rows = [("any two words", loss.farthest)]
    if promise.notion is Notion.METRIC:
        rows = [
            ("half of the words, nearest other word", loss.nearest),
            ("half of all pairs of words, about", loss.median),
            ("farthest pair of words", loss.farthest),
        ]
    largest = max(nats for _, nats in rows)
    bars = len(rows) > 1 and math.isfinite(largest)
    yield Table(
        [
            Column(name),
            Column("loss in nats, at most", figures.bound, largest if bars else None),
            Column(
                "factor", lambda nats: "unbounded" if nats == math.inf else factor(nats)
            ),
        ],
        [(words, nats, nats) for words, nats in rows],
    )
    limit = f" Delta is {number(promise.delta)}." if promise.delta else ""
    yield Paragraph(
        "A loss of x nats is a factor of e^x. A word is well protected up to 1 nat, in "
        f"part up to 10, weakly up to {MAX_MEANINGFUL_LOSS:g}, and not meaningfully "
        f"above; texts as a whole are not meaningfully protected above 10.{limit}",
        "note",
    )


def _words(words: WordSection) -> Iterator[Section]:
    """Yield what is measured of released words, by public data alone."""
    blocks = list(reader_tables(words.risk, words.readers))
    if words.risk is not None and words.risk.bands:
        blocks.append(_bands(words.risk))
    blocks.append(Paragraph(words.risk_note, "note"))
    yield Section("What readers find", blocks)
    if words.deniability is not None:
        deny = words.deniability
        chance = figures.DRAWN_BY_CHANCE if deny.n_w_by_chance is not None else ""
        note = Paragraph(f"Method: {deny.method}. {chance}".rstrip(), "note")
        rows = Figures(deniability(deny))
        yield Section("Plausible deniability", (rows, note))


def reader_tables(
    risk: Risk | None, readers: Sequence[ReaderFigures]
) -> Iterator[Block]:
    """Yield how often readers guess words, the strongest first."""
    rows: list[tuple[object, ...]] = []
    for each in readers:
        texts = f"{count(each.words)} words of {each.corpus}"
        if each.kind:
            texts = f"{each.kind}: {texts}"
        if each.counted:
            texts += f"; reader with {count(each.counted)} other words of the kind"
        name = _READERS.get(each.reader, each.reader)
        limits = between(each.low, each.high)
        rows.append((name, each.success, limits, each.content, each.rare, texts))
    if risk is not None:
        guess = "one word, best possible guess"
        of_guess = None if risk.low is None else between(risk.low, risk.high)
        public = "public word frequencies"
        rows.append((guess, risk.success, of_guess, None, None, public))
        rows.append(("no output, best guess", risk.baseline, None, None, None, public))
    columns = [
        Column("reader"),
        Column("all words", share, full=1.0),
        Column("95% limits"),
        Column("content words", share),
        Column("rare words", share),
        Column("measured on"),
    ]
    if rows:
        yield Table(columns, rows, title="Share of words found").filled()
    if readers:
        yield Paragraph(AT_LEAST, "note")
    if risk is not None:
        sure = f" The upper limit holds with {share(risk.confidence)} confidence."
        yield Paragraph(
            f"Best possible guess: {risk.method}.{sure if risk.confidence else ''}",
            "note",
        )


def _bands(risk: Risk) -> Table:
    """Return the best guess of words by their public frequency."""
    return Table(
        [
            Column("best guess from one word, by frequency"),
            Column("share of text", share),
            Column("from output", share, full=1.0),
            Column("knowing the band", share),
            Column("without output", share),
        ],
        [
            (
                *(f"{band.name} ({count(band.words)})", band.share, band.success),
                *(band.success_band_known, band.baseline),
            )
            for band in risk.bands
        ],
    )


def deniability(deny: Deniability) -> Rows:
    """Return N_w and S_w, each with what it is."""
    shown = {
        "N_w": (share(deny.n_w), deny.n_w_by_chance),
        "S_w": (figures.distinct(deny.s_w, deny.runs), deny.s_w_by_chance),
    }
    return [
        (name, f"{beside_chance(*values)}: {figures.MEANINGS[name]}")
        for name, values in shown.items()
    ]


def _private_words(private: Private | None) -> Iterator[Section]:
    """Yield functions of texts whose words were replaced, each marked."""
    if private is None or private.words is None:
        return
    words, mark = private.words, (Badge(OWNER),)
    yield Section("What happened to the words", tuple(_tokens(words)), mark)
    yield Section("Epsilon per text", (_spent(words.epsilon_per_text),), mark)
    changed: list[Block] = [Figures(list(_metrics(words)))]
    if not words.metrics:
        changed = [
            Paragraph("Not measured: no word of a rewritten text stands for another.")
        ]
    elif "by_chance" in words.metrics.get("PP", {}):
        changed.append(Paragraph(figures.CHANGED_BY_CHANCE, "note"))
    yield Section("How much changed", changed, mark)
    rows = [
        ("Inputs", ", ".join(private.inputs)),
        ("Records", f"{count(private.records)}, {count(private.faults)} set aside"),
        ("Texts", count(private.texts)),
        *((f"Records with field {name}", count(n)) for name, n in words.fields.items()),
        ("Time", f"{private.seconds:.3g} s, {count(words.words_per_second)} words/s"),
    ]
    yield Section("What was read", (Figures(rows),), mark)


def _tokens(words: WordCounts) -> Iterator[Block]:
    total = sum(words.tokens.values())
    yield Table(
        [
            Column("class of token"),
            Column("treatment"),
            Column("tokens", count),
            Column("share", share, full=1.0),
        ],
        [
            (
                name.replace("_", " "),
                words.treatment.get(name, "not stated"),
                number,
                number / total if total else None,
            )
            for name, number in words.tokens.items()
        ],
    )
    how = " into the text that a third party then rewrote"
    how = how if words.describes == "rewritten texts" else " unchanged"
    yield Paragraph(
        f"{share(words.share_copied)} of the tokens that are neither punctuation nor "
        f"space were copied{how}."
    )


def _spent(spent: dict[str, float]) -> Block:
    """Return the epsilon of texts; what bounds is rounded up."""
    names = {
        "min": "least",
        "median": "median",
        "p95": "95 of 100 texts have at most about",
        "max": "largest",
        "total": "all texts together",
    }
    rows = [
        (
            words,
            above(spent[key], 6) if key in ("max", "total") else f"{spent[key]:.4g}",
        )
        for key, words in names.items()
        if key in spent
    ]
    return Figures(rows) if rows else Paragraph("No text spent any.", "note")


def _metrics(words: WordCounts) -> Iterator[tuple[str, str]]:
    """Yield each metric with what it is, and what it says about itself."""
    for name, metric in words.metrics.items():
        rows = list(metric.items()) or [("", None)]
        if rows[0] == ("share_kept", None):
            del rows[0]  # one text, or none: there are no others to compare it with
        (key, value), *others = rows
        about = ", ".join(
            f"{key.replace('_', ' ')}: {figures.measure(key, value)}"
            for key, value in others
        )
        what = figures.MEANINGS.get(name, key.replace("_", " "))
        if key == "mean_cosine":  # of older reports, or of a single text
            what = "mean cosine of texts before and after; 1 is an equal text"
        unit = key if name == "CS" else name
        shown = f"{figures.measure(unit, value)}: {what}"
        yield name, f"{shown} ({about})" if about else shown


def _vectors(section: VectorSection) -> Iterator[Section]:
    """Yield what is said of released vectors, from public data alone."""
    rows = [
        ("Vectors", f"{section.dimensions} dimensions, steps of {section.step:.6g}"),
        ("Epsilon of one vector", above(section.epsilon_each, 6)),
    ]
    yield Section("Vectors", (Figures(rows),))
    if section.measures is not None:
        note = Paragraph("Measured on public words or texts alone.", "note")
        measured = Figures(list(_measured(section.measures)))
        yield Section("What is left of the vectors", (measured, note))


def _measured(measures: Measures) -> Iterator[tuple[str, str]]:
    errors, ruler = measures.distortion, measures.ruler
    low, middle, high = measures.noise_lengths
    yield (
        "Distances, without noise",
        f"mean {errors.distance:.4g}; expected with noise "
        f"{errors.expected_distance:.4g}",
    )
    yield (
        "Error of a distance",
        f"mean {errors.distance_error:.4g}; {errors.corrected_error:.4g} with the "
        "noise's known part taken off",
    )
    yield (
        "Error of an inner product",
        f"mean {errors.product_error:.4g} (mean size {errors.product:.4g}); "
        f"expected standard deviation {errors.expected_product_error:.4g}",
    )
    yield "Length of the noise", f"5% {low:.4g}, 50% {middle:.4g}, 95% {high:.4g}"
    best = "" if ruler.best is None else f", by the best guess {share(ruler.best)}"
    yield (
        "Ruler: the original is found",
        f"by the nearest of {count(ruler.choices)} {ruler.of} {share(ruler.nearest)}"
        f"{best} (95% limits {between(ruler.low, ruler.high)}); without the "
        f"vector {share(ruler.baseline)}",
    )


def _private_vectors(private: Private | None) -> Iterator[Section]:
    """Yield functions of texts that became vectors, marked."""
    if private is None or private.vectors is None:
        return
    counts = private.vectors
    rows = [
        ("Records", f"{count(private.records)}, {count(private.faults)} set aside"),
        ("Texts", f"{count(private.texts)}, {count(counts.words)} words"),
        ("Vectors", f"{count(counts.vectors)} in {private.seconds:.1f} s"),
    ]
    if counts.most_of_one is not None:
        together = counts.epsilon_of_one
        lost = "" if together is None else f", together at most {above(together)} nats"
        rows.append(
            ("Most vectors of one subject", f"{count(counts.most_of_one)}{lost}")
        )
    yield Section("What was read", (Figures(rows),), (Badge(OWNER),))


def _run(document: Document) -> Section:
    run, promise, layout = document.run, document.guarantee, document.run.layout
    words, vectors, output = document.words, document.vectors, document.output
    head: Rows = [("dptext", run.dptext), ("Profile", run.profile)]
    if words is not None:
        size = f"{count(words.vocabulary)} words, {words.dimensions} dimensions"
        head.append(("Lexicon", f"{run.lexicon}: {size}"))
        more: Rows = [("Word frequencies", words.prior)]
    else:
        assert vectors is not None
        name, pool = run.settings["mechanism"]["name"], run.settings["embed"]["pool"]
        head += [("Mechanism", f"{name}, {pool}"), ("Vectors of", run.lexicon)]
        if output is not None and output.columns is not None:
            head.append(("Columns", ", ".join(output.columns)))
        more = [("Digest of the vectors", Code(vectors.table_digest))]
    if output is not None and output.used is not None:
        head.append(("Third party", figures.of_third_party(output.used)))
    if layout.id_field is not None:
        head.append(("Names a record (copied, too)", layout.id_field))
    head.append(("Source of randomness", _KEYS[run.key]))
    facts: Rows = [
        ("Algorithm", run.algorithm),
        ("Lexicon digest", Code(run.lexicon_digest)),
        *more,
        ("Settings digest", Code(run.settings_digest)),
        ("Notion", str(promise.notion)),
        ("Metric", promise.distance),
        (
            "Epsilon",
            f"{number(promise.epsilon)} {promise.unit}, level: {promise.level}",
        ),
        ("Source of the guarantee", promise.source),
    ]
    settings = [(Code(name), each) for name, each in figures.flat(run.settings)]
    details = More((Figures(facts), Heading("Settings"), Figures(settings)))
    return Section("Versions and settings", (Figures(head), details))


def _check(document: Document, signed: str) -> Section:
    """Say how to check the file, and who signed the public report."""
    output, rows = document.output, Rows()
    more: tuple[Block, ...] = ()
    if output is not None:
        rows = [
            ("Released file", output.file or "written to standard output"),
            ("Size", f"{count(output.bytes)} bytes"),
            ("SHA-256", Code(output.sha256)),
        ]
    if output is not None and output.file is not None:
        line = (
            f"With the public report as {output.file}{SIDECAR} beside the file, dptext "
            f"check {output.file} ends with exit code 0 if the report is of this very "
            "file, says what its settings give, and meets the policy."
        )
        more = (More((Paragraph(line),)),)
    wrote = (
        "Anyone may have written the public report."
        if signed == UNSIGNED
        else "dptext check --verify-key finds every edit of the public report."
    )
    rows.append(("Signature", f"{signed}. {wrote}"))
    return Section("How to check the file", (Figures(rows), *more))


_Ladder = Mapping[str, Any]  # figures, or keys of them, by keys or risks
_KIND, _CLASSIFIER = "news", "tfidf"


class _Setting(NamedTuple):
    """A risk, the success of readers and topics kept at it, and of originals."""

    risk: float
    success: float
    kept: float
    original: float


def trade(document: Document) -> list[Block]:
    """Return the trade with the setting of a run marked.

    None where the readers of its report were not measured at several risks.
    """
    settings = _settings(document)
    if len(settings) < 2:
        return []
    points = [Point(each.success, each.kept, whole(each.risk)) for each in settings]
    risk = document.run.settings["budget"]["risk"]
    mine = [
        point for each, point in zip(settings, points, strict=True) if each.risk == risk
    ]
    title = "What each risk setting trades"
    across = Axis("words that the strongest measured reader finds", percent)
    lines = [("risk setting", points), (f"this run, {whole(risk)}", mine)]
    note = (
        "Public news. Topics kept: the share of texts that a classifier trained on "
        f"such texts sorts right; {share(settings[0].original)} for originals."
    )
    chart = Chart(title, across, Axis("topics kept", percent), lines, labelled=True)
    return [chart, More((Paragraph(note, "note"),))]


def _settings(document: Document) -> list[_Setting]:
    """Return the measured risks of the ladder that has the readers of a report."""
    budget = document.run.settings.get("budget")
    risk = budget.get("risk") if isinstance(budget, dict) else None
    readers = () if document.words is None else document.words.readers
    if not readers or not isinstance(risk, float):
        return []
    file = shipped_readers()
    measured: Mapping[str, object] = cache.shipped_entry(file, "readers") or {}
    ladders: Mapping[str, Mapping[str, str]] = (
        cache.shipped_entry(file, "ladders") or {}
    )

    def corpora(key: str) -> tuple[InContext, ...]:
        return msgspec.convert(measured.get(key, ()), tuple[InContext, ...])

    for ladder in ladders.values():
        if ReaderFigures.of(corpora(ladder.get(f"{risk:g}", ""))) == readers:
            rungs = sorted((float(each), key) for each, key in ladder.items())
            settings = []
            for rung, key in rungs:
                for corpus in corpora(key):
                    learned = {each.classifier: each for each in corpus.learned}
                    if corpus.kind == _KIND and _CLASSIFIER in learned:
                        best = max(each.success for each in corpus.readings)
                        of = learned[_CLASSIFIER]
                        settings.append(_Setting(rung, best, of.private, of.original))
                        break
            return settings
    return []
