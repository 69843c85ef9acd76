"""`dptext words`: lists words that many people wrote, which may stay unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from dptext import profile, signatures, word_file
from dptext.cli import faults, options, parser, screen
from dptext.cli.parser import Take
from dptext.engine import corpus_words, job, request
from dptext.engine.files import find_files
from dptext.errors import UsageError
from dptext.guarantees import word_lists
from dptext.report.blocks import Block, Column, Paragraph, Table
from dptext.run.choices import Choices
from dptext.run.interface import noun, option, refuse, refuse_alone
from dptext.run.marks import GUARANTEE, INPUT, OUTPUT, Names, Number, Option, Writes
from dptext.run.selection import FIELDS, FILE_LAYOUT, Selection
from dptext.run.work import Keys, LedgerUse, Reports, Work, together
from dptext.streams.outputs import Release
from dptext.types import JsonObject
from dptext.word_file import CONFIRMED, JOINED, OFFERED, WordFile

_MEANINGS = {
    "+": "unchanged: joined by itself",
    "-": "replaced: removed",
    "?": "replaced: not confirmed",
    "!": "unchanged: confirmed",
}

_NAMED = 20  # words that the end of a build names
ListFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A file of dptext words build.")
]
ListedWords = Annotated[
    list[str], typer.Argument(metavar="WORD", help="Words of the file.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The privacy guarantee of a list for each person."""

    epsilon: Annotated[
        float,
        Option(
            "Epsilon of the whole list, for each person.",
            GUARANTEE,
            parse=Number(kind=float, low=0, above=True),
        ),
    ] = corpus_words.EPSILON
    delta: Annotated[
        float,
        Option(
            "Delta of the whole list, for each person.",
            GUARANTEE,
            parse=Number(kind=float, low=1e-15, high=1),
        ),
    ] = corpus_words.DELTA


def build(
    context: typer.Context,
    files: options.Files = None,
    *,
    selection: Annotated[
        Selection, Take(f"fields {FILE_LAYOUT} missing max_record_bytes")
    ],
    choices: Annotated[
        Choices,
        Take(
            "languages keep_words overrides",
            profile="Profile of `dptext list`, or a .yaml file. Default: readable.",
        ),
    ],
    promise: Promise,
    subject: Annotated[
        str | None,
        Option(
            "Field that identifies the person of a record. People are counted, not "
            "records.",
            INPUT,
            metavar="NAME",
        ),
        FIELDS,
        Names(),
    ] = None,
    book: Annotated[LedgerUse, Take("ledger limit limit_delta", is_typed=True)],
    keys: Keys,
    output: Annotated[
        str | None,
        Option("File to write.", OUTPUT, metavar="FILE", short="-o"),
        Writes(),
    ] = None,
    signer: Annotated[
        Reports,
        Take(is_typed=True, sign_key="Sign the list with this Ed25519 key (PEM)."),
    ],
    faulty: Annotated[Work, Take("on_error quarantine")],
) -> None:
    """Find words that many people wrote in private texts.

    The list protects the words of each person by (epsilon, delta)-
    differential privacy. Words of the public dictionary join by themselves; others,
    such as names of products, when you confirm them.
    """
    if output is None:
        raise UsageError(f"name the file to write with {noun('output')}")
    use = replace(book, subject=subject)
    selection = replace(selection, subject_field=subject)
    selection.check_uses()
    _check_ledger(use)
    key = signer.sign_key
    private = None if key is None else signatures.read_private(key)
    building = corpus_words.Building(
        job=job.Job(
            inputs=tuple(find_files(files or ("-",), selection.format)),
            output=None,
            selection=selection,
            work=faulty,
            needs=context.meta[parser.NEEDS],
        ),
        recipe=profile.chosen(choices),
        key=request.open_key(keys),
        epsilon=promise.epsilon,
        delta=promise.delta,
        ledger=use,
    )
    with Release() as release:
        listed, charges = building.build(faults.print_line, release)
        if private is not None:
            listed = listed.signed(private)
        building.write(listed, charges, None if output == "-" else output, release)
    for line in word_lists.state(listed)[:2]:
        faults.print_line(line)
    for line in _drawn(listed, output):
        faults.print_line(line)


def _drawn(listed: WordFile, output: str) -> Iterator[str]:
    """Yield the words of a drawn list, those with the largest sums first."""
    uses = {
        JOINED: f"unchanged with {option('words', output)}",
        OFFERED: f"unchanged after dptext words confirm {output}",
    }
    for mark, use in uses.items():
        words = [each.word for each in listed.entries if each.mark == mark]
        named = [*words[:_NAMED], "..."] if len(words) > _NAMED else words
        yield f"{use} ({len(words):,}): {', '.join(named) or 'none'}"
    yield (
        f"{output}: judge only by these words and common knowledge, not by looking at "
        f"rows; dptext words show {output} lists all words"
    )


def _check_ledger(use: LedgerUse) -> None:
    """Raise UsageError for a ledger without a person field or a limit."""
    has_ledger, has_limit = use.ledger is not None, use.limit is not None
    is_limited = has_limit or use.limit_delta is not None
    refuse_alone("limit", is_limited, "ledger", has_ledger)
    is_whole = use.subject is not None and has_limit
    reasons = {
        together(): has_ledger and not is_whole,
        f"a list has a delta, which also accumulates: give {option('limit-delta')}, "
        "such as 1e-5": has_ledger and use.limit_delta is None,
    }
    refuse(reasons)


def show(file: ListFile, *, as_json: options.AsJson = False) -> None:
    """Show a list, largest sums first. This costs no further epsilon."""
    listed = word_file.read(file)
    columns = [Column("word"), Column("weight"), Column("in exports")]
    rows = [(each.word, each.weight, _MEANINGS[each.mark]) for each in listed.entries]
    blocks: list[Block] = [Table(columns, rows)]
    blocks += [Paragraph(line, "note") for line in word_lists.state(listed)]
    screen.deliver(_plain(listed), as_json, *blocks)


def confirm(file: ListFile, words: ListedWords) -> None:
    """Leave words of a list unchanged in future runs.

    Judge by the list and by common knowledge, never by looking at private rows: only
    then does confirming reveal nothing more.
    """
    _change(file, words, copied=True)


def remove(file: ListFile, words: ListedWords) -> None:
    """Replace words of a list in future runs."""
    _change(file, words, copied=False)


def _change(file: str, words: list[str], *, copied: bool) -> None:
    listed = word_file.read(file).changed(words, copied=copied)
    screen.write_file(Path(file), word_file.encode(listed))
    count = listed.count(JOINED) + listed.count(CONFIRMED)
    faults.print_line(f"{file}: {count:,} words stay unchanged in exports")


def _plain(listed: WordFile) -> JsonObject:
    """Return a list as JSON data."""
    words = [
        {"word": each.word, "weight": float(each.weight), "mark": each.mark}
        for each in listed.entries
    ]
    facts = {
        name: getattr(listed, name)
        for name in ("persons", "sigma", "rho", "cap", "version", "draw")
    }
    return {**listed.settings(), **facts, "words": words}


app = parser.group(
    "words",
    "Find words that many people wrote, to leave them unchanged.",
    {
        build: "dptext words build notes.csv -f note --subject patient -o own.words",
        show: "dptext words show own.words",
        confirm: "dptext words confirm own.words CloudDesk",
        remove: "dptext words remove own.words hassle",
    },
)
