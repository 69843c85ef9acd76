"""Originals beside private texts, on a terminal: `sanitize --preview` and `init`."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from dptext.cli import screen
from dptext.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from dptext.engine.job import Job
    from dptext.pipeline import Pipeline
    from dptext.randomness import RunKey
    from dptext.types import Record

_LONGEST = 2000  # characters of a text that are shown
_TOKEN = re.compile(r"\w+|\W")
_REMOVED, _ADDED = "red", "bold green"


def check() -> None:
    """Refuse to show originals anywhere but on a terminal."""
    if not sys.stderr.isatty():
        raise UsageError(
            "--preview shows original text: standard error must be a terminal"
        )


def first_records(job: Job, number: int) -> list[Record]:
    """Return the first records of a job."""
    from dptext.engine.source import Source
    from dptext.types import Verbatim

    source = Source(replace(job, output=None), None, 0)
    with contextlib.ExitStack() as stack:
        source.open(stack)
        items = source.records()
        real = (item for item in items if not isinstance(item.rest, Verbatim))
        return list(islice(real, number))


def show(job: Job, records: int, pipeline: Pipeline, key: RunKey) -> None:
    """Show what becomes of the first records; nothing is written and nothing spent.

    With the key of a file the run will draw the same words, else others.
    """
    from rich.table import Table

    batch = first_records(job, records)
    offline = pipeline.offline
    texts = offline.privatize(batch, pipeline.randomness(key)).texts
    table = Table(box=None, expand=True, show_lines=True, padding=(0, 2))
    for name in ("original", "private"):
        table.add_column(name, ratio=1, overflow="fold")
    for record, new in zip(batch, texts, strict=True):
        for before, after in zip(record.texts, new, strict=True):
            table.add_row(*_sides(before[:_LONGEST], after[:_LONGEST]))
    console = screen.console(stderr=True)
    console.print(table)
    console.print("A preview: nothing was written, and nothing recorded in a ledger.")
    if offline.decoder is not pipeline.decoder:
        console.print("Nothing was sent: a server would write other words.")


def show_choices(
    batch: Sequence[Record], pipelines: Mapping[str, Pipeline], key: RunKey
) -> None:
    """Show what becomes of records under several settings, one below the other."""
    from rich.table import Table

    choices = {
        name: pipeline.privatize(batch, pipeline.randomness(key)).texts
        for name, pipeline in pipelines.items()
    }
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, record in enumerate(batch):
        for position, before in enumerate(record.texts):
            original = before[:_LONGEST]
            table.add_row("original", original)
            for name, texts in choices.items():
                after = texts[number][position][:_LONGEST]
                table.add_row(name, _sides(original, after)[1])
            table.add_row()
    screen.console(stderr=True).print(table)


def _sides(before: str, after: str) -> tuple[Text, Text]:
    """Return both texts with what differs in colour."""
    from rich.text import Text

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    left, right = Text(), Text()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, begin, end, new_begin, new_end in matcher.get_opcodes():
        changed = kind != "equal"
        left.append("".join(old[begin:end]), _REMOVED if changed else "")
        right.append("".join(new[new_begin:new_end]), _ADDED if changed else "")
    return left, right
