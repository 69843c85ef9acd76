"""Originals beside private texts, on a terminal: `sanitize --preview` and `init`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from dptext.cli import screen

if TYPE_CHECKING:
    from rich.text import Text

    from dptext.engine.job import Job
    from dptext.pipeline import Pipeline
    from dptext.randomness import RunKey
    from dptext.types import Record

_LONGEST = 2000  # characters of a text that are shown
_TOKEN = re.compile(r"\w+|\W")
_ADDED = "bold green"


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


def show(
    batch: Sequence[Record], pipelines: Mapping[str, Pipeline], key: RunKey
) -> None:
    """Show what becomes of records under several settings, one below the other.

    Nothing is written, spent or sent. What differs from the original is in colour.
    """
    from rich.table import Table

    private = {
        name: pipeline.offline.privatize(batch, pipeline.randomness(key)).texts
        for name, pipeline in pipelines.items()
    }
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, record in enumerate(batch):
        for position, before in enumerate(record.texts):
            original = before[:_LONGEST]
            table.add_row("original", original)
            for name, texts in private.items():
                after = texts[number][position][:_LONGEST]
                table.add_row(name, _changed(original, after))
            table.add_row()
    screen.console(stderr=True).print(table)


def _changed(before: str, after: str) -> Text:
    """Return a text with what differs from the one before in colour."""
    from rich.text import Text

    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    shown = Text()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, begin, end in matcher.get_opcodes():
        shown.append("".join(new[begin:end]), "" if kind == "equal" else _ADDED)
    return shown
