"""Plans a run before any text is read, with figures from public data alone."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from dptext import progress, streams
from dptext.engine import documents
from dptext.engine.files import find_files
from dptext.engine.job import Job
from dptext.engine.request import Request, subject_limit
from dptext.guarantees.claims import SubjectLimit, Unprotected
from dptext.guarantees.statement import Statement
from dptext.measures import public
from dptext.measures.bayes_risk import Risk, Share
from dptext.measures.context_risk import PUBLIC_TEXT, AttackerFigures, InContext
from dptext.measures.public import (
    Deniability,
    PublicMeasures,
    measure_deniability,
)
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.report import answer, figures, protection, views
from dptext.report.attackers import Attackers, attack_lines
from dptext.report.blocks import (
    Badge,
    Cell,
    Code,
    Column,
    Figures,
    Page,
    Paragraph,
    Section,
    Table,
    Tone,
    Verdict,
)
from dptext.report.layout import Layout
from dptext.report.lines import say
from dptext.report.sections import TopicFigures
from dptext.report.units import Topics, Words, topic_lines
from dptext.run.interface import option
from dptext.types import Record

SENTENCES = (
    "The room was clean and the staff were very friendly, but breakfast was cold.",
    "My order has not arrived yet and nobody answers the phone.",
    "After three weeks of rain the farmers near Lyon fear for the harvest.",
    "Please close my account and send the balance to my bank in Denver.",
    "A clever film with a weak ending; the music alone is worth the ticket.",
    "She was treated for a broken wrist and went home on Friday.",
)
# Compressed files are not opened: their content is mostly 2 to 4 times as long.
UNPACKED = 3
_BATCHES = (1, 1, 8, 64, 256, 256)  # texts by which the speed is measured
_SECONDS = 3.0  # of a batch, after which no larger one is begun
_OTHER = 0.2  # of the words of these are others of the lexicon
_DRAWN_ONCE = "Public sentences before and after one draw"
_FACTOR = 3  # by which texts and machines may differ from them
# The language of a plan for texts in several languages.
_SEVERAL = "several"
_EXAMPLES = (
    Column("as it is", path="before"),
    Column("as it may become", path="after"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A public sentence, and one possible output."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Size:
    """The size of an input in bytes; packed: bytes in compressed files."""

    bytes: int
    packed: int = 0

    @classmethod
    def from_job(cls, job: Job) -> Size | None:
        """Return the total size of files and folders, None with standard input."""
        if any(map(streams.is_stream, job.inputs)):
            return None
        total = packed = 0
        for name in find_files(job.inputs, job.format, job.outputs):
            size = Path(name).stat().st_size
            total += size
            # Columns of Parquet are compressed in the file, whatever its name.
            if streams.compression(name) or Path(name).suffix.lower() == ".parquet":
                packed += size
        return cls(total, packed)

    @property
    def text(self) -> int:
        """Estimate the bytes of text."""
        return self.bytes + (UNPACKED - 1) * self.packed

    @property
    def counted(self) -> str:
        """Describe the estimated bytes of text."""
        if not self.packed:
            return f"if all {self.bytes:,} bytes are text"
        which = "" if self.packed == self.bytes else f" of {self.bytes:,} bytes"
        return (
            f"if the {self.packed:,} compressed bytes{which} hold {UNPACKED} times as "
            f"many bytes of text (the files are not opened), {self.text:,} in all"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """The guarantee, figures and costs of a run in advance."""

    profile: str
    #: The first line of the answer after the run.
    verdict: str
    tone: Tone
    mechanism: str
    lexicon: str
    language: str
    epsilon: float
    guarantee: Statement
    risk: Risk | None
    risk_note: str
    deniability: Deniability | None
    in_context: tuple[InContext, ...]
    written: tuple[InContext, ...]
    attackers_risk: Share | None
    #: Expected share of replaced words drawn as others, by public word frequencies;
    #: null if words are not drawn one by one at one epsilon.
    changed: float | None
    examples: tuple[Example, ...]
    #: Speed of one process here, in characters a second, without reading and writing.
    characters: float
    #: Size of the input files.
    bytes: int | None = None
    #: Estimated size of their text.
    text_bytes: int | None = None
    #: How the estimate follows from the size.
    counted: str = ""
    #: Estimated time for this text.
    seconds: float | None = None
    third_party: ThirdPartyCost | None = None
    #: Limits of each subject in a ledger; null without one.
    limits: SubjectLimit | None = None
    #: Fields that outputs will leave out.
    dropped: tuple[str, ...] = ()
    #: Fields with values that will be keyed tokens.
    pseudonyms: tuple[str, ...] = ()
    #: Figures if whole texts become topics; null if words are replaced.
    topics: TopicFigures | None = None
    #: Share of words that are common and copied, by public word frequencies; null if
    #: common words are not copied.
    copied: Share | None = None


@dataclass(frozen=True, slots=True)
class ThirdPartyCost:
    """The estimated requests to a third party."""

    host: str
    model: str
    #: Bytes of text that the figures are for.
    bytes: int
    #: At least, since each text takes one.
    requests: int
    #: About, at four characters each.
    tokens_sent: int
    #: At most.
    tokens_received: int


# Figures of attackers, and of written words, on public texts of the user.
PublicFigures = tuple[Sequence[InContext], Sequence[InContext]]


def planned(
    request: Request,
    ready: Pipeline,
    key: str,
    public_text: PublicFigures = ((), ()),
) -> Plan:
    """Plan a request with its pipeline; key: the origin of its key, as in reports."""
    job, limits = request.job, subject_limit(request.ledger)
    selection = job.selection
    promise = documents.promised(
        ready,
        key,
        Layout.from_selection(selection, ()),
        subjects=limits,
    )
    result = plan(
        ready,
        Size.from_job(job),
        promise=promise,
        limits=limits,
        jobs=job.work.jobs,
        bayes_risk=request.reports.bayes_risk,
        public_text=public_text,
    )
    return replace(result, dropped=selection.dropped, pseudonyms=selection.replaced)


def plan(
    pipeline: Pipeline,
    size: Size | None = None,
    *,
    promise: Statement | None = None,
    limits: SubjectLimit | None = None,
    jobs: int = 1,
    bayes_risk: bool | None = None,
    public_text: PublicFigures = ((), ()),
) -> Plan:
    """Plan a run; size is of the input, promise is its statement.

    limits: of a ledger, or None.
    """
    measures = PublicMeasures.measure(pipeline, bayes_risk)
    asking = _third_party_cost(pipeline, 10**6 if size is None else size.text)
    pipeline = pipeline.offline
    rate = _characters(pipeline)
    topics = TopicFigures.from_pipeline(pipeline)
    promise = promise or documents.promised(pipeline)
    basis = protection.Basis(
        promise=promise,
        key="system",
        risk=measures.risk,
        use=Words.use if topics is None else Topics.use,
        limits=limits,
    )
    verdict, tone = protection.fitness(basis)
    # Public figures are of English texts.
    several = bool(pipeline.profile.tokens.languages)
    return Plan(
        profile=pipeline.profile.name,
        verdict=verdict,
        tone=tone,
        mechanism=pipeline.mechanism.name,
        lexicon=pipeline.lexicon.name,
        language=_SEVERAL if several else pipeline.lexicon.language,
        epsilon=pipeline.budget.description.high,
        guarantee=promise,
        risk=measures.risk,
        risk_note=measures.risk_note,
        deniability=measure_deniability(pipeline),
        in_context=(*public_text[0], *measures.in_context),
        written=(*public_text[1], *measures.written),
        attackers_risk=measures.attackers_risk,
        changed=public.measure_changed_share(pipeline),
        copied=None if several else public.measure_common_share(pipeline),
        examples=() if several else _examples(pipeline),
        characters=rate,
        bytes=None if size is None else size.bytes,
        text_bytes=None if size is None else size.text,
        counted="" if size is None else size.counted,
        seconds=None if size is None else size.text / rate / jobs,
        third_party=asking,
        topics=topics,
        limits=limits,
    )


def _third_party_cost(pipeline: Pipeline, size: int) -> ThirdPartyCost | None:
    """Estimate what a third party charges to write this many bytes of text.

    Estimated from one long text of public sentences; nothing is sent.
    """
    party = pipeline.profile.decoder.params.third_party
    if party is None:
        return None
    text = " ".join(SENTENCES * 20)
    randomness = pipeline.randomness(RunKey.from_seed(0))
    private = pipeline.offline.privatize([Record(0, (text,), None)], randomness)
    released = pipeline.released(private.words, private.drawn, private.eps)
    spelled = [*private.joined.spelled]
    cost = pipeline.decoder.cost(private.joined.texts, spelled, released)
    if cost is None:
        return None
    share = size / len(text)
    counts = (cost.requests, cost.tokens_sent, cost.tokens_received)
    return ThirdPartyCost(
        party.host, party.model, size, *(math.ceil(each * share) for each in counts)
    )


def _examples(pipeline: Pipeline) -> tuple[Example, ...]:
    randomness = pipeline.randomness(RunKey.from_seed(0))
    records = [Record(n, (line,), None) for n, line in enumerate(SENTENCES)]
    private = pipeline.privatize(records, randomness).texts
    return tuple(map(Example, SENTENCES, (after for (after,) in private)))


def _characters(pipeline: Pipeline) -> float:
    """Measure the speed here, in characters per second of the fastest batch.

    The first batches are slow, as tables and models are loaded on first use.
    """
    randomness = pipeline.randomness(RunKey.from_seed(0))
    texts, rates = _varied_texts(pipeline), list[float]()
    for size in _BATCHES:
        batch = [Record(n, (text,), None) for n, text in enumerate(islice(texts, size))]
        began = time.perf_counter()
        pipeline.privatize(batch, randomness)
        took = max(time.perf_counter() - began, 1e-6)
        rates.append(sum(len(text) for each in batch for text in each.texts) / took)
        if len(rates) > 1 and took > _SECONDS:
            break
    return max(rates)


def _varied_texts(pipeline: Pipeline) -> Iterator[str]:
    """Yield endless public texts, no two alike, to resemble users' texts.

    Equal texts would be cached. A third of the words are replaced by others of the
    lexicon.
    """
    random, words = np.random.default_rng(0), pipeline.lexicon.words
    for sentence in cycle(SENTENCES):
        pieces = " ".join((sentence, *SENTENCES[:2])).split(" ")
        for at in np.flatnonzero(random.random(len(pieces)) < _OTHER):
            pieces[at] = words[int(random.integers(len(words)))]
        yield " ".join(pieces)


def view(result: Plan) -> Page:
    """Return a plan as a page."""
    attackers = AttackerFigures.from_measured(result.in_context)
    known = Attackers(
        risk=result.risk,
        risk_note=result.risk_note,
        written=AttackerFigures.from_measured(result.written),
        attackers=attackers,
        attackers_risk=result.attackers_risk,
        language=result.language,
        other_language=result.language == _SEVERAL,
        measured_by=(
            f"dptext sanitize {option('plan')} {option('public-text', 'FILE')} "
            "measures it on public texts"
        ),
        common=result.guarantee.copies_common,
        leaves_words=result.guarantee.leaves_words,
        classes=Unprotected.CLASSES in result.guarantee.scope.unprotected,
        decoded=result.guarantee.scope.decoder != "none",
        profile=result.profile,
    )
    if result.topics is None:
        attacked = attack_lines(known)
        note = Paragraph(result.risk_note, "note")
        measured = (*views.attackers(known), note)
    else:
        attacked = list(topic_lines(result.topics, seeded=False))
        note = Paragraph(say("not_measured.language_model"), "note")
        measured = (*views.topic_blocks(result.topics, seeded=False), note)
    lines = [
        *protection.not_anonymous(result.guarantee),
        *protection.changed_fields(result.dropped, result.pseudonyms),
        *protection.protection(result.guarantee, limits=result.limits),
        *attacked,
    ]
    drawn = Table.from_items(_EXAMPLES, result.examples)
    return Page(
        f"Plan: {result.profile}",
        [
            Section(_DRAWN_ONCE, (drawn,) if result.examples else ()),
            *views.guarantee(result.guarantee, of_texts=result.topics is not None),
            Section("What attackers find", measured),
        ],
        lead=("No private text was read for this plan.",),
        footer=f"dptext sanitize {option('plan')}, mechanism {result.mechanism}, "
        f"lexicon {result.lexicon}",
        first=(
            Verdict(Badge(result.verdict, result.tone)),
            Figures([*answer.rows(lines).rows, *_figures(result, attackers)]),
        ),
    )


def _figures(
    result: Plan, attackers: Sequence[AttackerFigures]
) -> Iterator[tuple[str | Code, Cell]]:
    for read in attackers:
        if read.kind == PUBLIC_TEXT and read.counted:
            of_rare = ""
            if read.rare is not None:
                of_rare = f", {figures.share(read.rare)} of rare ones"
            yield (
                "this kind",
                f"in {read.corpus} an attacker with {figures.count(read.counted)} "
                f"other words of it finds {figures.share(read.success)} of words (95% "
                f"limits {figures.between(read.low, read.high)}){of_rare}, or more",
            )
    yield "mechanism", f"{result.mechanism}, epsilon {result.epsilon:g}"
    if result.copied is not None:
        yield (
            "unchanged",
            f"{figures.about(result.copied)} of words, which are common by the "
            "frequencies of the lexicon",
        )
    if result.changed is not None:
        is_decoded = result.guarantee.scope.decoder != "none"
        drawn = " as drawn, before decoding" if is_decoded else ""
        of = "replaced words" if result.guarantee.leaves_words else "words"
        of = of if result.topics is None else "texts get another topic"
        yield "changed", f"{figures.about(result.changed)} of {of}{drawn}"
    if result.deniability is not None:
        yield from views.deniability(result.deniability)
    if (cost := result.third_party) is not None:
        text = "1 MB" if result.bytes is None else f"{cost.bytes:,} bytes of text"
        yield (
            "third party",
            f"draws go to {cost.host} (model {cost.model}); for {text} "
            f"{cost.requests:,} requests or more, at least one for each text; about "
            f"{cost.tokens_sent:,} tokens sent, at most {cost.tokens_received:,} "
            "received. The examples and times here do not include it: a plan "
            "sends nothing",
        )
    speed = result.characters / 1e6
    shown = f"{speed:.2f}" if speed >= 0.1 else f"{speed:.2g}"
    yield "speed here", f"{shown} MB of text a second"
    if result.seconds is not None:
        low, high = (
            progress.duration(max(result.seconds * factor, 1.0))
            for factor in (1 / _FACTOR, _FACTOR)
        )
        between = f"about {high}" if low == high else f"{low} to {high}"
        yield "time", f"{between}, and seconds to start, {result.counted}"
