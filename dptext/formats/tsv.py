"""TSV: as CSV, with a tab as delimiter; quotes have their meaning here too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from dptext.formats import _delimited
from dptext.types import Fault, Record, Selection, Verbatim

SUFFIXES: tuple[str, ...] = (".tsv", ".tab")

others = _delimited.others


class Writer(_delimited.Writer):
    """Writes rows with tabs."""

    DELIMITER = "\t"


def read(
    stream: BinaryIO, selection: Selection, location: str, start: int = 0
) -> Iterator[Record | Verbatim | Fault]:
    """Read one record per row; the delimiter is a tab unless selected otherwise."""
    return _delimited.read(stream, selection, location, start, Writer.DELIMITER)


def copied(stream: BinaryIO, selection: Selection) -> Iterator[str]:
    """Give the names of the columns that are not selected, or their numbers."""
    return _delimited.copied(stream, selection, Writer.DELIMITER)
