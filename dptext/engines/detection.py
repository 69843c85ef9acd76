"""The private field where none is named: `text`, or the only field that holds text.

The first record decides. Several fields with text are refused, here and in the first
records of a run (dptext.engines.fields).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BufferedReader
from typing import BinaryIO

from dptext import streams
from dptext.errors import InputError, UsageError
from dptext.formats import Format
from dptext.types import Fault, Record, Selection, Verbatim

USUAL = Selection().fields
# Names that are shown: in a file without header those of columns could be text.
_NAME = re.compile(r"[^\W\d]\w*([.-]\w+)*")
_LONGEST = 40  # characters of such a name
_LETTER = re.compile(r"[^\W\d_]")
# Times, and numbers in hexadecimal such as digests and UUIDs, are no text.
_NUMBER = re.compile(r"[\d:.,+/ TZ-]*\d[\d:.,+/ TZ-]*|(?=.*\d)[\dA-Fa-f-]{8,}")


def detect(
    stream: BufferedReader, format: Format, selection: Selection, location: str
) -> tuple[Selection, BufferedReader]:
    """Return a selection with the field of an input, and the input from its beginning.

    Where that cannot be told the usual field is selected, whose absence is reported
    when it is read. Raises UsageError where several fields hold text.
    """
    if format.name == "text":
        return replace(selection, fields=USUAL), stream
    usual = replace(selection, fields=USUAL, missing="pass")
    bare = replace(selection, fields=(), missing="pass")

    def has_usual(ahead: BinaryIO) -> bool:
        record = _first(format, ahead, usual, location)
        return record is not None and USUAL[0] in (record.present or ())

    def names(ahead: BinaryIO) -> list[str]:
        record = _first(format, ahead, bare, location)
        return [] if record is None else _with_text(format.others(record, bare))

    is_usual, stream = streams.read_ahead(stream, has_usual)
    if is_usual:
        return replace(selection, fields=USUAL), stream
    holding, stream = streams.read_ahead(stream, names)
    if len(holding) > 1:
        raise several(holding)
    fields = tuple(holding) or USUAL
    return replace(selection, fields=fields, is_detected=fields != USUAL), stream


def several(names: Iterable[str]) -> UsageError:
    """Return the error of records in which several fields hold text."""
    shown = ", ".join(map(repr, sorted(names)))
    return UsageError(
        f"several fields hold text: {shown}; choose with --field, all that are private"
    )


def _first(
    format: Format, stream: BinaryIO, selection: Selection, location: str
) -> Record | None:
    """Return the first record that can be read; what cannot is reported in the run."""
    try:
        for item in format.read(stream, selection, location):
            if not isinstance(item, Verbatim | Fault):
                return item
    except (InputError, UsageError):
        pass
    return None


def _with_text(others: Iterable[tuple[str, str]]) -> list[str]:
    """Return which fields hold text; none where a name could itself be text."""
    fields = list(others)
    if not all(is_name(name) for name, _ in fields):
        return []
    return list(dict.fromkeys(name for name, text in fields if holds_text(text)))


def is_name(name: str) -> bool:
    """Tell whether a field's name is surely one, and no text."""
    return len(name) <= _LONGEST and _NAME.fullmatch(name) is not None


def holds_text(value: str) -> bool:
    """Tell whether a value may be text: it has letters, and is no time or digest."""
    return bool(_LETTER.search(value)) and not _NUMBER.fullmatch(value.strip())


def others_with_text(others: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the names of the fields that hold text, where they are names."""
    return (name for name, text in others if holds_text(text) and is_name(name))
