"""`dptext topics`: builds and shows topics, which replace whole texts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from dptext.cli import faults, options, parser, screen
from dptext.errors import UsageError
from dptext.evaluation import shares, topics
from dptext.evaluation.rows import one_text, records
from dptext.lexicons import store
from dptext.lexicons.topics import (
    EPSILON_OF_NOTE,
    PublicSource,
    TopicFile,
    encode,
    read,
    size_for,
    topic_path,
)
from dptext.report.blocks import Block, Column, Page, Paragraph, Section, Table
from dptext.report.figures import count, whole
from dptext.run.marks import GUARANTEE, MEASURES, Number, Option, one_of
from dptext.run.selection import Selection
from dptext.run.work import Reports
from dptext.settings import digest_of_path
from dptext.types import JsonObject

_SIZES = "4,16,64,256"
# Epsilons at which the labels that are kept are shown.
_SHOWN = (2.0, 4.0, 6.0, 8.0)
_OF_SIZES = (
    "Used from epsilon: from there on dptext sanitize takes this number of topics, "
    "unless you name one. Halves agree: how often both halves of a public text "
    "outside of those that made the topics have the same topic."
)
_BEYOND = (
    "Shares below 0% or above 100% are of rare topics or of few texts: estimates are "
    "right on average, and the noise can exceed the share."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Settings for topics and for the vectors of their texts."""

    label: Annotated[
        str | None,
        Option(
            "Field with public labels that topics should follow, such as product.",
            MEASURES,
            metavar="NAME",
        ),
    ] = None
    sizes: Annotated[
        str, Option("Numbers of topics, as in 4,16,64.", metavar="NUMBERS")
    ] = _SIZES
    lexicon: Annotated[
        str | None,
        Option("Lexicon for the vectors of texts.", GUARANTEE, metavar="NAME"),
    ] = None
    model: Annotated[
        str | None,
        Option("Sentence model for the vectors of texts.", GUARANTEE, metavar="NAME"),
    ] = None

    def __post_init__(self) -> None:
        """Raise UsageError for two sources of vectors."""
        if self.lexicon is not None and self.model is not None:
            raise UsageError("give --lexicon or --model, not both")

    @property
    def numbers(self) -> list[int]:
        """Return the requested numbers of topics. Raises UsageError."""
        parts = [part.strip() for part in self.sizes.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise UsageError(
                f"--sizes {self.sizes}: give whole numbers, as in {_SIZES}"
            )
        return sorted({int(part) for part in parts})

    @property
    def view(self) -> JsonObject:
        """Return the settings of the text vectors."""
        if self.model is not None:
            return {"name": "sentence", "model": self.model}
        return {"name": "sif", "lexicon": self.lexicon or "builtin"}


def build(
    files: options.PublicFiles,
    *,
    name: options.SavedName,
    public: Annotated[Selection, parser.Take("fields format", is_typed=True)],
    making: Made,
    as_json: options.AsJson = False,
) -> None:
    """Build topics from public text.

    Never use private texts, nor texts that will be made private: the words of topics
    show parts of them.
    """
    if not store.is_name(name):
        raise UsageError(f"--name {name}: use letters, digits, - and _")
    numbers = making.numbers
    texts: list[str] = []
    labels: list[str | None] = []
    sources = []
    selection = replace(public, fields=public.fields or ("text",), missing="pass")
    named = () if making.label is None else (making.label,)
    for file in files:
        rows = [
            row
            for row in records(file, selection, {"label": named})
            if None not in row.values  # a text without a label follows none
        ]
        texts += [one_text(row.texts) for row in rows]
        labels += [value for row in rows for value in row.values]
        base_name = file.replace("\\", "/").rpartition("/")[2]
        sources.append(PublicSource(base_name, digest_of_path(file), len(rows)))
    public_labels = [*map(str, labels)] if named else None
    public_texts = topics.PublicTexts(texts, public_labels, tuple(sources))
    document = topics.build(name, public_texts, numbers, making.view)
    path = topic_path(name)
    with store.describe_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        screen.write_file(path, encode(document))
    faults.print_line("the texts must be public: their words become visible in outputs")
    screen.deliver(_plain(document), as_json, *_blocks(document))


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Name of topics, or a file.")
    ],
    *,
    as_json: options.AsJson = False,
) -> None:
    """Show topics: their words, how common they are, the labels kept by epsilon."""
    document = read(name)
    screen.deliver(_plain(document), as_json, *_blocks(document))


def _plain(document: TopicFile) -> JsonObject:
    """Return topics as JSON data, without vectors and row digests."""
    plain: JsonObject = msgspec.to_builtins(document)
    sizes: dict[str, JsonObject] = msgspec.to_builtins(document.sizes)
    for size in sizes.values():
        del size["centres"]
    del plain["rows"], plain["classes"]
    return {"digest": document.digest, **plain, "sizes": sizes}


def _blocks(document: TopicFile) -> list[Block]:
    """Return a table of sizes, and a table of topics for each size."""
    sizes = {number: document.sizes[str(number)] for number in document.numbers}
    rows = []
    for number, size in sizes.items():
        kept = {each.epsilon: each.private for each in size.kept}
        used = (e for e in EPSILON_OF_NOTE if size_for(document.numbers, e) == number)
        rows.append((number, next(used, None), size.halves, *map(kept.get, _SHOWN)))
    heads = [Column("topics", count), Column("used from epsilon")]
    heads += [Column("halves agree", whole)]
    if any(size.kept for size in sizes.values()):
        heads += [Column(f"labels kept at {e:g}", whole) for e in _SHOWN]
    shown = [row[: len(heads)] for row in rows]
    blocks: list[Block] = [Table(heads, shown), Paragraph(_OF_SIZES, "note")]
    columns = [Column("topic", count), Column("words"), Column("share", whole)]
    for number, size in sizes.items():
        total = sum(size.counts)
        ranked = sorted(
            zip(size.counts, size.phrases, strict=True), key=lambda each: -each[0]
        )
        listed = [(n, words, each / total) for n, (each, words) in enumerate(ranked, 1)]
        blocks.append(Table(columns, listed, title=f"{number} topics"))
    return blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Settings of the estimation of shares."""

    by: Annotated[
        str | None,
        Option("Unchanged field by whose values to group the texts.", metavar="NAME"),
    ] = None
    subject: Annotated[
        str | None,
        Option(
            "Unchanged field that identifies the person of a record.", metavar="NAME"
        ),
    ] = None
    target: Annotated[
        str,
        Option(
            "people: shares among those behind the texts, a random sample. file: "
            "shares among the texts of this file.",
            parse=one_of("people", "file"),
            metavar="people|file",
        ),
    ] = "people"
    confidence: Annotated[
        float,
        Option(
            "Confidence of each interval.",
            parse=Number(kind=float, low=0.5, high=0.9999),
        ),
    ] = 0.95


def estimate(
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="A sanitized output with topics."),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="OTHER",
            help="A second output to compare with, such as next month's.",
        ),
    ] = None,
    *,
    wanted: Shares,
    pages: Annotated[Reports, parser.Take("html")],
    as_json: options.AsJson = False,
) -> None:
    """Estimate topic shares from a sanitized output alone.

    Estimates are unbiased and may be negative. For two outputs, topics that grew come
    first. Each interval holds separately: one in twenty is wrong on average.
    """
    fields = [name for name in (wanted.by, wanted.subject) if name is not None]
    released = [shares.read(path, fields) for path in (output, other) if path]
    if len({each.digest for each in released}) > 1:
        raise UsageError(f"{other}: its topics differ from those in {output}")
    values: set[str | None] = {None}
    if wanted.by is not None:
        values = {value for each in released for value in each.values[0]}
    tables: list[dict[str, Any]] = []
    for value in sorted(values, key=lambda value: (value is None, value or "")):
        estimates = [
            each.estimates(
                shares.Target(wanted.target),
                wanted.confidence,
                by=wanted.by,
                value=value,
                subject=wanted.subject,
            )
            for each in released
        ]
        name = f"{wanted.by}: {'none' if value is None else value}"
        rows = list(_estimated(released[0].phrases, *estimates))
        tables.append({"group": "" if wanted.by is None else name, "topics": rows})
    blocks: list[Block] = [_shares_table(**each) for each in tables]
    every = [row["share"] for each in tables for row in each["topics"]]
    if min(every, default=0.0) < 0.0 or max(every, default=0.0) > 1.0:
        blocks.append(Paragraph(_BEYOND, "note"))
    page = Page("Shares of topics", [Section("Estimates", blocks)])
    screen.deliver({"tables": tables}, as_json, page, html=pages.html)


def _estimated(
    phrases: tuple[str, ...],
    before: Sequence[shares.Estimate],
    after: Sequence[shares.Estimate] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the estimates of each topic."""
    grown = [] if after is None else shares.differences(before, after)
    for row, (phrase, each) in enumerate(zip(phrases, before, strict=True)):
        one: dict[str, Any] = {"topic": row + 1, "words": phrase, **asdict(each)}
        if after is not None:
            one["second"] = asdict(after[row])
            one |= zip(("growth", "growth_low", "growth_high"), grown[row], strict=True)
        yield one


def _shares_table(group: str, topics: Sequence[dict[str, Any]]) -> Table:
    """Return a table with bars, sorted by share or by growth."""
    columns: Sequence[Column] = _GROWTH
    name = "growth"
    if not any("growth" in row for row in topics):
        widest = max((row["share"] for row in topics), default=1.0)
        bars = Column("share", _signed, full=max(widest, 0.01))
        columns, name = (_GROWTH[0], bars, _INTERVAL), "share"
    ordered = sorted(topics, key=lambda row: -row[name])
    return Table.from_items(columns, ordered, title=group)


def _signed(value: float) -> str:
    return f"{100 * value:.1f}%" if math.isfinite(value) else "no texts"


def _limits(low: float, high: float, least: int) -> str:
    """Format an interval, clipped to `least` and 1, which bound the true value."""
    if not math.isfinite(low):
        return "not known"
    low, high = (min(max(each, least), 1.0) for each in (low, high))
    return f"{_signed(low)} to {_signed(high)}"


_INTERVAL = Column("interval", path=lambda row: _limits(row["low"], row["high"], 0))
_GROWTH = (
    Column("topic", path="words"),
    Column("first", _signed, path="share"),
    Column("second", _signed, path="second.share"),
    Column("growth", _signed),
    Column(
        "interval of growth",
        path=lambda row: _limits(row["growth_low"], row["growth_high"], -1),
    ),
)


app = parser.group(
    "topics",
    "Build public topics, for releases that protect whole texts.",
    {
        build: "dptext topics build old-tickets.jsonl --name tickets",
        show: "dptext topics show tickets",
        estimate: "dptext topics estimate tickets.private.jsonl --by product",
    },
)
