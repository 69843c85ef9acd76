"""Vectors as text: a word and d numbers a line, parted by spaces.

A word may hold spaces and no-break spaces (GloVe 840B has both), so a line is divided
from the right. Bytes are divided, not text: Python counts no-break spaces as blanks.

GloVe files are such lines, without a header, by descending frequency (Pennington et
al., EMNLP 2014; nlp.stanford.edu/projects/glove).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from dptext.errors import LexiconError
from dptext.lexicons.line import dimensions_of, divide
from dptext.lexicons.raw import RawVectors, checked

_LONGEST = 2**26  # bytes of a line


def read_lines(
    stream: BinaryIO,
    location: str,
    *,
    dimensions: int | None = None,
    first: int = 1,
    limit: int | None = None,
) -> RawVectors:
    """Read lines `word v1 ... vd` to the end, or `limit` of them.

    dimensions is d where a header said it, else what the first line holds; first is
    the number of the first line, for messages. Needs the memory of the vectors and one
    line. Raises LexiconError naming the line.
    """
    words: list[str] = []
    flat = array("f")
    for number, line in enumerate(_not_blank(stream, location, first), first):
        if limit is not None and len(words) == limit:
            break
        if dimensions is None:
            dimensions = dimensions_of(line, location, number)
        word, values = divide(line, dimensions, location, number)
        try:
            words.append(word.decode())
        except UnicodeDecodeError:
            msg = f"{location}, line {number}: the word is not UTF-8"
            raise LexiconError(msg) from None
        flat.fromlist(values)
    vectors = np.frombuffer(flat, np.float32).reshape(len(words), -1 if words else 0)
    return checked(RawVectors(words, vectors), location, first=first)


def _limited(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines, of one that is too long no more than the limit."""
    return iter(lambda: stream.readline(_LONGEST + 1), b"")


def _not_blank(stream: BinaryIO, location: str, first: int) -> Iterator[bytes]:
    """Yield the lines; blank ones may only stand at the end."""
    blank = 0
    for number, line in enumerate(_limited(stream), first):
        if len(line) > _LONGEST:
            msg = f"{location}, line {number}: longer than 64 MiB"
            raise LexiconError(msg)
        if line.isspace():
            blank = blank or number
            continue
        if blank:
            msg = f"{location}, line {blank}: the line is empty"
            raise LexiconError(msg)
        yield line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
