"""The report as one page for people, among them privacy officers.

It shows what the document holds and nothing else; parts that are functions of the
private text are marked, and absent from public reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from dptext.guarantees.rounding import MAX_MEANINGFUL_LOSS, above, factor, number
from dptext.guarantees.statement import Statement
from dptext.measures.bayes_risk import Risk
from dptext.measures.context_risk import AT_LEAST
from dptext.measures.public import Deniability
from dptext.report import (
    _page,
    _private_page,
    _promise,
    _svg,
    _use,
    columns,
    figures,
    in_context,
)
from dptext.report._page import Html, Section
from dptext.report.document import Document, WordSection
from dptext.report.exports import SIDECAR
from dptext.report.figures import share as _share
from dptext.report.signatures import UNSIGNED
from dptext.types import Level, Notion

AUDIENCE = {
    "internal": (
        "Internal report, for the owner of the text only: the parts so marked are "
        "functions of the private text. Do not release this page."
    ),
    "public": (
        "Public report: nothing in it depends on the private text but what it says of "
        "the released file."
    ),
}
_LARGE = 10_000.0
# Strongest first; the guess without output is drawn as an outline.
_ATTACKS = ("from output", "knowing the band", "without output")
_COLOURS = (1, 2, 0)


def render(document: Document, signed: str = UNSIGNED) -> bytes:
    """Return the page as UTF-8; signed says who signed (dptext.report.signatures)."""
    promise, words = document.guarantee, document.words
    assert words is not None
    sections: list[Section | tuple[Section, ...]] = [
        (_guarantee(promise), _promise.not_covered(promise)),
        _fields(document),
        _promise.meaning(promise, words.risk, words.in_context),
        _conditions(document),
        _risk(words),
        _loss(document),
    ]
    if words.deniability is not None:
        sections.append(_deniability(words.deniability))
    if document.private is not None:
        sections += _private_page.sections(document.private)
    sections += [_run(document, words), _check(document, signed)]
    run = document.run
    failed = () if document.success else ("This run did not succeed.",)
    return _page.page(
        f"Privacy report: {run.profile}",
        sections,
        lead=_page.paragraphs((*failed, AUDIENCE[document.audience])),
        footer=f"Written by dptext {run.dptext}. This page has no scripts and loads "
        "nothing.",
    )


def _guarantee(promise: Statement) -> Section:
    texts = f"Whole texts: {promise.text_level}"
    more = (texts, promise.translation, promise.decoding, promise.subjects)
    return _promise.promised(
        "Guarantee",
        promise,
        _page.element("p", promise.sentence, class_="said"),
        _page.paragraphs(filter(None, more)),
    )


def _fields(document: Document) -> Section:
    """Say what is made private and what is copied, by name where that is known."""
    layout, output = document.run.layout, document.output
    copied = columns.copied(layout, output)
    facts = [("Made private", columns.private(layout)), ("Copied unchanged", copied)]
    if layout.id_field is not None:
        facts.append(("Names a record (copied, too)", layout.id_field))
    return Section("What is made private and what is copied", (_page.facts(facts),))


def _conditions(document: Document) -> Section:
    lines = document.guarantee.conditions
    if not lines:
        return Section("Holds if", (_page.note("There is no guarantee to hold."),))
    return Section("Holds if", (_page.bullets(lines),))


def _risk(words: WordSection) -> Section:
    risk, title = words.risk, "Risk: how often a word is guessed"
    if risk is None:
        return Section(title, (_page.paragraphs((f"Risk: {words.risk_note}",)),))
    found = in_context.strongest(words.in_context)
    names = ("in context", *_ATTACKS) if found else _ATTACKS
    colours = (3, *_COLOURS) if found else _COLOURS

    def guessed(name: str, *alone: float | None) -> tuple[float | None, ...]:
        return (found.get(name), *alone) if found else alone

    values = [
        ("all words", "", guessed("all words", risk.success, None, risk.baseline))
    ]
    values += [
        (
            f"{each.name} ({each.words:,})",
            _share(each.share),
            guessed(each.name, each.success, each.success_band_known, each.baseline),
        )
        for each in risk.bands
    ]
    chart = _svg.bars(
        [_svg.Group(name, shares) for name, _, shares in values],
        names,
        title="How often a guess is right",
        most=1.0,
        show=_share,
        colours=colours,
    )
    table = _page.table(
        ("word guessed", "share of text", *names),
        [
            (name, part, *("" if one is None else _share(one) for one in shares))
            for name, part, shares in values
        ],
        caption="How often a guess of a word is right",
    )
    context = (
        "In context: what a reader of the whole text found, in the public corpus where "
        f"it found most. {AT_LEAST}"
    )
    lines = [
        *([context] if found else []),
        *(f"{n}: {s}." for n, s in in_context.rows_of(words.in_context)),
        "From output: the best guess from one output word. Knowing the band: the same "
        "by someone who knows which band the word is of. Without output: the best "
        "guess from the public word frequencies alone, of the band where a band is "
        "named. Bands are made by the public frequencies.",
        f"Method: {risk.method}.{_limits(risk)}",
        words.risk_note,
    ]
    notes = _page.join(map(_page.note, lines))
    good = _page.heading("What this risk is good for") + _page.bullets(
        _use.good_for(risk)
    )
    return Section(title, (_page.beside(chart, _page.join((table, notes))), good))


def _limits(risk: Risk) -> str:
    if risk.low is None or risk.high is None:
        return ""
    sure = f" with confidence {_share(risk.confidence)}" if risk.confidence else ""
    return (
        f" The success from output lies between {_share(risk.low)} and "
        f"{_share(risk.high)}{sure}; shown is the upper limit, for the bands too."
    )


def _loss(document: Document) -> Section:
    promise, loss = document.guarantee, document.guarantee.loss
    title = "Loss when one word is changed"
    if promise.level is Level.WORDS:
        title = "Loss for each replaced word of a text"
    if promise.equal_parts:
        title = "Loss when one word is changed, in a text of one replaced word"
    if promise.notion is Notion.NONE:
        line = "Not bounded: there is no guarantee."
        return Section(title, (_page.paragraphs((line,)),))
    named: tuple[tuple[str, float], ...] = (
        ("half of the words, nearest other word", loss.nearest),
        ("half of all pairs of words, about", loss.median),
        ("farthest pair of words", loss.farthest),
    )
    if promise.notion is not Notion.METRIC:
        named = (("any two words", loss.farthest),)
    rows = [(name, _nats(value), _factor(value)) for name, value in named]
    note = (
        f"A loss of x nats is a factor of e^x. Above {MAX_MEANINGFUL_LOSS:g} nats "
        "there is no meaningful protection."
    )
    if promise.equal_parts:
        note += " In a longer text, one changed word loses no more."
    if promise.notion is Notion.APPROXIMATE:
        note += f" Delta is {number(promise.delta)}."
    table = _page.table(("words compared", "loss in nats, at most", "factor"), rows)
    parts = (table, _page.note(note))
    if len(named) > 1 and all(math.isfinite(value) for _, value in named):
        groups = [_svg.Group(name, (value,)) for name, value in named]
        chart = _svg.bars(groups, ("loss",), title="Loss in nats, at most", show=_nats)
        return Section(title, (_page.beside(chart, _page.join(parts)),))
    return Section(title, parts)


def _deniability(deny: Deniability) -> Section:
    chart = _svg.bars(
        [
            _svg.Group("a word is drawn as itself (N_w)", (deny.n_w,)),
            _svg.Group(
                "different outputs per run (S_w / runs)", (deny.s_w / deny.runs,)
            ),
        ],
        ("share",),
        title="How often words stay, how varied they come out",
        most=1.0,
        show=_share,
    )
    facts = _page.facts(
        (
            ("N_w", _share(deny.n_w)),
            ("S_w", figures.distinct(deny.s_w, deny.runs)),
            ("Method", deny.method),
        )
    )
    meanings = _page.paragraphs(figures.legend(("N_w", "S_w")))
    beside = _page.beside(chart, _page.join((facts, meanings)))
    return Section("Plausible deniability", (beside,))


def _run(document: Document, words: WordSection) -> Section:
    run, promise = document.run, document.guarantee
    facts = [
        ("dptext", run.dptext),
        ("Algorithm", run.algorithm),
        ("Profile", run.profile),
        (
            "Lexicon",
            f"{run.lexicon}: {words.vocabulary:,} words, {words.dimensions} dim.",
        ),
        ("Lexicon digest", _page.code(run.lexicon_digest)),
        ("Word frequencies", words.prior),
        ("Source of randomness", _KEYS[run.key]),
        ("Settings digest", _page.code(run.settings_digest)),
        ("Notion", promise.notion),
        ("Metric", promise.distance),
        (
            "Epsilon",
            f"{number(promise.epsilon)} {promise.unit}, level: {promise.level}",
        ),
        ("Source of the guarantee", promise.source),
    ]
    settings = [(_page.code(name), value) for name, value in flat(run.settings)]
    return Section(
        "Versions and settings",
        (_page.facts(facts), _page.heading("Settings"), _page.facts(settings)),
    )


_KEYS = {
    "system": "drawn by the operating system for this run, kept nowhere",
    "key-file": "a key file",
    "seed": "a seed: repeatable, no privacy",
}


def _check(document: Document, signed: str) -> Section:
    output, title = document.output, "How to check the file"
    if output is None:
        line = "This report is about several outputs and names none of their digests."
        return Section(title, (_page.paragraphs((line,)), signature(signed)))
    name = output.file or "the output (written to standard output)"
    facts = _page.facts(
        (
            ("Released file", name),
            ("Size", f"{output.bytes:,} bytes"),
            ("SHA-256", _page.code(output.sha256)),
        )
    )
    if output.file is None:
        line = "The digest of the file must be the one above."
        return Section(title, (facts, _page.paragraphs((line,)), signature(signed)))
    steps = _page.join(
        (
            "With the public report as ",
            _page.code(output.file + SIDECAR),
            " beside the file, ",
            _page.code(f"dptext check {output.file}"),
            " ends with exit code 0 if the file has the digest that the report names "
            "and the report meets the policy given; else it says why not.",
        )
    )
    return Section(title, (facts, _page.paragraphs((steps,)), signature(signed)))


def signature(signed: str) -> Html:
    """Return who signed the public report, and what follows from that."""
    meaning = (
        "Nothing tells who wrote the public report."
        if signed == UNSIGNED
        else "Who has the key (--verify-key) finds every edit of the public report."
    )
    return _page.facts((("Signature", f"{signed}. {meaning}"),))


def flat(value: object, name: str = "") -> Iterable[tuple[str, object]]:
    """Yield settings by their dotted names."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    else:
        yield name, _written(value)


def _written(value: object) -> object:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        between = "; " if any(isinstance(each, list) for each in value) else ", "
        return between.join(str(_written(each)) for each in value) or "none"
    return "none" if value == {} else value


def _nats(value: float) -> str:
    if math.isinf(value):
        return "unbounded"
    return f"{math.ceil(value):,}" if value >= _LARGE else above(value)


def _factor(value: float) -> str:
    return "unbounded" if math.isinf(value) else factor(value)
