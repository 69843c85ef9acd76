"""A report as a page of blocks: of words or of vectors, internal or public.

It shows what the document holds and nothing else; parts that are functions of the
private text are marked, and absent from public reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above, factor, number
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import ALL, AT_LEAST, InContext
from dptext.measures.public import Deniability
from dptext.report import figures, meaning
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
from dptext.report.document import (
    Document,
    Layout,
    Output,
    Private,
    VectorSection,
    WordCounts,
    WordSection,
)
from dptext.report.exports import SIDECAR
from dptext.report.figures import count, share
from dptext.report.signatures import UNSIGNED
from dptext.types import Level, Notion
from dptext.vectors.measures import Measures

OWNER = "For the owner of the text only"
_AUDIENCE = {
    "internal": (
        "Internal report, for the owner of the text only: the parts so marked are "
        "functions of the private text. Do not release this page."
    ),
    "public": (
        "Public report: nothing in it depends on the private text except what it says "
        "of the released file."
    ),
}
_KEYS = {
    "system": "drawn by the operating system for this run, kept nowhere",
    "key-file": "a key file",
    "seed": "a seed: repeatable, no privacy",
}
_NONE = "There is no guarantee to hold."


def report(document: Document, signed: str = UNSIGNED) -> Page:
    """Return a report as a page; signed says who signed (dptext.report.signatures)."""
    run, promise, words = document.run, document.guarantee, document.words
    if words is not None:
        name, several = run.profile, "Whole texts"
        badges = meaning.badges(promise)
        sections = [*_words(document, words), *_private_words(document.private)]
    else:
        assert document.vectors is not None
        name, several = "vectors", "Several vectors"
        badges = meaning.vector_badges(promise)
        sections = [*_vectors(promise, document.vectors)]
        sections += _private_vectors(document.private)
    failed = () if document.success else ("This run did not succeed.",)
    return Page(
        f"Privacy report: {name}",
        [
            *guarantee(promise, badges, several=several),
            *sections,
            _run(document),
            _check(document.output, signed),
        ],
        lead=(*failed, _AUDIENCE[document.audience]),
        footer=f"Written by dptext {run.dptext}. This page has no scripts and loads "
        "nothing.",
    )


def guarantee(
    promise: Statement,
    badges: Sequence[Badge],
    *,
    title: str = "Guarantee",
    several: str = "Whole texts",
) -> tuple[Section, Section, Section]:
    """Return what is promised, what is not, and under which conditions."""
    more = (promise.translation, promise.decoding)
    subjects = f"Ledger: {promise.subjects}" if promise.subjects else ""
    lines = paragraphs(f"{several}: {promise.text_level}", *more, subjects)
    said = Paragraph(promise.sentence, "lead")
    conditions: Block = Bullets(promise.conditions)
    if not promise.conditions:
        conditions = Paragraph(_NONE, "note")
    return (
        Section(title, (said, *lines), badges),
        Section("Not covered", (Bullets(promise.not_covered),), boxed=True),
        Section("Holds if", (conditions,)),
    )


def meant(
    promise: Statement, risk: Risk | None, measured: Iterable[InContext]
) -> Section:
    """Return the promise in plain words, and the scale of its badges; pages only."""
    lines = paragraphs(*meaning.meaning(promise, risk, measured))
    scales = paragraphs(meaning.scale(promise), meaning.TEXT_SCALE, kind="note")
    return Section("What this means", (More((*lines, *scales)),))


def _words(document: Document, words: WordSection) -> Iterator[Section]:
    """Yield what is said of released words, from public data alone."""
    layout = document.run.layout
    rows: Rows = [
        ("Made private", made_private(layout)),
        ("Copied unchanged", copied(layout, document.output)),
    ]
    if layout.id_field is not None:
        rows.append(("Names a record (copied, too)", layout.id_field))
    yield Section("What is made private and what is copied", (Figures(rows),))
    yield meant(document.guarantee, words.risk, words.in_context)
    yield _risk(words)
    yield _loss(document.guarantee)
    if words.deniability is not None:
        rows = deniability(words.deniability)
        rows.append(("Method", words.deniability.method))
        yield Section("Plausible deniability", (Figures(rows),))


def made_private(layout: Layout) -> str:
    """Name what is made private."""
    if layout.fields is None:
        return "each line" if layout.format == "text" else "all text"
    return ", ".join(layout.fields)


def copied(layout: Layout, output: Output | None) -> str:
    """Name what is copied, by its names where the output has them in one place."""
    if output is not None and output.copied is not None:
        return ", ".join(output.copied) or "no other field"
    if layout.fields is None:
        return "no other field: the input is lines of text"
    return f"every field but {' and '.join(layout.fields)}"


def deniability(deny: Deniability) -> Rows:
    """Return N_w and S_w, each with what it is."""
    shown = {"N_w": share(deny.n_w), "S_w": figures.distinct(deny.s_w, deny.runs)}
    return [
        (name, f"{value}: {figures.MEANINGS[name]}") for name, value in shown.items()
    ]


def _risk(words: WordSection) -> Section:
    risk, title = words.risk, "Risk: how often a word is guessed"
    if risk is None:
        return Section(title, (Paragraph(f"Risk: {words.risk_note}"),))
    reading = meaning.found(words.in_context)
    names = ("in context", "from output", "knowing the band", "without output")
    table = Table(
        [
            Column("word guessed"),
            Column("share of text", share),
            *(Column(name, share, full=1.0) for name in names),
        ],
        [
            (ALL, None, reading.get(ALL), risk.success, None, risk.baseline),
            *(
                (
                    *(f"{band.name} ({count(band.words)})", band.share),
                    *(reading.get(band.name), band.success),
                    *(band.success_band_known, band.baseline),
                )
                for band in risk.bands
            ),
        ],
        title="How often a guess of a word is right",
    )
    readers: list[Block] = [
        Figures(meaning.in_context(words.in_context)),
        Paragraph(AT_LEAST, "note"),
    ]
    context = (
        "In context: what a reader of the whole text found, in the public corpus where "
        "it found most."
    )
    legend = (
        "From output: the best guess from one output word. Knowing the band: the same "
        "by someone who knows which band the word is of. Without output: the best "
        "guess from the public word frequencies alone, of the band where a band is "
        "named. Bands are made by the public frequencies."
    )
    return Section(
        title,
        (
            *(readers if reading else ()),
            table.filled(),
            More(paragraphs(context if reading else "", legend, kind="note")),
            Paragraph(f"Method: {risk.method}.{_limits(risk)}", "note"),
            Paragraph(words.risk_note, "note"),
            Heading("What this risk is good for"),
            Bullets(meaning.good_for(risk)),
        ),
    )


def _limits(risk: Risk) -> str:
    if risk.low is None or risk.high is None:
        return ""
    sure = f" with confidence {share(risk.confidence)}" if risk.confidence else ""
    return (
        f" The success from output lies between {share(risk.low)} and "
        f"{share(risk.high)}{sure}; shown is the upper limit, for the bands too."
    )


def _loss(promise: Statement) -> Section:
    loss, title = promise.loss, "Loss when one word is changed"
    if promise.level is Level.WORDS:
        title = "Loss for each replaced word of a text"
    if promise.equal_parts:
        title = "Loss when one word is changed, in a text of one replaced word"
    if promise.notion is Notion.NONE:
        return Section(title, (Paragraph("Not bounded: there is no guarantee."),))
    rows = [("any two words", loss.farthest)]
    if promise.notion is Notion.METRIC:
        rows = [
            ("half of the words, nearest other word", loss.nearest),
            ("half of all pairs of words, about", loss.median),
            ("farthest pair of words", loss.farthest),
        ]
    largest = max(nats for _, nats in rows)
    bars = len(rows) > 1 and math.isfinite(largest)
    table = Table(
        [
            Column("words compared"),
            Column("loss in nats, at most", figures.bound, largest if bars else None),
            Column("factor", _factor),
        ],
        [(name, nats, nats) for name, nats in rows],
    )
    note = (
        f"A loss of x nats is a factor of e^x. Above {MAX_MEANINGFUL_LOSS:g} nats "
        "there is no meaningful protection."
    )
    if promise.equal_parts:
        note += " In a longer text, one changed word loses no more."
    if promise.notion is Notion.APPROXIMATE:
        note += f" Delta is {number(promise.delta)}."
    return Section(title, (table, Paragraph(note, "note")))


def _factor(nats: float) -> str:
    return "unbounded" if math.isinf(nats) else factor(nats)


def _private_words(private: Private | None) -> Iterator[Section]:
    """Yield functions of texts whose words were replaced, each marked."""
    if private is None or private.words is None:
        return
    words, mark = private.words, (Badge(OWNER),)
    yield Section("What happened to the words", tuple(_tokens(words)), mark)
    yield Section("Epsilon per text", (_spent(words.epsilon_per_text),), mark)
    changed: Block = Figures(list(_metrics(words)))
    if not words.metrics:
        changed = Paragraph(
            "Not measured: no word of a rewritten text stands for another."
        )
    yield Section("How much changed", (changed,), mark)
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
        (key, value), *others = list(metric.items()) or [("", None)]
        about = ", ".join(
            f"{key.replace('_', ' ')}: {figures.measure('', value)}"
            for key, value in others
        )
        what = figures.MEANINGS.get(name, key.replace("_", " "))
        shown = f"{figures.measure(name, value)}: {what}"
        yield name, f"{shown} ({about})" if about else shown


def _vectors(promise: Statement, section: VectorSection) -> Iterator[Section]:
    """Yield what is said of released vectors, from public data alone."""
    rows = [
        ("Vectors", f"{section.dimensions} dimensions, steps of {section.step:.6g}"),
        ("Epsilon of one vector", above(section.epsilon_each, 6)),
    ]
    note = Paragraph(meaning.scale(promise), "note")
    yield Section("Vectors", (Figures(rows), More((note,))))
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
        f"{best} (95% limits {figures.between(ruler.low, ruler.high)}); without the "
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
    run, promise = document.run, document.guarantee
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
        head.append(("Made private", made_private(run.layout)))
        if output is not None and output.columns is not None:
            head.append(("Columns", ", ".join(output.columns)))
        more = [("Digest of the vectors", Code(vectors.table_digest))]
    if output is not None and output.used is not None:
        head.append(("Third party", figures.of_third_party(output.used)))
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


def _check(output: Output | None, signed: str) -> Section:
    title, blocks = "How to check the file", list[Block]()
    wrote = (
        "Nothing tells who wrote the public report."
        if signed == UNSIGNED
        else "Who has the key (--verify-key) finds every edit of the public report."
    )
    signature = Figures([("Signature", f"{signed}. {wrote}")])
    if output is None:
        line = "This report is about several outputs and names none of their digests."
        return Section(title, (Paragraph(line), signature))
    name = output.file or "the output (written to standard output)"
    blocks = [
        Figures(
            [
                ("Released file", name),
                ("Size", f"{count(output.bytes)} bytes"),
                ("SHA-256", Code(output.sha256)),
            ]
        ),
        Paragraph("The digest of the file must be the one above."),
    ]
    if output.file is not None:
        blocks[1] = Paragraph(
            f"With the public report as {output.file}{SIDECAR} beside the file, dptext "
            f"check {output.file} ends with exit code 0 if the file has the digest "
            "that the report names and the report meets the policy given; else it says "
            "why not."
        )
    return Section(title, (More(blocks), signature))
