"""`dptext topics`: make and show the topics that take the place of whole texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from dptext.cli import faults, options, parser, screen
from dptext.cli.options import PublicFiles
from dptext.cli.parser import Take
from dptext.errors import UsageError
from dptext.report.blocks import Column, Page, Paragraph, Section, Table
from dptext.run.files import Reports
from dptext.run.marks import GUARANTEE, MEASURES, Option
from dptext.run.selection import Selection
from dptext.run.values import Number, one_of
from dptext.settings import digest_of_path

if TYPE_CHECKING:
    from dptext.evaluation.released_topics import ReleasedTopics
    from dptext.evaluation.shares import Estimate, Target
    from dptext.lexicons.topics import TopicFile
    from dptext.report.blocks import Block
    from dptext.types import Ints, JsonObject

_SIZES = "4,16,64,256"
_OF_SIZES = (
    "Used from epsilon: from there on dptext sanitize takes this number of topics, "
    "unless you name one. Halves agree: how often both halves of a public text "
    "outside of those that made the topics have the same topic."
)
_BEYOND = (
    "Shares below 0% or above 100% are of rare topics or of few texts: estimates are "
    "right on average, and the noise can exceed the share."
)

app = typer.Typer(
    name="topics",
    cls=parser.Group,
    help="Make public topics, for releases that protect whole texts.",
    no_args_is_help=True,
)


def build(
    files: PublicFiles,
    *,
    name: options.SavedName,
    public: Annotated[Selection, Take("fields format", is_typed=True)],
    label: Annotated[
        str | None,
        Option(
            "Field with public labels for the topics to follow, as in product.",
            MEASURES,
            metavar="NAME",
        ),
    ] = None,
    sizes: Annotated[
        str,
        Option("Numbers of topics, as in 4,16,64.", metavar="NUMBERS"),
    ] = _SIZES,
    lexicon: Annotated[
        str | None,
        Option("Lexicon for the vectors of texts.", GUARANTEE, metavar="NAME"),
    ] = None,
    model: Annotated[
        str | None,
        Option("Sentence model for the vectors of texts.", GUARANTEE, metavar="NAME"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Make topics of public text.

    Never use private texts, nor texts that will be made private: the words of topics
    show parts of them.
    """
    from dptext.evaluation import topics
    from dptext.evaluation.rows import records
    from dptext.lexicons import store
    from dptext.lexicons.topics import PublicSource, encode, topic_path

    if not store.is_name(name):
        raise UsageError(f"--name {name}: use letters, digits, - and _")
    if lexicon is not None and model is not None:
        raise UsageError("give --lexicon or --model, not both")
    numbers = _numbers(sizes)
    texts: list[str] = []
    labels: list[str] = []
    sources = []
    selection = replace(public, fields=public.fields or ("text",), missing="pass")
    named = () if label is None else (label,)
    for file in files:
        before = len(texts)
        for row in records(file, selection, {"label": named}, public.format):
            values = [each for each in row.values if each is not None]
            if len(values) < len(named):
                continue  # a text without a label follows none
            texts.append("\n".join(row.texts))
            labels += values
        sources.append(
            PublicSource(_base_name(file), digest_of_path(file), len(texts) - before)
        )
    view: JsonObject = {"name": "sif", "lexicon": lexicon or "builtin"}
    if model is not None:
        view = {"name": "sentence", "model": model}
    read = topics.PublicTexts(texts, labels if named else None, tuple(sources))
    document = topics.build(name, read, numbers, view)
    path = topic_path(name)
    with store.describe_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        screen.write_file(path, encode(document))
    faults.print_line("the texts must be public: words of them show in outputs")
    screen.deliver(_plain(document), as_json, *_blocks(document))


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Name of topics, or a file.")
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show topics: their words, how common they are, the labels kept by epsilon."""
    from dptext.lexicons.topics import read

    document = read(name)
    screen.deliver(_plain(document), as_json, *_blocks(document))


def _numbers(sizes: str) -> list[int]:
    parts = [part.strip() for part in sizes.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"--sizes {sizes}: give whole numbers, as in {_SIZES}")
    return sorted({int(part) for part in parts})


def _base_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _plain(document: TopicFile) -> JsonObject:
    """Return a file of topics for machines, without vectors and digests of rows."""
    import msgspec

    plain: JsonObject = msgspec.to_builtins(document)
    sizes: dict[str, JsonObject] = msgspec.to_builtins(document.sizes)
    for size in sizes.values():
        del size["centres"]
    del plain["rows"], plain["classes"]
    return {"digest": document.digest, **plain, "sizes": sizes}


def _blocks(document: TopicFile) -> list[Block]:
    """Return a table of the sizes, and one of the topics of each size."""
    from dptext.lexicons.topics import EPSILON_OF_NOTE, size_for
    from dptext.report.figures import count, whole

    blocks: list[Block] = []
    rows = []
    for number in document.numbers:
        topics = document.sizes[str(number)]
        kept = {each.epsilon: each.private for each in topics.kept}
        from_epsilon = next(
            (e for e in EPSILON_OF_NOTE if size_for(document.numbers, e) == number),
            None,
        )
        shares = [kept.get(epsilon) for epsilon in (2.0, 4.0, 6.0, 8.0)]
        rows.append((number, from_epsilon, topics.halves, *shares))
    heads = [Column("topics", count), Column("used from epsilon")]
    heads += [Column("halves agree", whole)]
    heads += [Column(f"labels kept at {e}", whole) for e in (2, 4, 6, 8)]
    if not any(document.sizes[str(n)].kept for n in document.numbers):
        heads, rows = heads[:3], [row[:3] for row in rows]
    blocks += [Table(heads, rows), Paragraph(_OF_SIZES, "note")]
    for number in document.numbers:
        topics = document.sizes[str(number)]
        total = sum(topics.counts)
        order = sorted(range(number), key=lambda row: -topics.counts[row])
        listed = [
            (rank + 1, topics.phrases[row], topics.counts[row] / total)
            for rank, row in enumerate(order)
        ]
        columns = [Column("topic", count), Column("words"), Column("share", whole)]
        blocks.append(Table(columns, listed, title=f"{number} topics"))
    return blocks


def estimate(
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT", help="A private output of the release of topics."
        ),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="OTHER",
            help="A second one, such as that of the next month, to compare.",
        ),
    ] = None,
    *,
    by: Annotated[
        str | None,
        Option("Unchanged field whose values divide the texts.", metavar="NAME"),
    ] = None,
    subject: Annotated[
        str | None,
        Option(
            "Unchanged field with the person that a record is about.", metavar="NAME"
        ),
    ] = None,
    target: Annotated[
        str,
        Option(
            "people: shares among those behind the texts, a random sample. file: "
            "shares among the texts of this file.",
            parse=one_of("people", "file"),
            metavar="people|file",
        ),
    ] = "people",
    confidence: Annotated[
        float,
        Option(
            "Confidence of each interval.",
            parse=Number(kind=float, low=0.5, high=0.9999),
            metavar="NUMBER",
        ),
    ] = 0.95,
    pages: Annotated[Reports, Take("html")],
    as_json: options.AsJson = False,
) -> None:
    """Estimate the shares of topics from a private output alone.

    Estimates are unbiased and may be negative. Of two outputs, topics that grew come
    first. Each interval holds by itself: of twenty, one is wrong on average.
    """
    from dptext.evaluation import shares
    from dptext.evaluation.released_topics import read

    fields = [name for name in (by, subject) if name is not None]
    first = read(output, fields)
    second = None if other is None else read(other, fields)
    if second is not None and second.digest != first.digest:
        raise UsageError(f"{other}: other topics than those of {output}")
    wanted = shares.Target(target)
    tables = []
    for name, one, two in _parts(
        first=first, second=second, by=by, subject=subject, target=wanted
    ):
        before = shares.estimates(
            law=first.law,
            drawn=one.drawn,
            target=wanted,
            confidence=confidence,
            groups=one.groups,
        )
        after = None
        if second is not None and two is not None:
            after = shares.estimates(
                law=second.law,
                drawn=two.drawn,
                target=wanted,
                confidence=confidence,
                groups=two.groups,
            )
        tables.append((name, before, after))
    plain = [_estimated(first.phrases, *each) for each in tables]
    blocks: list[Block] = [_shares_table(first.phrases, *each) for each in tables]
    every = [each.share for _, before, _ in tables for each in before]
    if min(every, default=0.0) < 0.0 or max(every, default=0.0) > 1.0:
        blocks.append(Paragraph(_BEYOND, "note"))
    page = Page("Shares of topics", [Section("Estimates", blocks)])
    screen.deliver({"tables": plain}, as_json, page, html=pages.html)


class _Part(NamedTuple):
    """Written topics of some texts, and which person each text is about."""

    drawn: Ints
    groups: Ints | None


def _parts(
    first: ReleasedTopics,
    second: ReleasedTopics | None,
    by: str | None,
    subject: str | None,
    target: Target,
) -> Iterator[tuple[str, _Part, _Part | None]]:
    """Yield the texts of each group of both outputs; all in one without a field.

    Without a subject the texts of a record are those of one person.
    """

    def part(released: ReleasedTopics, value: str | None) -> _Part:
        import numpy as np

        here = np.ones(len(released.drawn), bool)
        if by is not None:
            here = np.array([each == value for each in released.values[0]], bool)
        persons = None if target != "people" else released.records[here]
        if subject is not None and target == "people":
            codes: dict[str | None, int] = {}
            of_text = [codes.setdefault(e, len(codes)) for e in released.values[-1]]
            persons = np.array(of_text, np.int64)[here]
        return _Part(released.drawn[here], persons)

    values: list[str | None] = [None]
    if by is not None:
        both = [*first.values[0], *(second.values[0] if second else ())]
        values = sorted(set(both), key=lambda value: (value is None, value or ""))
    for value in values:
        name = "" if by is None else f"{by}: {'none' if value is None else value}"
        other = None if second is None else part(second, value)
        yield name, part(first, value), other


def _estimated(
    phrases: tuple[str, ...],
    name: str,
    before: Sequence[Estimate],
    after: Sequence[Estimate] | None,
) -> JsonObject:
    """Return the estimates of a group for machines; null of no text."""
    from dptext.evaluation.shares import differences

    listed: list[JsonObject] = []
    grown = None if after is None else differences(before, after)
    for row, (phrase, each) in enumerate(zip(phrases, before, strict=True)):
        one: JsonObject = {"topic": row + 1, "words": phrase, **_finite(each)}
        if after is not None and grown is not None:
            difference, low, high = map(_number, grown[row])
            one |= {"second": _finite(after[row])}
            one |= {"growth": difference, "growth_low": low, "growth_high": high}
        listed.append(one)
    return {"group": name, "topics": listed}


def _finite(each: Estimate) -> JsonObject:
    return {
        "share": _number(each.share),
        "low": _number(each.low),
        "high": _number(each.high),
        "written": each.written,
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shares_table(
    phrases: tuple[str, ...],
    name: str,
    before: Sequence[Estimate],
    after: Sequence[Estimate] | None,
) -> Table:
    """Return a table with bars: the largest shares, or those that grew most, first."""
    from dptext.evaluation.shares import differences

    if after is None:
        order = sorted(range(len(before)), key=lambda row: -before[row].share)
        widest = max((each.share for each in before), default=1.0)
        rows = [
            (
                phrases[row],
                before[row].share,
                _limits(before[row].low, before[row].high, least=0),
            )
            for row in order
        ]
        columns = [Column("topic"), Column("share", _signed, full=max(widest, 0.01))]
        return Table([*columns, Column("interval")], rows, title=name)
    grown = differences(before, after)
    order = sorted(range(len(grown)), key=lambda row: -grown[row][0])
    compared = [
        (
            phrases[row],
            before[row].share,
            after[row].share,
            grown[row][0],
            _limits(*grown[row][1:], least=-1),
        )
        for row in order
    ]
    heads = [Column("topic"), Column("first", _signed), Column("second", _signed)]
    heads += [Column("growth", _signed), Column("interval of growth")]
    return Table(heads, compared, title=name)


def _signed(value: float) -> str:
    return f"{100 * value:.1f}%" if math.isfinite(value) else "no texts"


def _limits(low: float, high: float, least: int) -> str:
    """Write limits, cut at least and at 1, which the true value cannot pass."""
    if not math.isfinite(low):
        return "not known"
    low, high = (min(max(each, least), 1.0) for each in (low, high))
    return f"{_signed(low)} to {_signed(high)}"


for function, example in (
    (build, "dptext topics build old-tickets.jsonl --name tickets"),
    (show, "dptext topics show tickets"),
    (estimate, "dptext topics estimate tickets.private.jsonl --by product"),
):
    parser.add(app, function, examples=[example])
